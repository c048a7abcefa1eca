"""Encryption of secrets at rest with a ring of Fernet keys, newest first (settings.ENCRYPTION_KEYS).

In a column of the model field the text is encrypted; in Python it is plain.
"""

from functools import lru_cache
from typing import TYPE_CHECKING

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

if TYPE_CHECKING:
    _TextField = models.TextField[str, str]  # generic in the stubs, not at run time
else:
    _TextField = models.TextField


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


def encrypted_columns(model: type[models.Model]) -> list[str]:
    """Return the names of the model's encrypted fields."""
    return [field.name for field in model._meta.concrete_fields if isinstance(field, EncryptedTextField)]


class EncryptedTextField(_TextField):
    """Text encrypted with the key ring. It cannot be searched: each encryption of a text gives another result."""

    def get_prep_value(self, value: object) -> str | None:
        prepared = super().get_prep_value(value)
        return None if prepared is None else encrypt(prepared)

    def from_db_value(
        self, value: str | None, expression: models.Expression, connection: BaseDatabaseWrapper
    ) -> str | None:
        return None if value is None else decrypt(value)
