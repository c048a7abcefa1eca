"""Records what an import writes, in the same transactions, so that the import can be undone."""

import datetime as dt
import hashlib
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

import orjson
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.leases import RELEASED_VALUES, lease_values
from contacts_project.kernel.ownership.account_lock import AccountWrite, account_lock
from contacts_project.kernel.ownership.client_ids import claim_ids
from contacts_project.kernel.ownership.models import OwnedQuerySet
from people import field_table
from people.entries import ENTRY_KEYS, date_entry
from people.field_table import DATE_COLUMNS
from people.importing.receipts import ERROR, IMPORTED, SKIPPED, UPDATED, RecordOutcome, store_receipt
from people.models import ContactImport, Group, ImportantDate, ImportedRecord, Membership, Person
from people.models.imports import RevisionSet
from people.services.group_rules import RULED_COLUMNS, RulesWritten
from people.vocabularies import RecordKind

# Longer than a batch takes. Where its process was killed on this machine, an import ends at once.
_LEASE = dt.timedelta(minutes=5)
# Where no batch writes, as for a file of people who are here already, the counts are stored this often.
_SECONDS_BETWEEN_COUNTS = 2.0
#: Stored instead of the fingerprint of an edited person. It equals no digest.
EDITED = "edited"
# lastContact also follows from interactions, which is no edit; what the user typed is in `contact_before`.
_SCALARS = (*(field.attribute for field in field_table.SCALARS if field.name != "lastContact"), "contact_before")
#: The columns of a person that an import sets: those of a card without the photo, whose former file is deleted, so it
#: cannot come back; and those that the rules of groups set.
IMPORTED_COLUMNS = (
    *(field.column for field in field_table.CARD_SCALARS if field.name != "lastContact"),
    "contact_before",
    *Person.LIST_COLUMNS,
    "card_lines",
    *RULED_COLUMNS,
    "contact_reminder_from_id",
)


def fingerprints(owner_id: UUID, people: Iterable[Person]) -> dict[UUID, str]:
    """Return a digest for each person, which stays the same until somebody edits the person, its dates or its groups.

    Coordinates that the geocoder adds do not change it, and neither does what follows from interactions.
    """
    rows = {person.pk: person for person in people}
    dates: dict[UUID, list[Any]] = defaultdict(list)
    active = ImportantDate.objects.owned_by(owner_id).active().filter(person__in=rows)
    for person_id, *values in active.order_by("id").values_list("person_id", *DATE_COLUMNS):
        dates[person_id].append(values)
    groups: dict[UUID, list[str]] = defaultdict(list)
    memberships = Membership.objects.owned_by(owner_id).filter(person__in=rows).order_by("group_id")
    for person_id, group_id in memberships.values_list("person_id", "group_id"):
        groups[person_id].append(str(group_id))
    values = {key: [_editable_values(person), dates[key], groups[key]] for key, person in rows.items()}
    return {key: hashlib.sha256(orjson.dumps(value)).hexdigest() for key, value in values.items()}


def _editable_values(person: Person) -> list[object]:
    # Only the keys that a user can write: the geocoder adds others to an address.
    documents = (
        [[entry.get(key) for key in keys] for entry in getattr(person, name)] for name, keys in ENTRY_KEYS.items()
    )
    return [*(getattr(person, name) for name in _SCALARS), *documents]


def columns_of(person: Person) -> dict[str, object]:
    """The current values of the columns that an import may change."""
    return {column: getattr(person, column) for column in IMPORTED_COLUMNS}


class ImportStoppedError(Exception):
    """The import was undone while it was running, so it must not write any more."""


def claim_import_id(owner: User, key: UUID) -> None:
    """Check that an import may have this id, and reserve it until the caller's transaction ends. Raises IdTakenError.

    An import that was cut off before it wrote anything gives its id back.
    """
    rows = ContactImport.objects.owned_by(owner).filter(pk=key, claim__isnull=False, own_revisions=[])
    for row in rows:
        if row.is_free(timezone.now()):
            row.delete()
    claim_ids([key])


class ImportLog:
    """The row and the log of one import.

    Entries are collected in memory; `flush` writes them in the write that they describe.

    `counts` contains how many outcomes of each status have been yielded to the caller; `has_flushed` is whether `flush`
    was called, be it in a write that was rolled back.
    """

    def __init__(self, contact_import: ContactImport, owner: User, now: dt.datetime) -> None:
        self.row, self.owner, self.now = contact_import, owner, now
        self.counts: Counter[str] = Counter()
        self.has_flushed = False
        self._counts_due_at = time.monotonic() + _SECONDS_BETWEEN_COUNTS
        self._former: dict[UUID, dict[str, Any]] = {}
        self._logged: dict[UUID, ImportedRecord] = {}
        self._people: dict[UUID, tuple[Person, bool, dict[str, Any]]] = {}
        self._created: list[ImportedRecord] = []
        self._dates: dict[UUID, dict[str, Any]] = {}

    def begin(self, import_id: UUID | None, total: int) -> None:
        """Write the row of the import, before its first record. Raises IdTakenError."""
        with account_lock(self.owner):
            if import_id is not None:
                claim_import_id(self.owner, import_id)
                self.row.pk = import_id
            self.row.total = total
            for name, value in lease_values(_LEASE, timezone.now()).items():
                setattr(self.row, name, value)
            self.row.save(force_insert=True)

    def record_former(self, people: Collection[Person]) -> None:
        """Remember the existing people before a batch changes them.

        A person that an earlier batch wrote and somebody has edited since is marked as edited for good: its fingerprint
        must not be renewed, or the undo would overwrite the edit.
        """
        self._former = {person.pk: columns_of(person) for person in people}
        rows = ImportedRecord.objects.owned_by(self.owner).filter(
            contact_import=self.row, kind=RecordKind.PERSON, record_id__in=self._former
        )
        self._logged = {row.record_id: row for row in rows} if people else {}
        rewritten = [person for person in people if person.pk in self._logged]
        prints = fingerprints(self.owner.pk, rewritten) if rewritten else {}
        for key, record in self._logged.items():
            if record.fingerprint != prints[key]:
                record.fingerprint = EDITED

    def record_people(
        self,
        written: Iterable[tuple[Person, bool]],
        joined: Iterable[tuple[Person, Group]],
        ruled: RulesWritten,
    ) -> None:
        """Log people as they are now, and whether they are new.

        `joined` are the groups that they were added to, `ruled` is what the rules of those have written.
        """
        groups: dict[UUID, list[str]] = defaultdict(list)
        for person, group in joined:
            groups[person.pk].append(str(group.pk))
        for person, is_new in written:
            before: dict[str, Any] = {}
            if not is_new:
                now = columns_of(person)
                columns = {name: value for name, value in self._former[person.pk].items() if now[name] != value}
                before = {"columns": columns, "groups": groups[person.pk], **self._dates.pop(person.pk, {})}
                before["leadDays"] = {str(key): days for key, days in ruled.dates.get(person.pk, {}).items()}
            self._people[person.pk] = (person, is_new, before)
        self._dates = {}

    def record_dates(self, new: Iterable[ImportantDate], moved: Iterable[ImportantDate]) -> None:
        """Log dates. Must be called before they are written: the former days of `moved` are read from the database."""
        self._dates = defaultdict(lambda: {"newDates": [], "movedDates": {}})
        for row in new:
            self._dates[row.person_id]["newDates"].append(str(row.pk))
        keys = [row.pk for row in moved]
        stored = ImportantDate.objects.owned_by(self.owner).filter(pk__in=keys) if keys else ()
        for row in stored:
            self._dates[row.person_id]["movedDates"][str(row.pk)] = date_entry(row)

    def record_created(self, kind: RecordKind, keys: Collection[UUID]) -> None:
        """Log created records of a kind."""
        self._created += [self._build_record(kind, key) for key in keys]

    def flush(self, write: AccountWrite, outcomes: Iterable[RecordOutcome] = ()) -> None:
        """Write the log entries. Must be called at the end of the write. `outcomes` are those of this write.

        Raises ImportStoppedError if the import has been undone meanwhile.
        """
        # Emptied first: if this write fails, its records must not be logged by the next one.
        people, self._people = self._people, {}
        created, self._created = self._created, []
        logged, self._logged = self._logged, {}
        self.has_flushed = True
        self._save_progress(write, outcomes)
        prints = fingerprints(self.owner.pk, (person for person, _, _ in people.values())) if people else {}
        for key, (_, is_new, before) in people.items():
            record = logged.get(key)
            if record is None:
                record = self._build_record(RecordKind.PERSON, key, is_new=is_new)
                record.before = orjson.loads(orjson.dumps(before))
                created.append(record)
            elif not record.is_new:
                record.before = _merge_changes(record.before, orjson.loads(orjson.dumps(before)))
            if record.fingerprint != EDITED:
                record.fingerprint = prints[key]
        ImportedRecord.objects.bulk_create(created)
        ImportedRecord.objects.owned_by(self.owner).bulk_update(logged.values(), ["fingerprint", "before"])

    def has_written(self) -> bool:
        """Whether any write of the import was committed."""
        return self._import_rows.exclude(own_revisions=[]).exists()

    def save_counts_if_due(self) -> None:
        """Store `counts` and renew the lease, if no batch has done so for a while."""
        if time.monotonic() < self._counts_due_at:
            return
        self._counts_due_at = time.monotonic() + _SECONDS_BETWEEN_COUNTS
        now = timezone.now()
        with account_lock(self.owner):
            self._import_rows.update(**_count_columns(self.counts), updated_at=now, held_until=now + _LEASE)

    def finish(self, receipt: bytes) -> None:
        """Store the final counts, that the whole file has been read, and the receipt (`compress_outcomes`)."""
        ended_at = timezone.now()
        columns = {**_count_columns(self.counts), "total": self.counts.total(), "ended_at": ended_at}
        with account_lock(self.owner):
            self._import_rows.update(**columns, **RELEASED_VALUES, updated_at=ended_at)
            store_receipt(self.row, receipt)

    def end_unfinished(self) -> None:
        """Remove the row if the import has written nothing, else say that it writes no more."""
        with account_lock(self.owner):
            if self.has_written():
                self._import_rows.update(**RELEASED_VALUES, updated_at=timezone.now())
            else:
                self._import_rows.delete()

    def _save_progress(self, write: AccountWrite, outcomes: Iterable[RecordOutcome]) -> None:
        """Store the counts and the revision of this write, so that the progress of a killed import is known."""
        stored = self._import_rows.values("own_revisions", "undo_until").first()
        if stored is None or stored["undo_until"]:
            raise ImportStoppedError
        written = RevisionSet(stored["own_revisions"])
        written.add(write.revision)
        counts = self.counts + Counter(outcome.status for outcome in outcomes)
        self._import_rows.update(
            **_count_columns(counts),
            own_revisions=written.ranges,
            updated_at=write.now,
            held_until=timezone.now() + _LEASE,
        )
        self._counts_due_at = time.monotonic() + _SECONDS_BETWEEN_COUNTS

    @property
    def _import_rows(self) -> OwnedQuerySet[ContactImport]:
        return ContactImport.objects.owned_by(self.owner).filter(pk=self.row.pk)

    def _build_record(self, kind: RecordKind, key: UUID, *, is_new: bool = True) -> ImportedRecord:
        return ImportedRecord(
            owner=self.owner, contact_import=self.row, kind=kind, record_id=key, is_new=is_new, created_at=self.now
        )


def _count_columns(counts: Counter[str]) -> dict[str, int]:
    return {
        "imported": counts[IMPORTED],
        "updated": counts[UPDATED],
        "skipped": counts[SKIPPED],
        "errors": counts[ERROR],
    }


def _merge_changes(first: JsonObject, later: JsonObject) -> JsonObject:
    """Combine two changes of a person by the same import. The former values of the first change win."""
    return {
        "columns": {**later.get("columns", {}), **first.get("columns", {})},
        "groups": [*first.get("groups", []), *later.get("groups", [])],
        "newDates": [*first.get("newDates", []), *later.get("newDates", [])],
        "movedDates": {**later.get("movedDates", {}), **first.get("movedDates", {})},
        "leadDays": {**first.get("leadDays", {}), **later.get("leadDays", {})},
    }
