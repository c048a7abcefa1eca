"""A model field for a Text, which is written in the reader's language when it is read."""

import json
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from contacts_project.kernel.texts import Text

if TYPE_CHECKING:
    _TextField = models.TextField[Any, Any]  # generic in the stubs, not at run time
else:
    _TextField = models.TextField


class StoredTextField(_TextField):
    """A Text, or `""` for none. Stored as the JSON of `Text.to_stored`; rows of older releases hold a plain string."""

    def get_prep_value(self, value: object) -> object:
        return json.dumps(value.to_stored(), ensure_ascii=False) if isinstance(value, Text) else value

    def from_db_value(
        self, value: str | None, expression: models.Expression, connection: BaseDatabaseWrapper
    ) -> Text | str | None:
        if not value:
            return value
        try:
            stored = json.loads(value) if value.startswith("{") else value
        except ValueError:
            stored = value
        return Text.from_stored(stored)

    def deconstruct(self) -> Any:
        name, _, arguments, options = super().deconstruct()
        return name, "django.db.models.TextField", arguments, options
