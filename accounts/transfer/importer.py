"""Reads the document into an account, some hundred records at a time: each batch is checked, then written at once."""

import datetime as dt
import logging
import time
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any
from uuid import UUID

from django.db import DatabaseError
from rest_framework import serializers

from accounts.models import User
from accounts.transfer.exporter import FORMAT, VERSION
from accounts.transfer.receipt import Receipt, messages_of
from accounts.transfer.run import ERROR, ImportRun, Item
from accounts.transfer.sections import Section, sections
from contacts_project.kernel.api.errors import validation_body
from contacts_project.kernel.api.json import parse_id
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.batches import BatchWriter, StoppedError
from contacts_project.kernel.unavailable import is_unavailable

log = logging.getLogger(__name__)

_BATCH = 100
#: Each has a line in the receipt, and each value of JSON its place in memory while the document is worked on.
MAX_RECORDS = 200_000
MAX_VALUES = 2_000_000
NOT_TRIED = "Not tried: the service was busy, or a part of it away. Import the document again: it goes on from here."


def import_document(*, owner: User, document: Any, now: dt.datetime, dry: bool = False) -> dict[str, Any]:
    """Put the document's records into the account; returns the receipt. `dry`: only say what would become of them.

    What is there already stays as it is, so that a second run changes nothing, and one after a crash goes on where the
    first was. A record that cannot be read or stored is told in the receipt and does not stop the others. Raises
    FieldError for what is no such document at all; what is_unavailable says so of, where nothing was written.
    """
    under_way = _Import(ImportRun(owner, now, dry=dry))
    for section in _checked(document):
        under_way.take(section, document[section.name])
    under_way.writer.finish()
    return under_way.receipt.answer()


def _checked(document: Any) -> list[Section]:
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise FieldError("format", f'This is no export of this service: "format" must be "{FORMAT}".')
    version = document.get("version")
    if type(version) is not int or version != VERSION:  # true and 1.0 are equal to 1
        raise FieldError("version", f"Only version {VERSION} of the format is known here.")
    present = [section for section in sections() if section.name in document]
    for section in present:
        if not isinstance(document[section.name], list):
            raise FieldError(section.name, "This must be a list.")
    if sum(len(document[section.name]) for section in present) > MAX_RECORDS:
        raise FieldError(max(present, key=lambda section: len(document[section.name])).name, _TOO_MANY)
    return present


_TOO_MANY = f"At most {MAX_RECORDS:,} records in all: import it in parts, each with the people its relationships name."


class _Import:
    """One document."""

    def __init__(self, run: ImportRun) -> None:
        self.run, self.receipt = run, Receipt()
        self.writer = BatchWriter(run.owner)

    def take(self, section: Section, records: list[Any]) -> None:
        """Read and write one section."""
        shape, seen = section.shape(), set[UUID]()
        results: list[dict[str, Any]] = []
        messages: list[tuple[int, str]] = []
        for batch in _batches(section.units(records)):
            units = [[_read(section.name, shape, index, records[index], seen) for index in unit] for unit in batch]
            self._store(section, [valid for unit in units if (valid := [item for item in unit if not item.status])])
            for item in chain.from_iterable(units):
                results.append(item.answer())
                messages += messages_of(item)
            time.sleep(0.001)  # reading is computing: without a pause a thread hands over only when it is made to
        self.receipt.add_section(results, messages)

    def _store(self, section: Section, units: list[list[Item]]) -> None:
        """Write what was read, unit by unit where the database refuses one of them."""
        items = list(chain.from_iterable(units))
        if not items:
            return
        try:
            with self.writer.attempt():
                self._write(section, items)
        except StoppedError:
            self._fail(items, NOT_TRIED)
        except DatabaseError as error:
            if is_unavailable(error):
                raise
            self._divide(section, units, error)

    def _write(self, section: Section, items: list[Item]) -> None:
        section.prepare(self.run, items)
        if self.run.dry:
            section.write(self.run, items)
        else:
            with self.writer.batch(), account_write(self.run.owner):
                section.write(self.run, items)
        self.run.keep(items)

    def _divide(self, section: Section, units: list[list[Item]], error: DatabaseError) -> None:
        if len(units) > 1:
            # The database took the whole batch back: what was said of its records is not so any more.
            for item in chain.from_iterable(units):
                item.reset()
            for unit in units:
                self._store(section, [unit])
        else:
            log.error("a record of an import was refused", exc_info=error)
            self._fail(units[0], "This record could not be stored.")

    def _fail(self, items: list[Item], reason: str) -> None:
        for item in items:
            item.left_out = []
            self.run.failed(item, reason)


def _batches(units: Iterator[list[int]]) -> Iterator[list[list[int]]]:
    """Some hundred records at a time, whole units."""
    batch: list[list[int]] = []
    for unit in units:
        batch.append(unit)
        if len(batch) >= _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _read(section: str, shape: "serializers.Serializer[Any]", index: int, raw: Any, seen: set[UUID]) -> Item:
    """The record as its section's shape has it, or failed."""
    item = Item(section, index)
    try:
        item.source_id = _source_id(raw, seen)
        item.data = shape.run_validation(raw)
    except serializers.ValidationError as error:
        item.finish(ERROR, None, validation_body(error.detail)["error"])
    return item


def _source_id(raw: Any, seen: set[UUID]) -> UUID:
    if not isinstance(raw, Mapping):
        raise serializers.ValidationError("This must be an object.")
    key = parse_id(raw.get("id"))
    if key is None:
        raise serializers.ValidationError({"id": ["Every record needs the id it was exported with."]})
    if key in seen:
        raise serializers.ValidationError({"id": ["Another record has this id."]})
    seen.add(key)
    return key
