"""What models declare of a column that holds a value of the kernel: a Text, or one word of a vocabulary."""

import json
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import CheckConstraint, Q

from contacts_project.kernel.texts import Text
from contacts_project.kernel.vocabularies import Vocabulary

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


def one_of(vocabulary: type[Vocabulary], column: str, *, name: str, blank: bool = False) -> CheckConstraint:
    """The constraint for the Meta of a model whose `column` has these choices. `blank` also allows the empty text.

    NULL is allowed if the column is nullable. Adding or removing a word needs a migration.
    """
    words = [*vocabulary.values, ""] if blank else list(vocabulary.values)
    return CheckConstraint(condition=Q(**{f"{column}__in": words}), name=name)
