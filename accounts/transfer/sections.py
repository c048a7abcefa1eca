"""The document of an account, section by section: each app registers one for each kind of records that it exports and
imports."""

import datetime as dt
from collections.abc import Iterator
from typing import Any, ClassVar

from django.db.models import Model
from rest_framework import serializers

from accounts.models import User
from accounts.transfer.run import ImportRecord, TransferRun
from contacts_project.kernel.api.fields import StrictDateTimeField
from contacts_project.kernel.json import Json, JsonObject, dumps

FORMAT, VERSION = "contact-network", 1
_CHUNK_BYTES = 64 * 1024
_EARLIEST = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class Section:
    """A key of the document with a list of records, each with its `id` in the exporting account.

    `order` sorts the sections: a section comes after those that its records refer to. `models` are the tables that it
    exports, those of nested records included: a test fails for an owned table that is in no section and not in
    `excluded_tables`. A section that is not `is_imported` is for readers alone: its records need no id, and the methods
    after `export` are not called.
    """

    name: ClassVar[str]
    order: ClassVar[int]
    models: ClassVar[tuple[type[Model], ...]]
    is_imported: ClassVar[bool] = True

    def export(self, owner: User) -> Iterator[JsonObject]:
        """The account's records, ordered by id. The number of queries hardly grows with the number of records."""
        raise NotImplementedError

    def serializer(self) -> "serializers.Serializer[Any]":
        """The serializer that validates a record, except for its references to other records."""
        raise NotImplementedError

    def units(self, records: list[Json]) -> Iterator[list[int]]:
        """Lists of indexes of records that must be written together or not at all."""
        return ([index] for index in range(len(records)))

    def prepare(self, run: TransferRun, records: list[ImportRecord]) -> None:
        """Do slow work and write files before the account is locked; called once for each batch."""

    def write(self, run: TransferRun, records: list[ImportRecord]) -> None:
        """Write a batch of valid records inside `account_write`, and set the result of each.

        Other requests write between the batches, so counts and lookups must be repeated in each. In a dry run nothing
        is locked, `run.insert` does nothing, and `run.index` remembers the rows that would exist.
        """
        raise NotImplementedError


class TimestampsSerializer(serializers.Serializer[Any]):
    """The timestamps that every record has. A record without `createdAt` is imported as created now."""

    createdAt = StrictDateTimeField(source="created_at", required=False, allow_null=True)
    deletedAt = StrictDateTimeField(source="deleted_at", required=False, allow_null=True)


def times_of(data: JsonObject, now: dt.datetime) -> JsonObject:
    """The values of created_at and deleted_at, moved to lie between 1970 and `now`."""
    deleted_at = data.get("deleted_at")
    return {
        "created_at": max(_EARLIEST, min(data.get("created_at") or now, now)),
        "deleted_at": max(_EARLIEST, min(deleted_at, now)) if deleted_at else None,
    }


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


def export_document(owner: User, today: dt.date) -> Iterator[bytes]:
    """Yield the whole account as JSON, in chunks of about 64 KiB.

    It names the day and not the time: a strong ETag requires that the export of an unchanged account stays the same.
    """
    chunk = bytearray()
    for piece in _pieces(owner, today):
        chunk += piece
        if len(chunk) >= _CHUNK_BYTES:
            yield bytes(chunk)
            chunk.clear()
    yield bytes(chunk)


def _pieces(owner: User, today: dt.date) -> Iterator[bytes]:
    head = {"format": FORMAT, "version": VERSION, "exportedOn": today.isoformat()}
    yield dumps(head)[:-1]  # without the closing brace: the sections follow
    for section in sections():
        yield b"," + dumps(section.name) + b":["
        for number, record in enumerate(section.export(owner)):
            yield (b"," if number else b"") + dumps(record)
        yield b"]"
    yield b"}"
