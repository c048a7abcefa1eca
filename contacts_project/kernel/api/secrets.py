"""Answers that show a secret, most of them once and never again."""

from typing import Any

from rest_framework.response import Response


class SecretResponse(Response):
    """Is not stored by anybody, nor kept for an Idempotency-Key, and not compressed: the length of what is compressed
    tells something of its content (BREACH)."""

    is_passing = True

    def __init__(self, data: Any, status: int = 200) -> None:
        super().__init__(data, status=status, headers={"Cache-Control": "no-store"})
