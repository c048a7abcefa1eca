"""Joining: who may, with which group, the rehearsal and the review."""

import datetime as dt
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import User
from people.models import Group, Person
from sharing.models import Invitation, LogEntry, Share, SharedCopy, ShareMember, ShareMembership
from sharing.services.invitations import address_key, token_key
from tests.builders import UNKNOWN_ID, make_user, set_plan_limits, verify_email
from tests.client import Client, client_of
from tests.sharing.builders import make_group
from tests.sharing.conftest import add_person, carry_all, share_people

pytestmark = pytest.mark.sqlite_suffices

TOKEN = "the-token-of-the-link"


@pytest.fixture
def share(alice: User) -> Share:
    """Alice's, with Ada, Grace and Linus."""
    share = share_people(alice)
    for name, surname in (("Ada", "Lovelace"), ("Grace", "Hopper"), ("Linus", "Pauling")):
        add_person(alice, name=name, surname=surname, emails=[{"type": None, "email": f"{name.lower()}@example.com"}])
    carry_all()
    return share


@pytest.fixture
def bob(db: None) -> User:
    return verify_email(make_user("bob@example.org", name="Bob"))


def invitation_of(share: Share, user: User | None = None, **fields: Any) -> Invitation:
    """An open invitation to the user's address, or to that of nobody."""
    host = ShareMember.unscoped.rows().filter(share=share, ended_at=None).order_by("-is_host", "joined_at").first()
    assert host is not None
    address = user.email if user else "nobody@example.org"
    values = {
        "expires_at": timezone.now() + dt.timedelta(days=7),
        "language": "en",
        "token_key": str(share.pk),
        **fields,
    }
    return Invitation.objects.create(
        share=share,
        by=host,
        inviter_id=host.membership.owner_id,
        email=address,
        address_key=address_key(address),
        **values,
    )


def reader_of(user: User) -> Client:
    """A client that may read the names of others."""
    user.refresh_from_db()
    client = client_of(user)
    client.reader = None
    return client


def join(user: User, invitation: Invitation, status: int = 201, **body: Any) -> dict[str, Any]:
    path = f"/api/share-invitations/{invitation.pk}/accept"
    answer: dict[str, Any] = reader_of(user).ok("POST", path, body, status=status)
    shown: dict[str, Any] = answer.get("share", answer)
    return shown


def own_person(user: User, name: str, surname: str, **fields: Any) -> str:
    body = {"name": name, "surname": surname, **fields}
    person: str = reader_of(user).ok("POST", "/api/people", body, status=201)["person"]["id"]
    return person


@pytest.mark.both_databases
def test_joining(share: Share, alice: User, bob: User) -> None:
    shown = join(bob, invitation_of(share, bob))
    assert (shown["id"], shown["name"], shown["private"], shown["newcomers"]) == (
        str(share.pk),
        "Family",
        ["notes"],
        "auto",
    )
    assert [(one["name"], one["you"], one["host"]) for one in shown["members"]] == [
        ("Alice", False, True),
        ("Bob", True, False),
    ]
    assert (shown["peopleCount"], shown["waitingCount"], shown["state"]) == (3, 3, "active")
    group = Group.objects.owned_by(bob).get(pk=shown["groupId"])
    assert group.name == "Family"
    carry_all()
    assert not Person.objects.owned_by(bob).exists()
    assert set(SharedCopy.objects.owned_by(bob).values_list("state", "reason")) == {("waiting", "proposed")}
    bob.refresh_from_db()
    assert bob.is_shared
    [member] = [one for one in reader_of(alice).ok("GET", "/api/shares")["shares"][0]["members"] if not one["you"]]
    assert member["name"] == "Bob"
    assert LogEntry.unscoped.rows().filter(share=share, action="joined").values_list("by_name", flat=True)[0] == "Bob"


def test_settings_of_the_new_member(share: Share, bob: User) -> None:
    body: dict[str, Any] = {"private": ["photo"], "reminders": "birthdays", "newcomers": "ask", "groupName": "Kin"}
    shown = join(bob, invitation_of(share, bob), **body)
    assert (shown["private"], shown["reminders"], shown["newcomers"]) == (["photo"], "birthdays", "ask")
    assert Group.objects.owned_by(bob).get().name == "Kin"


def test_an_own_group(share: Share, bob: User) -> None:
    group = make_group(client_of(bob), "Relatives")
    assert join(bob, invitation_of(share, bob), groupId=group)["groupId"] == group


def test_a_group_that_has_the_name_already(share: Share, bob: User) -> None:
    make_group(client_of(bob), "family")
    shown = join(bob, invitation_of(share, bob))
    assert Group.objects.owned_by(bob).get(pk=shown["groupId"]).name == "Family 2"


def test_groups_that_are_refused(share: Share, alice: User, bob: User) -> None:
    client, invitation = client_of(bob), invitation_of(share, bob)
    taken = make_group(client, "Mine")
    client.ok("POST", "/api/shares", {"name": "Mine", "groupId": taken}, status=201)
    foreign = str(Group.objects.owned_by(alice).get().pk)
    for dry in (True, False):
        assert join(bob, invitation, 409, groupId=taken, dryRun=dry)["code"] == "already_shared"
        for body, field in (
            ({"groupId": foreign}, "groupId"),
            ({"groupName": "mine"}, "groupName"),
            ({"groupName": "x" * 101}, "groupName"),
            ({"groupId": taken, "groupName": "New"}, "groupName"),
            ({"private": ["x"]}, "private"),
            ({"newcomers": "never"}, "newcomers"),
        ):
            answer = join(bob, invitation, 400, dryRun=dry, **body)
            assert answer["details"][0]["field"].partition(".")[0] == field
    assert ShareMembership.objects.owned_by(bob).count() == 1


def test_the_plan_has_no_room_for_a_group(share: Share, bob: User, settings: Any) -> None:
    set_plan_limits(settings, groups=0)
    invitation = invitation_of(share, bob)
    for dry in (True, False):
        assert join(bob, invitation, 403, dryRun=dry)["code"] == "plan_limit"


@pytest.mark.both_databases
def test_the_rehearsal_and_the_review(share: Share, bob: User) -> None:
    ada = own_person(bob, "Ada", "Lovelace", emails=[{"type": "home", "email": "ada@example.com"}], notes="secret")
    grace = own_person(bob, "Grace", "Hoper")
    invitation, client = invitation_of(share, bob), reader_of(bob)
    revision, groups = User.objects.get(pk=bob.pk).revision, Group.objects.owned_by(bob).count()
    plan = join(bob, invitation, 200, dryRun=True)
    assert (User.objects.get(pk=bob.pk).revision, Group.objects.owned_by(bob).count()) == (revision, groups)
    assert client.ok("GET", "/api/shares") == {"shares": []}
    assert [(one["name"], one["personId"], one["personName"]) for one in plan["link"]] == [
        ("Ada Lovelace", ada, "Ada Lovelace")
    ]
    assert [(one["name"], [who["personId"] for who in one["candidates"]]) for one in plan["unsure"]] == [
        ("Grace Hopper", [grace])
    ]
    assert all(0.75 <= who["score"] <= 1 for one in plan["unsure"] for who in one["candidates"])
    assert [one["name"] for one in plan["new"]] == ["Linus Pauling"]
    assert join(bob, invitation)["waitingCount"] == 3
    reasons = {
        str(copy.shared_id): (copy.reason, copy.person_id and str(copy.person_id))
        for copy in SharedCopy.objects.owned_by(bob)
    }
    assert reasons == {
        **{one["sharedId"]: ("proposed", one["personId"]) for one in plan["link"]},
        **{one["sharedId"]: ("unsure", None) for one in plan["unsure"]},
        **{one["sharedId"]: ("proposed", None) for one in plan["new"]},
    }
    carry_all()
    assert Person.objects.owned_by(bob).count() == 2


def test_who_differs(share: Share, bob: User) -> None:
    invitation = invitation_of(share, bob)
    entry = {"type": None, "email": "ada@example.com"}
    ada = own_person(bob, "Ada", "Lovelace", emails=[entry])
    assert (len(join(bob, invitation, 200, dryRun=True)["link"])) == 1
    assert join(bob, invitation, 200, dryRun=True)["differing"] == 0
    reader_of(bob).ok("PUT", f"/api/people/{ada}", {"name": "Ada", "surname": "Lovelace", "notes": "private"})
    assert join(bob, invitation, 200, dryRun=True)["differing"] == 0
    assert join(bob, invitation, 200, dryRun=True, private=[])["differing"] == 1


def test_by_the_link(share: Share, mallory: User, bob: User) -> None:
    invitation = invitation_of(share, bob, token_key=token_key(TOKEN))
    assert (
        join(mallory, invitation, 404)["code"] == join(mallory, invitation, 404, token="other")["code"] == "not_found"
    )
    assert join(mallory, invitation, token=TOKEN)["id"] == str(share.pk)
    # The invitation is used: also by whoever it was sent to.
    assert join(bob, invitation, 410)["code"] == "invitation_expired"
    assert reader_of(bob).ok("GET", f"/api/share-invitations?token={TOKEN}") == {"invitations": []}


@pytest.mark.parametrize("dry", [True, False])
def test_invitations_that_are_over(share: Share, bob: User, dry: bool) -> None:
    for state in ("accepted", "declined", "revoked", "expired"):
        invitation = invitation_of(share, bob, state=state, token_key=state)
        assert join(bob, invitation, 410, dryRun=dry)["code"] == "invitation_expired"
    old = invitation_of(share, bob, expires_at=timezone.now())
    assert join(bob, old, 410, dryRun=dry)["code"] == "invitation_expired"
    path = f"/api/share-invitations/{UNKNOWN_ID}/accept"
    assert reader_of(bob).ok("POST", path, {"dryRun": dry}, status=404)["code"] == "not_found"


def test_a_share_that_is_gone(share: Share, alice: User, bob: User) -> None:
    invitation = invitation_of(share, bob)
    reader_of(alice).ok("DELETE", f"/api/shares/{share.pk}/membership")
    assert reader_of(bob).ok("GET", "/api/share-invitations") == {"invitations": []}
    assert join(bob, invitation, 410)["code"] == "invitation_expired"


def test_an_invitation_outlives_its_host(share: Share, alice: User, carol: User, bob: User) -> None:
    verify_email(carol)
    join(carol, invitation_of(share, carol, token_key="c"))
    invitation = invitation_of(share, bob, token_key="b")
    reader_of(alice).ok("DELETE", f"/api/shares/{share.pk}/membership")
    [listed] = reader_of(bob).ok("GET", "/api/share-invitations")["invitations"]
    assert listed["from"] == "Alice"
    assert [one["name"] for one in join(bob, invitation)["members"]] == ["Carol", "Bob"]


def test_a_member_is_a_member_once(share: Share, bob: User) -> None:
    join(bob, invitation_of(share, bob))
    again = invitation_of(share, bob, token_key="again")
    for dry in (True, False):
        assert join(bob, again, 409, dryRun=dry)["code"] == "already_member"


def test_eight_members(share: Share, bob: User) -> None:
    for number in range(6):
        ShareMember.objects.create(share=share, name=f"Member {number}")
    join(bob, invitation_of(share, bob))
    ninth = verify_email(make_user("ninth@example.org"))
    invitation = invitation_of(share, ninth, token_key="ninth")
    for dry in (True, False):
        assert join(ninth, invitation, 409, dryRun=dry)["code"] == "share_full"


def test_twenty_shares_of_an_account(share: Share, bob: User) -> None:
    for number in range(20):
        share_people(bob, name=f"Share {number}")
    assert join(bob, invitation_of(share, bob), 409)["code"] == "share_limit"


def test_coming_again(share: Share, bob: User) -> None:
    join(bob, invitation_of(share, bob))
    client = reader_of(bob)
    client.ok("DELETE", f"/api/shares/{share.pk}/membership")
    cursor = client.ok("GET", "/api/changes?types=share")["cursor"]
    with time_machine.travel(timezone.now() + dt.timedelta(minutes=1), tick=False):
        join(bob, invitation_of(share, bob, token_key="again"), groupName="Again")
    changes = client.ok("GET", f"/api/changes?types=share&cursor={cursor}")["changes"]
    assert [(change["id"], change["deleted"]) for change in changes] == [(str(share.pk), False)]
    assert len(client.ok("GET", "/api/changes?types=share")["changes"]) == 1


def test_coming_again_at_once_after_being_removed(share: Share, alice: User, bob: User) -> None:
    join(bob, invitation_of(share, bob))
    removed = ShareMembership.objects.owned_by(bob).get().pk
    reader_of(alice).ok("DELETE", f"/api/shares/{share.pk}/members/{removed}")
    shown = join(bob, invitation_of(share, bob, token_key="again"))
    assert [one["name"] for one in shown["members"]] == ["Alice", "Bob"]
    assert (shown["waitingCount"], shown["peopleCount"]) == (3, 3)
    assert ShareMembership.objects.owned_by(bob).active().count() == 1


def test_an_idempotency_key(share: Share, bob: User) -> None:
    path = f"/api/share-invitations/{invitation_of(share, bob).pk}/accept"
    client = reader_of(bob)
    first, again = (client.ok("POST", path, {}, status=201, HTTP_IDEMPOTENCY_KEY="one") for _ in range(2))
    assert first == again
