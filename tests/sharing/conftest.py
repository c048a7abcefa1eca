"""Accounts that keep people together: alice (host), bob and carol, each with a group of their own."""

from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from people.models import Group, Membership, Person
from people.models.groups import group_key
from people.services.groups import put_members, remove_member
from people.services.person_writer import create_person, update_person
from sharing.carry.carrier import carry_account
from sharing.carry.sweep import due_accounts
from sharing.models import Share, SharedCopy, ShareMember, ShareMembership, mark_shared
from tests.builders import make_user

_MAX_ROUNDS = 50


@pytest.fixture
def bob(db: None) -> User:
    return make_user("bob@example.org", name="Bob")


@pytest.fixture
def carol(db: None) -> User:
    return make_user("carol@example.org", name="Carol")


def make_share(host: User, name: str = "Family") -> ShareMembership:
    """A share of one; returns the membership of its host."""
    share = Share.objects.create(name=name)
    return join_share(share, host, is_host=True)


def join_share(
    share: Share, user: User, *, is_host: bool = False, reviewed: bool = True, **fields: Any
) -> ShareMembership:
    """Make the account a member, with a new group named as the share."""
    with account_write(user):
        group = Group.objects.create(owner=user, name=share.name, name_key=group_key(share.name), color="#111111")
        member = ShareMember.objects.create(share=share, name=user.name, is_host=is_host)
        membership = ShareMembership.objects.create(
            pk=member.pk,
            owner=user,
            share=share,
            member=member,
            group=group,
            reviewed_at=timezone.now() if reviewed else None,
            due_at=timezone.now(),
            **fields,
        )
        mark_shared(user.pk)
    user.refresh_from_db()
    return membership


def share_people(*users: User, name: str = "Family") -> Share:
    """A share of these accounts, the first one its host."""
    share = make_share(users[0], name).share
    for user in users[1:]:
        join_share(share, user)
    return share


def carry_all(*, expect_quiet: bool = True) -> int:
    """Carry for all accounts until nobody has anything to carry; returns how many rounds that took."""
    for number in range(_MAX_ROUNDS):
        owners = due_accounts()
        if not owners:
            return number
        for owner_id in owners:
            carry_account(owner_id)
    assert not expect_quiet, "the shares do not become quiet"
    return _MAX_ROUNDS


def membership_of(user: User, share: Share | None = None) -> ShareMembership:
    rows = ShareMembership.objects.owned_by(user).active().select_related("group", "member", "share")
    return rows.get(share=share) if share else rows.get()


def add_person(user: User, share: Share | None = None, **data: Any) -> Person:
    """A person with these columns in the account's group of the share."""
    group = membership_of(user, share).group
    return create_person(owner=_fresh(user), data={"name": "Ada", **data, "groups": [group]}, now=timezone.now())


def put_into_group(user: User, *people: Person, share: Share | None = None) -> None:
    group = membership_of(user, share).group
    assert group is not None
    with account_write(user):
        put_members(group, [person.pk for person in people], timezone.now())


def leave_group(user: User, person: Person, share: Share | None = None) -> None:
    group = membership_of(user, share).group
    assert group is not None
    remove_member(group=group, person_id=person.pk, now=timezone.now())


def edit(user: User, person: Person, **data: Any) -> None:
    """Edit columns of a person, as a request does."""
    owner = _fresh(user)
    update_person(owner=owner, person=Person.objects.find_active(owner, person.pk), data=data, now=timezone.now())


def _fresh(user: User) -> User:
    return User.objects.get(pk=user.pk)


def copy_of(user: User, person: Person, share: Share | None = None) -> SharedCopy:
    """The copy of a shared person, given as the person of any member, in this account."""
    shared_id = SharedCopy.unscoped.rows().get(person=person, membership__share=share) if share else _shared(person)
    return SharedCopy.objects.owned_by(user).select_related("person", "shared").get(shared=shared_id)


def _shared(person: Person) -> UUID:
    found: UUID = SharedCopy.unscoped.rows().exclude(shared=None).get(person=person).shared_id
    return found


def person_of(user: User, person: Person) -> Person:
    """The person of this account who is the same shared person as that of another."""
    found = copy_of(user, person).person
    assert found is not None
    return found


def group_people(user: User, share: Share | None = None) -> list[str]:
    """The names of the active people in the account's group of the share."""
    group = membership_of(user, share).group
    rows = Membership.objects.owned_by(user).filter(group=group, person__deleted_at=None)
    return sorted(rows.values_list("person__name", flat=True))
