"""SQL of many branches, for both databases."""

from typing import Any, Final
from uuid import UUID

from django.db import connection

from accounts.models import User
from people.models import (
    CustomFieldTemplate,
    CustomFieldValue,
    Interaction,
    InteractionWord,
    LookupKey,
    Participation,
    Person,
    ValueWord,
)

PEOPLE: Final = Person._meta.db_table
KEYS: Final = LookupKey._meta.db_table
VALUE_WORDS: Final = ValueWord._meta.db_table
VALUES: Final = CustomFieldValue._meta.db_table
TEMPLATES: Final = CustomFieldTemplate._meta.db_table
INTERACTION_WORDS: Final = InteractionWord._meta.db_table
INTERACTIONS: Final = Interaction._meta.db_table
PARTICIPATIONS: Final = Participation._meta.db_table
_LAST_CHARACTER: Final = "\U0010ffff"


class Statement:
    """Branches of a UNION ALL, with their parameters."""

    def __init__(self, owner: User, *, most_rows: int = 0, active_alone: bool = False) -> None:
        self.most_rows = most_rows
        self._active_alone = active_alone
        self.owner_id = stored(owner.pk)
        self._branches: list[str] = []
        self._parameters: list[Any] = []

    def __len__(self) -> int:
        return len(self._branches)

    def add(self, branch: str, parameters: list[Any]) -> None:
        self._branches.append(branch)
        self._parameters += parameters

    def union(self) -> tuple[str, list[Any]]:
        return " UNION ALL ".join(self._branches), self._parameters

    def active(self, table: str, condition: str) -> str:
        """The end of a branch over `table`: where `condition` holds, and with `active_alone` of active people only, so
        that those in the trash are not among `most_rows`."""
        if not self._active_alone:
            return f"WHERE {condition}"
        # SQLite keeps the order of a CROSS JOIN: from the words to the people.
        return f"CROSS JOIN {PEOPLE} p WHERE {condition} AND p.id = {table}.person_id AND p.deleted_at IS NULL"

    @staticmethod
    def begins_with(column: str = "key") -> str:
        """The condition that `range_of` fills: character by character, whatever the collation of the database."""
        least, less = ("~>=~", "~<~") if connection.vendor == "postgresql" else (">=", "<")
        return f"{column} {least} %s AND {column} {less} %s"

    @staticmethod
    def range_of(beginning: str) -> tuple[str, str]:
        return beginning, beginning + _LAST_CHARACTER


def stored(key: UUID) -> UUID | str:
    """How the database holds an id."""
    return key if connection.features.has_native_uuid_field else key.hex
