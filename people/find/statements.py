"""Builds the UNION ALL statements of a search, for SQLite and PostgreSQL."""

from typing import Any, Final

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
    """The branches of a UNION ALL and their parameters.

    `max_rows`: limit of a branch. `only_active`: each branch excludes people in the trash.
    """

    def __init__(self, owner: User, *, max_rows: int = 0, only_active: bool = False) -> None:
        self.max_rows = max_rows
        self.only_active = only_active
        # SQLite stores an id as 32 hexadecimal digits.
        self.owner_id = owner.pk if connection.features.has_native_uuid_field else owner.pk.hex
        self._branches: list[str] = []
        self._parameters: list[Any] = []

    def __len__(self) -> int:
        return len(self._branches)

    def add(self, branch: str, parameters: list[Any]) -> None:
        self._branches.append(branch)
        self._parameters += parameters

    def union(self) -> tuple[str, list[Any]]:
        return " UNION ALL ".join(self._branches), self._parameters

    def restrict(self, condition: str, person: str) -> str:
        """Add to `condition` that `person` is active, if `only_active`."""
        # With several terms the people are filtered later, once each. With one term the row limit is low, and rows of
        # people in the trash could fill it.
        return f"{condition} AND {is_active_sql(person)}" if self.only_active else condition

    @staticmethod
    def has_prefix(column: str = "key") -> str:
        """A condition with the two parameters of `prefix_range`."""
        # The ~ operators compare characters and ignore the collation, like the text_pattern_ops index.
        at_least, less_than = ("~>=~", "~<~") if connection.vendor == "postgresql" else (">=", "<")
        return f"{column} {at_least} %s AND {column} {less_than} %s"

    @staticmethod
    def order_by(column: str = "key") -> str:
        """The order of the index, in which an exact match precedes longer words with the same prefix."""
        return f"ORDER BY {column} USING ~<~" if connection.vendor == "postgresql" else f"ORDER BY {column}"

    @staticmethod
    def prefix_range(prefix: str) -> tuple[str, str]:
        return prefix, prefix + _LAST_CHARACTER


def is_active_sql(person: str) -> str:
    """The condition that the person with this id is not in the trash."""
    # NOT EXISTS on the small partial index of deleted people: a join with the person of each row took PostgreSQL five
    # times as long. OFFSET 0 keeps it a look-up for each row, whatever PostgreSQL estimates the trash to contain.
    deleted = f"SELECT 1 FROM {PEOPLE} g WHERE g.id = {person} AND g.deleted_at IS NOT NULL LIMIT 1 OFFSET 0"  # noqa: S608
    return f"NOT EXISTS ({deleted})"
