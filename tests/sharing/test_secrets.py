"""Planted secrets: what is private, and what never travels, is in nothing that another account can read and in no
neutral row, whatever happens to the people who have it."""

import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.core import mail
from django.core.files.storage import default_storage
from django.utils import timezone

from accounts.models import User
from notifications.tasks import due_scan
from people.models import Person
from people.photos.names import photo_hash
from people.services.photos import set_person_photo
from sharing.models import PrivateField, Share, ShareMembership
from sharing.models.neutral import NeutralModel
from sharing.services.invitations import invite
from sharing.services.mail import send_due_invitations
from tests.builders import make_token, make_user, verify_email
from tests.client import Client, client_of
from tests.contacts_project.mcp.test_mcp import call as call_tool
from tests.contacts_project.mcp.test_mcp import tools_of
from tests.contacts_project.server.server_thread import RunningServer
from tests.dav.devices import DECLARED, Device
from tests.pictures import picture
from tests.routes.table import ROUTES
from tests.sharing.conftest import carry_all, membership_of

SECRET = "zq7secret"
EVERY_FIELD = [str(field) for field in PrivateField]
_COLOR = "orchid"
_CARD = "X-HUSH:zq7secretline\r\nX-SOCIALPROFILE;TYPE=zq7secretkind:http://e.org/zq7secretprofile\r\nEND:VCARD"


class Keeper:
    """An account with a secret wherever the API takes a text that may not reach others."""

    def __init__(self, user: User, private: list[str]) -> None:
        self.user, self.client, self.private, self.number = user, client_of(user), private, 0
        self.client.reader = None

    def secret(self, what: str) -> str:
        self.number += 1
        return f"{SECRET}{what}{self.number}"

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Create one record; returns it."""
        response = self.client.call("POST", path, body)
        assert response.status_code in {200, 201}, (path, response.content)
        answer: dict[str, Any] = json.loads(response.content)
        return next((value for value in answer.values() if isinstance(value, dict)), answer)

    def plant_types(self) -> None:
        self.kind = self.post(
            "/api/relationship-types",
            {"name": self.secret("type"), "label": self.secret("label"), "inverseLabel": self.secret("inverse")},
        )["id"]
        self.group = self.post("/api/groups", {"name": self.secret("group")})["id"]
        self.template = self.post("/api/custom-field-templates", {"name": self.secret("template"), "type": "TEXT"})[
            "id"
        ]

    def private_values(self) -> dict[str, Any]:
        """Values of the fields that this member keeps to itself."""
        values = {
            "notes": self.secret("notes"),
            "addresses": [{"type": "home", "streetLine1": self.secret("street"), "country": "AT"}],
            "emails": [{"type": "home", "email": f"{self.secret('mail')}@e.org"}],
            "phoneNumbers": [{"type": self.secret("phone"), "number": "+43 660 7770777"}],
            "customFields": [{"key": self.secret("field"), "value": self.secret("value")}],
        }
        return {name: value for name, value in values.items() if name in self.private}

    def never_values(self) -> dict[str, Any]:
        """Values that never travel."""
        return {
            "displayNameOverride": self.secret("name"),
            "relationshipToUserId": self.kind,
            "customFieldValues": [{"templateId": self.template, "value": self.secret("value")}],
            "favourite": True,
            "quiet": True,
            "lastContact": "1987-06-05",
        }

    def plant(self, person: Person, friend: Person) -> None:
        """Secrets in every place of a person that is shared already, or about to be."""
        path = f"/api/people/{person.pk}"
        self.client.ok("PUT", path, {**self.private_values(), **self.never_values()})
        self.client.ok("POST", f"/api/groups/{self.group}/members", {"personId": str(person.pk)})
        self.post("/api/interactions", _interaction(person, self.secret("interaction")))
        types = self.client.ok("GET", "/api/relationship-types")["relationshipTypes"]
        kind = (
            self.kind
            if "relationships" in self.private
            else next(row["id"] for row in types if row["name"] == "FRIEND")
        )
        body = {"personId": str(person.pk), "relatedPersonId": str(friend.pk), "relationshipTypeId": kind}
        response = self.client.call("POST", "/api/relationships", {**body, "notes": self.secret("relation")})
        assert response.status_code in {200, 201, 400, 409}, response.content
        if "importantDates" in self.private:
            date = {"title": self.secret("date"), "date": "2001-02-03", "reminderEnabled": True, "reminderType": "ONCE"}
            self.post(f"{path}/important-dates", date)
        if "photo" in self.private:
            now = timezone.now()
            set_person_photo(owner_id=self.user.pk, person_id=person.pk, picture=picture(color=_COLOR), now=now)
        self.add_unknown_lines(person)

    def add_unknown_lines(self, person: Person) -> None:
        """A phone writes a card with lines that the service does not know."""
        device = Device(self.user)
        for href, entry in device.sync("", "d:getetag", "card:address-data").entries.items():
            text = entry.text("card:address-data")
            if str(person.pk) in text:
                response = device.call(
                    "PUT",
                    href,
                    text.replace("END:VCARD", _CARD),
                    content_type="text/vcard",
                    HTTP_IF_MATCH=entry.text("d:getetag"),
                )
                assert response.status_code in {201, 204}, response.content


def _interaction(person: Person, note: str) -> dict[str, Any]:
    return {"personIds": [str(person.pk)], "kind": "CALL", "at": "2026-02-03T12:00:00Z", "note": note}


def neutral_text() -> Iterator[str]:
    """All neutral tables, row by row."""
    for model in apps.get_app_config("sharing").get_models():
        if issubclass(model, NeutralModel):
            manager: Any = model
            for row in manager.unscoped.rows().values():
                yield f"{model.__name__} {json.dumps(row, default=str)}"


def read_everything(user: User, share: Share, invitation: object) -> Iterator[tuple[str, str]]:
    """Every answer to a GET that the account can have, and what its devices are told."""
    client = client_of(user)
    client.reader = None
    person = Person.objects.owned_by(user).active().order_by("pk").first()
    membership = ShareMembership.objects.owned_by(user).active().filter(share=share).first()
    ids = {"share": str(share.pk), "received": str(invitation)}
    ids |= {"person": str(person.pk)} if person else {}
    ids |= {"group": str(membership.group_id)} if membership else {}
    for route in ROUTES:
        names = set(re.findall(r"\{(\w+)\}", route.path))
        if route.method == "GET" and names <= ids.keys() and "stream" not in route.path:
            response = client.call("GET", route.path.format(**ids))
            yield route.path, b"".join(response).decode("utf-8", "replace")
    device = Device(user)
    yield "book", b"".join(device.call("REPORT", device.book, _REPORT, HTTP_DEPTH="0")).decode()
    yield "tree", b"".join(device.call("PROPFIND", f"/dav/calendars/{user.pk}/", _ALL, HTTP_DEPTH="1")).decode()


def read_of_shares(client: Client, share: Share) -> Iterator[tuple[str, str]]:
    for part in ("", "/waiting", "/conflicts", "/log"):
        path = f"/api/shares/{share.pk}{part}"
        yield path, client.call("GET", path).content.decode()


_ALL = f"<d:propfind {DECLARED}><d:allprop/></d:propfind>"
_REPORT = (
    f"<d:sync-collection {DECLARED}><d:sync-token/><d:sync-level>1</d:sync-level>"
    "<d:prop><d:getetag/><card:address-data/></d:prop></d:sync-collection>"
)


@pytest.mark.split
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("private", [["notes"], EVERY_FIELD], ids=["default", "everything"])
def test_no_secret_is_anywhere(private: list[str], server: RunningServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    alice, bob = (verify_email(make_user(f"{name}@example.org", name=name)) for name in ("Alice", "Bob"))
    membership = make_share(alice, private)
    share, keeper = membership.share, Keeper(alice, private)
    keeper.plant_types()
    first = [_add(keeper, membership, f"Before{number}") for number in range(2)]
    keeper.plant(first[0], first[1])
    _add(keeper, None, keeper.secret("stranger"))
    trashed = _add(keeper, membership, keeper.secret("trash"))
    keeper.client.ok("DELETE", f"/api/people/{trashed.pk}")
    invitation = invite(owner=alice, share_id=share.pk, email=bob.email, now=timezone.now())
    send_due_invitations(now=timezone.now())
    carry_all()
    bobs = client_of(bob)
    bobs.reader = None
    seen = [("received", bobs.call("GET", "/api/share-invitations").content.decode())]
    for body in ({"dryRun": True}, {}):
        response = bobs.call("POST", f"/api/share-invitations/{invitation.pk}/accept", body)
        seen.append(("accept", response.content.decode()))
    seen += read_of_shares(bobs, share)
    bobs.ok("POST", f"/api/shares/{share.pk}/waiting", {"all": "accept", "finish": True})
    carry_all()
    people = [*first, *(_add(keeper, membership, f"After{number}") for number in range(6))]
    for person, friend in zip(people, [*people[1:], people[0]], strict=True):
        keeper.plant(person, friend)
    carry_all()
    assert Person.objects.owned_by(bob).active().count() == 8
    _conflict(keeper, bobs, bob, people[0])
    carry_all()
    # More than may pass unasked: held; and one who is taken out.
    path = {"action": "delete", "personIds": [str(person.pk) for person in people[1:]]}
    keeper.client.ok("POST", "/api/people/bulk", path)
    carry_all()
    due_scan()
    seen += read_everything(bob, share, invitation.pk)
    bobs.ok("POST", f"/api/shares/{share.pk}/held", {"action": "accept"})
    carry_all()
    seen += read_of_shares(bobs, share)
    token = make_token(bob)
    for name in sorted(tools_of(server, token)):
        if name in {"listShares", "listPeople"}:
            seen.append((name, json.dumps(call_tool(server, token, name))))
        elif name in {"getShare", "listShareWaiting", "listShareConflicts", "listShareLog"}:
            seen.append((name, json.dumps(call_tool(server, token, name, shareId=str(share.pk)))))
    seen += [("mail", message.message().as_string()) for message in mail.outbox if message.to != [alice.email]]
    seen += [("log", record.getMessage()) for record in caplog.records]
    seen += [("neutral", line) for line in neutral_text()]
    _check(seen, private, people[0], share)
    # The test looks at what is there: alice finds them all.
    own = "".join(text for _, text in read_everything(alice, share, invitation.pk))
    assert own.count(SECRET) > 20


def _check(seen: list[tuple[str, str]], private: list[str], person: Person, share: Share) -> None:
    words = [SECRET, "1987-06-05", "alice@example.org"]
    if "photo" in private:
        person.refresh_from_db()
        assert person.photo
        words += [photo_hash(person.photo)]
        assert not default_storage.exists(f"shared/{share.pk.hex}")
    if "phoneNumbers" in private:
        words += ["7770777"]
    if "importantDates" in private:
        words += ["2001-02-03"]
    found = [
        (where, text[max(0, text.find(word) - 300) : text.find(word) + 100])
        for where, text in seen
        for word in words
        if word in text
    ]
    assert found == []


def make_share(user: User, private: list[str]) -> ShareMembership:
    client = client_of(user)
    client.reader = None
    group = client.ok("POST", "/api/groups", {"name": "Kin"}, status=201)["group"]["id"]
    client.ok("POST", "/api/shares", {"name": "Kin", "groupId": group, "private": private}, status=201)
    return membership_of(user)


def _add(keeper: Keeper, membership: ShareMembership | None, name: str) -> Person:
    groups = [str(membership.group_id)] if membership else []
    body = {"name": name, "surname": name[::-1], "groupIds": groups, **keeper.private_values()}
    person = keeper.client.ok("POST", "/api/people", body, status=201)["person"]
    return Person.objects.owned_by(keeper.user).get(pk=person["id"])


def _conflict(keeper: Keeper, bobs: Client, bob: User, person: Person) -> None:
    """The two change one field, and each its private ones."""
    other = Person.objects.owned_by(bob).get(name=person.name)
    keeper.client.ok("PUT", f"/api/people/{person.pk}", {"nickname": "Nan", **keeper.private_values()})
    bobs.ok("PUT", f"/api/people/{other.pk}", {"nickname": "Ned", "notes": "bob's own"})
