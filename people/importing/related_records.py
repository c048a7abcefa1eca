"""What a file tells beside people, written when they are there: interactions, and ties between people.

In batches as people are. What is there already is skipped; what cannot be is told in the record of its first person.
"""

import datetime as dt
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TypeVar
from uuid import UUID

from django.db import DatabaseError

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.batches import BatchWriter, StoppedError
from people.extensions import EXTENSIONS, ImportedTie, TieType
from people.importing.log import ImportLog, ImportStoppedError
from people.importing.receipts import UNDONE
from people.importing.sources.records import InteractionRecord, RelationshipRecord, RelationshipTypeRecord, Source
from people.interactions.days import set_counts_at
from people.models import Interaction, Participation, Person
from people.services.last_contact import update_last_contacts
from people.services.person_writer import PersonWriter
from people.vcard.charsets import join_surrogates, remove_controls
from people.vocabularies import RecordKind
from people.word_index import index_interactions

T = TypeVar("T")

log = logging.getLogger(__name__)

_BATCH = 100
_MAX_PEOPLE, _MAX_TITLE, _MAX_NOTES, _MAX_TIE_NOTES = 50, 200, 10_000, 1_000
#: What one file may bring beside people.
MAX_TYPES, MAX_INTERACTIONS, MAX_RELATIONSHIPS = 200, 50_000, 50_000
_NOT_WRITTEN = "its interactions or relationships could not be stored: import the file again, it goes on from here"


class RelatedRecords:
    """Of one file. `people` are the ids by key; `remarks` gathers by key what to say of it."""

    def __init__(self, owner: User, source: Source, log: ImportLog, now: dt.datetime) -> None:
        self.owner, self.source, self.log, self.now = owner, source, log, now
        self.people: Mapping[str, UUID] = {}
        self.remarks: dict[str, list[str]] = {}
        self.writer = BatchWriter(owner)
        self.is_undone = False

    def create_types(self) -> dict[str, UUID]:
        """The types that the file names, by name; those that are not there are made."""
        wanted = [_tie_type(kind) for kind in self.source.relationship_types()[:MAX_TYPES]]
        found: dict[str, UUID] = {}
        if wanted:
            with account_write(self.owner):
                for extension in EXTENSIONS:
                    found |= extension.tie_types(self.owner.pk, wanted)
        return found

    def write(self, people: Mapping[str, UUID], types: Mapping[str, UUID]) -> None:
        self.people = people
        for meetings in _batches(islice(self.source.interactions(), MAX_INTERACTIONS)):
            self._attempt([meeting.keys[0] for meeting in meetings], partial(self._write_interactions, meetings))
        for ties in _batches(islice(self.source.relationships(), MAX_RELATIONSHIPS)):
            self._attempt([tie.key for tie in ties], partial(self._write_relationships, ties, types))
        self.writer.finish()

    def _attempt(self, keys: Sequence[str], work: Callable[[], None]) -> None:
        told = UNDONE
        if not self.is_undone:
            try:
                with self.writer.attempt(), self.writer.batch():
                    work()
            except ImportStoppedError:
                self.is_undone = True
            except (StoppedError, DatabaseError):
                # The people are written: what is missing beside them is told, and comes when the file is sent again.
                log.exception("what an import tells beside people could not be written")
                told = _NOT_WRITTEN
            else:
                return
        for key in dict.fromkeys(keys):
            self._add_remark(key, told)

    def _write_interactions(self, meetings: Sequence[InteractionRecord]) -> None:
        rows = [(meeting, self._participants_of(meeting)) for meeting in meetings]
        rows = [(meeting, keys) for meeting, keys in rows if keys]
        active = Person.objects.owned_by(self.owner).active().filter(pk__in={key for _, keys in rows for key in keys})
        there = set(active.values_list("pk", flat=True))
        known = self._known({key for _, keys in rows for key in keys}, {meeting.at for meeting, _ in rows})
        new: dict[tuple[object, ...], tuple[Interaction, list[UUID]]] = {}
        for meeting, keys in rows:
            present = [key for key in keys if key in there]
            row = self._row(meeting)
            for key in present:
                if (key, row.at, row.kind, row.title, row.notes) in known:
                    break
            else:
                if present:
                    new.setdefault((tuple(present), row.at, row.kind, row.title, row.notes), (row, present))
        if not new:
            return
        with account_write(self.owner) as write:
            writer = PersonWriter(self.owner, write, self.now)
            for row, _ in new.values():
                set_counts_at(row, writer.calendar, self.now)
            made = Interaction.objects.bulk_create(row for row, _ in new.values())
            Participation.objects.bulk_create(
                Participation(owner=self.owner, interaction=row, person_id=key, position=place, at=row.at)
                for row, present in new.values()
                for place, key in enumerate(present)
            )
            index_interactions(self.owner.pk, made)
            update_last_contacts(writer, {key for _, present in new.values() for key in present})
            self.log.record_created(RecordKind.INTERACTION, [row.pk for row in made])
            self.log.flush(write)

    def _participants_of(self, meeting: InteractionRecord) -> list[UUID]:
        keys = list(dict.fromkeys(self.people[key] for key in meeting.keys if key in self.people))
        if len(keys) > _MAX_PEOPLE:
            self._add_remark(meeting.keys[0], f"of {len(keys)} people who took part, {_MAX_PEOPLE} were noted")
        return keys[:_MAX_PEOPLE]

    def _known(self, people: set[UUID], moments: set[dt.datetime]) -> set[tuple[object, ...]]:
        rows = Participation.objects.owned_by(self.owner).filter(
            person__in=people, at__in=moments, interaction__deleted_at=None
        )
        names = ("person_id", "at", "interaction__kind", "interaction__title", "interaction__notes")
        return set(rows.values_list(*names))

    def _row(self, meeting: InteractionRecord) -> Interaction:
        title = " ".join(_clean(meeting.title).split())
        notes = _clean(meeting.notes)
        if len(title) > _MAX_TITLE or len(notes) > _MAX_NOTES:
            self._add_remark(meeting.keys[0], f"the text of an interaction was cut to {_MAX_NOTES:,} characters")
        return Interaction(
            owner=self.owner,
            created_at=self.now,
            kind=meeting.kind,
            at=meeting.at,
            title=title[:_MAX_TITLE] or None,
            notes=notes[:_MAX_NOTES] or None,
        )

    def _write_relationships(self, ties: Sequence[RelationshipRecord], types: Mapping[str, UUID]) -> None:
        wanted: list[ImportedTie] = []
        for tie in ties:
            if tie.key not in self.people or tie.related not in self.people:
                told = tie.key if tie.key in self.people else tie.related
                self._add_remark(told, "a relationship to somebody who did not come in was left out")
                continue
            person, related = self.people[tie.key], self.people[tie.related]
            if person != related:
                kind = types.get(tie.type.name) if tie.type else None
                wanted.append(ImportedTie(person, related, kind, _clean(tie.notes)[:_MAX_TIE_NOTES] or None))
        if not wanted:
            return
        with account_write(self.owner) as write:
            for extension in EXTENSIONS:
                made = extension.tie(self.owner.pk, wanted, self.now)
                self.log.record_created(RecordKind.RELATIONSHIP, made)
            self.log.flush(write)

    def _add_remark(self, key: str, text: str) -> None:
        said = self.remarks.setdefault(key, [])
        if text not in said:
            said.append(text)


def describe_excess(source: Source) -> Iterator[tuple[str, str]]:
    """What a file has too much of, and how much of it was left out."""
    for name, count, most in (
        ("relationship types", len(source.relationship_types()), MAX_TYPES),
        ("interactions", sum(1 for _ in source.interactions()), MAX_INTERACTIONS),
        ("relationships", sum(1 for _ in source.relationships()), MAX_RELATIONSHIPS),
    ):
        if count > most:
            yield name, f"{count - most:,} of them were left out: of one file {most:,} are taken"


def _tie_type(kind: RelationshipTypeRecord) -> TieType:
    return TieType(kind.name, kind.label, kind.inverse, kind.inverse_label)


def _clean(text: str) -> str:
    return join_surrogates(remove_controls(text)).replace("\r\n", "\n").replace("\r", "\n").strip()


def _batches(rows: Iterator[T]) -> Iterator[list[T]]:
    while batch := list(islice(rows, _BATCH)):
        yield batch
