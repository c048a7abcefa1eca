"""The state of an import: its records, and the rows that the ids of the document refer to."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from django.db import models

from accounts.models import User
from accounts.transfer.ids import derived_id
from contacts_project.kernel.api.json import parse_id

NO_ID = UUID(int=0)
# Derived ids have 32 random bits, so one can be taken by chance. This has never been seen.
_MAX_ID_ATTEMPTS = 3
IMPORTED, UPDATED, SKIPPED, ERROR = "imported", "updated", "skipped", "error"

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class ImportRecord:
    """A record and the result of its import. `data` is the validated record; `status` is empty before the result.

    `omissions` are messages about parts that were not imported although the record was. `ref` is what `ImportRun.find`
    returns to records that refer to this one: the id of the row, unless the section sets something else.
    """

    section: str
    index: int
    source_id: UUID = NO_ID
    data: dict[str, Any] = field(default_factory=dict)
    status: str = ""
    new_id: UUID | None = None
    ref: Any = None
    reason: str = ""
    omissions: list[str] = field(default_factory=list)

    def finish(self, status: str, new_id: UUID | None, reason: str, ref: Any = None) -> None:
        self.status, self.new_id, self.reason, self.ref = status, new_id, reason, ref or new_id

    def reset(self) -> None:
        """Discard the result after a rollback, before the record is written again."""
        self.status, self.new_id, self.reason, self.ref, self.omissions = "", None, "", None, []

    def to_json(self) -> dict[str, Any]:
        result: dict[str, Any] = {"section": self.section, "index": self.index, "status": self.status}
        if self.source_id != NO_ID:
            result["id"] = str(self.source_id)
        if self.new_id:
            result["newId"] = str(self.new_id)
        if reason := "; ".join(filter(None, [self.reason, *self.omissions])):
            result["reason"] = reason
        return result


@dataclass(frozen=True)
class ResolvedIds:
    """By id in the document: the id of the account's existing row (`found`), or else an id for a new one (`new`)."""

    found: dict[UUID, UUID]
    new: dict[UUID, UUID]


class ImportRun:
    """The state that the sections share. A dry run writes nothing, and remembers what it would have written."""

    def __init__(self, owner: User, now: dt.datetime, *, dry: bool) -> None:
        self.owner, self.now, self.dry = owner, now, dry
        self.started_sections: set[str] = set()
        self.allowance_used: Counter[str] = Counter()
        self._refs: dict[str, dict[UUID, Any]] = defaultdict(dict)
        self._indexes: dict[str, dict[Any, Any]] = defaultdict(dict)
        self._singles: dict[type[Any], Any] = {}

    def find_existing(self, model: type[models.Model], records: Iterable[ImportRecord]) -> ResolvedIds:
        """The rows that exist already, because the records were exported from this account or imported before."""
        return self.resolve_ids(model, [record.source_id for record in records])

    def resolve_ids(self, model: type[models.Model], sources: Iterable[UUID]) -> ResolvedIds:
        """The account's rows for ids of the document, in one query."""
        candidates = {
            source: [source, *(derived_id(self.owner.pk, source, attempt) for attempt in range(_MAX_ID_ATTEMPTS))]
            for source in sources
        }
        # Unscoped, because an id can be taken by a row of another account.
        rows = model._base_manager.filter(pk__in=[key for keys in candidates.values() for key in keys])
        owners = dict(rows.values_list("pk", "owner_id"))
        ids = ResolvedIds({}, {})
        for source, keys in candidates.items():
            own_key = next((key for key in keys if owners.get(key) == self.owner.pk), None)
            if own_key:
                ids.found[source] = own_key
            else:
                ids.new[source] = next(key for key in keys[1:] if key not in owners)
        return ids

    def find(self, section: str, source: Any) -> Any:
        """The `ref` of the record with the id `source` in an earlier section; None if it was not imported."""
        key = parse_id(source)
        return self._refs[section].get(key) if key else None

    def index(self, section: str, found: dict[Any, Any]) -> dict[Any, Any]:
        """An index of rows by a natural key, to which the section adds the rows that it writes.

        `found` are the rows of the database. A dry run keeps what was added for the next batch.
        """
        if not self.dry:
            return found
        self._indexes[section].update(found)
        return self._indexes[section]

    def single(self, kind: type[T]) -> T:
        """The run's only instance of `kind`, created on first use: state that sections share."""
        found: T = self._singles.setdefault(kind, kind())
        return found

    def describe_missing(self, **references: tuple[str, list[Any]]) -> str:
        """A message that counts the references to records that were not imported; empty if there are none.

        `references`: by field, the section that it refers to and the ids.
        """
        counts = {
            name: sum(source is not None and self.find(section, source) is None for source in sources)
            for name, (section, sources) in references.items()
        }
        listing = ", ".join(f"{name} ({count})" for name, count in counts.items() if count)
        return listing and f"Without what did not come in: {listing}"

    def insert(self, model: type[models.Model], rows: list[Any]) -> None:
        if not self.dry:
            model._default_manager.bulk_create(rows)

    def imported(self, record: ImportRecord, new_id: UUID, reason: str = "", *, ref: Any = None) -> None:
        record.finish(IMPORTED, new_id, reason, ref)

    def skipped(self, record: ImportRecord, new_id: UUID, *, ref: Any = None) -> None:
        record.finish(SKIPPED, new_id, "It is there already.", ref)

    def failed(self, record: ImportRecord, reason: str) -> None:
        record.finish(ERROR, None, reason)

    def remember(self, records: list[ImportRecord]) -> None:
        """Make the records available to `find`. Must be called after the commit: a rollback removes their rows."""
        for record in records:
            self.started_sections.add(record.section)
            if record.status != ERROR:
                self._refs[record.section][record.source_id] = record.ref
