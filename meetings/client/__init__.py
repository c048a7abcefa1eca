"""Reads calendars from servers: a file by GET, or the calendars of a CalDAV server (RFC 4791)."""
