"""Writes of an account, carried into a share: who has changed, left the tied group, or come into it."""

from collections.abc import Collection, Sequence
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q

from contacts_project.kernel.ids import new_id
from people.contents.contact import load_local_contacts
from people.contents.fields import Fields
from people.merging.merge import find_merged
from people.models import ImportantDate, Membership, Person
from people.models.person import uid_of
from people.vcard.card import uid_spellings
from relationships.models import Relationship
from sharing.carry.batch import Batch
from sharing.carry.contact import local_fields_of, sync_copies
from sharing.carry.copies import link_people, remove_copy, return_copies
from sharing.carry.incoming import named_people
from sharing.carry.neutral import log_added, next_sequence
from sharing.carry.relations import mark_related
from sharing.decisions import RELATIONS, travelling_part
from sharing.models import MAX_PEOPLE, CopyState, Reason, SharedCopy, SharedPerson

_PHOTO = "photo"
_CHUNK_SIZE = 500
# Those that an edit of their person concerns.
_OPEN_COPIES = Q(state__in=[CopyState.LINKED, CopyState.OUT]) | Q(state=CopyState.WAITING, reason=Reason.SHARE_LIMIT)


def mark_changes(batch: Batch, revision: int) -> None:
    """Mark what the account has written since `sent_revision`, up to `revision`, which that is then.

    Copies become due; of people in the group who are not in the share yet, the group.
    """
    membership = batch.membership
    if membership.sent_revision == 0:
        _mark_all(batch)
    else:
        changed = sorted(_changed_people(batch, membership.sent_revision))
        for start in range(0, len(changed), _CHUNK_SIZE):
            _mark(batch, changed[start : start + _CHUNK_SIZE])
    batch.linked().filter(person=None).update(is_due=True)
    membership.sent_revision = revision


def _changed_people(batch: Batch, since: int) -> set[UUID]:
    """People whose row, dates or relationships have a later revision."""
    owner = batch.owner
    changed = set(Person.objects.owned_by(owner).filter(revision__gt=since).values_list("pk", flat=True))
    dates = ImportantDate.objects.owned_by(owner).filter(revision__gt=since)
    rows = Relationship.objects.owned_by(owner).filter(revision__gt=since)
    return changed | set(dates.values_list("person_id", flat=True)) | set(rows.values_list("person_id", flat=True))


def _mark(batch: Batch, ids: Collection[UUID]) -> None:
    batch.copies().filter(_OPEN_COPIES, person__in=ids).update(is_due=True)
    if not batch.membership.is_group_due and batch.membership.reviewed_at:
        known = batch.copies().filter(_OPEN_COPIES, person__in=ids).values_list("person_id", flat=True)
        batch.membership.is_group_due = bool(batch.members_of_group(ids) - set(known))


def _mark_all(batch: Batch) -> None:
    batch.copies().filter(_OPEN_COPIES).update(is_due=True)
    batch.membership.is_group_due = batch.membership.reviewed_at is not None


def settle_due(batch: Batch, copies: Sequence[SharedCopy]) -> list[SharedCopy]:
    """Let people who left the group go, and those who came again return; returns the copies that have to be merged."""
    here = batch.members_of_group([copy.person_id for copy in copies if copy.person_id])
    # First: a merge may have brought them back, and who was merged into them does not take their place.
    returning = [copy for copy in copies if copy.state == CopyState.OUT and copy.person_id in here]
    rest = _return(batch, returning)
    for copy in copies:
        if copy in returning:
            continue
        is_here = copy.person_id in here
        if copy.state == CopyState.LINKED and not is_here:
            rest += _leave(batch, copy)
        elif copy.state == CopyState.WAITING:
            # The share was full: whoever left the group does not wait any more, the others are tried again as new.
            _end_wait(batch, copy, is_here=is_here)
        elif is_here:
            rest.append(copy)
        else:
            _not_due(copy)
    return rest


def _return(batch: Batch, copies: Sequence[SharedCopy]) -> list[SharedCopy]:
    """Let people whom this member had taken out return, as many as have room; returns their copies.

    Of those whom nobody had any more, others may have taken the place: they wait as new ones.
    """
    documents = SharedPerson.unscoped.rows().filter(pk__in=[copy.shared_id for copy in copies], is_gone=True)
    gone = set(documents.values_list("pk", flat=True)) if copies else set()
    room = MAX_PEOPLE - count_people(batch) if gone else 0
    present = []
    for copy in copies:
        if copy.shared_id in gone:
            room -= 1
            if room < 0:
                copy.delete()
                _wait_for_room(batch, person=copy.person)
                continue
        present.append(copy)
    return_copies(batch, present)
    return present


def _not_due(copy: SharedCopy) -> None:
    copy.is_due = False
    copy.save(update_fields=["is_due"])


def _end_wait(batch: Batch, copy: SharedCopy, *, is_here: bool) -> None:
    if is_here and not has_room(batch):
        _not_due(copy)
        return
    copy.delete()
    batch.is_visible = True
    batch.membership.is_group_due |= is_here


def _leave(batch: Batch, copy: SharedCopy) -> list[SharedCopy]:
    """A linked person is in the trash, or in the group no more. Whoever it was merged into takes its place."""
    person = copy.person
    kept = find_merged(batch.owner, person) if person is not None and person.is_deleted else None
    if kept is None:
        remove_copy(batch, copy)
        return []
    other = batch.linked().filter(person=kept).first()
    if other is not None:
        remove_copy(batch, copy, merged_into=other)
        return [other]
    _take_place(batch, copy, kept)
    return []


def _take_place(batch: Batch, copy: SharedCopy, person: Person) -> None:
    """`person` is the shared person from now on; what differs is an edit."""
    # Linking counts this member once more among those who have the document.
    SharedPerson.unscoped.rows().filter(pk=copy.shared_id).update(holders=F("holders") - 1)
    link_people(batch, [(copy, person.pk)], with_bases=True)


def count_people(batch: Batch) -> int:
    """The people of the share, whoever has them."""
    return int(SharedPerson.unscoped.rows().filter(share=batch.share, is_gone=False).count())


def has_room(batch: Batch) -> bool:
    return count_people(batch) < MAX_PEOPLE


def send_new(batch: Batch, limit: int, held: Collection[int] = ()) -> bool:
    """Let the next people of the group who are not in the share yet go out, at most `limit`; returns whether there may
    be more.

    Whoever an open item names stays at home until it is answered, and whoever was written by one of the `held`
    revisions until that is decided. Beyond the share's limit they wait.
    """
    membership = batch.membership
    known = batch.copies().filter(_OPEN_COPIES, person=OuterRef("pk"))
    in_group = Membership.objects.owned_by(batch.owner).filter(group=membership.group_id, person=OuterRef("pk"))
    open_items = batch.copies().filter(state=CopyState.WAITING, reason__in=[Reason.PROPOSED, Reason.UNSURE])
    named = named_people(list(open_items.only("pk", "person", "candidates")))
    rows = Person.objects.owned_by(batch.owner).active().filter(Exists(in_group), ~Exists(known))
    if batch.settled_revision is not None:
        rows = rows.filter(revision__lte=batch.settled_revision)
    if held:
        rows = rows.exclude(revision__in=held)
    ids = [
        key for key in rows.order_by("pk").values_list("pk", flat=True)[: limit + 1 + len(named)] if key not in named
    ]
    more = len(ids) > limit
    membership.is_group_due = more or bool(held)
    if ids:
        _send(batch, ids[:limit])
    return more


def _send(batch: Batch, person_ids: Sequence[UUID]) -> None:
    contacts = load_local_contacts(batch.owner, person_ids)
    by_uid = _documents_by_uid(batch, [contact.person.uid for contact in contacts.values()])
    new: list[tuple[Person, Fields, bool]] = []
    links: list[tuple[SharedCopy, UUID]] = []
    returning: list[SharedCopy] = []
    for contact in contacts.values():
        person = contact.person
        document, copy = by_uid.get(person.uid, (None, None))
        if copy is not None and copy.state == CopyState.OUT:
            copy.person = person
            returning.append(copy)
        elif copy is not None and copy.state == CopyState.WAITING:
            copy.shared = document  # read already
            links.append((copy, person.pk))
        else:
            new.append((person, local_fields_of(contact), document is not None))
    link_people(batch, links)
    sync_copies(batch, _return(batch, returning))
    room = max(0, MAX_PEOPLE - count_people(batch))
    for person, _, _ in new[room:]:
        _wait_for_room(batch, person)
    _insert_documents(batch, new[:room])


def _documents_by_uid(batch: Batch, uids: Sequence[str]) -> dict[str, tuple[SharedPerson, SharedCopy | None]]:
    """The documents of the share with these UIDs, each with this member's copy."""
    spellings = {spelling: uid for uid in uids for spelling in uid_spellings(uid)}
    rows = SharedPerson.unscoped.rows().filter(share=batch.share, uid__in=spellings).order_by("-pk")
    documents = list(rows)
    copies = {copy.shared_id: copy for copy in batch.copies().filter(shared__in=documents)}
    return {spellings[row.uid]: (row, copies.get(row.pk)) for row in documents}


def _wait_for_room(batch: Batch, person: Person | None) -> None:
    SharedCopy.objects.create(
        owner=batch.owner,
        membership=batch.membership,
        person=person,
        state=CopyState.WAITING,
        reason=Reason.SHARE_LIMIT,
        reason_at=batch.now,
    )
    batch.is_visible = True


def _insert_documents(batch: Batch, people: Sequence[tuple[Person, Fields, bool]]) -> None:
    """New documents of these people: person, field map, and whether the share has another one with the UID."""
    if not people:
        return
    documents, copies = [], []
    last = next_sequence(batch.share, batch.now, count=len(people))
    for number, (person, fields, is_taken) in enumerate(people, start=last - len(people) + 1):
        key = new_id()
        # The picture follows: its bytes are not in the store of the share yet.
        shared = {**travelling_part(fields, batch.names), RELATIONS: [], _PHOTO: None}
        document = SharedPerson(
            id=key,
            share=batch.share,
            uid=uid_of(key) if is_taken else person.uid,
            fields=shared,
            sequence=number,
            changed_by=batch.member,
            holders=1,
        )
        documents.append(document)
        has_photo = bool(fields[_PHOTO]) and _PHOTO in batch.names
        copies.append(
            SharedCopy(
                owner=batch.owner,
                membership=batch.membership,
                shared=document,
                person=person,
                state=CopyState.LINKED,
                base_local={**shared},
                base_remote={**shared},
                is_due=has_photo,
            )
        )
    SharedPerson.objects.bulk_create(documents)
    SharedCopy.objects.bulk_create(copies)
    log_added(batch.share, batch.member, documents)
    batch.is_changed = True
    mark_related(batch, copies)
