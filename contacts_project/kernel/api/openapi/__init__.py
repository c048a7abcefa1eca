"""The API description, derived from views and serializers by drf-spectacular (docs/openapi.md)."""
