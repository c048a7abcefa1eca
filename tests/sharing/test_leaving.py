"""Members leave, are removed, lose their account or their group: they keep everything, and see nothing any more."""

import datetime as dt
from importlib import import_module
from typing import Any

import pytest
import time_machine
from django.apps import apps
from django.utils import timezone

from accounts.models import User
from accounts.services.deletion import delete_account
from contacts_project.kernel.ownership.account_lock import account_write
from people.models import ImportantDate, Person
from people.services.groups import create_group
from people.trash import purge_deleted
from sharing import receivers
from sharing.carry.ending import end_members_without_account
from sharing.models import LogEntry, Share, SharedCopy, SharedPerson, ShareMember, ShareMembership
from sharing.tasks import end_members
from tests.builders import UNKNOWN_ID
from tests.client import Client, client_of
from tests.sharing.conftest import add_person, carry_all, edit, group_people, membership_of, person_of, share_people

pytestmark = pytest.mark.sqlite_suffices


def reader_of(user: User) -> Client:
    """A client that may read the names of other members."""
    client = client_of(user)
    client.reader = None
    return client


def shown(user: User, share: Share) -> dict[str, Any]:
    found: dict[str, Any] = reader_of(user).ok("GET", f"/api/shares/{share.pk}")["share"]
    return found


def members_of(user: User, share: Share) -> list[tuple[str, bool]]:
    return [(member["name"], member["host"]) for member in shown(user, share)["members"]]


def leave(user: User, share: Share, **body: Any) -> dict[str, Any]:
    answer: dict[str, Any] = reader_of(user).ok("DELETE", f"/api/shares/{share.pk}/membership", body)
    return answer


@pytest.fixture
def share(alice: User, bob: User, carol: User) -> Share:
    """Alice's, with bob and carol, and Ada whom alice added."""
    share = share_people(alice, bob, carol)
    add_person(alice)
    carry_all()
    return share


@pytest.mark.both_databases
def test_whoever_leaves_keeps_everybody(share: Share, alice: User, bob: User) -> None:
    assert leave(bob, share) == {"success": True, "kept": 1, "trashed": 0}
    assert Person.objects.owned_by(bob).active().count() == 1
    carry_all()
    assert members_of(alice, share) == [("Alice", True), ("Carol", False)]
    assert shown(alice, share)["peopleCount"] == 1
    assert shown(alice, share)["waitingCount"] == 0
    bob.refresh_from_db()
    assert not bob.is_shared
    assert not SharedCopy.objects.owned_by(bob).exists()


def test_a_former_member_finds_nothing(share: Share, alice: User, bob: User) -> None:
    leave(bob, share)
    client, member = reader_of(bob), membership_of(alice, share).pk
    assert client.ok("GET", "/api/shares") == {"shares": []}
    for method, path in (
        ("GET", ""),
        ("PUT", ""),
        ("DELETE", "/membership"),
        ("DELETE", f"/members/{member}"),
        ("GET", "/invitations"),
        ("POST", "/invitations"),
    ):
        found = client.call(method, f"/api/shares/{share.pk}{path}", {"email": "x@example.org"})
        unknown = client.call(method, f"/api/shares/{UNKNOWN_ID}{path}", {"email": "x@example.org"})
        assert (found.status_code, found.content) == (404, unknown.content), path


def test_the_feed_of_who_left(share: Share, bob: User) -> None:
    client = reader_of(bob)
    cursor = client.ok("GET", "/api/changes?types=share")["cursor"]
    leave(bob, share)
    [change] = client.ok("GET", f"/api/changes?types=share&cursor={cursor}")["changes"]
    assert (change["id"], change["deleted"], change["record"]) == (str(share.pk), True, None)


def test_leaving_with_the_people_that_the_share_made(share: Share, alice: User, bob: User) -> None:
    grace = add_person(alice, name="Grace")
    add_person(bob, name="Linus")
    carry_all()
    edit(bob, person_of(bob, grace), nickname="Amazing")
    carry_all()
    assert leave(bob, share, people="trash") == {"success": True, "kept": 2, "trashed": 1}
    assert set(Person.objects.owned_by(bob).active().values_list("name", flat=True)) == {"Grace", "Linus"}
    carry_all()
    assert group_people(alice, share) == ["Ada", "Grace", "Linus"]


def set_coordinates(user: User, person: Person) -> None:
    """As the geocoder does."""
    with account_write(user):
        row = Person.objects.owned_by(user).get(pk=person.pk)
        row.addresses = [
            {**entry, "latitude": 48.2, "longitude": 16.4, "geocodeStatus": "ok"} for entry in row.addresses
        ]
        Person.objects.owned_by(user).bulk_update([row], ["addresses"])


@pytest.mark.both_databases
@pytest.mark.parametrize("is_carried", [True, False])
def test_coordinates_and_own_groups_are_no_edit(share: Share, alice: User, bob: User, is_carried: bool) -> None:
    home = {"type": "home", "streetLine1": "Ring 1", "locality": "Wien", "country": "AT"}
    names = ("Grace", "Linus", "Mary", "Niklaus")
    grace, linus, mary, niklaus = (add_person(alice, name=name, addresses=[home]) for name in names)
    carry_all()
    here = {person.name: person_of(bob, person) for person in (grace, linus, mary, niklaus)}
    edit(bob, here["Mary"], nickname="M")  # somebody who was edited stays so, also after it was carried
    edit(bob, here["Niklaus"], notes="Mine")  # private
    if is_carried:
        carry_all()
    for person in here.values():
        set_coordinates(bob, person)
    create_group(owner=bob, data={"name": "Mine"}, people=[here["Linus"], here["Mary"]], now=timezone.now())
    if is_carried:
        carry_all()
        edit(alice, linus, nickname="L")
        carry_all()
    assert leave(bob, share, people="trash") == {"success": True, "kept": 2, "trashed": 3}
    assert set(Person.objects.owned_by(bob).active().values_list("name", flat=True)) == {"Mary", "Niklaus"}


def test_a_reminder_of_a_date_is_an_edit(share: Share, alice: User, bob: User) -> None:
    day = {"type": "BIRTHDAY", "date": dt.date(1900, 1, 2), "year_unknown": False}
    grace = add_person(alice, name="Grace", important_dates=[day])
    carry_all()
    own = person_of(bob, grace)
    with account_write(bob):
        ImportantDate.objects.owned_by(bob).filter(person=own).update(reminder_enabled=True)
    assert leave(bob, share, people="trash") == {"success": True, "kept": 1, "trashed": 1}


def test_whoever_was_edited_before_the_migration_stays_edited(share: Share, alice: User, bob: User) -> None:
    grace = add_person(alice, name="Grace")
    carry_all()
    edit(bob, person_of(bob, grace), nickname="G")
    carry_all()
    SharedCopy.objects.owned_by(bob).update(is_made_here=True)  # as the version before left it
    import_module("sharing.migrations.0002_copies_edited_here").note_edits(apps, None)
    assert leave(bob, share, people="trash") == {"success": True, "kept": 1, "trashed": 1}


def test_what_becomes_of_the_people_is_a_choice(share: Share, bob: User) -> None:
    client = reader_of(bob)
    for people in ("burn", None, 1):
        client.ok("DELETE", f"/api/shares/{share.pk}/membership", {"people": people}, status=400)
    assert client.ok("DELETE", f"/api/shares/{share.pk}/membership")["kept"] == 1


def test_people_whom_nobody_has_any_more_are_gone(share: Share, alice: User, bob: User, carol: User) -> None:
    leave(bob, share)
    leave(carol, share)
    leave(alice, share)
    share.refresh_from_db()
    assert share.ended_at is not None
    assert list(SharedPerson.unscoped.rows().filter(share=share).values_list("holders", "is_gone")) == [(0, True)]


def test_after_the_host_the_longest_member_is_host(share: Share, alice: User, bob: User, carol: User) -> None:
    leave(alice, share)
    carry_all()
    assert members_of(carol, share) == [("Bob", True), ("Carol", False)]
    leave(bob, share)
    carry_all()
    assert members_of(carol, share) == [("Carol", True)]


@pytest.mark.both_databases
def test_the_host_removes_a_member(share: Share, alice: User, bob: User, carol: User) -> None:
    client, member = reader_of(alice), membership_of(bob, share).pk
    assert client.ok("DELETE", f"/api/shares/{share.pk}/members/{member}") == {"success": True}
    # At once, before the worker has ended bob's rows, which no request of alice's may touch.
    assert ShareMembership.objects.owned_by(bob).active().exists()
    assert reader_of(bob).call("GET", f"/api/shares/{share.pk}").status_code == 404
    assert reader_of(bob).ok("GET", "/api/shares") == {"shares": []}
    end_members()
    end_members()
    assert not ShareMembership.objects.owned_by(bob).active().exists()
    assert Person.objects.owned_by(bob).active().count() == 1
    carry_all()
    assert members_of(carol, share) == [("Alice", True), ("Carol", False)]
    assert SharedPerson.unscoped.rows().get(share=share).holders == 2
    client.ok("DELETE", f"/api/shares/{share.pk}/members/{member}", status=404)


def test_who_may_remove(share: Share, alice: User, bob: User, mallory: User) -> None:
    path = f"/api/shares/{share.pk}/members/"
    own, other = membership_of(alice, share).pk, membership_of(bob, share).pk
    assert reader_of(bob).ok("DELETE", f"{path}{own}", status=403)["code"] == "not_host"
    assert client_of(mallory).call("DELETE", f"{path}{other}").status_code == 404
    reader_of(alice).ok("DELETE", f"{path}{UNKNOWN_ID}", status=404)
    reader_of(alice).ok("DELETE", f"{path}{own}", status=400)
    assert len(members_of(alice, share)) == 3


def test_the_log_of_who_left_and_was_removed(share: Share, alice: User, bob: User, carol: User) -> None:
    leave(bob, share)
    reader_of(alice).ok("DELETE", f"/api/shares/{share.pk}/members/{membership_of(carol, share).pk}")
    rows = LogEntry.unscoped.rows().filter(share=share, action__in=["left", "removed"]).order_by("pk")
    assert list(rows.values_list("by_name", "action", "name_parts")) == [
        ("Bob", "left", {}),
        ("Alice", "removed", {"name": "Carol"}),
    ]


@pytest.mark.both_databases
def test_a_deleted_account_ends_its_membership(share: Share, alice: User, bob: User, carol: User) -> None:
    add_person(bob, name="Linus")
    carry_all()
    alice.delete()
    assert end_members_without_account(timezone.now()) == 1
    assert end_members_without_account(timezone.now()) == 0
    carry_all()
    assert members_of(carol, share) == [("Bob", True), ("Carol", False)]
    assert sorted(SharedPerson.unscoped.rows().filter(share=share).values_list("holders", flat=True)) == [2, 2]


@pytest.mark.parametrize("shares", [True, False])
def test_a_deleted_account_is_ended_without_the_sweep(
    alice: User, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any, shares: bool
) -> None:
    if shares:
        share_people(alice)
    ended: list[bool] = []
    monkeypatch.setattr(receivers, "enqueue_ends", lambda: ended.append(True))
    with django_capture_on_commit_callbacks(execute=True):
        delete_account(user=alice)
    assert ended == [True] * shares


def test_the_last_deleted_account_ends_the_share(alice: User) -> None:
    share = share_people(alice)
    add_person(alice)
    carry_all()
    alice.delete()
    end_members()
    share.refresh_from_db()
    assert share.ended_at is not None
    assert SharedPerson.unscoped.rows().get(share=share).is_gone


def test_a_group_in_the_trash_pauses(share: Share, bob: User) -> None:
    client, group = reader_of(bob), membership_of(bob, share).group_id
    client.ok("DELETE", f"/api/groups/{group}")
    assert shown(bob, share)["state"] == "paused"
    answer = client.ok("PUT", f"/api/shares/{share.pk}", {"paused": False}, status=409)
    assert answer["code"] == "group_deleted"
    client.ok("POST", f"/api/groups/{group}/restore")
    assert shown(bob, share)["state"] == "paused"
    assert client.ok("PUT", f"/api/shares/{share.pk}", {"paused": False})["share"]["state"] == "active"


def test_a_group_removed_for_good_ends_the_membership(share: Share, alice: User, bob: User) -> None:
    client, group = reader_of(bob), membership_of(bob, share).group_id
    client.ok("DELETE", f"/api/groups/{group}")
    client.ok("DELETE", f"/api/groups/{group}/permanent")
    assert client.ok("GET", "/api/shares") == {"shares": []}
    assert Person.objects.owned_by(bob).active().count() == 1
    carry_all()
    assert members_of(alice, share) == [("Alice", True), ("Carol", False)]


def test_a_purged_group_ends_the_membership(share: Share, alice: User, bob: User, settings: Any) -> None:

    reader_of(bob).ok("DELETE", f"/api/groups/{membership_of(bob, share).group_id}")
    later = timezone.now() + dt.timedelta(days=settings.RETENTION_DAYS + 1)
    with time_machine.travel(later, tick=False):
        purge_deleted(now=later)
    assert reader_of(bob).ok("GET", "/api/shares") == {"shares": []}
    assert ShareMember.unscoped.rows().get(share=share, name="Bob").ended_at is not None


def test_the_group_may_be_shared_again(share: Share, bob: User) -> None:
    group = membership_of(bob, share).group_id
    leave(bob, share)
    made = reader_of(bob).ok("POST", "/api/shares", {"name": "Ours", "groupId": str(group)}, status=201)["share"]
    assert made["groupId"] == str(group)


def test_what_others_change_of_a_share_is_in_the_feed(share: Share, alice: User, bob: User, carol: User) -> None:
    client, host = reader_of(bob), reader_of(alice)
    cursor = client.ok("GET", "/api/changes?types=share")["cursor"]

    def changed(*names: str) -> list[Any]:
        nonlocal cursor
        carry_all()
        page = client.ok("GET", f"/api/changes?types=share&cursor={cursor}")
        cursor = page["cursor"]
        return [change["record"][name] for change in page["changes"] for name in names]

    assert changed("name") == []
    host.ok("PUT", f"/api/shares/{share.pk}", {"name": "Kin"})
    assert changed("name") == ["Kin"]
    add_person(alice, name="Grace")
    assert changed("peopleCount") == [2]
    leave(carol, share)
    assert [len(members) for members in changed("members")] == [2]
    host.ok("PUT", f"/api/shares/{share.pk}", {"reminders": "all"})
    assert changed("name") == []
