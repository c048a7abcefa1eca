"""A model field whose text is encrypted in the database and plain in Python."""

from typing import TYPE_CHECKING

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from contacts_project.kernel.crypto import keyring

if TYPE_CHECKING:
    _TextField = models.TextField[str, str]  # generic in the stubs, not at run time
else:
    _TextField = models.TextField


def encrypted_columns(model: type[models.Model]) -> list[str]:
    """Return the names of the model's encrypted fields."""
    return [field.name for field in model._meta.concrete_fields if isinstance(field, EncryptedTextField)]


class EncryptedTextField(_TextField):
    """Text encrypted with the key ring. It cannot be searched: each encryption of a text gives another result."""

    def get_prep_value(self, value: object) -> str | None:
        prepared = super().get_prep_value(value)
        return None if prepared is None else keyring.encrypt(prepared)

    def from_db_value(
        self, value: str | None, expression: models.Expression, connection: BaseDatabaseWrapper
    ) -> str | None:
        return None if value is None else keyring.decrypt(value)
