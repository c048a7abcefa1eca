"""The interface of import sources, and the records beside people. They refer to people by the keys of the file."""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from contacts_project.kernel.texts import Text, define_text
from people.extensions import RelationshipTypeSpec
from people.importing.sources.drafts import RecordResult

JOURNAL_ENTRIES = define_text("noun_journal_entries", "journal entries")
RELATED_MISSING = define_text("related_missing", "a relationship to somebody who did not come in was left out")
#: How many people an interaction may have.
MAX_PEOPLE = 50
_MAX_TYPE_NAME = 50
LEFT_OUT = define_text("kind_left_out", "%(count)s of them have no place here and were left out")


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionRecord:
    """An interaction. `keys` are those of its people; remarks about it go to the outcome of the first one.

    What the product says itself is a Text, so that a second import recognises the interaction in any language; `notes`
    are the lines then.
    """

    keys: tuple[str, ...]
    kind: str
    at: dt.datetime
    title: str | Text = ""
    notes: str | tuple[str | Text, ...] = ""

    @property
    def has_texts(self) -> bool:
        lines = () if isinstance(self.notes, str) else self.notes
        return any(isinstance(words, Text) for words in (self.title, *lines))

    def words(self) -> tuple[str, str]:
        """The title and the notes in the active language."""
        lines = (self.notes,) if isinstance(self.notes, str) else self.notes
        return str(self.title), "\n".join(filter(None, map(str, lines)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipRecord:
    """The person with the key `key` is the `type` of the person with the key `related`."""

    key: str
    related: str
    type: RelationshipTypeSpec | None
    notes: str = ""


def build_custom_type(name: str, label: str, inverse: str, inverse_label: str) -> RelationshipTypeSpec:
    """Build a type that the user of another product has created, within our limits."""
    key, back = _build_type_name(name), _build_type_name(inverse)
    if not back or back == key:
        return RelationshipTypeSpec(name=key, label=_clean_name(label) or key)
    return RelationshipTypeSpec(
        name=key, label=_clean_name(label) or key, inverse=back, inverse_label=_clean_name(inverse_label) or back
    )


def _build_type_name(name: str) -> str:
    return "_".join(_clean_name(name).upper().split())[:_MAX_TYPE_NAME]


def _clean_name(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:_MAX_TYPE_NAME]


class Source(Protocol):
    """An open file. `record_noun` is how messages call one of its records."""

    record_noun: Text

    def count(self) -> int:
        """How many people `people` yields, those that cannot be read included."""

    def people(self) -> Iterator[RecordResult]:
        """Yield the people as cards."""

    def relationship_types(self) -> Sequence[RelationshipTypeSpec]:
        """The relationship types that the people and relationships of the file name."""

    def interactions(self) -> Iterator[InteractionRecord]:
        """Yield the interactions of the user with people."""

    def relationships(self) -> Iterator[RelationshipRecord]:
        """Yield the relationships between people."""

    def not_imported(self) -> Sequence[tuple[Text | str, Text]]:
        """The data that belongs to no person and cannot be imported: what it is, and why."""
