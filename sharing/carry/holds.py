"""What is held: large changes of one member, until another one has decided about them (sharing.services.held).

It is judged before anything goes out, whenever the account has written. While something is held, no change of the
member's goes out, but people do who are added by another write; what others change still comes in, but for people
whose own changes wait.
"""

import datetime as dt
from collections.abc import Collection, Iterator, Sequence
from uuid import UUID

from django.db.models import F, Max, Q

from contacts_project.kernel.ownership.account_lock import AccountWrite
from contacts_project.kernel.ownership.models import OwnedQuerySet
from people.contents.contact import load_local_contacts
from people.contents.merge import Sides, resolve_bases
from people.services.groups import put_members
from people.services.people import restore_person
from relationships.models import Relationship
from sharing.carry.batch import Batch
from sharing.carry.contact import local_fields_of, sync_copies
from sharing.carry.copies import create_people, may_restore
from sharing.carry.neutral import next_sequence
from sharing.carry.outgoing import count_people
from sharing.carry.relations import load_relations
from sharing.decisions import HOLD_COUNT, RELATIONS, Sending, agree, held_people, hold_limit, is_emptied, shared_changes
from sharing.models import (
    CopyState,
    Hold,
    HoldState,
    LogEntry,
    Reason,
    ShareConflict,
    SharedCopy,
    SharedPerson,
    ShareMember,
    ShareMembership,
    WriteOrigin,
)
from sharing.signals import announce_hold

_WINDOW = dt.timedelta(hours=1)
_CHUNK_SIZE = 50
_FOLLOWING = frozenset({"photo", RELATIONS})


def is_held(batch: Batch, *, has_marked: bool) -> bool:
    """Whether nothing of the member's may go out. `has_marked`: the account has written, so that it is judged anew."""
    hold = _hold_of(batch)
    if hold is not None and hold.state != HoldState.OPEN:
        return True
    if not has_marked and (hold is None or _has_others(batch)):
        return hold is not None
    held = _judge(batch)
    if held and not _has_others(batch):
        held = set()  # nobody is there whom it would reach, or who could decide
    if hold is None and held:
        sequence = next_sequence(batch.share)
        Hold.objects.create(share=batch.share, member=batch.member, count=len(held), sequence=sequence)
        announce_hold(batch.share.pk, batch.member.pk)
    elif hold is not None and not held:
        next_sequence(batch.share)
        hold.delete()
    elif hold is not None and hold.count != len(held):
        hold.count, hold.sequence = len(held), next_sequence(batch.share)
        hold.save(update_fields=["count", "sequence"])
    else:
        return hold is not None
    batch.is_changed = batch.is_visible = True
    return bool(held)


def due_additions(batch: Batch, due: OwnedQuerySet[SharedCopy]) -> list[SharedCopy]:
    """Those of the due copies that go out although something of the member is held: of people who were added since, or
    come back, unless they are of what is held."""
    hold = _hold_of(batch)
    if hold is None:
        return []
    rows = due.filter(~Q(state=CopyState.LINKED) | Q(created_at__gt=hold.created_at))
    added = list(rows.select_related("person").order_by("pk"))
    if not added:
        return []
    held, revisions = _judge(batch), held_revisions(batch)
    return [
        copy
        for copy in added
        if copy.shared_id not in held and (copy.person is None or copy.person.revision not in revisions)
    ]


def held_revisions(batch: Batch) -> set[int]:
    """The revisions of the writes of which something is held: whoever was added by them waits, too."""
    hold = _hold_of(batch)
    if hold is None:
        return set()
    waiting = batch.linked().filter(is_due=True, created_at__lte=hold.created_at).select_related("person")
    origins = {origin for origin in _origins(batch, list(waiting)).values() if origin}
    written = WriteOrigin.objects.owned_by(batch.owner).filter(origin__in=origins)
    single = {int(origin) for origin in origins if origin.isdigit()}
    return single.union(written.values_list("write_revision", flat=True))


def has_held(batch: Batch, copy: SharedCopy) -> bool:
    """Whether changes of the copy's person wait for another member's decision."""
    return copy.is_due and _hold_of(batch) is not None


def _has_others(batch: Batch) -> bool:
    members = ShareMember.unscoped.rows().filter(share=batch.share, ended_at=None)
    return bool(members.exclude(pk=batch.member.pk).exists())


def _hold_of(batch: Batch) -> Hold | None:
    hold: Hold | None = Hold.unscoped.rows().filter(member=batch.member, done_at=None).first()
    return hold


def _judge(batch: Batch) -> set[UUID]:
    """The shared people whose changes have to be held. Constant in cost where few are due."""
    due = batch.linked().filter(is_due=True)
    count = due.count()
    lately = _removed_lately(batch) if count else set()
    if not count or count + len(lately) <= HOLD_COUNT:
        return set()
    people = count_people(batch)
    if count + len(lately) <= hold_limit(people):
        return set()
    keys = list(due.order_by("pk").values_list("pk", flat=True))
    sendings: list[Sending] = []
    for start in range(0, len(keys), _CHUNK_SIZE):
        chunk = due.filter(pk__in=keys[start : start + _CHUNK_SIZE]).select_related("person")
        sendings += _sendings(batch, list(chunk))
    return held_people(sendings, lately, people)


def _removed_lately(batch: Batch) -> set[UUID]:
    rows = LogEntry.unscoped.rows().filter(by=batch.member, is_removal=True, created_at__gt=batch.now - _WINDOW)
    return {key for key in rows.values_list("person_id", flat=True) if key}


def _sendings(batch: Batch, copies: Sequence[SharedCopy]) -> Iterator[Sending]:
    """What the carry of these linked copies would do to their documents, as far as it counts."""
    origins = _origins(batch, copies)
    here = batch.members_of_group([copy.person_id for copy in copies if copy.person_id])
    documents = SharedPerson.unscoped.rows().in_bulk([copy.shared_id for copy in copies])
    contacts = load_local_contacts(batch.owner, here)
    relations = load_relations(batch, copies, documents)
    for copy in copies:
        origin = origins[copy.pk]
        if origin is None or copy.shared_id is None:
            continue
        if copy.person_id not in contacts:
            yield Sending(copy.shared_id, origin, removes=True)
            continue
        local = local_fields_of(contacts[copy.person_id], [entry for entry, _ in relations.entries_of(copy)])
        document = documents[copy.shared_id].fields
        sides = Sides(copy.base_local, copy.base_remote), Sides(local, document)
        after = agree(*sides, batch.names, relations.people).document
        changed = shared_changes(document, after)
        # What follows somebody who was added, such as a picture, is no change of its own.
        if any(document.get(name) or name not in _FOLLOWING for name in changed):
            yield Sending(copy.shared_id, origin, removes=is_emptied(document, after))


def _origins(batch: Batch, copies: Collection[SharedCopy]) -> dict[UUID, str | None]:
    """The write from which the last change of each copy's person comes; None if it does not count: answers and undo,
    and what another member has let through."""
    people = [copy.person_id for copy in copies if copy.person_id]
    rows = Relationship.objects.owned_by(batch.owner).filter(person__in=people).order_by()
    related = dict(rows.values_list("person_id").annotate(last=Max("revision")))
    last = {copy.pk: max(copy.person.revision if copy.person else 0, related.get(copy.person_id, 0)) for copy in copies}
    written = WriteOrigin.objects.owned_by(batch.owner).filter(write_revision__in=set(last.values()))
    larger = {row.write_revision: row for row in written}
    origins: dict[UUID, str | None] = {}
    for key, revision in last.items():
        work = larger.get(revision)
        is_passed = 0 < revision <= batch.membership.passed_revision or (work is not None and not work.counts)
        origins[key] = None if is_passed else work.origin if work else str(revision)
    return origins


def publish_all(membership: ShareMembership) -> None:
    """Let everybody be compared once more, since a field is public again. That is no change of people: it does not
    count, unless their changes wait for a decision. Inside the account's write; the caller saves the membership."""
    if not Hold.objects.reached_by(membership).filter(member=membership.member_id, done_at=None).exists():
        membership.passed_revision = max(membership.passed_revision, membership.sent_revision)
    membership.sent_revision = 0


def mark_answer(write: AccountWrite) -> None:
    """What this write changes is an answer or undo: it does not count when it is judged what to hold."""
    new = {"owner_id": write.owner_id, "origin": f"answer:{write.revision}", "counts": False}
    WriteOrigin.objects.owned_by(write.owner_id).update_or_create(
        write_revision=write.revision, defaults={"counts": False}, create_defaults=new
    )


def find_counted(batch: Batch, copies: Collection[SharedCopy]) -> set[UUID]:
    """The ids of the copies whose changes count when it is judged what to hold."""
    return {key for key, origin in _origins(batch, copies).items() if origin is not None} if copies else set()


def carry_hold(batch: Batch, limit: int) -> bool:
    """Carry out what another member has decided, for at most `limit` people; returns whether there is more to do.

    Let through: what has been marked by now does not count any more. Refused: the people get back what the share has.
    """
    hold = _hold_of(batch)
    if hold is None or hold.state == HoldState.OPEN:
        return False
    batch.write()
    if hold.state == HoldState.ACCEPTED:
        batch.membership.passed_revision = batch.membership.sent_revision
    elif _give_back(batch, hold, limit):
        return True
    hold.done_at = batch.now
    hold.save(update_fields=["done_at"])
    batch.membership.save(update_fields=["passed_revision", "updated_at"])
    batch.is_visible = True
    return False


def _give_back(batch: Batch, hold: Hold, limit: int) -> bool:
    added = batch.linked().filter(is_due=True, created_at__gt=hold.created_at).select_related("person")
    changed = {sending.shared for sending in _sendings(batch, list(added))}
    # The pictures and relationships of who was added meanwhile are on their way.
    left = [*batch.pictures.left_due, *(copy.pk for copy in added if copy.shared_id not in changed)]
    rows = batch.linked().filter(is_due=True).exclude(pk__in=left)
    copies = list(rows.select_related("person", "shared").order_by("pk")[:limit])
    present = [copy for copy in copies if _bring_back(batch, copy)]
    if present and batch.membership.group is not None:
        put_members(batch.membership.group, [copy.person_id for copy in present if copy.person_id], batch.now)
    _prefer_share(batch, present)
    sync_copies(batch, present)
    return bool(copies)


def _bring_back(batch: Batch, copy: SharedCopy) -> bool:
    """Whether the copy's person is here: out of the trash if there is room, else made anew, now or once there is."""
    person = copy.person
    if person is not None and not person.is_deleted:
        return True
    if person is not None and may_restore(batch, person):
        restore_person(owner=batch.owner, person=person, now=batch.now)
        return True
    SharedPerson.unscoped.rows().filter(pk=copy.shared_id).update(holders=F("holders") - 1)
    copy.state, copy.reason, copy.reason_at, copy.is_due = CopyState.WAITING, Reason.PLAN_LIMIT, batch.now, False
    copy.person = None
    copy.save()
    create_people(batch, [copy])
    return False


def _prefer_share(batch: Batch, copies: Sequence[SharedCopy]) -> None:
    """Set the bases so that what was changed here is merged as a change of the share alone."""
    documents = {copy.shared.pk: copy.shared for copy in copies if copy.shared}
    relations = load_relations(batch, copies, documents)
    contacts = load_local_contacts(batch.owner, [copy.person_id for copy in copies if copy.person_id])
    in_conflict = {
        row.copy_id: {entry["field"] for entry in row.fields}
        for row in ShareConflict.objects.owned_by(batch.owner).filter(copy__in=copies)
    }
    for copy in copies:
        if copy.person_id is None or copy.shared is None:
            continue
        local = local_fields_of(contacts[copy.person_id], [entry for entry, _ in relations.entries_of(copy)])
        changed = set(shared_changes(copy.base_local, local)) - in_conflict.get(copy.pk, set())
        bases = Sides(copy.base_local, copy.base_remote)
        bases = resolve_bases(bases, Sides(local, copy.shared.fields), changed, keep_local=False)
        copy.base_local, copy.base_remote = bases.local, bases.remote
