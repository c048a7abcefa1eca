"""Joining a share. What the join would make of each person is found before any lock is taken; a rehearsal shows it."""

import datetime as dt
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from django.db import transaction

from accounts.models import User
from contacts_project.kernel.errors import DomainError, FieldError
from contacts_project.kernel.json import JsonMapping, JsonObject
from contacts_project.kernel.ownership.account_lock import AccountWrite, account_write
from contacts_project.kernel.texts import define_text
from people.contents.contact import load_local_contacts
from people.contents.merge import Sides
from people.models import Group, Person
from people.models.groups import group_key
from people.services.groups import create_group
from sharing.carry.batch import batch_of
from sharing.carry.contact import local_fields_of
from sharing.carry.ending import end_membership
from sharing.carry.incoming import take_newcomers
from sharing.carry.matching import find_matches
from sharing.carry.neutral import lock_share, next_sequence, notify_members, write_log
from sharing.decisions import Match, agree, shared_changes, travelling_fields
from sharing.models import (
    MAX_MEMBERS,
    Invitation,
    InvitationState,
    LogAction,
    Share,
    SharedPerson,
    ShareMember,
    ShareMembership,
    default_private,
)
from sharing.projection import document_name
from sharing.services.invitations import check_open, find_invitation
from sharing.services.shares import add_member, check_number, lock_group

_CHUNK_SIZE = 100
# What is compared with nobody, and may be long.
_LONG = frozenset({"notes", "addresses", "urls", "imHandles", "locations", "customFields", "relationships"})
_GROUP_NAME_LENGTH = 100


class AlreadyMemberError(DomainError):
    """The account is in the share."""

    message = define_text("already_member", "You are a member of this share already.")


class ShareFullError(DomainError):
    """A share has at most so many members."""

    message = define_text("share_full", "This share is full: it has %(limit)s members.").format(limit=MAX_MEMBERS)


@dataclass
class Review:
    """The people of a share, and whom each may be here. `sequence` is that of the share when they were read."""

    sequence: int = 0
    people: list[SharedPerson] = field(default_factory=list)
    matches: Mapping[UUID, Match] = field(default_factory=dict)


def accept(*, owner: User, invitation_id: UUID, data: JsonMapping, now: dt.datetime) -> UUID:
    """Join the share of an invitation: everybody of it waits to be answered. Returns the share's id.

    Raises MissingError, InvitationEndedError, AlreadyMemberError, ShareFullError, TooManySharesError, FieldError (the
    group), AlreadySharedError, PlanLimitError.
    """
    invitation = find_invitation(owner=owner, invitation_id=invitation_id, token=data.get("token"))
    _check(owner, invitation, now)
    review = review_of(owner, invitation.share)
    with account_write(owner) as write:
        share = lock_share(invitation.share_id)
        invitation.refresh_from_db()
        _check(owner, invitation, now)
        # Whoever was removed a moment ago and comes again: the worker may not have been there yet.
        for former in ShareMembership.objects.owned_by(owner).active().filter(share=share):
            end_membership(owner.pk, former.pk)
        group = _tie_group(owner, share, data, now)
        membership = add_member(owner, share, group, data, now)
        membership.received = review.sequence
        membership.save(update_fields=["received"])
        invitation.end(InvitationState.ACCEPTED)
        _ask_about(write, membership, review)
        next_sequence(share)
        write_log(share, membership.member, LogAction.JOINED)
        notify_members(share, but=membership.pk)
    return share.pk


def _ask_about(write: AccountWrite, membership: ShareMembership, review: Review) -> None:
    """Let everybody of the share wait. Whoever has gone meanwhile, here or there, is not asked about; whoever has come
    is a newcomer of the first carry."""
    gone = set(SharedPerson.objects.reached_by(membership).filter(is_gone=True).values_list("pk", flat=True))
    people = [person for person in review.people if person.pk not in gone]
    named = {key for match in review.matches.values() for key in _named(match)}
    here = Person.objects.active_ids(write.owner_id, named) if named else set()
    matches = {key: _known(match, here) for key, match in review.matches.items()}
    if people:
        take_newcomers(batch_of(write, membership), people, matches)


def _known(match: Match, here: Collection[UUID]) -> Match:
    """The match without people who are not here any more."""
    if match.link not in here and match.link is not None:
        return Match()
    return Match(match.link, tuple(pair for pair in match.candidates if pair[0] in here))


def rehearse(*, owner: User, invitation_id: UUID, data: JsonMapping, now: dt.datetime) -> JsonObject:
    """What `accept` would ask about each person, and its errors. Nothing is changed."""
    invitation = find_invitation(owner=owner, invitation_id=invitation_id, token=data.get("token"))
    _check(owner, invitation, now)
    with transaction.atomic():
        with account_write(owner):
            _tie_group(owner, invitation.share, data, now)
        transaction.set_rollback(True)
    review = review_of(owner, invitation.share)
    return _describe(owner, review, data.get("private", default_private()))


def _check(owner: User, invitation: Invitation, now: dt.datetime) -> None:
    check_open(invitation, now)
    if ShareMembership.objects.owned_by(owner).current().filter(share=invitation.share_id).exists():
        raise AlreadyMemberError
    members = ShareMember.unscoped.rows().filter(share=invitation.share_id, ended_at=None)
    if members.count() >= MAX_MEMBERS:
        raise ShareFullError
    check_number(owner)


def _tie_group(owner: User, share: Share, data: JsonMapping, now: dt.datetime) -> Group:
    """The named group; or a new one, named as the body or the share says."""
    if data.get("group_id"):
        return lock_group(owner, data["group_id"])
    if data.get("groupName"):
        try:
            return create_group(owner=owner, data={"name": data["groupName"]}, people=[], now=now)
        except FieldError as error:
            raise FieldError("groupName", error.message) from None
    return create_group(owner=owner, data={"name": _free_name(owner, share.name)}, people=[], now=now)


def _free_name(owner: User, name: str) -> str:
    """The name, or with a number behind it where a group has it already."""
    taken = set(Group.objects.owned_by(owner).active().values_list("name_key", flat=True))
    number, free = 1, name
    while group_key(free) in taken:
        number += 1
        free = f"{name[: _GROUP_NAME_LENGTH - len(f' {number}')]} {number}"
    return free


def review_of(owner: User, share: Share) -> Review:
    """Everybody of the share, and whom each may be here. Reads without a lock."""
    share.refresh_from_db(fields=["sequence"])
    rows = SharedPerson.unscoped.rows().filter(share=share, is_gone=False, sequence__lte=share.sequence)
    people = list(map(_for_matching, rows.order_by("pk").iterator(_CHUNK_SIZE)))
    return Review(share.sequence, people, find_matches(owner, people))


def _for_matching(person: SharedPerson) -> SharedPerson:
    """The document with what it is matched and named by: two thousand long ones would not fit into a request."""
    person.fields = {name: value for name, value in person.fields.items() if name not in _LONG}
    return person


def _describe(owner: User, review: Review, private: Collection[str]) -> JsonObject:
    named = {key for match in review.matches.values() for key in _named(match)}
    names = {row.pk: row.display_name_for(owner) for row in Person.objects.owned_by(owner).filter(pk__in=named)}
    link, unsure, new = [], [], []
    for person in review.people:
        match = review.matches[person.pk]
        entry: JsonObject = {"sharedId": str(person.pk), "name": document_name(owner, person.fields)}
        if match.link:
            link.append({**entry, "personId": str(match.link), "personName": names[match.link]})
        elif match.candidates:
            candidates = [
                {"personId": str(key), "personName": names[key], "score": score} for key, score in match.candidates
            ]
            unsure.append({**entry, "candidates": candidates})
        else:
            new.append(entry)
    pairs = [(person, match.link) for person in review.people if (match := review.matches[person.pk]).link]
    return {"link": link, "unsure": unsure, "new": new, "differing": _count_differing(owner, pairs, private)}


def _named(match: Match) -> Iterator[UUID]:
    yield from [match.link] if match.link else []
    yield from (key for key, _ in match.candidates)


def _count_differing(owner: User, pairs: list[tuple[SharedPerson, UUID]], private: Collection[str]) -> int:
    """How many of these people the first merge would change, or leave in conflict. Relationships come after that."""
    names, count = travelling_fields(private), 0
    for start in range(0, len(pairs), _CHUNK_SIZE):
        chunk = pairs[start : start + _CHUNK_SIZE]
        contacts = load_local_contacts(owner, [key for _, key in chunk])
        documents = SharedPerson.unscoped.rows().in_bulk([person.pk for person, _ in chunk])
        for person, key in chunk:
            local, remote = local_fields_of(contacts[key]), documents[person.pk].fields
            agreed = agree(Sides({}, {}), Sides(local, remote), names, ())
            differs = shared_changes(local, agreed.person) or shared_changes(remote, agreed.document)
            count += bool(differs or agreed.conflicts)
    return count
