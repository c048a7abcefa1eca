"""The word index of custom field values and interactions. The words of a person's columns are lookup keys
(people.lookup).

Words stay while their row is in the trash; searches filter by its state. Database triggers delete the words when their
row is deleted or its text changes, so that a write needs only one more statement, which inserts the new words.
"""

from collections.abc import Iterable
from typing import Final
from uuid import UUID

from django.db import models

from contacts_project.kernel.database.triggers import Trigger
from people.models import CustomFieldValue, Interaction, InteractionWord, ValueWord
from people.words import words_of, words_of_value


def words_of_interaction(row: Interaction) -> set[str]:
    """The distinct words of the title and notes."""
    return set(words_of(row.title, row.notes))


def index_values(owner_id: UUID, rows: Iterable[CustomFieldValue]) -> None:
    """Insert the words of values after they were inserted or updated. Must be called inside `account_write`."""
    words = [(owner_id, row.pk, word) for row in rows for word in sorted(set(words_of_value(row.value)))]
    ValueWord.as_tuples.bulk_create(words)


def index_interactions(owner_id: UUID, rows: Iterable[Interaction]) -> None:
    """Insert the words of interactions after they were inserted, or their title or notes updated."""
    words = [(owner_id, row.pk, word) for row in rows for word in sorted(words_of_interaction(row))]
    InteractionWord.as_tuples.bulk_create(words)


def _deletion_trigger(
    words: type[models.Model], column: str, table: str, name: str, event: str, changed: tuple[str, ...] = ()
) -> Trigger:
    body = f"DELETE FROM {words._meta.db_table} WHERE {column} = OLD.id"  # noqa: S608 - names of our own
    return Trigger(name, table, event, body, changed=changed, writes=words._meta.db_table)


_VALUES, _INTERACTIONS = CustomFieldValue._meta.db_table, Interaction._meta.db_table
TRIGGERS: Final = (
    _deletion_trigger(ValueWord, "value_id", _VALUES, "value_words_gone", "DELETE"),
    # On every UPDATE, changed or not: the databases differ in which JSON numbers are equal.
    _deletion_trigger(ValueWord, "value_id", _VALUES, "value_words_changed", "UPDATE OF value"),
    _deletion_trigger(InteractionWord, "interaction_id", _INTERACTIONS, "interaction_words_gone", "DELETE"),
    _deletion_trigger(
        InteractionWord,
        "interaction_id",
        _INTERACTIONS,
        "interaction_words_changed",
        "UPDATE OF title, notes",
        ("title", "notes"),
    ),
)
