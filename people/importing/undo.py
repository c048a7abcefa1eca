"""Undoing an import: what it made goes, what it changed is put back, as far as nobody has edited it since."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef

from accounts.models import User
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ownership.account_lock import account_lock, account_write
from contacts_project.kernel.ownership.batches import BatchWriter
from contacts_project.kernel.ownership.models import retention_cutoff
from people.dates import schedule
from people.extensions import EXTENSIONS
from people.importing.log import fingerprints
from people.models import (
    ContactImport,
    Group,
    ImportantDate,
    ImportedRecord,
    Interaction,
    Membership,
    Participation,
    Person,
)
from people.names import COLUMNS as NAME_COLUMNS
from people.names import NameParts, display_name
from people.services.group_lifecycle import delete_group
from people.services.interactions import delete_interactions
from people.services.people import delete_people
from people.services.person_writer import PersonWriter
from people.vocabularies import RecordKind

_EDITED = "this person was edited since the import"
_BATCH = 100


class ImportUndoneError(DomainError):
    """An import is undone once."""

    message = "This import has already been undone."


class ImportTooOldError(DomainError):
    """What an import made is remembered for the retention period."""

    message = "This import is too old to be undone."


@dataclass(slots=True)
class Undone:
    """How many people went to the trash, and who keeps what the import brought: (id, name, reason)."""

    removed: int = 0
    kept: list[tuple[UUID, str, str]] = field(default_factory=list)


def undo_import(*, owner: User, import_id: UUID, now: dt.datetime) -> Undone:
    """Take back what an import brought, in short transactions; killed half way, it goes on when it is asked again.

    Raises MissingError, ImportUndoneError, ImportTooOldError.
    """
    row = ContactImport.objects.owned_by(owner).find(import_id)
    if row.undone_at is not None:
        raise ImportUndoneError
    if row.created_at < retention_cutoff(now):
        raise ImportTooOldError
    run = _Undoing(owner, row, now)
    run.drop_ties()
    for records in iter(run.next_people, []):
        run.undo_people(records)
    run.drop_groups()
    with account_lock(owner):
        ContactImport.objects.owned_by(owner).filter(pk=row.pk).update(undone_at=now)
    run.writer.finish()
    return run.result


class _Undoing:
    def __init__(self, owner: User, row: ContactImport, now: dt.datetime) -> None:
        self.owner, self.row, self.now = owner, row, now
        self.writer = BatchWriter(owner)
        self.result = Undone()
        self.records = ImportedRecord.objects.owned_by(owner).filter(contact_import=row)
        # Looked at before anything is taken back, which is no edit.
        self.edited = self._edited_beside()

    def drop_ties(self) -> None:
        """Interactions and relationships that it made."""
        for kind, drop in (
            (RecordKind.INTERACTION, self._drop_interactions),
            (RecordKind.RELATIONSHIP, self._drop_pairs),
        ):
            while records := list(self.records.filter(kind=kind).order_by("id")[:_BATCH]):
                with self.writer.batch(), account_write(self.owner):
                    drop([record.record_id for record in records])
                    self._forget(records)

    def next_people(self) -> list[ImportedRecord]:
        return list(self.records.filter(kind=RecordKind.PERSON).order_by("id")[:_BATCH])

    def undo_people(self, records: list[ImportedRecord]) -> None:
        with self.writer.batch(), account_write(self.owner) as write:
            active = Person.objects.owned_by(self.owner).active()
            people = {person.pk: person for person in active.filter(pk__in=[row.record_id for row in records])}
            now = fingerprints(self.owner.pk, people.values())
            there = [row for row in records if row.record_id in people]
            untouched = [
                row for row in there if row.fingerprint == now[row.record_id] and row.record_id not in self.edited
            ]
            for row in there:
                if row not in untouched:
                    person = people[row.record_id]
                    self.result.kept.append((person.pk, self._name_of(person), _EDITED))
            gone = [row.record_id for row in untouched if row.is_new]
            self.result.removed += delete_people(owner=self.owner, person_ids=gone, options={}, now=self.now)
            writer = PersonWriter(self.owner, write, self.now)
            for row in untouched:
                if not row.is_new:
                    self._put_back(writer, people[row.record_id], row.before)
            writer.flush()
            self._forget(records)

    def drop_groups(self) -> None:
        """Those that it made and in which nobody is left."""
        with self.writer.batch(), account_write(self.owner):
            records = list(self.records.filter(kind=RecordKind.GROUP))
            members = Membership.objects.owned_by(self.owner).filter(group=OuterRef("pk"), person__deleted_at=None)
            groups = Group.objects.owned_by(self.owner).active().filter(pk__in=[row.record_id for row in records])
            for group in groups.exclude(Exists(members)):
                delete_group(group=group, with_people=False, now=self.now)
            self._forget(records)

    def _name_of(self, person: Person) -> str:
        parts = NameParts(*(getattr(person, column) for column in NAME_COLUMNS))
        return display_name(parts, order=self.owner.name_order, form=self.owner.name_display_format)

    def _edited_beside(self) -> set[UUID]:
        """The people with whom something has been noted, or whom something ties to somebody, since the import."""
        since = self.row.last_revision
        interactions = Interaction.objects.owned_by(self.owner).active().filter(revision__gt=since)
        rows = Participation.objects.owned_by(self.owner).filter(interaction__in=interactions)
        edited = set(rows.values_list("person_id", flat=True))
        for extension in EXTENSIONS:
            edited |= set(extension.tied_since(self.owner.pk, since))
        return edited

    def _drop_interactions(self, keys: list[UUID]) -> None:
        mine = (
            Interaction.objects.owned_by(self.owner).active().filter(pk__in=keys, revision__lte=self.row.last_revision)
        )
        delete_interactions(owner=self.owner, interaction_ids=list(mine.values_list("pk", flat=True)), now=self.now)

    def _drop_pairs(self, keys: list[UUID]) -> None:
        for extension in EXTENSIONS:
            extension.untie(self.owner.pk, keys, self.row.last_revision, self.now)

    def _put_back(self, writer: PersonWriter, person: Person, before: dict[str, Any]) -> None:
        """Somebody who was there before, as it was."""
        writer.edit(person)
        for column, value in before.get("columns", {}).items():
            column_field: Any = Person._meta.get_field(column)
            setattr(person, column, column_field.to_python(value))
        if "contact_before" in before.get("columns", {}):
            days = (person.contact_before, person.interacted_on)
            person.last_contact = max((day for day in days if day), default=None)
        groups = Membership.objects.owned_by(self.owner).filter(person=person, group__in=before.get("groups", ()))
        groups.delete()
        dates = ImportantDate.objects.owned_by(self.owner).active().filter(person=person)
        dates.filter(pk__in=before.get("newDates", ())).update(deleted_at=self.now, updated_at=self.now)
        for row in dates.filter(pk__in=before.get("movedDates", ())):
            was = before["movedDates"][str(row.pk)]
            row.title, row.year_unknown = was["title"], was["yearUnknown"]
            row.date, row.updated_at = dt.date.fromisoformat(was["date"]), self.now
            schedule.plan_date(row, writer.clock, self.now)
            row.save()

    def _forget(self, records: Iterable[ImportedRecord]) -> None:
        ImportedRecord.objects.owned_by(self.owner).filter(pk__in=[row.pk for row in records]).delete()


def owners_of_old_imports(now: dt.datetime) -> list[UUID]:
    """The accounts with records of imports that are beyond undoing."""
    old = ImportedRecord.unscoped.rows().filter(created_at__lt=retention_cutoff(now))
    return list(old.order_by("owner_id").values_list("owner_id", flat=True).distinct())


def forget_old_imports(owner_id: UUID, now: dt.datetime) -> int:
    """Forget what imports made that are beyond undoing, in the caller's transaction; they stay in the list."""
    count: int = ImportedRecord.objects.owned_by(owner_id).filter(created_at__lt=retention_cutoff(now)).delete()[0]
    return count
