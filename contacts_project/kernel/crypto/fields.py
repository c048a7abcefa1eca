"""A model column whose text is encrypted in the database and plain in Python."""

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from contacts_project.kernel.crypto import keyring

if TYPE_CHECKING:
    _TextField = models.TextField[str, str]  # Django's own is not generic when it runs
else:
    _TextField = models.TextField


def encrypted_columns(model: type[models.Model]) -> list[str]:
    """The names of the model's encrypted fields."""
    return [field.name for field in model._meta.concrete_fields if isinstance(field, EncryptedTextField)]


class EncryptedTextField(_TextField):
    """Text encrypted under the key ring. It cannot be searched: every encryption differs."""

    def get_prep_value(self, value: Any) -> Any:
        prepared = super().get_prep_value(value)
        return None if prepared is None else keyring.encrypt(prepared)

    def from_db_value(self, value: str | None, expression: Any, connection: BaseDatabaseWrapper) -> str | None:
        return None if value is None else keyring.decrypt(value)
