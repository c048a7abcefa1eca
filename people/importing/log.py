"""What an import writes, noted in the same transactions, so that it can be undone."""

import datetime as dt
import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

import orjson

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import AccountWrite
from people import field_table
from people.entries import SHAPES
from people.models import ContactImport, Group, ImportantDate, ImportedRecord, Membership, Person
from people.services.person_dates import DATE_FIELDS
from people.vocabularies import RecordKind

# What interactions make of the last contact is theirs; what the user typed is in `contact_before`.
_SCALARS = (*(field.attribute for field in field_table.SCALARS if field.name != "lastContact"), "contact_before")
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


def fingerprints(owner_id: UUID, people: Iterable[Person]) -> dict[UUID, str]:
    """What people are, each in one text: the same as long as nobody edits them, their dates or groups.

    What the geocoder adds is no edit, nor is what follows from interactions.
    """
    rows = {person.pk: person for person in people}
    dates: dict[UUID, list[Any]] = defaultdict(list)
    active = ImportantDate.objects.owned_by(owner_id).active().filter(person__in=rows)
    for person_id, *values in active.order_by("id").values_list("person_id", *DATE_FIELDS):
        dates[person_id].append(values)
    groups: dict[UUID, list[str]] = defaultdict(list)
    memberships = Membership.objects.owned_by(owner_id).filter(person__in=rows).order_by("group_id")
    for person_id, group_id in memberships.values_list("person_id", "group_id"):
        groups[person_id].append(str(group_id))
    return {key: _digest([_said(person), dates[key], groups[key]]) for key, person in rows.items()}


def _said(person: Person) -> list[Any]:
    documents = ([[entry.get(key) for key in keys] for entry in getattr(person, name)] for name, keys in SHAPES.items())
    return [*(getattr(person, name) for name in _SCALARS), *documents]


def _digest(value: Any) -> str:
    return hashlib.sha256(orjson.dumps(value)).hexdigest()


class ImportLog:
    """The records of one import. What is noted is written by `flush`, in the write that makes the records."""

    def __init__(self, contact_import: ContactImport, owner: User, now: dt.datetime) -> None:
        self.row, self.owner, self.now = contact_import, owner, now
        self._people: dict[UUID, tuple[Person, bool, dict[str, Any]]] = {}
        self._made: list[ImportedRecord] = []
        self._dates: dict[UUID, dict[str, Any]] = {}

    def people(
        self,
        written: Iterable[tuple[Person, bool]],
        former: Mapping[UUID, Mapping[str, Any]],
        joined: Iterable[tuple[Person, Group]],
    ) -> None:
        """People as they are now, and whether they are new; `former`: columns of the others before it."""
        groups: dict[UUID, list[str]] = defaultdict(list)
        for person, group in joined:
            groups[person.pk].append(str(group.pk))
        for person, is_new in written:
            before: dict[str, Any] = {}
            if not is_new:
                now = columns_of(person)
                columns = {name: value for name, value in former[person.pk].items() if now[name] != value}
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

    def flush(self, write: AccountWrite) -> None:
        """Write what was noted, with the people as the write leaves them."""
        people, self._people = self._people, {}
        made, self._made = self._made, []
        self.row.last_revision = write.revision
        self.row.save()
        known = self._known(people)
        prints = fingerprints(self.owner.pk, (person for person, _, _ in people.values())) if people else {}
        for key, (_, is_new, before) in people.items():
            record = known.get(key) or self._record(RecordKind.PERSON, key, is_new=is_new)
            if key not in known:
                record.before = orjson.loads(orjson.dumps(before))
                made.append(record)
            elif not record.is_new:
                record.before = _joined(record.before, orjson.loads(orjson.dumps(before)))
            record.fingerprint = prints[key]
        ImportedRecord.objects.bulk_create(made)
        ImportedRecord.objects.owned_by(self.owner).bulk_update(known.values(), ["fingerprint", "before"])

    def _known(self, keys: Collection[UUID]) -> dict[UUID, ImportedRecord]:
        """Of people whom an earlier batch of the file had already."""
        rows = ImportedRecord.objects.owned_by(self.owner).filter(
            contact_import=self.row, kind=RecordKind.PERSON, record_id__in=keys
        )
        return {row.record_id: row for row in rows} if keys else {}

    def _record(self, kind: RecordKind, key: UUID, *, is_new: bool = True) -> ImportedRecord:
        return ImportedRecord(
            owner=self.owner, contact_import=self.row, kind=kind, record_id=key, is_new=is_new, created_at=self.now
        )


def _joined(first: dict[str, Any], later: dict[str, Any]) -> dict[str, Any]:
    """What two changes of one person by one import changed: the former values are those of the first."""
    return {
        "columns": {**later.get("columns", {}), **first.get("columns", {})},
        "groups": [*first.get("groups", []), *later.get("groups", [])],
        "newDates": [*first.get("newDates", []), *later.get("newDates", [])],
        "movedDates": {**later.get("movedDates", {}), **first.get("movedDates", {})},
    }
