"""The parts of the document: each app registers what it takes out of an account and puts into one."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from django.db.models import Model
from rest_framework import serializers

from accounts.models import User

if TYPE_CHECKING:
    from accounts.transfer.run import ImportRun, Item


class Section:
    """A key of the document with a list of records, each with the `id` it had where it was written.

    `order` puts what others point at first. `models` are the tables that the section carries, those of nested records
    included: a test fails when an owned table is carried by no section and left out by none.
    """

    name: ClassVar[str]
    order: ClassVar[int]
    models: ClassVar[tuple[type[Model], ...]]

    def export(self, owner: User) -> Iterator[dict[str, Any]]:
        """The account's records, in the order of their ids, in a number of queries that hardly grows."""
        raise NotImplementedError

    def shape(self) -> "serializers.Serializer[Any]":
        """What a record must be, but for what it points at."""
        raise NotImplementedError

    def units(self, records: list[Any]) -> Iterator[list[int]]:
        """Which records, as they came, are written together or not at all: by their places."""
        return ([place] for place in range(len(records)))

    def prepare(self, run: "ImportRun", items: list["Item"]) -> None:
        """What takes time, or a file, before the account is locked; once for each batch."""

    def write(self, run: "ImportRun", items: list["Item"]) -> None:
        """Store a batch of valid records with the account locked, and say of each what became of it.

        Other requests write between the batches: what is counted or looked up is so anew in each. In a dry run nothing
        is locked, and `run.insert` and `run.index` remember what would be there.
        """
        raise NotImplementedError


_sections: list[Section] = []
_left_out: dict[str, str] = {}


def register_section(section: Section) -> None:
    """Add a part; once, from AppConfig.ready()."""
    _sections.append(section)
    _sections.sort(key=lambda known: known.order)


def leave_out(label: str, reason: str) -> None:
    """Say why a table ("app.Model") is no part of the document."""
    _left_out[label] = reason


def sections() -> tuple[Section, ...]:
    """All parts, in the order in which they are read and written."""
    return tuple(_sections)


def left_out() -> dict[str, str]:
    """The tables that are no part of the document, with the reason."""
    return dict(_left_out)
