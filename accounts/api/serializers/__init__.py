"""Serializers of request bodies and responses of accounts."""
