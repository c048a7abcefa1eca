"""Reads the document into an account: all records are checked first, then written in one transaction."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import models, transaction
from rest_framework import serializers

from accounts.models import User
from accounts.transfer.exporting import FORMAT, VERSION
from accounts.transfer.ids import derived_id
from accounts.transfer.sections import Section, sections
from contacts_project.kernel.api.errors import FieldError, validation_body
from contacts_project.kernel.api.ids import parse_id
from contacts_project.kernel.ownership.writing import account_write

NO_ID = UUID(int=0)
_LOOKED_UP_AT_ONCE = 200
# Ids that a record may get here, one after the other where the first is taken: never seen to be, but possible.
_ATTEMPTS = 3
IMPORTED, UPDATED, SKIPPED, ERROR = "imported", "updated", "skipped", "error"


@dataclass(eq=False)
class Item:
    """One record: `data` is what its section's shape made of it; `status` is set once it is known."""

    section: str
    index: int
    raw: Any
    source_id: UUID = NO_ID
    data: dict[str, Any] = field(default_factory=dict)
    status: str = ""
    new_id: UUID | None = None
    reason: str = ""

    def answer(self) -> dict[str, Any]:
        answer: dict[str, Any] = {"section": self.section, "index": self.index, "status": self.status}
        if self.source_id != NO_ID:
            answer["id"] = str(self.source_id)
        if self.new_id:
            answer["newId"] = str(self.new_id)
        if self.reason:
            answer["reason"] = self.reason
        return answer


class ImportRun:
    """An import under way: whose it is, and what each id of the document stands for in the account."""

    def __init__(self, owner: User, now: dt.datetime, *, dry: bool) -> None:
        self.owner, self.now, self.dry = owner, now, dry
        self.rows: dict[str, dict[UUID, Any]] = defaultdict(dict)
        self._free: dict[UUID, UUID] = {}

    def known(self, model: type[models.Model], items: list[Item]) -> dict[UUID, Any]:
        """The rows that the records are already, by the record's id: it was exported here, or imported before."""
        return self.place(model, [item.source_id for item in items])

    def place(self, model: type[models.Model], sources: list[UUID]) -> dict[UUID, Any]:
        """The account's rows that stand for `sources`; for the others, new_id now has an id that is free."""
        found: dict[UUID, Any] = {}
        for start in range(0, len(sources), _LOOKED_UP_AT_ONCE):
            batch = sources[start : start + _LOOKED_UP_AT_ONCE]
            candidates = {source: [source, *self._derived(source)] for source in batch}
            wanted = [key for keys in candidates.values() for key in keys]
            # Also other accounts' rows: only to see that an id is taken.
            present = model._base_manager.in_bulk(wanted)
            for source, keys in candidates.items():
                mine = [present[key] for key in keys if key in present and self._is_mine(present[key])]
                if mine:
                    found[source] = mine[0]
                self._free[source] = next(key for key in keys[1:] if key not in present or self._is_mine(present[key]))
        return found

    def new_id(self, source: UUID) -> UUID:
        """The id that the record gets here; known or place was asked before."""
        return self._free[source]

    def _derived(self, source: UUID) -> list[UUID]:
        return [derived_id(self.owner.pk, source, attempt) for attempt in range(_ATTEMPTS)]

    def _is_mine(self, row: Any) -> bool:
        return bool(row.owner_id == self.owner.pk)

    def find(self, section: str, source: Any) -> Any:
        """The row that the document calls `source` in `section`; None when it did not come in."""
        key = parse_id(source)
        return self.rows[section].get(key) if key else None

    def lost(self, **references: tuple[str, list[Any]]) -> str:
        """What a record points at that did not come in, in words: by field, the section and the ids. `""`: nothing."""
        counts = {
            name: sum(source is not None and self.find(section, source) is None for source in sources)
            for name, (section, sources) in references.items()
        }
        told = ", ".join(f"{name} ({count})" for name, count in counts.items() if count)
        return told and f"Without what did not come in: {told}"

    def imported(self, item: Item, row: Any) -> None:
        self._settle(item, IMPORTED, row)

    def skipped(self, item: Item, row: Any, reason: str = "It is there already.") -> None:
        self._settle(item, SKIPPED, row, reason)

    def failed(self, item: Item, reason: str) -> None:
        item.status, item.reason = ERROR, reason

    def _settle(self, item: Item, status: str, row: Any, reason: str = "") -> None:
        item.status, item.new_id, item.reason = status, row.pk, reason
        self.rows[item.section][item.source_id] = row


def import_document(*, owner: User, document: Any, now: dt.datetime, dry: bool = False) -> dict[str, Any]:
    """Put the document's records into the account; returns the receipt. `dry`: only say what would become of them.

    What is there already stays as it is, so that a second run changes nothing. A record that cannot be read or stored
    is told in the receipt and does not stop the others. Raises FieldError for what is no such document at all.
    """
    parts = [(section, _read(section, document)) for section in _checked(document)]
    with account_write(owner):
        run = ImportRun(owner, now, dry=dry)
        for section, items in parts:
            section.write(run, [item for item in items if not item.status])
        if dry:
            transaction.set_rollback(True)
    return _receipt([item for _, items in parts for item in items])


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
    return present


def _read(section: Section, document: Mapping[str, Any]) -> list[Item]:
    shape = section.shape()
    items = [Item(section.name, index, raw) for index, raw in enumerate(document[section.name])]
    seen: set[UUID] = set()
    for item in items:
        try:
            item.source_id = _source_id(item.raw, seen)
            item.data = shape.run_validation(item.raw)
        except serializers.ValidationError as error:
            item.status, item.reason = ERROR, validation_body(error.detail)["error"]
    return items


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


def _receipt(items: list[Item]) -> dict[str, Any]:
    counts = Counter(item.status for item in items)
    return {
        "success": not counts[ERROR],
        "imported": counts[IMPORTED],
        "updated": counts[UPDATED],
        "skipped": counts[SKIPPED],
        "errors": counts[ERROR],
        "errorMessages": [
            f"{item.section}, record {item.index + 1}: {item.reason}" for item in items if item.status == ERROR
        ],
        "results": [item.answer() for item in items],
    }
