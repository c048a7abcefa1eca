"""Encryption of secrets at rest under a ring of Fernet keys, newest first (settings.ENCRYPTION_KEYS)."""

from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class UndecryptableError(Exception):
    """No key of the ring opens this secret: a key was taken out of ENCRYPTION_KEYS too early."""


def encrypt(plain: str) -> str:
    """Encrypt under the newest key."""
    return _ring(tuple(settings.ENCRYPTION_KEYS)).encrypt(plain.encode()).decode()


def decrypt(token: str) -> str:
    """Decrypt with whichever key of the ring fits. Raises UndecryptableError, which names no secret."""
    try:
        return _ring(tuple(settings.ENCRYPTION_KEYS)).decrypt(token.encode()).decode()
    except InvalidToken:
        raise UndecryptableError(
            "A stored secret was encrypted with a key that ENCRYPTION_KEYS no longer holds."
        ) from None


@lru_cache(maxsize=4)
def _ring(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])
