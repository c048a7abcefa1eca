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

    def __init__(self, owner: User, *, most_rows: int = 0, only_active: bool = False) -> None:
        self.most_rows = most_rows
        self.only_active = only_active
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

    def found(self, condition: str, person: str) -> str:
        """`condition`, and where the rows are cut off, that `person` is active: those in the trash hide nobody."""
        return f"{condition} AND {active(person)}" if self.only_active else condition

    @staticmethod
    def begins_with(column: str = "key") -> str:
        """The condition that `range_of` fills: character by character, whatever the collation of the database."""
        least, less = ("~>=~", "~<~") if connection.vendor == "postgresql" else (">=", "<")
        return f"{column} {least} %s AND {column} {less} %s"

    @staticmethod
    def in_order(column: str = "key") -> str:
        """The order of the index, in which a whole word stands before what begins with it."""
        return f"ORDER BY {column} USING ~<~" if connection.vendor == "postgresql" else f"ORDER BY {column}"

    @staticmethod
    def range_of(beginning: str) -> tuple[str, str]:
        return beginning, beginning + _LAST_CHARACTER


def active(person: str) -> str:
    """The condition that the person of this id is not in the trash. Asked of the small index of those who are: to join
    each row with its person took PostgreSQL five times as long. The OFFSET keeps it a look-up for each row, whatever
    PostgreSQL believes the trash to hold."""
    gone = f"SELECT 1 FROM {PEOPLE} g WHERE g.id = {person} AND g.deleted_at IS NOT NULL LIMIT 1 OFFSET 0"  # noqa: S608
    return f"NOT EXISTS ({gone})"


def stored(key: UUID) -> UUID | str:
    """How the database holds an id."""
    return key if connection.features.has_native_uuid_field else key.hex
