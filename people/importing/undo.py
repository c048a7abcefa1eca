"""Undoes an import: deletes what it created and restores what it changed, unless somebody has edited it since."""

import datetime as dt
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import AccountWrite, BatchWriter, account_lock, account_write
from contacts_project.kernel.ownership.models import retention_cutoff
from contacts_project.kernel.texts import Text, define_text
from people.dates import schedule
from people.extensions import EXTENSIONS
from people.field_table import CARD_DATE_KEYS
from people.importing.log import fingerprints
from people.models import (
    AwaitedMember,
    ContactImport,
    Group,
    ImportantDate,
    ImportedRecord,
    Interaction,
    Membership,
    Participation,
    Person,
)
from people.models.imports import RevisionSet
from people.services.group_rules import drop_removed_source, take_back_lead_days
from people.services.groups import delete_group
from people.services.interactions import delete_interactions
from people.services.people import delete_people
from people.services.person_writer import PersonWriter
from people.vocabularies import RecordKind

_DATE_COLUMNS = {key.name: key.column for key in CARD_DATE_KEYS}
_EDITED = define_text("edited_since_import", "this person was edited since the import")
_BATCH_SIZE = 100
# Longer than a batch takes. When it expires, another request may continue the undo of a process that died.
_LEASE = dt.timedelta(minutes=1)


class ImportUndoneError(DomainError):
    """An import can be undone only once."""

    message = define_text("import_already_undone", "This import has already been undone.")


class ImportTooOldError(DomainError):
    """The records of an import are kept for the retention period."""

    message = define_text("import_too_old", "This import is too old to be undone.")


class ImportRunningError(DomainError):
    """What is still being written cannot be undone."""

    message = define_text("import_running", "This import is still running: undo it when it is done.")


class UndoUnderWayError(DomainError):
    """Only one undo runs at a time: of two, each would report only a part of the people."""

    message = define_text("import_undo_under_way", "This import is being undone already: try again in a minute.")


@dataclass(slots=True)
class UndoResult:
    """How many people were moved to the trash, and the people that were kept: (id, name, reason)."""

    removed: int = 0
    kept: list[tuple[UUID, str, Text]] = field(default_factory=list)


def undo_import(*, owner: User, import_id: UUID, now: dt.datetime) -> UndoResult:
    """Undo an import in short transactions. One that was taken for dead, but still runs, stops writing.

    An undo that was killed continues at the next request. Raises MissingError, ImportUndoneError, ImportTooOldError,
    ImportRunningError, UndoUnderWayError.
    """
    run = _UndoRun(owner, import_id, now)
    with run.writer, run.claim(import_id):
        run.undo_records(RecordKind.INTERACTION, run.undo_interactions)
        run.undo_records(RecordKind.RELATIONSHIP, run.undo_relationships)
        run.undo_records(RecordKind.PERSON, run.undo_people)
        run.undo_records(RecordKind.GROUP, run.undo_groups)
        AwaitedMember.objects.owned_by(owner).filter(contact_import=import_id).delete()
    return run.result


def check_undoable(row: ContactImport, now: dt.datetime) -> None:
    """Raises ImportUndoneError, ImportTooOldError, ImportRunningError."""
    if row.undone_at is not None:
        raise ImportUndoneError
    if row.created_at < retention_cutoff(now):
        raise ImportTooOldError
    if not row.is_free(timezone.now()):
        raise ImportRunningError


class _UndoRun:
    """One undo. `own_revisions` are those of the import and of this undo: their changes are no edits of the user."""

    def __init__(self, owner: User, import_id: UUID, now: dt.datetime) -> None:
        self.owner, self.now = owner, now
        self.writer = BatchWriter(owner)
        self.result = UndoResult()
        self.own_revisions = RevisionSet(())
        self.rows = ContactImport.objects.owned_by(owner).filter(pk=import_id)
        self.records = ImportedRecord.objects.owned_by(owner).filter(contact_import=import_id)

    @contextmanager
    def claim(self, import_id: UUID) -> Iterator[None]:
        """Hold a lease on the import while the block runs; each batch renews it.

        Marks the import as undone when the block ends. If the block fails, only the lease is released.
        """
        with account_lock(self.owner):
            row = self.rows.find(import_id)
            check_undoable(row, self.now)
            if row.undo_until and row.undo_until > timezone.now():
                raise UndoUnderWayError
            self.rows.update(undo_until=timezone.now() + _LEASE)
        # Stays None if the block raises, so that the import can be undone again.
        undone_at = None
        try:
            yield
            undone_at = self.now
        finally:
            with account_lock(self.owner):
                ended = {"undo_until": timezone.now(), "undone_at": undone_at, "updated_at": timezone.now()}
                self.rows.filter(undone_at=None).update(**ended)

    def undo_records(self, kind: RecordKind, drop: Callable[[list[ImportedRecord], AccountWrite], None]) -> None:
        """Undo all records of a kind in batches. Each batch deletes its records, so a retry does not see them again."""
        records = self.records.filter(kind=kind).order_by("id")
        while records.exists():
            with self.writer.batch(), account_write(self.owner) as write:
                self._renew_lease(write)
                batch = list(records[:_BATCH_SIZE])
                drop(batch, write)
                self.records.filter(pk__in=[record.pk for record in batch]).delete()

    def undo_people(self, records: list[ImportedRecord], write: AccountWrite) -> None:
        """Delete the people that the import created and restore those that it changed; keep those edited since."""
        active = Person.objects.owned_by(self.owner).active()
        people = {person.pk: person for person in active.filter(pk__in=[row.record_id for row in records])}
        now = fingerprints(self.owner.pk, people.values())
        edited = self._people_with_edited_records(people)
        writer, created = PersonWriter(self.owner, write, self.now), []
        for row in records:
            person = people.get(row.record_id)
            if person is None:
                continue
            if row.fingerprint != now[person.pk] or person.pk in edited:
                self.result.kept.append((person.pk, person.display_name_for(self.owner), _EDITED))
            elif row.is_new:
                created.append(person.pk)
            else:
                self._restore(writer, person, row.before)
        self.result.removed += delete_people(owner=self.owner, person_ids=created, options={}, now=self.now)
        writer.flush()

    def undo_interactions(self, records: list[ImportedRecord], write: AccountWrite) -> None:
        """Delete the interactions that nobody has changed since."""
        active = Interaction.objects.owned_by(self.owner).active()
        rows = active.filter(pk__in=[row.record_id for row in records]).values_list("pk", "revision")
        unchanged = [key for key, revision in rows if revision in self.own_revisions]
        delete_interactions(owner=self.owner, interaction_ids=unchanged, now=self.now)

    def undo_relationships(self, records: list[ImportedRecord], write: AccountWrite) -> None:
        """Delete the relationships that nobody has changed since."""
        for extension in EXTENSIONS:
            extension.delete_relationships(
                self.owner.pk, [row.record_id for row in records], self.own_revisions, self.now
            )

    def undo_groups(self, records: list[ImportedRecord], write: AccountWrite) -> None:
        """Delete the groups that have no members any more."""
        members = Membership.objects.owned_by(self.owner).filter(group=OuterRef("pk"), person__deleted_at=None)
        groups = Group.objects.owned_by(self.owner).active().filter(pk__in=[row.record_id for row in records])
        for group in groups.exclude(Exists(members)):
            delete_group(group=group, with_people=False, now=self.now)

    def _renew_lease(self, write: AccountWrite) -> None:
        """Renew the lease, and add the revision of this write to those of the import."""
        self.own_revisions = self.rows.get().written_revisions()
        self.own_revisions.add(write.revision)
        self.rows.update(own_revisions=self.own_revisions.ranges, undo_until=write.now + _LEASE)

    def _people_with_edited_records(self, keys: Collection[UUID]) -> set[UUID]:
        """The people with an interaction or a relationship that the user has written since the import began."""
        interactions = Interaction.objects.owned_by(self.owner).active().filter(revision__gt=self.own_revisions.since)
        rows = Participation.objects.owned_by(self.owner).filter(person__in=keys, interaction__in=interactions)
        written = list(rows.values_list("person_id", "interaction__revision"))
        for extension in EXTENSIONS:
            written += extension.relationships_changed_since(self.owner.pk, keys, self.own_revisions.since)
        return {key for key, revision in written if revision not in self.own_revisions}

    def _restore(self, writer: PersonWriter, person: Person, before: JsonObject) -> None:
        """Restore a person that existed before the import."""
        writer.edit(person)
        for column, value in before.get("columns", {}).items():
            column_field: Any = Person._meta.get_field(column)
            setattr(person, column, column_field.to_python(value))
        drop_removed_source(person)
        if "contact_before" in before.get("columns", {}):
            # last_contact is not logged, because interactions move it as well: derive it from both again.
            days = (person.contact_before, person.interacted_on)
            person.last_contact = max((day for day in days if day), default=None)
        groups = Membership.objects.owned_by(self.owner).filter(person=person, group__in=before.get("groups", ()))
        groups.delete()
        dates = ImportantDate.objects.owned_by(self.owner).active().filter(person=person)
        new = dates.filter(pk__in=before.get("newDates", ()))
        new.update(deleted_at=self.now, updated_at=self.now, **schedule.NO_REMINDER)
        for row in dates.filter(pk__in=before.get("movedDates", ())):
            for name, value in before["movedDates"][str(row.pk)].items():
                setattr(row, _DATE_COLUMNS[name], dt.date.fromisoformat(value) if name == "date" else value)
            row.updated_at = self.now
            schedule.schedule_date(row, writer.calendar, self.now)
            row.save()
        take_back_lead_days(writer, person, before.get("leadDays", {}))
