"""Endpoints below /api/auth/ and /api/user/."""
