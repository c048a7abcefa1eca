"""Writes the interactions and relationships of a file, in batches, after its people are written.

Those that exist already are skipped. What cannot be stored becomes a remark of its first person's record.
"""

import datetime as dt
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TypeVar
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError
from django.utils import translation

from accounts.models import User
from contacts_project.kernel.charsets import join_surrogates, remove_controls
from contacts_project.kernel.ownership.account_lock import BatchWriter, StoppedError, account_write
from contacts_project.kernel.text_forms import nfc
from contacts_project.kernel.texts import Text, define_text
from people.extensions import EXTENSIONS, ImportedRelationship
from people.importing.log import ImportLog, ImportStoppedError
from people.importing.receipts import UNDONE
from people.importing.sources.records import MAX_PEOPLE, RELATED_MISSING, InteractionRecord, RelationshipRecord, Source
from people.lookup import index_interactions
from people.models import Interaction, Participation, Person
from people.services.last_contact import set_counts_at, update_last_contacts
from people.services.person_writer import PersonWriter
from people.vocabularies import InteractionKind, RecordKind

_TYPES = define_text("noun_relationship_types", "relationship types")
_INTERACTIONS = define_text("noun_interactions", "interactions")
_RELATIONSHIPS = define_text("noun_relationships", "relationships")

_TOO_MANY_PARTICIPANTS = define_text("too_many_participants", "of %(count)s people who took part, %(limit)s were noted")
_EXCESS = define_text("too_many_of_a_kind", "%(count)s of them were left out: of one file %(limit)s are taken")

T = TypeVar("T")
#: The kind, the title and the notes of an interaction.
_Words = tuple[str, str | None, str | None]

logger = logging.getLogger(__name__)

_BATCH_SIZE = 100
_MAX_TITLE, _MAX_NOTES, _MAX_RELATIONSHIP_NOTES = 200, 10_000, 1_000
#: How many of each one file may contain.
MAX_TYPES, MAX_INTERACTIONS, MAX_RELATIONSHIPS = 200, 50_000, 50_000
_NOT_WRITTEN = define_text(
    "related_not_stored",
    "its interactions or relationships could not be stored: import the file again, it goes on from here",
)


class RelatedRecords:
    """The related records of one file. `people` are the ids by the key of the file, `remarks` the remarks by key."""

    def __init__(self, owner: User, source: Source, log: ImportLog, now: dt.datetime) -> None:
        self.owner, self.source, self.log, self.now = owner, source, log, now
        self.people: Mapping[str, UUID] = {}
        self.remarks: dict[str, list[Text]] = {}
        self.writer = BatchWriter(owner)
        self.is_undone = False

    def create_types(self) -> dict[str, UUID]:
        """Return the ids of the relationship types of the file, by name; creates the missing ones."""
        needed = self.source.relationship_types()[:MAX_TYPES]
        found: dict[str, UUID] = {}
        if needed:
            with account_write(self.owner):
                for extension in EXTENSIONS:
                    found |= extension.ensure_relationship_types(self.owner.pk, needed)
        return found

    def write(self, people: Mapping[str, UUID], types: Mapping[str, UUID]) -> None:
        self.people = people
        with self.writer:
            for interactions in _batches(islice(self.source.interactions(), MAX_INTERACTIONS)):
                self._attempt(
                    [interaction.keys[0] for interaction in interactions],
                    partial(self._write_interactions, interactions),
                )
            for relationships in _batches(islice(self.source.relationships(), MAX_RELATIONSHIPS)):
                self._attempt(
                    [relationship.key for relationship in relationships],
                    partial(self._write_relationships, relationships, types),
                )

    def _attempt(self, keys: Sequence[str], work: Callable[[], None]) -> None:
        remark = UNDONE
        if not self.is_undone:
            try:
                with self.writer.attempt(), self.writer.batch():
                    work()
            except ImportStoppedError:
                self.is_undone = True
            except (StoppedError, DatabaseError):
                # The people are written already, so the import does not fail: a remark asks to send the file again.
                logger.exception("what an import tells beside people could not be written")
                remark = _NOT_WRITTEN
            else:
                return
        for key in dict.fromkeys(keys):
            self._add_remark(key, remark)

    def _write_interactions(self, interactions: Sequence[InteractionRecord]) -> None:
        rows = [(interaction, self._participants_of(interaction)) for interaction in interactions]
        rows = [(interaction, keys) for interaction, keys in rows if keys]
        active = Person.objects.owned_by(self.owner).active().filter(pk__in={key for _, keys in rows for key in keys})
        existing_people = set(active.values_list("pk", flat=True))
        existing = self._load_existing(
            {key for _, keys in rows for key in keys}, {interaction.at for interaction, _ in rows}
        )
        new: dict[tuple[object, ...], tuple[Interaction, list[UUID]]] = {}
        for interaction, keys in rows:
            present = [key for key in keys if key in existing_people]
            for wordings in self._wordings(interaction, any_exist=bool(existing)):
                # Skipped if one participant has the same interaction already: the same file may be imported again.
                if any((key, interaction.at, *words) in existing for key in present for words in wordings):
                    continue
                if present:
                    words = wordings[0]
                    row = self._build_interaction(interaction, words)
                    # setdefault, because the file itself may contain the same interaction twice.
                    new.setdefault((tuple(present), row.at, *words), (row, present))
        if not new:
            return
        with account_write(self.owner) as write:
            writer = PersonWriter(self.owner, write, self.now)
            for row, _ in new.values():
                set_counts_at(row, writer.calendar, self.now)
            created = Interaction.objects.bulk_create(row for row, _ in new.values())
            Participation.objects.bulk_create(
                Participation(owner=self.owner, interaction=row, person_id=key, position=index, at=row.at)
                for row, present in new.values()
                for index, key in enumerate(present)
            )
            index_interactions(self.owner.pk, created)
            update_last_contacts(writer, {key for _, present in new.values() for key in present})
            self.log.record_created(RecordKind.INTERACTION, [row.pk for row in created])
            self.log.flush(write)

    def _participants_of(self, interaction: InteractionRecord) -> list[UUID]:
        keys = list(dict.fromkeys(self.people[key] for key in interaction.keys if key in self.people))
        if len(keys) > MAX_PEOPLE:
            self._add_remark(interaction.keys[0], _TOO_MANY_PARTICIPANTS.format(count=len(keys), limit=MAX_PEOPLE))
        return keys[:MAX_PEOPLE]

    def _load_existing(self, people: set[UUID], times: set[dt.datetime]) -> set[tuple[object, ...]]:
        rows = Participation.objects.owned_by(self.owner).filter(
            person__in=people, at__in=times, interaction__deleted_at=None
        )
        names = ("person_id", "at", "interaction__kind", "interaction__title", "interaction__notes")
        return set(rows.values_list(*names))

    def _wordings(self, interaction: InteractionRecord, *, any_exist: bool) -> list[list[_Words]]:
        """The rows of an interaction, one unless its text is too long; of each its words in the account's language.

        If any interaction is there already, the words in the other languages follow.
        """
        languages = [self.owner.language]
        if any_exist and interaction.has_texts:
            languages += [code for code, _ in settings.LANGUAGES if code != self.owner.language]
        spelled = []
        for language in languages:
            with translation.override(language):
                spelled.append(_split(interaction.kind, *interaction.words()))
        return [[rows[index] for rows in spelled if index < len(rows)] for index in range(len(spelled[0]))]

    def _build_interaction(self, interaction: InteractionRecord, words: _Words) -> Interaction:
        kind, title, notes = words
        return Interaction(
            owner=self.owner, created_at=self.now, kind=kind, at=interaction.at, title=title, notes=notes
        )

    def _write_relationships(self, relationships: Sequence[RelationshipRecord], types: Mapping[str, UUID]) -> None:
        new: list[ImportedRelationship] = []
        for relationship in relationships:
            if relationship.key not in self.people or relationship.related not in self.people:
                present_key = relationship.key if relationship.key in self.people else relationship.related
                self._add_remark(present_key, RELATED_MISSING)
                continue
            person, related = self.people[relationship.key], self.people[relationship.related]
            if person != related:
                kind = types.get(relationship.type.name) if relationship.type else None
                new.append(
                    ImportedRelationship(
                        person, related, kind, _clean_text(relationship.notes)[:_MAX_RELATIONSHIP_NOTES] or None
                    )
                )
        if not new:
            return
        with account_write(self.owner) as write:
            for extension in EXTENSIONS:
                created = extension.add_relationships(self.owner.pk, new, self.now)
                self.log.record_created(RecordKind.RELATIONSHIP, created)
            self.log.flush(write)

    def _add_remark(self, key: str, text: Text) -> None:
        remarks = self.remarks.setdefault(key, [])
        if text not in remarks:
            remarks.append(text)


def describe_excess(source: Source) -> Iterator[tuple[Text | str, Text]]:
    """Yield what the file contains too many of, and how many of them were left out."""
    for name, count, most in (
        (_TYPES, len(source.relationship_types()), MAX_TYPES),
        (_INTERACTIONS, sum(1 for _ in source.interactions()), MAX_INTERACTIONS),
        (_RELATIONSHIPS, sum(1 for _ in source.relationships()), MAX_RELATIONSHIPS),
    ):
        if count > most:
            yield name, _EXCESS.format(count=count - most, limit=most)


def _split(kind: str, title: str, notes: str) -> list[_Words]:
    """An interaction as the rows that hold its whole text: what is too long for one goes on in notes."""
    title, text = " ".join(_clean_text(title).split()), _clean_text(notes)
    if len(title) > _MAX_TITLE:
        text = f"{title}\n{text}".strip()
    # A row is stripped, because a second import compares it with what the API would store.
    parts = [text[start : start + _MAX_NOTES].strip() or None for start in range(0, len(text), _MAX_NOTES)] or [None]
    later = [(str(InteractionKind.NOTE), title[:_MAX_TITLE] or None, part) for part in parts[1:] if part]
    return [(kind, title[:_MAX_TITLE] or None, parts[0]), *later]


def _clean_text(text: str) -> str:
    return nfc(join_surrogates(remove_controls(text)).replace("\r\n", "\n").replace("\r", "\n").strip())


def _batches(rows: Iterator[T]) -> Iterator[list[T]]:
    while batch := list(islice(rows, _BATCH_SIZE)):
        yield batch
