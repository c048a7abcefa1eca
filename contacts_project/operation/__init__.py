"""What operators and callers learn about the service itself: its health, version, API description and docs."""
