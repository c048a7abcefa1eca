"""Whoever is not in a share gets the answer for a share that does not exist, on every route of shares."""

import datetime as dt
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from accounts.models import User
from sharing.carry.ending import end_membership
from sharing.models import Invitation, LogAction, LogEntry, Share, ShareConflict, ShareMember
from tests.builders import UNKNOWN_ID, make_user
from tests.client import client_of
from tests.routes.calls import fill_ids
from tests.routes.table import ROUTES, Route
from tests.sharing.conftest import add_person, carry_all, copy_of, membership_of, share_people

pytestmark = pytest.mark.sqlite_suffices

ACTORS = ("stranger", "left", "removed", "removed and ended", "of another share")
OF_A_SHARE = [route for route in ROUTES if "{share}" in route.path or "{share_conflict}" in route.path]


@pytest.fixture
def ids(alice: User) -> dict[str, str]:
    """Alice's share with a person in conflict, a line of the log, an invitation, and members who have left."""
    users = [make_user(f"{name.replace(' ', '-')}@example.org", name=name) for name in ACTORS]
    share = share_people(alice, *users[1:4])
    share_people(users[4], name="School")
    ada = add_person(alice)
    carry_all()
    copy, member = copy_of(alice, ada), membership_of(alice, share)
    fields = [{"field": "nickname", "base": None, "local": "A", "remote": "B"}]
    conflict = ShareConflict.objects.create(owner=alice, membership=member, copy=copy, fields=fields)
    entry = LogEntry.objects.create(
        share=share,
        by=member.member,
        by_name="Alice",
        action=LogAction.CHANGED,
        person=copy.shared,
        fields=["nickname"],
    )
    invitation = Invitation.objects.create(
        share=share,
        inviter_id=alice.pk,
        email="x@example.org",
        language="en",
        expires_at=timezone.now() + dt.timedelta(1),
    )
    client_of(users[1]).ok("DELETE", f"/api/shares/{share.pk}/membership")
    host = client_of(alice)
    host.reader = None
    for user in users[2:4]:
        membership = membership_of(user, share)
        host.ok("DELETE", f"/api/shares/{share.pk}/members/{membership.pk}")
        if user is users[3]:
            end_membership(user.pk, membership.pk)
    return {
        "share": str(share.pk),
        "share_conflict": str(conflict.pk),
        "share_log_entry": str(entry.pk),
        "invitation": str(invitation.pk),
        "member": str(member.pk),
    }


def answer(user: User, route: Route, ids: dict[str, str]) -> tuple[int, bytes]:
    """The status and body of the route; `reader` is set, so that a name of alice's account would be found."""
    body = fill_ids(route.body, ids) if route.body else None
    response: Any = client_of(user).call(route.method, route.path.format_map(ids), body)
    return response.status_code, response.content


@pytest.mark.parametrize("name", ACTORS)
def test_who_is_not_in_the_share(ids: dict[str, str], name: str) -> None:
    user = User.objects.get(name=name)
    assert len(OF_A_SHARE) > 12
    for route in OF_A_SHARE:
        status, content = answer(user, route, ids)
        assert (status, content) == answer(user, route, dict.fromkeys(ids, UNKNOWN_ID)), route.name
        assert status == 404, route.name


@pytest.mark.parametrize("name", ACTORS)
def test_a_share_of_ones_own_does_not_reach_what_is_of_another(ids: dict[str, str], name: str) -> None:
    user = User.objects.get(name=name)
    own = membership_of(user).share_id if name == "of another share" else share_people(user, name="Own").pk
    mixed = {**ids, "share": str(own)}
    for route in OF_A_SHARE:
        if route.path.count("{") > 1:  # such as a line of the log
            assert answer(user, route, mixed)[0] == 404, route.name


def test_nothing_of_the_share_has_changed(ids: dict[str, str], alice: User) -> None:
    before = list(ShareMember.unscoped.rows().filter(share=ids["share"], ended_at=None).values())
    for name in ACTORS:
        for route in OF_A_SHARE:
            answer(User.objects.get(name=name), route, ids)
    assert list(ShareMember.unscoped.rows().filter(share=ids["share"], ended_at=None).values()) == before
    assert Share.unscoped.rows().get(pk=UUID(ids["share"])).name == "Family"
