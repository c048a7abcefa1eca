"""Serializers of request bodies and answers of accounts."""
