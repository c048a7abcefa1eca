"""Several accounts act on one share at the same time."""

import datetime as dt
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from sharing.carry.carrier import carry_account
from sharing.models import Invitation, Share, SharedPerson, ShareMember
from sharing.services.invitations import address_key, token_key
from tests.builders import make_user, verify_email
from tests.client import Client, client_of
from tests.concurrency import run_concurrently
from tests.sharing.conftest import add_person, carry_all, membership_of, share_people

pytestmark = [pytest.mark.django_db(transaction=True)]


@pytest.fixture
def users(transactional_db: None) -> list[User]:
    """The host, and three others with proven addresses."""
    return [verify_email(make_user(f"user{number}@example.org", name=f"User {number}")) for number in range(4)]


def client_for(user: User) -> Client:
    """A client that may read the names of others."""
    client = client_of(user)
    client.reader = None
    return client


def invite(share: Share, host: User, email: str, token: str) -> str:
    invitation = Invitation.objects.create(
        share=share,
        inviter_id=host.pk,
        email=email,
        address_key=address_key(email),
        token_key=token_key(token),
        language="en",
        expires_at=timezone.now() + dt.timedelta(days=7),
    )
    return str(invitation.pk)


def accept(user: User, invitation: str, **body: Any) -> int:
    response = client_for(user).call("POST", f"/api/share-invitations/{invitation}/accept", body)
    return int(response.status_code)


def test_the_last_place_is_taken_once(users: list[User]) -> None:
    host, *others = users
    share = share_people(host)
    for number in range(6):
        ShareMember.objects.create(share=share, name=f"Member {number}")
    invitations = {user: invite(share, host, user.email, user.email) for user in others}
    statuses = run_concurrently(*(partial(accept, user, key) for user, key in invitations.items()))
    assert sorted(statuses) == [201, 409, 409]
    assert ShareMember.unscoped.rows().filter(share=share, ended_at=None).count() == 8


def test_an_invitation_is_used_once(users: list[User]) -> None:
    host, *others = users
    share = share_people(host)
    invitation = invite(share, host, "somebody@example.org", "token")
    statuses = run_concurrently(*(partial(accept, user, invitation, token="token") for user in others))
    assert sorted(statuses) == [201, 410, 410]


def test_everybody_leaves_at_once(users: list[User]) -> None:
    share = share_people(*users)
    for user in users:
        add_person(user, name=f"Friend of {user.name}")
    carry_all()

    def leave(user: User) -> int:
        response = client_for(user).call("DELETE", f"/api/shares/{share.pk}/membership")
        return int(response.status_code)

    assert run_concurrently(*(partial(leave, user) for user in users)) == [200] * 4
    share.refresh_from_db()
    assert share.ended_at is not None
    assert not ShareMember.unscoped.rows().filter(share=share, ended_at=None).exists()
    assert set(SharedPerson.unscoped.rows().filter(share=share).values_list("holders", "is_gone")) == {(0, True)}


def test_members_leave_while_others_are_carried(users: list[User]) -> None:
    host, leaving, *others = users
    share = share_people(*users)
    for number in range(30):
        add_person(host, name=f"Friend {number}")
    member = membership_of(leaving, share).pk

    def leave() -> int:
        response = client_for(leaving).call("DELETE", f"/api/shares/{share.pk}/membership")
        return int(response.status_code)

    def carry(user: User) -> int:
        carry_account(user.pk)
        return 0

    results = run_concurrently(leave, *(partial(carry, user) for user in (host, *others, leaving)))
    assert results[0] == 200
    carry_all()
    assert ShareMember.unscoped.rows().get(pk=member).ended_at is not None
    assert set(SharedPerson.unscoped.rows().filter(share=share).values_list("holders", flat=True)) == {3}
