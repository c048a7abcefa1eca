"""Reads for the API: rows as JSON, each related table in one query, JSON columns passed through unparsed."""
