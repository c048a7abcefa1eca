"""One linked person: merged with the document, and both written. Everything that is carried ends here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from people.contents.contact import LocalContact, load_local_contacts, write_fields
from people.contents.fields import Fields
from people.contents.merge import FieldConflict, Sides
from people.field_table import MAX_ENTRIES
from sharing.carry.batch import Batch
from sharing.carry.made_here import last_revision, note_edits
from sharing.carry.neutral import next_sequence, save_relations, write_log
from sharing.carry.relations import Relations, load_relations, write_relations
from sharing.decisions import (
    RELATIONS,
    TRAVELLING,
    Agreement,
    Entry,
    agree,
    is_emptied,
    shared_changes,
    travelling_part,
)
from sharing.models import CopyState, LogAction, ShareConflict, SharedCopy, SharedPerson

_DATES, _PHOTO = "importantDates", "photo"
_COLUMNS = ["base_local", "base_remote", "is_due", "made_revision", "updated_at"]


@dataclass
class _Loaded:
    """What the copies of a batch are merged from."""

    contacts: dict[UUID, LocalContact]
    relations: Relations
    conflicts: dict[UUID, ShareConflict]


def sync_copies(batch: Batch, copies: Sequence[SharedCopy]) -> int:
    """Merge linked copies with their documents, and write what differs; returns how many have changed anything.

    The number of queries before the first write is constant.
    """
    linked = [copy for copy in copies if copy.state == CopyState.LINKED and copy.person_id and copy.shared_id]
    if not linked:
        return 0
    documents = SharedPerson.unscoped.rows().in_bulk([copy.shared_id for copy in linked])
    conflicts = ShareConflict.objects.owned_by(batch.owner).filter(copy__in=linked)
    loaded = _Loaded(
        load_local_contacts(batch.owner, [copy.person_id for copy in linked if copy.person_id]),
        load_relations(batch, linked, documents),
        {row.copy_id: row for row in conflicts},
    )
    note_edits(batch.owner, batch.membership, linked, loaded.contacts)
    return sum(
        _sync(batch, copy, loaded.contacts[copy.person_id], documents[copy.shared_id], loaded)
        for copy in linked
        if copy.person_id and copy.shared_id
    )


def _sync(batch: Batch, copy: SharedCopy, contact: LocalContact, document: SharedPerson, loaded: _Loaded) -> bool:
    relations = loaded.relations
    local = local_fields_of(contact, [entry for entry, _ in relations.entries_of(copy)])
    bases, now = Sides(copy.base_local, copy.base_remote), Sides(local, document.fields)
    agreement = agree(bases, now, batch.names, relations.people)
    is_photo_left = not _is_photo_ready(batch, agreement, local, document, contact.person.photo)
    if is_photo_left:
        names = [name for name in batch.names if name != _PHOTO]
        agreement = agree(bases, now, names, relations.people)
    to_person = shared_changes(local, agreement.person)
    to_document = shared_changes(document.fields, agreement.document)
    author_id = document.changed_by_id  # of what is in conflict; not this member, who may change other fields now
    after = _write_person(batch, copy, contact, agreement, to_person, relations) if to_person else local
    if to_document:
        _write_document(batch, copy, document, agreement, to_document)
    is_conflict_changed = _write_conflict(batch, copy, author_id, agreement.conflicts, loaded.conflicts.get(copy.pk))
    _save_bases(batch, copy, agreement, after, relations, is_photo_left=is_photo_left)
    if is_photo_left and not _is_photo(batch.pictures.missing, local, document):
        if _is_photo(batch.pictures.postponed, local, document):
            batch.pictures.left_due.add(copy.pk)
        copy.is_due = True
        copy.save(update_fields=["is_due"])
    return bool(to_person or to_document or is_conflict_changed)


def local_fields_of(contact: LocalContact, relations: Sequence[Entry] = ()) -> Fields:
    """The field map of a person as far as it travels from anybody."""
    return {**travelling_part(contact.fields, TRAVELLING), RELATIONS: list(relations)}


def _is_photo_ready(
    batch: Batch, agreement: Agreement, local: Fields, document: SharedPerson, file_name: str | None
) -> bool:
    """Whether the pictures that the merge moves are prepared; else they are asked for."""
    pictures = batch.pictures
    here, there = agreement.person[_PHOTO], agreement.document[_PHOTO]
    is_ready = True
    if here and here != local[_PHOTO] and here not in pictures.incoming:
        pictures.wanted_here |= {here} - pictures.missing - pictures.postponed
        is_ready = False
    if there and there != document.fields.get(_PHOTO) and there not in pictures.outgoing:
        if file_name and there not in pictures.missing | pictures.postponed:
            pictures.wanted_there.add(file_name)
        is_ready = False
    return is_ready


def _is_photo(tokens: set[str], local: Fields, document: SharedPerson) -> bool:
    """Whether one of these is the picture of either side."""
    return not tokens.isdisjoint({local[_PHOTO], document.fields.get(_PHOTO)})


def _write_person(
    batch: Batch,
    copy: SharedCopy,
    contact: LocalContact,
    agreement: Agreement,
    changed: Sequence[str],
    relations: Relations,
) -> Fields:
    """Write the changed fields to the person; returns its field map as it is then."""
    write = batch.write()
    former = last_revision(contact)
    target = {**contact.fields, **{name: agreement.person[name] for name in changed if name != RELATIONS}}
    target[_DATES] = one_of_each_type(target[_DATES])
    columns = {name for name in changed if name != RELATIONS}
    if columns:
        jpeg = batch.pictures.incoming.get(target[_PHOTO]) if _PHOTO in columns and target[_PHOTO] else None
        contact = write_fields(batch.owner, write, contact, target, columns, jpeg, batch.reminders)
        # In every share in which nobody has edited the person here, it stays as the share made it.
        made = SharedCopy.objects.owned_by(batch.owner).filter(person=copy.person_id, is_made_here=True)
        made.filter(made_revision__gte=former).update(made_revision=write.revision)
        if copy.is_made_here and copy.made_revision >= former:
            copy.made_revision = write.revision
    if RELATIONS in changed:
        entries = write_relations(batch, relations, copy, agreement.person[RELATIONS])
    else:
        entries = agreement.person[RELATIONS]
    return local_fields_of(contact, entries)


def one_of_each_type(dates: Sequence[Entry]) -> list[Entry]:
    """As many dates as a person may have, and one of each type."""
    seen: set[Any] = set()
    kept = []
    for entry in dates[:MAX_ENTRIES]:
        if entry["type"] not in seen:
            kept.append(entry)
        seen |= {entry["type"]} - {None}
    return kept


def _write_document(
    batch: Batch, copy: SharedCopy, document: SharedPerson, agreement: Agreement, changed: Sequence[str]
) -> None:
    before, document.fields = document.fields, agreement.document
    document.sequence = next_sequence(batch.share, batch.now)
    document.changed_by = batch.member
    document.save(update_fields=["fields", "sequence", "changed_by"])
    if RELATIONS in changed:
        save_relations([document])
    is_removal = copy.pk in batch.counted and is_emptied(before, agreement.document)
    log = LogAction.CHANGED, document, changed, before, agreement.document
    write_log(batch.share, batch.member, *log, is_removal=is_removal)
    batch.is_changed = True


def _write_conflict(
    batch: Batch,
    copy: SharedCopy,
    author_id: UUID | None,
    conflicts: Sequence[FieldConflict],
    record: ShareConflict | None,
) -> bool:
    """Store the fields in conflict in the copy's one row, or end it; returns whether that changed anything."""
    fields = [
        {"field": conflict.field, "base": conflict.base, "local": conflict.local, "remote": conflict.remote}
        for conflict in conflicts
    ]
    if fields == (record.fields if record else []):
        return False
    batch.write()
    batch.is_visible = True
    if not fields:
        end_conflict(copy)
    elif record is None:
        ShareConflict.objects.create(
            owner=batch.owner,
            membership=batch.membership,
            copy=copy,
            by_id=author_id,
            fields=fields,
        )
    else:
        record.fields = fields
        if author_id != batch.member.pk:
            record.by_id = author_id
        record.save(update_fields=["fields", "by", "updated_at"])
    return True


def end_conflict(copy: SharedCopy) -> None:
    """Delete the copy's conflict, if there is one. Must be called inside the account's write."""
    ShareConflict.objects.owned_by(copy.owner_id).filter(copy=copy).delete()


def _save_bases(
    batch: Batch, copy: SharedCopy, agreement: Agreement, after: Fields, relations: Relations, *, is_photo_left: bool
) -> None:
    """Store what the two have agreed on. The person may spell what it took in its own way: that is its base."""
    open_fields = {conflict.field for conflict in agreement.conflicts} | ({_PHOTO} if is_photo_left else set())
    local = {
        name: after[name] if name in batch.names and name not in open_fields else value
        for name, value in agreement.bases.local.items()
    }
    if RELATIONS in batch.names and RELATIONS not in open_fields:
        hidden = [one for one in agreement.bases.local[RELATIONS] if one["person"] not in relations.people]
        local[RELATIONS] = [*after[RELATIONS], *hidden]
    values = (local, agreement.bases.remote, False)
    if values != (copy.base_local, copy.base_remote, copy.is_due) or copy.is_made_here:
        copy.base_local, copy.base_remote, copy.is_due = values
        copy.save(update_fields=_COLUMNS)
