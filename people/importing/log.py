"""What an import writes, noted in the same transactions, so that it can be undone."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

import orjson
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import AccountWrite
from contacts_project.kernel.ownership.models import OwnedQuerySet
from people import field_table
from people.importing.fingerprints import EDITED, fingerprints
from people.importing.receipts import ERROR, IMPORTED, SKIPPED, UPDATED, Outcome
from people.models import ContactImport, Group, ImportantDate, ImportedRecord, Person
from people.models.own_writes import OwnWrites
from people.vocabularies import RecordKind

#: The columns of a person that a card sets, but for the photo, whose former file is gone.
CARD_COLUMNS = (
    *(field.column for field in field_table.CARD_SCALARS if field.name != "lastContact"),
    "contact_before",
    *Person.DOCUMENTS,
    "card_lines",
)


def columns_of(person: Person) -> dict[str, Any]:
    """What a card may change, as it is."""
    return {column: getattr(person, column) for column in CARD_COLUMNS}


class ImportStoppedError(Exception):
    """The import was undone while it ran: it writes no more."""


class ImportLog:
    """The records of one import. What is noted is written by `flush`, in the write that makes the records.

    `counts` are those of the outcomes that have been handed out.
    """

    def __init__(self, contact_import: ContactImport, owner: User, now: dt.datetime) -> None:
        self.row, self.owner, self.now = contact_import, owner, now
        self.counts: Counter[str] = Counter()
        self._former: dict[UUID, dict[str, Any]] = {}
        self._known: dict[UUID, ImportedRecord] = {}
        self._people: dict[UUID, tuple[Person, bool, dict[str, Any]]] = {}
        self._made: list[ImportedRecord] = []
        self._dates: dict[UUID, dict[str, Any]] = {}

    def begin(self, people: Collection[Person]) -> None:
        """Those who are there already, before a batch changes them.

        Whom an earlier batch had written, and somebody has edited since, is never again what the import made of them.
        """
        self._former = {person.pk: columns_of(person) for person in people}
        rows = ImportedRecord.objects.owned_by(self.owner).filter(
            contact_import=self.row, kind=RecordKind.PERSON, record_id__in=self._former
        )
        self._known = {row.record_id: row for row in rows} if people else {}
        again = [person for person in people if person.pk in self._known]
        prints = fingerprints(self.owner.pk, again) if again else {}
        for key, record in self._known.items():
            if record.fingerprint != prints[key]:
                record.fingerprint = EDITED

    def people(self, written: Iterable[tuple[Person, bool]], joined: Iterable[tuple[Person, Group]]) -> None:
        """People as they are now, and whether they are new; `joined`: the groups that they came into."""
        groups: dict[UUID, list[str]] = defaultdict(list)
        for person, group in joined:
            groups[person.pk].append(str(group.pk))
        for person, is_new in written:
            before: dict[str, Any] = {}
            if not is_new:
                now = columns_of(person)
                columns = {name: value for name, value in self._former[person.pk].items() if now[name] != value}
                before = {"columns": columns, "groups": groups[person.pk], **self._dates.pop(person.pk, {})}
            self._people[person.pk] = (person, is_new, before)
        self._dates = {}

    def dates(self, new: Iterable[ImportantDate], moved: Iterable[ImportantDate]) -> None:
        """Dates that are about to be written; those that moved still have their stored day in the database."""
        self._dates = defaultdict(lambda: {"newDates": [], "movedDates": {}})
        for row in new:
            self._dates[row.person_id]["newDates"].append(str(row.pk))
        keys = [row.pk for row in moved]
        stored = ImportantDate.objects.owned_by(self.owner).filter(pk__in=keys) if keys else ()
        for row in stored:
            self._dates[row.person_id]["movedDates"][str(row.pk)] = {
                "title": row.title,
                "date": row.date.isoformat(),
                "yearUnknown": row.year_unknown,
            }

    def groups(self, made: Iterable[Group]) -> None:
        self.made(RecordKind.GROUP, [group.pk for group in made])

    def made(self, kind: RecordKind, keys: Collection[UUID]) -> None:
        """Records of a kind that were made."""
        self._made += [self._record(kind, key) for key in keys]

    def flush(self, write: AccountWrite, outcomes: Iterable[Outcome] = ()) -> None:
        """Write what was noted, with the people as the write leaves them; `outcomes` are those of this write.

        Raises ImportStoppedError.
        """
        people, self._people = self._people, {}
        made, self._made = self._made, []
        known, self._known = self._known, {}
        self._note_progress(write, outcomes)
        prints = fingerprints(self.owner.pk, (person for person, _, _ in people.values())) if people else {}
        for key, (_, is_new, before) in people.items():
            record = known.get(key)
            if record is None:
                record = self._record(RecordKind.PERSON, key, is_new=is_new)
                record.before = orjson.loads(orjson.dumps(before))
                made.append(record)
            elif not record.is_new:
                record.before = _joined(record.before, orjson.loads(orjson.dumps(before)))
            if record.fingerprint != EDITED:
                record.fingerprint = prints[key]
        ImportedRecord.objects.bulk_create(made)
        ImportedRecord.objects.owned_by(self.owner).bulk_update(known.values(), ["fingerprint", "before"])

    def end(self, counts: Counter[str]) -> None:
        """The whole file has been read. `counts` are those of its receipt."""
        ended_at = timezone.now()
        columns = {**_columns(counts), "ended_at": ended_at, "updated_at": ended_at}
        if not self._rows.update(**columns):
            self._insert(columns)

    def _note_progress(self, write: AccountWrite, outcomes: Iterable[Outcome]) -> None:
        """So that an import that is killed tells how far it came."""
        stored = self._rows.values("own_revisions", "undo_until").first()
        if stored and stored["undo_until"]:
            raise ImportStoppedError
        own = OwnWrites(stored["own_revisions"] if stored else ())
        own.add(write.revision)
        counts = self.counts + Counter(outcome.status for outcome in outcomes)
        columns = {**_columns(counts), "own_revisions": own.ranges, "updated_at": write.now}
        if stored:
            self._rows.update(**columns)
        else:
            self._insert(columns)

    @property
    def _rows(self) -> OwnedQuerySet[ContactImport]:
        return ContactImport.objects.owned_by(self.owner).filter(pk=self.row.pk)

    def _insert(self, columns: Mapping[str, Any]) -> None:
        for name, value in columns.items():
            setattr(self.row, name, value)
        self.row.save(force_insert=True)

    def _record(self, kind: RecordKind, key: UUID, *, is_new: bool = True) -> ImportedRecord:
        return ImportedRecord(
            owner=self.owner, contact_import=self.row, kind=kind, record_id=key, is_new=is_new, created_at=self.now
        )


def _columns(counts: Counter[str]) -> dict[str, Any]:
    return {
        "imported": counts[IMPORTED],
        "updated": counts[UPDATED],
        "skipped": counts[SKIPPED],
        "errors": counts[ERROR],
    }


def _joined(first: dict[str, Any], later: dict[str, Any]) -> dict[str, Any]:
    """What two changes of one person by one import changed: the former values are those of the first."""
    return {
        "columns": {**later.get("columns", {}), **first.get("columns", {})},
        "groups": [*first.get("groups", []), *later.get("groups", [])],
        "newDates": [*first.get("newDates", []), *later.get("newDates", [])],
        "movedDates": {**later.get("movedDates", {}), **first.get("movedDates", {})},
    }
