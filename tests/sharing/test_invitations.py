"""Invitations: made, mailed, seen, declined, revoked; nothing tells whether an address has an account."""

import datetime as dt
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from django.core import mail
from django.utils import timezone

from accounts.models import User
from accounts.vocabularies import TokenScope
from sharing.models import Invitation, InvitationState, ShareMember
from sharing.services.mail import one_line, send_due_invitations
from tests.builders import UNKNOWN_ID, make_token, make_user, verify_email
from tests.client import Client, client_of
from tests.mailbox import Mailbox
from tests.sharing.builders import make_share

pytestmark = pytest.mark.sqlite_suffices

ADDRESS = "bob@example.org"


@pytest.fixture
def alice(alice: User) -> User:
    return verify_email(alice)


@pytest.fixture
def share(api: Client) -> dict[str, Any]:
    return make_share(api)


@pytest.fixture
def bob(db: None) -> User:
    return verify_email(make_user(ADDRESS, name="Bob"))


def reader_of(user: User | None) -> Client:
    """A client that may read the names of other members."""
    client = client_of(user)
    client.reader = None
    return client


def invite(client: Client, share: dict[str, Any], email: str = ADDRESS) -> dict[str, Any]:
    path = f"/api/shares/{share['id']}/invitations"
    invitation: dict[str, Any] = client.ok("POST", path, {"email": email}, status=201)["invitation"]
    return invitation


def sent_token() -> str:
    """The token of the link in the last mail, which is sent now."""
    assert send_due_invitations(now=timezone.now()) == 1
    [link] = re.findall(r"https?://\S+", str(mail.outbox[-1].body))
    token: str = parse_qs(urlsplit(link).query)["token"][0]
    return token


def received(client: Client, token: str = "") -> list[dict[str, Any]]:
    path = f"/api/share-invitations?token={token}" if token else "/api/share-invitations"
    found: list[dict[str, Any]] = client.ok("GET", path)["invitations"]
    return found


def test_an_invitation(api: Client, share: dict[str, Any]) -> None:
    invitation = invite(api, share)
    assert invitation == {
        "id": invitation["id"],
        "email": ADDRESS,
        "state": "sent",
        "expiresAt": invitation["expiresAt"],
        "createdAt": invitation["createdAt"],
    }
    made, ends = (dt.datetime.fromisoformat(invitation[name]) for name in ("createdAt", "expiresAt"))
    assert ends - made == dt.timedelta(days=7)
    assert api.ok("GET", f"/api/shares/{share['id']}/invitations") == {"invitations": [invitation]}


def test_the_same_answer_and_mail_with_and_without_an_account(api: Client, share: dict[str, Any], bob: User) -> None:
    known, unknown = invite(api, share), invite(api, share, "nobody@example.org")
    assert {**known, "id": "", "email": ""} == {
        **unknown,
        "id": "",
        "email": "",
        "createdAt": known["createdAt"],
        "expiresAt": known["expiresAt"],
    }
    assert send_due_invitations(now=timezone.now()) == 2
    one, other = (re.sub(r"token=\S+", "", str(message.body)) for message in mail.outbox)
    assert one == other


def test_the_host_alone_invites(api: Client, share: dict[str, Any], bob: User) -> None:
    path = f"/api/shares/{share['id']}/invitations"
    invitation = invite(api, share)
    ShareMember.unscoped.rows().filter(share=share["id"]).update(is_host=False)
    for method, where, body in (
        ("POST", path, {"email": ADDRESS}),
        ("GET", path, None),
        ("DELETE", f"{path}/{invitation['id']}", None),
    ):
        assert api.ok(method, where, body, status=403)["code"] == "not_host"
        assert client_of(bob).call(method, where, body).status_code == 404


def test_a_host_without_proven_address(stranger: Client) -> None:
    share = make_share(stranger, "Mine")
    path = f"/api/shares/{share['id']}/invitations"
    assert stranger.ok("POST", path, {"email": ADDRESS}, status=403)["code"] == "email_unverified"
    assert stranger.ok("GET", path) == {"invitations": []}


@pytest.mark.parametrize("email", ["", "x", None, 5, "a@b c.org"])
def test_what_is_no_address(api: Client, share: dict[str, Any], email: Any) -> None:
    answer = api.ok("POST", f"/api/shares/{share['id']}/invitations", {"email": email}, status=400)
    assert answer["details"][0]["field"] == "email"


def test_twenty_a_day(api: Client, share: dict[str, Any]) -> None:
    for number in range(20):
        invite(api, share, f"one{number}@example.org")
    path = f"/api/shares/{share['id']}/invitations"
    response = api.call("POST", path, {"email": ADDRESS})
    assert (response.status_code, int(response["Retry-After"]) > 0) == (429, True)


def test_one_open_invitation_an_address(api: Client, share: dict[str, Any]) -> None:
    former, latter = invite(api, share), invite(api, share, "BOB@example.org")
    listed = api.ok("GET", f"/api/shares/{share['id']}/invitations")["invitations"]
    assert [(one["id"], one["state"]) for one in listed] == [(latter["id"], "sent"), (former["id"], "revoked")]
    assert send_due_invitations(now=timezone.now()) == 1


def test_the_mail(api: Client, share: dict[str, Any], alice: User) -> None:
    invitation = invite(api, share)
    token = sent_token()
    [message] = mail.outbox
    assert (message.to, message.subject) == ([ADDRESS], "Alice invites you to share “Family”")
    assert "Alice" in str(message.body)
    assert "alice@example.org" not in str(message.message())
    assert [one["id"] for one in received(reader_of(None), token)] == [invitation["id"]]
    assert send_due_invitations(now=timezone.now()) == 0
    assert Invitation.unscoped.rows().get(pk=invitation["id"]).token == ""


def test_the_mail_where_registration_is_closed(api: Client, share: dict[str, Any], settings: Any) -> None:
    sentence = "You need an account here to accept."
    invite(api, share)
    sent_token()
    settings.REGISTRATION = "closed"
    invite(api, share)
    sent_token()
    assert [sentence in str(message.body) for message in mail.outbox] == [False, True]


def test_the_mail_in_the_hosts_language(api: Client, share: dict[str, Any]) -> None:
    api.ok("PUT", "/api/user/language", {"language": "de-DE"})
    invite(api, share)
    sent_token()
    assert mail.outbox[-1].subject == "Alice lädt Sie ein, „Family“ zu teilen"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Family", "Family"),
        ("two\nlines\r\nand\u2028more", "two lines and more"),
        ("Win at https://evil.example/x now", "Win at https evil example x now"),
        ("www.evil.example", "www evil example"),
        ("mail me@evil.example", "mail me evil example"),
        ("tel:+123 javascript:alert", "tel +123 javascript alert"),
        ("evil。example evil﹒example", "evil example evil example"),
        ("hid\u202eden\u200b", "hid den"),
        ("St. Pölten, etc.", "St. Pölten, etc."),
        ("x" * 61, "x" * 59 + "…"),
    ],
)
def test_names_of_strangers_are_one_short_line_without_links(text: str, line: str) -> None:
    assert one_line(text) == line
    assert len(one_line(text)) <= 60


def test_names_in_the_mail(api: Client, alice: User) -> None:
    share = make_share(api, "See https://evil.example/now")
    invite(api, share)
    send_due_invitations(now=timezone.now())
    message = mail.outbox[-1].message().as_string()
    assert "evil.example" not in message
    assert len(re.findall(r"https?://\S+", str(mail.outbox[-1].body))) == 1


def test_a_mail_server_that_is_away(api: Client, share: dict[str, Any], mailbox: Mailbox) -> None:
    invite(api, share)
    mailbox.refuse = "451 later"
    now = timezone.now()
    assert send_due_invitations(now=now) == 0
    mailbox.refuse = ""
    assert send_due_invitations(now=now) == 0  # not due again yet
    assert send_due_invitations(now=now + dt.timedelta(minutes=1)) == 1
    assert mailbox.recipients == [[ADDRESS]]


def test_a_killed_worker_sends_it_again(api: Client, share: dict[str, Any]) -> None:
    invite(api, share)
    now = timezone.now()
    Invitation.unscoped.rows().update(mail_claimed_until=now + dt.timedelta(minutes=5))
    assert send_due_invitations(now=now) == 0
    assert send_due_invitations(now=now + dt.timedelta(minutes=5)) == 1


def test_who_sees_an_invitation(api: Client, share: dict[str, Any], bob: User, mallory: User) -> None:
    invitation = invite(api, share)
    token = sent_token()
    shown = {
        "id": invitation["id"],
        "shareName": "Family",
        "from": "Alice",
        "peopleCount": 0,
        "expiresAt": invitation["expiresAt"],
    }
    assert received(reader_of(bob)) == received(reader_of(bob), token) == [shown]
    assert received(reader_of(mallory)) == []
    assert received(reader_of(mallory), token) == [shown]
    assert received(reader_of(None), token) == [shown]
    assert received(reader_of(None), "unknown") == []
    assert Client().call("GET", "/api/share-invitations").status_code == 401


def test_an_address_that_is_not_proven_sees_nothing(api: Client, share: dict[str, Any]) -> None:
    claimed = make_user(ADDRESS, name="Eve")
    invite(api, share)
    assert received(reader_of(claimed)) == []


def test_another_spelling_of_the_address(api: Client, share: dict[str, Any], bob: User) -> None:
    invite(api, share, "Bob@EXAMPLE.org")
    assert len(received(reader_of(bob))) == 1


def test_after_seven_days(api: Client, share: dict[str, Any], bob: User) -> None:
    with time_machine.travel("2030-01-01T12:00:00Z", tick=False) as clock:
        invitation = invite(api, share)
        token = sent_token()
        clock.shift(dt.timedelta(days=7))
        assert received(reader_of(bob)) == received(reader_of(None), token) == []
        [listed] = api.ok("GET", f"/api/shares/{share['id']}/invitations")["invitations"]
        assert listed["state"] == "expired"
        path = f"/api/share-invitations/{invitation['id']}/decline"
        assert client_of(bob).ok("POST", path, {}, status=410)["code"] == "invitation_expired"
        assert invite(api, share)["state"] == "sent"
        states = [one["state"] for one in api.ok("GET", f"/api/shares/{share['id']}/invitations")["invitations"]]
        assert states == ["sent", "expired"]


def test_a_revoked_invitation(api: Client, share: dict[str, Any], bob: User) -> None:
    invitation = invite(api, share)
    path = f"/api/shares/{share['id']}/invitations"
    assert api.ok("DELETE", f"{path}/{invitation['id']}") == {"success": True}
    assert api.ok("GET", path)["invitations"][0]["state"] == "revoked"
    assert received(reader_of(bob)) == []
    assert send_due_invitations(now=timezone.now()) == 0
    where = f"/api/share-invitations/{invitation['id']}/decline"
    assert client_of(bob).ok("POST", where, {}, status=410)["code"] == "invitation_expired"
    assert api.ok("DELETE", f"{path}/{invitation['id']}") == {"success": True}
    api.ok("DELETE", f"{path}/{UNKNOWN_ID}", status=404)


def test_declining(api: Client, share: dict[str, Any], bob: User, mallory: User) -> None:
    invitation = invite(api, share)
    path = f"/api/share-invitations/{invitation['id']}/decline"
    assert client_of(mallory).ok("POST", path, {}, status=404)["code"] == "not_found"
    assert client_of(bob).ok("POST", path, {}) == {"success": True}
    assert client_of(bob).ok("POST", path, {}, status=410)["code"] == "invitation_expired"
    assert api.ok("GET", f"/api/shares/{share['id']}/invitations")["invitations"][0]["state"] == "declined"
    invite(api, share)
    assert len(received(reader_of(bob))) == 1


def test_declining_by_the_link(api: Client, share: dict[str, Any], mallory: User) -> None:
    invitation = invite(api, share)
    path = f"/api/share-invitations/{invitation['id']}/decline"
    token = sent_token()
    assert client_of(mallory).ok("POST", path, {"token": "other"}, status=404)["code"] == "not_found"
    assert client_of(mallory).ok("POST", path, {"token": token}) == {"success": True}
    assert received(reader_of(mallory), token) == []


def test_a_blocked_member_is_neither_shown_nor_mailed(api: Client, share: dict[str, Any], bob: User) -> None:
    first = invite(api, share)
    client_of(bob).ok("POST", f"/api/share-invitations/{first['id']}/decline", {"block": True})
    mail.outbox.clear()
    again = invite(api, share)
    assert again["state"] == "sent"
    assert send_due_invitations(now=timezone.now()) == 0
    assert received(reader_of(bob)) == []
    assert mail.outbox == []


def test_a_block_holds_for_the_invited_address_too(
    api: Client, share: dict[str, Any], mallory: User, bob: User
) -> None:
    invitation = invite(api, share, "other@example.org")
    token = sent_token()
    path = f"/api/share-invitations/{invitation['id']}/decline"
    client_of(bob).ok("POST", path, {"token": token, "block": True})
    for address in ("other@example.org", ADDRESS):
        invite(api, share, address)
    assert send_due_invitations(now=timezone.now()) == 0
    assert received(reader_of(bob)) == []
    assert received(reader_of(verify_email(make_user("other@example.org", name="Other")))) == []


def test_a_block_ends_what_is_open_of_the_same_member(api: Client, share: dict[str, Any], bob: User) -> None:
    school = make_share(api, "School")
    first = invite(api, share)
    invite(api, school)
    client_of(bob).ok("POST", f"/api/share-invitations/{first['id']}/decline", {"block": True})
    assert received(reader_of(bob)) == []
    assert send_due_invitations(now=timezone.now()) == 0


def test_another_member_is_not_blocked(api: Client, share: dict[str, Any], bob: User, mallory: User) -> None:
    invitation = invite(api, share)
    client_of(bob).ok("POST", f"/api/share-invitations/{invitation['id']}/decline", {"block": True})
    verify_email(mallory)
    other = client_of(mallory)
    invite(other, make_share(other, "School"))
    assert [one["shareName"] for one in received(reader_of(bob))] == ["School"]


def test_ten_mails_an_hour_to_one_mailbox(api: Client, share: dict[str, Any]) -> None:
    for _ in range(11):
        invite(api, share)
        send_due_invitations(now=timezone.now())
    assert len(mail.outbox) == 10


def test_a_read_token_reads_alone(api: Client, share: dict[str, Any], bob: User) -> None:
    invitation = invite(api, share)
    reader = reader_of(bob)
    reader.bearer = make_token(bob, TokenScope.READ)
    assert len(received(reader)) == 1
    path = f"/api/share-invitations/{invitation['id']}/decline"
    assert reader.ok("POST", path, {}, status=403)["code"] == "read_only_token"


def test_the_address_is_stored_encrypted(api: Client, share: dict[str, Any]) -> None:
    invite(api, share)
    row = Invitation.unscoped.rows().get(share=share["id"])
    assert (row.email, row.state) == (ADDRESS, InvitationState.SENT)
    assert ADDRESS not in str(Invitation.unscoped.rows().values("address_key", "token_key"))
