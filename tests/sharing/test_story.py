"""Two parents share their family, through the API and by mail, as the worker carries it."""

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core import mail
from django.utils import timezone

from accounts.models import User
from sharing.services.mail import send_due_invitations
from tests.builders import verify_email
from tests.client import Client, client_of
from tests.sharing.builders import make_group
from tests.sharing.conftest import carry_all


def reader_of(user: User) -> Client:
    """A client that may read the names of the other."""
    client = client_of(user)
    client.reader = None
    return client


def people_of(client: Client) -> dict[str, dict[str, Any]]:
    found = client.ok("GET", "/api/people?includeAll=true")["people"]
    return {person["name"]: person for person in found}


@pytest.mark.both_databases
def test_a_family_is_kept_together(alice: User, bob: User) -> None:
    verify_email(alice)
    mother, father = reader_of(alice), reader_of(bob)
    # She shares the group of three people.
    group = make_group(mother, "Family")
    for name, mails in (("Ada", ["ada@example.com"]), ("Grace", []), ("Linus", [])):
        body = {
            "name": name,
            "surname": "Lovelace",
            "emails": [{"type": "home", "email": one} for one in mails],
            "groupIds": [group],
        }
        mother.ok("POST", "/api/people", {**body, "notes": "of the mother"}, status=201)
    share = mother.ok("POST", "/api/shares", {"name": "Family", "groupId": group}, status=201)["share"]
    carry_all()
    path = f"/api/shares/{share['id']}"
    assert mother.ok("GET", path)["share"]["peopleCount"] == 3

    # He gets a mail at an address that his account has not proven, and follows its link.
    mother.ok("POST", f"{path}/invitations", {"email": "dad@example.net"}, status=201)
    send_due_invitations(now=timezone.now())
    [link] = re.findall(r"https?://\S+", str(mail.outbox[-1].body))
    token = parse_qs(urlsplit(link).query)["token"][0]
    [invitation] = father.ok("GET", f"/api/share-invitations?token={token}")["invitations"]
    assert (invitation["shareName"], invitation["from"], invitation["peopleCount"]) == ("Family", "Alice", 3)
    own = father.ok(
        "POST",
        "/api/people",
        {"name": "Ada", "surname": "Lovelace", "emails": [{"type": "work", "email": "ada@example.com"}]},
        status=201,
    )["person"]
    accept = f"/api/share-invitations/{invitation['id']}/accept"
    plan = father.ok("POST", accept, {"token": token, "dryRun": True})
    assert ([one["personId"] for one in plan["link"]], len(plan["unsure"])) == ([own["id"]], 0)
    assert sorted(one["name"] for one in plan["new"]) == ["Grace Lovelace", "Linus Lovelace"]
    father.ok("POST", accept, {"token": token}, status=201)

    # He takes in everybody but Linus.
    waiting = {one["name"]: one for one in father.ok("GET", f"{path}/waiting")["waiting"]}
    items = [{"sharedId": waiting["Linus Lovelace"]["sharedId"], "action": "skip"}]
    answered = father.ok("POST", f"{path}/waiting", {"items": items, "all": "accept", "finish": True})
    assert answered == {"done": 3, "errors": []}
    carry_all()
    assert sorted(people_of(father)) == ["Ada", "Grace"]
    assert people_of(father)["Ada"]["id"] == own["id"]
    assert {one["notes"] for one in people_of(father).values()} == {None}
    assert [one["state"] for one in people_of(father)["Grace"]["shares"]] == ["synced"]

    # What one writes reaches the other.
    grace = people_of(father)["Grace"]
    number = {"type": "mobile", "number": "+43 1 234567"}
    father.ok("PUT", f"/api/people/{grace['id']}", {"name": "Grace", "phoneNumbers": [number], "notes": "his own"})
    carry_all()
    arrived = people_of(mother)["Grace"]
    assert ([one["number"] for one in arrived["phoneNumbers"]], arrived["notes"]) == (["+43 1 234567"], "of the mother")

    # He leaves, and keeps his people; what he writes is his.
    assert father.ok("DELETE", f"{path}/membership") == {"success": True, "kept": 2, "trashed": 0}
    father.ok("PUT", f"/api/people/{grace['id']}", {"name": "Grace", "nickname": "Gracie"})
    carry_all()
    assert people_of(mother)["Grace"]["nickname"] is None
    assert [one["you"] for one in mother.ok("GET", path)["share"]["members"]] == [True]
    actions = [one["action"] for one in mother.ok("GET", f"{path}/log")["entries"]]
    assert (actions[0], actions.count("joined"), actions.count("added")) == ("left", 1, 3)
