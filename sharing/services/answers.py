"""Answers to what waits in a share for one member, and the end of the review of joining."""

import datetime as dt
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from accounts.models import User
from contacts_project.kernel.errors import NO_SUCH_RECORD, DomainError
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.ownership.account_lock import AccountWrite, account_write
from contacts_project.kernel.texts import Text, define_text
from contacts_project.kernel.vocabularies import Vocabulary
from people.merging.merge import merge_people
from people.models import Person
from people.services.people import delete_people
from sharing.carry.copies import create_copies, keep_copy, link_copy, skip_copy, take_out
from sharing.carry.holds import mark_answer
from sharing.carry.made_here import unedited_people
from sharing.carry.neutral import lock_share
from sharing.models import CopyState, Reason, SharedCopy, ShareMembership

_BATCH_SIZE = 50
"""Answers in one transaction, so that the share and the account are locked for a moment only."""


class Action(Vocabulary):
    """What a member answers."""

    ACCEPT = "accept"  # what was proposed, or the merge
    LINK = "link"  # the shared person is `person_id` here
    CREATE = "create"
    SKIP = "skip"
    KEEP = "keep"
    REMOVE = "remove"


_NEW = frozenset({Action.LINK, Action.CREATE, Action.SKIP})
_FITTING: Mapping[str, frozenset[Action]] = {
    Reason.PROPOSED: _NEW | {Action.ACCEPT},
    Reason.UNSURE: _NEW,
    Reason.PLAN_LIMIT: _NEW,
    Reason.TAKEN_OUT: frozenset({Action.KEEP, Action.REMOVE}),
    Reason.MERGED: frozenset({Action.ACCEPT, Action.KEEP, Action.REMOVE}),
}
_OF_SKIPPED = frozenset({Action.LINK, Action.CREATE})


class AnswerError(DomainError):
    """An answer that does not go, beside others that do."""

    code = "invalid_action"


class ActionError(AnswerError):
    message = define_text("invalid_action", "This answer does not fit what waits here.")


class UnknownError(AnswerError):
    code = "not_found"
    message = NO_SUCH_RECORD


class LinkedError(AnswerError):
    code = "already_linked"
    message = define_text("already_linked", "This person is another one of the share already.")


class MergeRefusedError(AnswerError):
    """The merge is not possible."""

    code = "refused"


_NO_ROOM = define_text("waits_for_room", "Your plan has no room for this person, who waits until it has.")
ERROR_CODES = sorted(
    [*(error.code for error in (ActionError, UnknownError, LinkedError, MergeRefusedError)), "plan_limit"]
)


@dataclass(frozen=True, slots=True)
class Answer:
    """`shared_id` as the request has it; `person_id` is None where it has none, or none that is an id."""

    shared_id: str
    action: str
    person_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class ItemError:
    shared_id: str
    code: str
    text: Text


@dataclass(slots=True)
class Answered:
    done: int = 0
    errors: list[ItemError] = field(default_factory=list)


def answer_waiting(
    *, owner: User, share_id: UUID, answers: Sequence[Answer], for_proposed: str | None, finish: bool, now: dt.datetime
) -> Answered:
    """Carry the answers out, in batches. `for_proposed` is the answer for all that are proposed and not among
    `answers`; `finish` ends the review: what has no answer goes on waiting.

    An answer that does not go is an error of its own and stops no other. Raises MissingError.
    """
    answered = Answered()
    if for_proposed is not None:
        answers = [*answers, *_for_proposed(owner, share_id, for_proposed, {answer.shared_id for answer in answers})]
    for start in range(0, len(answers), _BATCH_SIZE):
        _answer_batch(owner, share_id, answers[start : start + _BATCH_SIZE], answered, now)
    if finish:
        _finish_review(owner, share_id, now)
    return answered


def _for_proposed(owner: User, share_id: UUID, action: str, but: Collection[str]) -> Iterator[Answer]:
    membership = ShareMembership.objects.owned_by(owner).find_share(share_id)
    rows = SharedCopy.objects.owned_by(owner).waiting().filter(membership=membership, reason=Reason.PROPOSED)
    for row in rows.order_by("pk"):
        if str(row.shown_id) not in but:
            yield Answer(str(row.shown_id), action, row.person_id)


def _finish_review(owner: User, share_id: UUID, now: dt.datetime) -> None:
    with account_write(owner):
        membership = ShareMembership.objects.owned_by(owner).find_share(share_id)
        if membership.reviewed_at is None:
            # Everybody of the group is looked at: now they may go out.
            membership.reviewed_at, membership.sent_revision = now, 0
            membership.save()


def _answer_batch(owner: User, share_id: UUID, answers: Sequence[Answer], answered: Answered, now: dt.datetime) -> None:
    with account_write(owner) as write:
        lock_share(share_id)
        mark_answer(write)
        membership = ShareMembership.objects.owned_by(owner).find_share(share_id)
        copies = _load_copies(owner, membership, answers)
        created: dict[UUID, SharedCopy] = {}
        for answer in answers:
            copy = copies.get(parse_id(answer.shared_id))
            try:
                if copy is None:
                    raise UnknownError
                if copy.pk in created:
                    raise ActionError
                if _carry_out(_Item(owner, write, membership, copy, now), answer):
                    answered.done += 1
                else:
                    created[copy.pk] = copy
            except AnswerError as error:
                answered.errors.append(ItemError(answer.shared_id, error.code, error.message))
        if created:
            answered.done += create_copies(write, membership, list(created.values()))
            waiting = [copy for copy in created.values() if copy.state != CopyState.LINKED]
            answered.errors += [ItemError(str(copy.shown_id), "plan_limit", _NO_ROOM) for copy in waiting]


def _load_copies(
    owner: User, membership: ShareMembership, answers: Sequence[Answer]
) -> Mapping[UUID | None, SharedCopy]:
    """The copies that the answers name, by the id under which the API shows them."""
    keys = [key for answer in answers if (key := parse_id(answer.shared_id))]
    rows = SharedCopy.objects.owned_by(owner).filter(membership=membership).select_related("shared", "person")
    return {row.shown_id: row for row in rows.filter(Q(shared__in=keys) | Q(shared=None, pk__in=keys))}


@dataclass(frozen=True, slots=True)
class _Item:
    """One copy that is answered, inside the write."""

    owner: User
    write: AccountWrite
    membership: ShareMembership
    copy: SharedCopy
    now: dt.datetime


def _carry_out(item: _Item, answer: Answer) -> bool:
    """False if the person is to be made: all of a batch are made together. Raises AnswerError."""
    copy, action = item.copy, Action(answer.action)
    if action not in (_OF_SKIPPED if copy.state == CopyState.SKIPPED else _FITTING.get(copy.reason, frozenset())):
        raise ActionError
    if action == Action.ACCEPT and copy.reason == Reason.MERGED:
        _merge(item)
    elif action == Action.ACCEPT and copy.person_id is not None:
        _link(item, copy.person_id)
    elif action == Action.LINK:
        _link(item, answer.person_id)
    elif action == Action.SKIP:
        skip_copy(item.write, item.membership, copy)
    elif action == Action.KEEP:
        keep_copy(item.write, item.membership, copy)
    elif action == Action.REMOVE:
        _remove(item)
    else:
        return False
    return True


def _link(item: _Item, person_id: UUID | None) -> None:
    person = Person.objects.owned_by(item.owner).active().filter(pk=person_id).first() if person_id else None
    if person is None:
        raise UnknownError
    rows = SharedCopy.objects.owned_by(item.owner).filter(membership=item.membership, state=CopyState.LINKED)
    if rows.filter(person=person).exists():
        raise LinkedError
    link_copy(item.write, item.membership, item.copy, person)


def _merge(item: _Item) -> None:
    """Merge here, too. That the one merged away is out then is seen by the worker, as of any merge."""
    shared = item.copy.shared
    rows = SharedCopy.objects.owned_by(item.owner).filter(membership=item.membership, state=CopyState.LINKED)
    kept = rows.filter(shared=shared.merged_into_id).first() if shared and shared.merged_into_id else None
    if kept is None or kept.person_id is None or item.copy.person_id is None:
        raise ActionError
    try:
        with transaction.atomic():  # a savepoint: a merge that is refused is rolled back alone
            merge_people(
                owner=item.owner,
                primary_id=kept.person_id,
                secondary_id=item.copy.person_id,
                overrides={},
                now=item.now,
            )
    except DomainError as error:
        raise MergeRefusedError(error.message) from error
    keep_copy(item.write, item.membership, item.copy)


def _remove(item: _Item) -> None:
    """Take the person out, to the trash if the share made it, nobody has edited it here, and no other share has it."""
    copy = item.copy
    elsewhere = SharedCopy.objects.owned_by(item.owner).filter(person=copy.person_id, state=CopyState.LINKED)
    is_of_this_share = not elsewhere.exclude(pk=copy.pk).exists()
    if is_of_this_share and copy.person_id in unedited_people(item.owner, item.membership, [copy]):
        # First: taking out an active person also takes it out of the group, which a restore would not bring back.
        delete_people(owner=item.owner, person_ids=[copy.person_id], options={}, now=item.now)
    take_out(item.write, item.membership, copy)
