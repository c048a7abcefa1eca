"""Imports the document in batches of about a hundred records: each is validated, then written in one transaction."""

import datetime as dt
import logging
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db import DatabaseError
from rest_framework import serializers

from accounts.models import User
from accounts.transfer.run import ERROR, IMPORTED, SKIPPED, UPDATED, ImportRecord, TransferRun
from accounts.transfer.sections import FORMAT, VERSION, Section, sections
from contacts_project.kernel.api.errors import NOT_A_LIST, NOT_AN_OBJECT, InvalidError, validation_text
from contacts_project.kernel.errors import FieldError, PlanLimitError, is_unavailable
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.json import Json, JsonObject
from contacts_project.kernel.ownership.account_lock import BatchWriter, StoppedError, account_write
from contacts_project.kernel.texts import Text, define_text

_NOT_STORED = define_text("record_not_stored", "This record could not be stored.")
_NO_ID = define_text("record_without_id", "Every record needs the id it was exported with.")
_REPEATED_ID = define_text("repeated_record_id", "Another record has this id.")
_NOT_AN_EXPORT = define_text("not_an_export", 'This is no export of this service: "format" must be "%(format)s".')
_UNKNOWN_VERSION = define_text("unknown_export_version", "Only version %(version)s of the format is known here.")

log = logging.getLogger(__name__)

_BATCH_SIZE = 100  # units (Section.units)
# A limit of memory: each record has a line in the receipt.
MAX_RECORDS = 200_000
NOT_TRIED = define_text(
    "records_not_tried",
    "Not tried: the service was busy, or a part of it away. Import the document again: it goes on from here.",
)


def import_document(*, owner: User, document: Any, now: dt.datetime, dry: bool = False) -> JsonObject:
    """Import the records of the document into the account; returns the receipt. `dry` writes nothing.

    Records that exist already stay unchanged, so a second run changes nothing, and a run after a crash continues where
    the first one ended. An invalid record, or one that the database refuses, is an error in the receipt and does not
    stop the others. Raises FieldError if the document has the wrong format; if nothing was written, also the database's
    error for which `is_unavailable` is true.
    """
    importer = _Importer(TransferRun(owner, now, dry=dry))
    with importer.writer:
        for section in _check_document(document):
            importer.import_section(section, document[section.name])
    return importer.receipt.to_json()


def _check_document(document: object) -> list[Section]:
    """The sections that the document contains, in the order of import. Raises FieldError."""
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise FieldError("format", _NOT_AN_EXPORT.format(format=FORMAT))
    version = document.get("version")
    if type(version) is not int or version != VERSION:  # true and 1.0 are equal to 1
        raise FieldError("version", _UNKNOWN_VERSION.format(version=VERSION))
    present = [section for section in sections() if section.is_imported and section.name in document]
    for section in present:
        if not isinstance(document[section.name], list):
            raise FieldError(section.name, NOT_A_LIST)
    if sum(len(document[section.name]) for section in present) > MAX_RECORDS:
        longest = max(present, key=lambda section: len(document[section.name]))
        raise FieldError(longest.name, _TOO_MANY_RECORDS)
    return present


_TOO_MANY_RECORDS = define_text(
    "too_many_records",
    "At most %(limit)s records in all: import it in parts, each with the people its relationships name.",
).format(limit=MAX_RECORDS)


class _Importer:
    def __init__(self, run: TransferRun) -> None:
        self.run, self.receipt = run, TransferReceipt()
        self.writer = BatchWriter(run.owner)

    def import_section(self, section: Section, records: list[Json]) -> None:
        serializer, seen = section.serializer(), set[UUID]()
        results: list[dict[str, Any]] = []
        messages: list[tuple[int, Text]] = []
        for batch in _batches(section.units(records)):
            units = [
                [_parse_record(section.name, serializer, index, records[index], seen) for index in unit]
                for unit in batch
            ]
            self._store(
                section, [valid for unit in units if (valid := [record for record in unit if not record.status])]
            )
            for record in chain.from_iterable(units):
                results.append(record.to_json())
                messages += messages_of(record)
            # Validation is pure Python: without a pause, other threads wait for the interpreter to switch (5 ms each).
            time.sleep(0.001)
        self.receipt.add_section(results, messages)

    def _store(self, section: Section, units: list[list[ImportRecord]]) -> None:
        """Write the units in one transaction; if the database refuses a record, each unit in its own."""
        records = list(chain.from_iterable(units))
        if not records:
            return
        try:
            with self.writer.attempt():
                self._write(section, records)
        except StoppedError:
            self._fail(records, NOT_TRIED)
        except PlanLimitError as error:
            self._store_separately(section, units, error)
        except DatabaseError as error:
            if is_unavailable(error):
                raise
            self._store_separately(section, units, error)

    def _write(self, section: Section, records: list[ImportRecord]) -> None:
        section.prepare(self.run, records)
        if self.run.dry:
            section.write(self.run, records)
        else:
            with self.writer.batch(), account_write(self.run.owner):
                section.write(self.run, records)
        self.run.remember(records)

    def _store_separately(
        self, section: Section, units: list[list[ImportRecord]], error: DatabaseError | PlanLimitError
    ) -> None:
        if len(units) > 1:
            # The whole batch was rolled back, so the results of its records are void.
            for record in chain.from_iterable(units):
                record.reset()
            for unit in units:
                self._store(section, [unit])
        elif isinstance(error, PlanLimitError):
            self._fail(units[0], error.message)
        else:
            log.error("a record of an import was refused", exc_info=error)
            self._fail(units[0], _NOT_STORED)

    def _fail(self, records: list[ImportRecord], reason: Text) -> None:
        for record in records:
            record.omissions = []
            self.run.failed(record, reason)


def _batches(units: Iterator[list[int]]) -> Iterator[list[list[int]]]:
    """Batches of `_BATCH_SIZE` units."""
    batch: list[list[int]] = []
    for unit in units:
        batch.append(unit)
        if len(batch) >= _BATCH_SIZE:
            yield batch
            batch = []
    if batch:
        yield batch


def _parse_record(
    section: str, serializer: "serializers.Serializer[Any]", index: int, raw: object, seen: set[UUID]
) -> ImportRecord:
    """The validated record, or one with the status ERROR."""
    record = ImportRecord(section, index)
    try:
        record.source_id = _parse_source_id(raw, seen)
        record.data = serializer.run_validation(raw)
    except serializers.ValidationError as error:
        record.finish(ERROR, None, validation_text(error))
    return record


def _parse_source_id(raw: object, seen: set[UUID]) -> UUID:
    if not isinstance(raw, Mapping):
        raise InvalidError(NOT_AN_OBJECT)
    key = parse_id(raw.get("id"))
    if key is None:
        raise InvalidError({"id": [_NO_ID]})
    if key in seen:
        raise InvalidError({"id": [_REPEATED_ID]})
    seen.add(key)
    return key


_MESSAGE = define_text("section_record_failed", "%(section)s, record %(number)s: %(reason)s")


class TransferReceipt:
    """Collects the response of an import. Keeps one result for each record, not the record itself."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.messages: list[Text] = []
        self.results: list[dict[str, Any]] = []

    def add_section(self, results: list[JsonObject], messages: list[tuple[int, Text]]) -> None:
        """Add the results of a section, sorted by their index in the document."""
        self.results += sorted(results, key=lambda result: int(result["index"]))
        self.messages += [text for _, text in sorted(messages, key=itemgetter(0))]
        self.counts.update(result["status"] for result in results)

    def to_json(self) -> JsonObject:
        return {
            "success": not self.messages,
            "imported": self.counts[IMPORTED],
            "updated": self.counts[UPDATED],
            "skipped": self.counts[SKIPPED],
            "errors": len(self.messages),
            "errorMessages": list(map(str, self.messages)),
            "results": self.results,
        }


def messages_of(record: ImportRecord) -> list[tuple[int, Text]]:
    """The error messages of a record, with its index: why it failed, or which parts of it were not imported."""
    reasons = [record.reason] if record.status == ERROR and record.reason else record.omissions
    number = record.index + 1
    return [(record.index, _MESSAGE.format(section=record.section, number=number, reason=reason)) for reason in reasons]
