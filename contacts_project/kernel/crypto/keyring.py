"""Encryption of secrets at rest with a ring of Fernet keys, newest first (settings.ENCRYPTION_KEYS)."""

from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class UndecryptableError(Exception):
    """No key of the ring decrypts this secret: a key was removed from ENCRYPTION_KEYS too early."""


def encrypt(plain: str) -> str:
    """Encrypt with the newest key."""
    return _load_ring(tuple(settings.ENCRYPTION_KEYS)).encrypt(plain.encode()).decode()


def decrypt(token: str) -> str:
    """Decrypt with any key of the ring. Raises UndecryptableError, whose message does not contain the secret."""
    try:
        return _load_ring(tuple(settings.ENCRYPTION_KEYS)).decrypt(token.encode()).decode()
    except InvalidToken:
        raise UndecryptableError(
            "A stored secret was encrypted with a key that ENCRYPTION_KEYS no longer holds."
        ) from None


def can_decrypt(token: str) -> bool:
    """Whether a key of the ring decrypts the token."""
    try:
        decrypt(token)
    except (UndecryptableError, ValueError):
        return False
    return True


@lru_cache(maxsize=4)
def _load_ring(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])
