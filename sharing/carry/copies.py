"""What becomes of a shared person in one account: linked, made, taken out, kept.

The functions with an open `write` are for answers. They must be called inside `account_write(owner)`, after
`lock_share`, and leave the pictures to the worker: such a copy stays due. The others are steps of a batch.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from django.db.models import F

from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.ownership.account_lock import AccountWrite
from people.contents.contact import LocalContact, create_from_cards
from people.contents.fields import replace_fields
from people.models import ImportantDate, Membership, Person
from people.services.groups import put_members
from people.services.people import restore_person, touch_people
from people.services.plan_limits import remaining_in_plan
from people.vcard import Card
from people.vcard.card import uid_spellings
from sharing.carry.batch import Batch, batch_of
from sharing.carry.contact import end_conflict, local_fields_of, sync_copies
from sharing.carry.neutral import (
    find_last_outs,
    log_added,
    log_out,
    next_sequence,
    touch_membership,
)
from sharing.carry.relations import mark_related
from sharing.decisions import RELATIONS, travelling_part
from sharing.models import CopyState, LogEntry, Reason, SharedCopy, SharedPerson, ShareMembership

_PHOTO = "photo"


def link_copy(write: AccountWrite, membership: ShareMembership, copy: SharedCopy, person: Person) -> None:
    """Make `person` what the waiting or skipped copy is here, and merge the two for the first time.

    The person comes into the tied group. Nobody else of the share may be this person already.
    """
    batch = batch_of(write, membership)
    link_people(batch, [(copy, person.pk)])
    release_named(batch)
    batch.is_visible = True
    batch.finish()


def create_copies(write: AccountWrite, membership: ShareMembership, copies: Sequence[SharedCopy]) -> int:
    """Make the people of waiting or skipped copies, with their dates and in the tied group, in a constant number of
    statements for those who are made; returns how many are in the share now.

    A person in the trash with the document's UID is restored and linked instead. Whom the plan has no room for waits as
    `plan_limit`.
    """
    batch = batch_of(write, membership)
    create_people(batch, copies)
    release_named(batch)
    batch.is_visible = True
    batch.finish()
    return sum(copy.state == CopyState.LINKED for copy in copies)


def skip_copy(write: AccountWrite, membership: ShareMembership, copy: SharedCopy) -> None:
    """Take the copy from the waiting list; whoever it named may go out as somebody else."""
    batch = batch_of(write, membership)
    copy.state, copy.reason, copy.is_due = CopyState.SKIPPED, Reason.NONE, False
    copy.save(update_fields=["state", "reason", "is_due", "updated_at"])
    release_named(batch)
    batch.is_visible = True
    batch.finish()


def take_out(write: AccountWrite, membership: ShareMembership, copy: SharedCopy) -> None:
    """Take a linked person out of the share; the others are asked what becomes of theirs.

    An active person leaves the tied group. One that is in the trash stays in it, so that its restore brings it back
    into the share: whoever moves it to the trash does that first.
    """
    batch = batch_of(write, membership)
    remove_copy(batch, copy)
    rows = Membership.objects.owned_by(batch.owner).filter(group=membership.group_id, person=copy.person_id)
    if rows.filter(person__deleted_at=None).delete()[0]:
        touch_people(batch.owner.pk, [copy.person_id] if copy.person_id else [], write.now)
    batch.is_visible = True
    batch.finish()


def keep_copy(write: AccountWrite, membership: ShareMembership, copy: SharedCopy) -> None:
    """Answer that somebody else took the person out, or merged it, with: it stays here."""
    document = copy.shared
    if document and document.out_at and copy.reason_at and document.out_at <= copy.reason_at:
        copy.out_seen = max(copy.out_seen, document.out_sequence)
    close_question(copy)
    touch_membership(write, membership)


def close_question(copy: SharedCopy) -> None:
    copy.reason, copy.reason_at, copy.by, copy.candidates = Reason.NONE, None, None, []
    copy.save(update_fields=["reason", "reason_at", "by", "candidates", "out_seen", "updated_at"])


def release_named(batch: Batch) -> None:
    """Let people of the group go out whom no open item names any more."""
    ShareMembership.objects.owned_by(batch.owner).filter(pk=batch.membership.pk).update(is_group_due=True)


def link_people(batch: Batch, pairs: Sequence[tuple[SharedCopy, UUID]], *, with_bases: bool = False) -> None:
    """Link copies with people here, who come into the tied group, and merge them: for the first time, or `with_bases`
    where the person takes the place of another one."""
    if not pairs:
        return
    write = batch.write()
    for copy, person_id in pairs:
        # Somebody who was another shared person once, and was taken out, is this one now.
        batch.copies().filter(person=person_id, state=CopyState.OUT).exclude(pk=copy.pk).update(person=None)
        copy.person_id, copy.state = person_id, CopyState.LINKED
        if not with_bases:
            copy.base_local, copy.base_remote = {}, {}
        copy.is_made_here, copy.made_revision = False, 0
        _settle(copy)
        copy.save()
    put_members(batch.group, [person_id for _, person_id in pairs], write.now)
    _hold(batch, [copy for copy, _ in pairs])
    sync_copies(batch, [copy for copy, _ in pairs])
    mark_related(batch, [copy for copy, _ in pairs])


def _settle(copy: SharedCopy) -> None:
    copy.reason, copy.reason_at, copy.by, copy.candidates, copy.is_due = Reason.NONE, None, None, [], False
    if copy.shared is not None:
        copy.out_seen = copy.shared.out_sequence


def _hold(batch: Batch, copies: Sequence[SharedCopy]) -> None:
    """Count this member among those who have the documents of these copies."""
    rows = SharedPerson.unscoped.rows().filter(pk__in=[copy.shared_id for copy in copies])
    rows.update(holders=F("holders") + 1, is_gone=False)
    batch.is_visible = True


def return_copies(batch: Batch, copies: Sequence[SharedCopy]) -> None:
    """People whom this member had taken out are active in the group again: the same shared people. The number of
    statements is constant."""
    if not copies:
        return
    documents = SharedPerson.unscoped.rows().in_bulk([copy.shared_id for copy in copies if copy.shared_id])
    own = [document for document in documents.values() if document.out_by_id == batch.member.pk]
    former = find_last_outs(own, but=batch.member)
    kept = SharedPerson.unscoped.rows().in_bulk({key for entry in former.values() if (key := _merged_into(entry))})
    pairs = [(copy, documents[copy.shared_id]) for copy in copies if copy.shared_id]
    last = next_sequence(batch.share, batch.now, count=len(pairs))
    for number, (copy, document) in enumerate(pairs, last - len(pairs) + 1):
        copy.state, copy.shared = CopyState.LINKED, document
        _settle(copy)
        if document.out_by_id == batch.member.pk:
            _take_back(document, former.get(document.pk), kept)
        document.holders += 1
        document.is_gone = False
        document.sequence = number
    SharedCopy.objects.owned_by(batch.owner).bulk_update(copies, _ALL_COLUMNS)
    SharedPerson.unscoped.rows().bulk_update(documents.values(), _COLUMNS_OF_RETURN)
    log_added(batch.share, batch.member, documents.values())
    batch.is_changed = batch.is_visible = True
    mark_related(batch, copies)


def _take_back(document: SharedPerson, former: LogEntry | None, kept: Mapping[UUID, SharedPerson]) -> None:
    """The document says of its taking out what it said before: of whoever took it out earlier and still has."""
    document.out_by_id = former.by_id if former else None
    document.out_at = former.created_at if former else None
    if former and former.after:
        document.out_sequence = former.after["outSequence"]
    merged_into = _merged_into(former) if former else None
    document.merged_into = kept.get(merged_into) if merged_into else None


def _merged_into(entry: LogEntry) -> UUID | None:
    return parse_id((entry.after or {}).get("mergedInto"))


def remove_copy(batch: Batch, copy: SharedCopy, merged_into: SharedCopy | None = None) -> None:
    """This member has taken the person out, or merged it into that of `merged_into`."""
    batch.write()
    document = SharedPerson.unscoped.rows().get(pk=copy.shared_id)
    end_conflict(copy)
    copy.state = CopyState.OUT
    _settle(copy)
    copy.save()
    document.holders = max(0, document.holders - 1)
    document.is_gone = document.holders == 0
    document.sequence = document.out_sequence = next_sequence(batch.share, batch.now)
    document.out_by, document.out_at = batch.member, batch.now
    document.merged_into_id = merged_into.shared_id if merged_into else None
    document.changed_by = batch.member
    document.save()
    log_out(batch.share, batch.member, document, is_removal=copy.pk in batch.counted)
    batch.is_changed = batch.is_visible = True


def create_people(batch: Batch, copies: Sequence[SharedCopy]) -> list[SharedCopy]:
    """Make the people of these copies, as many as the plan has room for; the others wait. Returns those who are linked.

    Each is made in one write, with dates, in the tied group, with the document's UID unless somebody else here has it.
    """
    documents = SharedPerson.unscoped.rows().in_bulk([copy.shared_id for copy in copies if copy.shared_id])
    present = _people_by_uid(batch, documents.values())
    restored: list[SharedCopy] = []
    rest: list[SharedCopy] = []
    for copy in copies:
        if copy.shared_id:
            copy.shared = documents[copy.shared_id]
            is_restored = _restore(batch, copy, present.get(copy.shared_id, []))
            (restored if is_restored else rest).append(copy)
    room = remaining_in_plan(batch.owner, "people")
    made = rest if room is None else rest[: max(0, room)]
    for copy in rest[len(made) :]:
        _wait(batch, copy, Reason.PLAN_LIMIT)
    if made:
        pairs = [(copy, documents[copy.shared_id]) for copy in made if copy.shared_id]
        _insert_people(batch, pairs, {key for key, people in present.items() if people})
    return [*restored, *made]


def _wait(batch: Batch, copy: SharedCopy, reason: Reason) -> None:
    if copy.state == CopyState.WAITING and copy.reason == reason and not copy._state.adding:
        return
    copy.state, copy.reason, copy.reason_at = CopyState.WAITING, reason, copy.reason_at or batch.now
    copy.person, copy.candidates = None, []
    copy.save()
    batch.is_visible = True


def _people_by_uid(batch: Batch, documents: Iterable[SharedPerson]) -> dict[UUID, list[Person]]:
    """By document the people here, in the trash or not, who have its UID."""
    spellings = {spelling: row.pk for row in documents for spelling in uid_spellings(row.uid)}
    found: dict[UUID, list[Person]] = {}
    for person in Person.objects.owned_by(batch.owner).filter(uid__in=spellings).order_by("id"):
        found.setdefault(spellings[person.uid], []).append(person)
    return found


def _restore(batch: Batch, copy: SharedCopy, people: Sequence[Person]) -> bool:
    """Take the person with the document's UID out of the trash and link it, if there is one and the plan has room."""
    person = next((one for one in people if one.is_deleted), None)
    if person is None or any(not one.is_deleted for one in people) or not may_restore(batch, person):
        return False
    write = batch.write()
    restore_person(owner=batch.owner, person=person, now=write.now)
    link_people(batch, [(copy, person.pk)])
    copy.person = person
    return True


def may_restore(batch: Batch, person: Person) -> bool:
    people, reminders = (remaining_in_plan(batch.owner, kind) for kind in ("people", "reminders"))
    if people is not None and people <= 0:
        return False
    if reminders is None:
        return True
    dates = ImportantDate.objects.owned_by(batch.owner).active().filter(person=person, reminder_enabled=True)
    return dates.count() + person.contact_reminder_enabled <= reminders


def _insert_people(batch: Batch, pairs: Sequence[tuple[SharedCopy, SharedPerson]], taken: set[UUID]) -> None:
    """`taken` are the documents whose UID somebody here has."""
    write, cards = batch.write(), []
    for _, document in pairs:
        fields = travelling_part(document.fields, batch.names)
        card = replace_fields(Card(categories=(batch.group.name,)), fields, set(fields) - {_PHOTO, RELATIONS})
        uid = None if document.pk in taken else document.uid
        cards.append((replace(card, uid=uid), batch.pictures.incoming.get(fields[_PHOTO] or "")))
    contacts = create_from_cards(batch.owner, write, cards, batch.reminders)
    for (copy, document), contact in zip(pairs, contacts, strict=True):
        _agree_on_made(batch, copy, contact, document, write)
    copies = [copy for copy, _ in pairs]
    new = [copy for copy in copies if copy._state.adding]
    stored = [copy for copy in copies if not copy._state.adding]
    SharedCopy.objects.bulk_create(new)
    SharedCopy.objects.owned_by(batch.owner).bulk_update(stored, _ALL_COLUMNS)
    _hold(batch, copies)
    mark_related(batch, copies)


_COLUMNS_OF_RETURN = ["out_by", "out_at", "out_sequence", "merged_into", "holders", "is_gone", "sequence"]
_ALL_COLUMNS = [
    "person",
    "state",
    "reason",
    "reason_at",
    "by",
    "candidates",
    "base_local",
    "base_remote",
    "is_made_here",
    "made_revision",
    "out_seen",
    "is_due",
]


def _agree_on_made(
    batch: Batch, copy: SharedCopy, contact: LocalContact, document: SharedPerson, write: AccountWrite
) -> None:
    """Set the columns of the copy of a person who has just been made from its document."""
    local, remote = local_fields_of(contact), travelling_part(document.fields, batch.names)
    is_photo_pending = bool(remote[_PHOTO]) and local[_PHOTO] != remote[_PHOTO]
    copy.person, copy.state = contact.person, CopyState.LINKED
    _settle(copy)
    copy.base_local, copy.base_remote = local, {**remote, RELATIONS: [], _PHOTO: local[_PHOTO]}
    copy.is_made_here, copy.made_revision = True, write.revision
    copy.is_due = is_photo_pending
