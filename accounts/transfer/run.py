"""The state of an import: its records, and the rows that the ids of the document refer to."""

import datetime as dt
import hmac
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import models

from accounts.models import User
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import Text, define_text, describe_remarks

# Our UUIDs have a counter above the last 32 bits. Replacing more would lose the order of rows created together.
_LOW_BITS = 32
_LOW_MASK = (1 << _LOW_BITS) - 1


def derived_id(owner_id: UUID, source: UUID, attempt: int = 0) -> UUID:
    """A UUIDv7 with the time and counter of `source`, and the last 32 bits from a keyed hash of account and source.

    A repeated import finds the rows of the first by it, without a table of source ids. Because the hash is keyed,
    nobody can choose a source that collides with another account's row; should an id be taken by chance, the caller
    uses the next `attempt`.
    """
    message = b"transfer" + bytes([attempt]) + owner_id.bytes + source.bytes
    mac = hmac.digest(settings.SECRET_KEY.encode(), message, sha256)
    whole = (source.int & ~_LOW_MASK) | int.from_bytes(mac[: _LOW_BITS // 8])
    # Version 7 and its variant (RFC 9562, section 5.7), even if the source had others.
    whole = whole & ~(0xF << 76) | (0x7 << 76)
    return UUID(int=whole & ~(0x3 << 62) | (0x2 << 62))


_MISSING = define_text("references_missing", "Without what did not come in: %(fields)s")

_THERE_ALREADY = define_text("there_already", "It is there already.")

NO_ID = UUID(int=0)
# Derived ids have 32 random bits, so one can be taken by chance. This has never been seen.
_MAX_ID_ATTEMPTS = 3
IMPORTED, UPDATED, SKIPPED, ERROR = "imported", "updated", "skipped", "error"

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class ImportRecord:
    """A record and the result of its import. `data` is the validated record; `status` is empty before the result.

    `omissions` are messages about parts that were not imported although the record was, and count as errors; `remarks`
    are others. `ref` is what `TransferRun.find` returns to records that refer to this one: the id of the row, unless
    the section sets something else.
    """

    section: str
    index: int
    source_id: UUID = NO_ID
    data: dict[str, Any] = field(default_factory=dict)
    status: str = ""
    new_id: UUID | None = None
    ref: Any = None
    reason: Text | None = None
    remarks: list[Text] = field(default_factory=list)
    omissions: list[Text] = field(default_factory=list)

    def finish(self, status: str, new_id: UUID | None, reason: Text | None, ref: object = None) -> None:
        self.status, self.new_id, self.reason, self.ref = status, new_id, reason, ref or new_id

    def reset(self) -> None:
        """Discard the result after a rollback, before the record is written again."""
        self.status, self.new_id, self.reason, self.ref, self.omissions = "", None, None, None, []
        self.remarks = []

    def to_json(self) -> JsonObject:
        result: dict[str, Any] = {"section": self.section, "index": self.index, "status": self.status}
        if self.source_id != NO_ID:
            result["id"] = str(self.source_id)
        if self.new_id:
            result["newId"] = str(self.new_id)
        return result | describe_remarks([*([self.reason] if self.reason else []), *self.remarks, *self.omissions])


@dataclass(frozen=True)
class ResolvedIds:
    """By id in the document: the id of the account's existing row (`found`), or else an id for a new one (`new`)."""

    found: dict[UUID, UUID]
    new: dict[UUID, UUID]


class TransferRun:
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

    def find(self, section: str, source: object) -> Any:
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

    def describe_missing(self, **references: tuple[str, list[object]]) -> Text | None:
        """A message that counts the references to records that were not imported; None if there are none.

        `references`: by field, the section that it refers to and the ids.
        """
        counts = {
            name: sum(source is not None and self.find(section, source) is None for source in sources)
            for name, (section, sources) in references.items()
        }
        missing = [f"{name} ({count})" for name, count in counts.items() if count]
        return _MISSING.format(fields=missing) if missing else None

    def insert(self, model: type[models.Model], rows: list[Any]) -> None:
        if not self.dry:
            model._default_manager.bulk_create(rows)

    def imported(self, record: ImportRecord, new_id: UUID, reason: Text | None = None, *, ref: object = None) -> None:
        record.finish(IMPORTED, new_id, reason, ref)

    def skipped(self, record: ImportRecord, new_id: UUID, *, ref: object = None) -> None:
        record.finish(SKIPPED, new_id, _THERE_ALREADY, ref)

    def failed(self, record: ImportRecord, reason: Text) -> None:
        record.finish(ERROR, None, reason)

    def remember(self, records: list[ImportRecord]) -> None:
        """Make the records available to `find`. Must be called after the commit: a rollback removes their rows."""
        for record in records:
            self.started_sections.add(record.section)
            if record.status != ERROR:
                self._refs[record.section][record.source_id] = record.ref
