"""Answers that show a secret, most of them once and never again."""

from typing import Any

from rest_framework.response import Response


class SecretResponse(Response):
    """Is not stored by anybody, and not compressed: the length of what is tells something of its content (BREACH)."""

    def __init__(self, data: Any, status: int = 200) -> None:
        super().__init__(data, status=status, headers={"Cache-Control": "no-store"})
