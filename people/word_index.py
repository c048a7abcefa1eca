"""The words of what hangs on people: values of custom fields, and interactions. Those of a person's own columns stand
among the look-up keys (people.lookup).

They hang on their rows; whether those are in the trash is seen as they are looked for. Triggers of the database take
them away with the row, and as its text changes, so that a write adds one statement, which inserts the new ones.
"""

from collections.abc import Iterable
from typing import Any, Final
from uuid import UUID

from contacts_project.kernel.database.triggers import Trigger
from people.models import CustomFieldValue, Interaction, InteractionWord, ValueWord
from people.words import words_of, words_of_value


def words_of_interaction(row: Interaction) -> set[str]:
    """All that one is found by."""
    return set(words_of(row.title, row.notes))


def index_values(owner_id: UUID, rows: Iterable[CustomFieldValue]) -> None:
    """Write the words of values that were inserted or updated before, in the caller's write."""
    words = [(row.pk, word) for row in rows for word in sorted(set(words_of_value(row.value)))]
    if words:
        ValueWord.objects.bulk_create(ValueWord(owner_id=owner_id, value_id=key, key=word) for key, word in words)


def index_interactions(owner_id: UUID, rows: Iterable[Interaction]) -> None:
    """The same for interactions that were inserted, or whose title or notes were changed."""
    words: list[tuple[Any, str]] = [(row.pk, word) for row in rows for word in sorted(words_of_interaction(row))]
    if words:
        InteractionWord.objects.bulk_create(
            InteractionWord(owner_id=owner_id, interaction_id=key, key=word) for key, word in words
        )


def _forgets(words: Any, column: str, table: str, name: str, event: str, changed: tuple[str, ...] = ()) -> Trigger:
    body = f"DELETE FROM {words._meta.db_table} WHERE {column} = OLD.id"  # noqa: S608 - names of our own
    return Trigger(name, table, event, body, changed=changed, writes=words._meta.db_table)


_VALUES, _INTERACTIONS = CustomFieldValue._meta.db_table, Interaction._meta.db_table
TRIGGERS: Final = (
    _forgets(ValueWord, "value_id", _VALUES, "value_words_gone", "DELETE"),
    # Whenever it is written: databases differ in which numbers of JSON are the same.
    _forgets(ValueWord, "value_id", _VALUES, "value_words_changed", "UPDATE OF value"),
    _forgets(InteractionWord, "interaction_id", _INTERACTIONS, "interaction_words_gone", "DELETE"),
    _forgets(
        InteractionWord,
        "interaction_id",
        _INTERACTIONS,
        "interaction_words_changed",
        "UPDATE OF title, notes",
        ("title", "notes"),
    ),
)
