"""Members, invited accounts and the worker at the same moment, with real threads."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.invariants import find_violations
from people.models import Person
from sharing.models import CopyState, Invitation, Share, SharedCopy, ShareMember, ShareMembership
from sharing.services.invitations import invite
from sharing.services.leaving import remove_member
from sharing.tasks import end_members
from tests.builders import make_user, verify_email
from tests.client import client_of
from tests.concurrency import run_concurrently
from tests.sharing.conftest import (
    add_person,
    carry_all,
    edit,
    join_share,
    make_share,
    membership_of,
    share_people,
)
from tests.sharing.test_carry_killed import carry_repeatedly

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def users(transactional_db: None) -> list[User]:
    return [verify_email(make_user(f"u{number}@example.org", name=f"U{number}")) for number in range(10)]


def status(user: User, method: str, path: str, body: Any = None) -> int:
    client = client_of(user)
    client.reader = None
    response = client.call(method, path, body)
    assert response.status_code < 500, response.content
    return int(response.status_code)


def invitation_of(host: User, share: Share, user: User) -> Invitation:
    return invite(owner=host, share_id=share.pk, email=user.email, now=timezone.now())


def accepting(user: User, invitation: Invitation) -> Any:
    return partial(status, user, "POST", f"/api/share-invitations/{invitation.pk}/accept", {})


def leaving(user: User, share: Share) -> Any:
    return partial(status, user, "DELETE", f"/api/shares/{share.pk}/membership")


def assert_whole(share: Share) -> None:
    """One host as long as there are members; each document counts its holders; the doctor finds nothing."""
    members = ShareMember.unscoped.rows().filter(share=share, ended_at=None)
    share.refresh_from_db()
    assert (members.filter(is_host=True).count(), share.ended_at is None) == ((1, True) if members else (0, False))
    current = ShareMembership.unscoped.rows().filter(share=share, deleted_at=None)
    assert set(members.values_list("pk", flat=True)) == set(current.values_list("pk", flat=True))
    linked = SharedCopy.unscoped.rows().filter(membership__share=share, state=CopyState.LINKED)
    for document in share.people.all():
        assert document.holders == linked.filter(shared=document).count()
    assert list(find_violations("share")) == []


def test_two_accept_while_it_is_carried(users: list[User]) -> None:
    share = share_people(users[0], users[1])
    for number in range(5):
        add_person(users[0], name=f"N{number}xq", surname=f"{number}Zyx")
    invitations = [invitation_of(users[0], share, user) for user in users[2:4]]
    calls = [accepting(user, invitation) for user, invitation in zip(users[2:4], invitations, strict=True)]
    carries = [partial(carry_repeatedly, user) for user in users[:2]]
    run_concurrently(*calls, *carries)
    carry_all()
    assert_whole(share)
    for user in users[2:4]:
        waiting = SharedCopy.objects.owned_by(user).filter(state=CopyState.WAITING)
        assert waiting.count() == 5


def test_two_people_are_linked_with_one(users: list[User]) -> None:
    share = make_share(users[0]).share
    for number in range(2):
        add_person(users[0], name=f"N{number}xq", surname=f"{number}Zyx")
    carry_all()
    join_share(share, users[1], reviewed=False)
    carry_all()
    own = add_own(users[1])
    ids = SharedCopy.objects.owned_by(users[1]).values_list("shared_id", flat=True)
    path = f"/api/shares/{share.pk}/waiting"
    bodies = [{"items": [{"sharedId": str(key), "action": "link", "personId": str(own.pk)}]} for key in ids]
    run_concurrently(*(partial(status, users[1], "POST", path, body) for body in bodies))
    assert SharedCopy.objects.owned_by(users[1]).filter(state=CopyState.LINKED, person=own).count() == 1
    assert SharedCopy.objects.owned_by(users[1]).filter(state=CopyState.WAITING).count() == 1
    assert_whole(share)


def add_own(user: User) -> Person:
    key = client_of(user).ok("POST", "/api/people", {"name": "Own"}, status=201)["person"]["id"]
    return Person.objects.owned_by(user).get(pk=key)


def test_revoked_while_it_is_accepted(users: list[User]) -> None:
    share = make_share(users[0]).share
    invitation = invitation_of(users[0], share, users[1])
    path = f"/api/shares/{share.pk}/invitations/{invitation.pk}"
    accepted, revoked = run_concurrently(accepting(users[1], invitation), partial(status, users[0], "DELETE", path))
    assert (accepted, revoked) in {(201, 200), (410, 200)}
    invitation.refresh_from_db()
    assert invitation.state == ("accepted" if accepted == 201 else "revoked")
    assert_whole(share)


def test_the_host_leaves_while_inviting(users: list[User]) -> None:
    share = share_people(*users[:2])
    path = f"/api/shares/{share.pk}/invitations"
    invited, left = run_concurrently(
        partial(status, users[0], "POST", path, {"email": users[2].email}), leaving(users[0], share)
    )
    assert left == 200
    assert invited in {201, 404}
    assert Invitation.unscoped.rows().count() == (invited == 201)
    assert_whole(share)
    assert membership_of(users[1]).member.is_host


def test_a_member_leaves_while_the_host_removes_it(users: list[User]) -> None:
    share = share_people(*users[:3])
    add_person(users[0])
    carry_all()
    row = membership_of(users[1])

    def remove() -> int:
        try:
            remove_member(owner=users[0], share_id=share.pk, member_id=row.pk, now=timezone.now())
        except MissingError:
            return 404
        return 200

    statuses = run_concurrently(remove, leaving(users[1], share))
    end_members()
    assert set(statuses) <= {200, 404}
    assert 200 in statuses
    assert_whole(share)


def test_all_write_at_once_and_none_waits_for_another_for_ever(users: list[User]) -> None:
    """Two shares of the same accounts, in opposite directions: no order of locks is turned round."""
    first = share_people(*users[:2], name="One")
    second = make_share(users[1], "Two").share
    join_share(second, users[0])
    add_person(users[0], first, name="Xa", surname="Yb")
    add_person(users[1], second, name="Zc", surname="Wd")
    carry_all()
    run_concurrently(*[partial(_edit_and_carry, user) for user in users[:2] * 2])
    carry_all()
    for share in (first, second):
        assert_whole(share)
    for name in ("Xa", "Zc"):
        copies: Sequence[Any] = Person.unscoped.rows().filter(name=name).values_list("nickname", "organization")
        assert len(set(copies)) == 1


def _edit_and_carry(user: User) -> int:
    for turn in range(4):
        for person in Person.objects.owned_by(user).active().order_by("pk"):
            column = "nickname" if user.name == "U0" else "organization"
            edit(user, person, **{column: f"{turn}"})
        carry_repeatedly(user)
    return 200
