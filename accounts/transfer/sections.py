"""The sections of the document: each app registers one for each kind of records that it exports and imports."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from django.db.models import Model
from rest_framework import serializers

from accounts.models import User
from contacts_project.kernel.json import Json, JsonObject

if TYPE_CHECKING:
    from accounts.transfer.run import ImportRecord, TransferRun


class Section:
    """A key of the document with a list of records, each with its `id` in the exporting account.

    `order` sorts the sections: a section comes after those that its records refer to. `models` are the tables that it
    exports, those of nested records included: a test fails for an owned table that is in no section and not in
    `excluded_tables`.
    """

    name: ClassVar[str]
    order: ClassVar[int]
    models: ClassVar[tuple[type[Model], ...]]

    def export(self, owner: User) -> Iterator[JsonObject]:
        """The account's records, ordered by id. The number of queries hardly grows with the number of records."""
        raise NotImplementedError

    def serializer(self) -> "serializers.Serializer[Any]":
        """The serializer that validates a record, except for its references to other records."""
        raise NotImplementedError

    def units(self, records: list[Json]) -> Iterator[list[int]]:
        """Lists of indexes of records that must be written together or not at all."""
        return ([index] for index in range(len(records)))

    def prepare(self, run: "TransferRun", records: list["ImportRecord"]) -> None:
        """Do slow work and write files before the account is locked; called once for each batch."""

    def write(self, run: "TransferRun", records: list["ImportRecord"]) -> None:
        """Write a batch of valid records inside `account_write`, and set the result of each.

        Other requests write between the batches, so counts and lookups must be repeated in each. In a dry run nothing
        is locked, `run.insert` does nothing, and `run.index` remembers the rows that would exist.
        """
        raise NotImplementedError


_sections: list[Section] = []
_excluded_tables: dict[str, str] = {}


def register_section(section: Section) -> None:
    """Must be called once for each section, from AppConfig.ready()."""
    _sections.append(section)
    _sections.sort(key=lambda registered: registered.order)


def exclude_table(label: str, reason: str) -> None:
    """Exclude a table ("app.Model") from the document, for `reason`."""
    _excluded_tables[label] = reason


def sections() -> tuple[Section, ...]:
    """All sections, in the order in which they are exported and imported."""
    return tuple(_sections)


def excluded_tables() -> dict[str, str]:
    """The tables that are not in the document, with the reason."""
    return dict(_excluded_tables)
