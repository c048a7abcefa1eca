"""Responses that are not stored for an Idempotency-Key, among them those that show a secret, most of them only once."""

from rest_framework.response import Response


class UnstoredResponse(Response):
    """A response that is not stored for an Idempotency-Key: a repeat of the request runs again."""


class SecretResponse(UnstoredResponse):
    """A response that no cache stores, that is not stored for an Idempotency-Key, and that is not compressed.

    The length of a compressed response would reveal something of its content (BREACH).
    """

    def __init__(self, data: object, status: int = 200) -> None:
        # CompressionMiddleware also skips a response with no-store.
        super().__init__(data, status=status, headers={"Cache-Control": "no-store"})
