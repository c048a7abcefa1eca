"""Ids of others in the paths and bodies of requests about a share that one is in; and a reading token."""

import re
from dataclasses import dataclass
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from accounts.vocabularies import TokenScope
from sharing.models import Hold, LogEntry, Share, ShareConflict, SharedCopy, SharedPerson, ShareMember
from sharing.services.invitations import invite
from tests.builders import make_token, make_user, verify_email
from tests.client import Client, client_of
from tests.routes.table import ROUTES, Route
from tests.sharing.builders import make_hold, make_shared_person
from tests.sharing.conftest import add_person, carry_all, join_share, make_share, membership_of, share_people

pytestmark = pytest.mark.sqlite_suffices

SHARE_ROUTES = [route for route in ROUTES if route.path.startswith("/api/share") and "{" in route.path]


@dataclass
class Cast:
    """A share of alice's and bob's, with something behind each id; and another one of `other`."""

    ids: dict[str, str]
    users: dict[str, User]
    share: Share

    def client(self, name: str, scope: str = TokenScope.READ_WRITE) -> Client:
        client = client_of(None)
        client.bearer = make_token(self.users[name], scope)
        return client


@pytest.fixture
def cast(alice: User) -> Cast:
    users = {"alice": verify_email(alice)}
    for name in ("bob", "other"):
        users[name] = verify_email(make_user(f"{name}@example.org", name=name))
    share = share_people(users["alice"], users["bob"])
    now = timezone.now()
    carry_all()
    membership = membership_of(users["bob"])
    ids = make_shared_person(membership, "Shared") | {"share": str(share.pk), "member": str(membership.pk)}
    hold = make_hold(share)
    invitation = invite(owner=users["alice"], share_id=share.pk, email="else@example.org", now=now)
    make_share(users["other"], "Elsewhere")
    ids |= {"invitation": str(invitation.pk), "received": str(invitation.pk), "hold": str(hold.pk)}
    return Cast(ids, users, share)


def rows_of(share: Share) -> list[Any]:
    models: list[Any] = [Share, SharedPerson, ShareMember, Hold, LogEntry, ShareConflict, SharedCopy]
    return [list(model.unscoped.rows().order_by("pk").values()) for model in models]


def send(cast: Cast, client: Client, route: Route) -> Any:
    path = route.path.format(**cast.ids)
    body = route.body if isinstance(route.body, dict) else None
    return client.call(route.method, path, body)


def test_ids_of_one_share_under_another_that_one_is_in(cast: Cast) -> None:
    """`other` asks in its own share for what is in this one."""
    own = str(membership_of(cast.users["other"]).share_id)
    client, before = cast.client("other"), rows_of(cast.share)
    for route in SHARE_ROUTES:
        names = re.findall(r"\{(\w+)\}", route.path)
        if "share" in names and len(names) > 1:
            body = route.body if isinstance(route.body, dict) else None
            response = client.call(route.method, route.path.format(**{**cast.ids, "share": own}), body)
            assert response.status_code == 404, (route.method, route.path, response.content)
    shared = str(SharedPerson.unscoped.rows().filter(share=cast.share)[0].pk)
    for action in ("accept", "link", "create", "skip", "keep", "remove"):
        item = {"sharedId": shared, "action": action, "personId": shared}
        answer = client.ok("POST", f"/api/shares/{own}/waiting", {"items": [item]})
        assert (answer["done"], [error["code"] for error in answer["errors"]]) == (0, ["not_found"])
    held = {"action": "accept", "sharedId": cast.ids["hold"]}
    assert client.ok("POST", f"/api/shares/{own}/held", held, status=409)["code"] == "not_held"
    assert rows_of(cast.share) == before


def test_a_reading_token_changes_nothing(cast: Cast) -> None:
    client, before = cast.client("alice", TokenScope.READ), rows_of(cast.share)
    for route in SHARE_ROUTES:
        if route.method != "GET":
            assert send(cast, client, route).status_code == 403, (route.method, route.path)
    for path in ("", "/waiting", "/conflicts", "/log", "/invitations"):
        client.ok("GET", f"/api/shares/{cast.ids['share']}{path}")
    assert rows_of(cast.share) == before


def test_a_person_of_somebody_else_is_nobody_to_link(cast: Cast) -> None:
    """Neither bob's, nor one in the trash."""
    carol = make_user("carol@example.org", name="carol")
    add_person(cast.users["alice"], name="Zuse", surname="Konrad")
    carry_all()
    join_share(cast.share, carol, reviewed=False)
    carry_all()
    row = SharedCopy.objects.owned_by(carol).filter(state="waiting")[0]
    client = client_of(carol)
    client.reader = None
    gone = client.ok("POST", "/api/people", {"name": "Gone"}, status=201)["person"]["id"]
    client.ok("DELETE", f"/api/people/{gone}")
    alices = SharedCopy.objects.owned_by(cast.users["bob"]).exclude(person=None)[0].person_id
    for person_id in (str(alices), gone, cast.ids["share"], "x", "", None):
        item = {"sharedId": str(row.shared_id), "action": "link", "personId": person_id}
        answer = client.call("POST", f"/api/shares/{cast.ids['share']}/waiting", {"items": [item]})
        assert answer.status_code in {200, 400}
        if answer.status_code == 200:
            assert [error["code"] for error in answer.json()["errors"]] == ["not_found"]
    row.refresh_from_db()
    assert row.state == "waiting"


def test_a_group_of_somebody_else_is_not_tied(cast: Cast) -> None:
    eve = verify_email(make_user("eve@example.org", name="eve"))
    invitation = invite(owner=cast.users["alice"], share_id=cast.share.pk, email=eve.email, now=timezone.now())
    client = client_of(eve)
    client.reader = None
    group = str(membership_of(cast.users["bob"]).group_id)
    for more in ({}, {"dryRun": True}):
        client.ok("POST", f"/api/share-invitations/{invitation.pk}/accept", {"groupId": group, **more}, status=400)
    client.ok("POST", "/api/shares", {"name": "Mine", "groupId": group}, status=400)
    assert not ShareMember.unscoped.rows().filter(name="eve").exists()
