"""The service about itself: health, version, metrics, figures, checks, invariants, and the API description."""
