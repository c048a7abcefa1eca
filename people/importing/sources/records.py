"""What a file tells beside people: what passed with them, and what they are to each other. People by their keys."""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from people.importing.sources.drafts import RecordResult


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionRecord:
    """An interaction; `keys` are those of its people, the first one's record tells what became of it."""

    keys: tuple[str, ...]
    kind: str
    at: dt.datetime
    title: str = ""
    notes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipTypeRecord:
    """A type of relationship: its name, its label, and the name of its inverse, empty where it is its own."""

    name: str
    label: str
    inverse: str = ""
    inverse_label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipRecord:
    """The person of `key` is `type` of the one of `related`."""

    key: str
    related: str
    type: RelationshipTypeRecord | None
    notes: str = ""


class Source(Protocol):
    """A file, open. `what` is what its records are called."""

    what: str

    def people(self) -> Iterator[RecordResult]:
        """Its people as cards, one at a time."""

    def relationship_types(self) -> Sequence[RelationshipTypeRecord]:
        """The types of relationships that its people and ties name."""

    def interactions(self) -> Iterator[InteractionRecord]:
        """What passed between the user and people."""

    def relationships(self) -> Iterator[RelationshipRecord]:
        """What people are to each other."""

    def leftovers(self) -> Sequence[tuple[str, str]]:
        """What is of no person and has no place here: what it is, and why."""
