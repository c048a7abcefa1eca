"""The log of a share, and undoing one of its changes."""

import datetime as dt
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from people.models import ImportantDate
from sharing.carry.pictures import purge_pictures
from sharing.models import LogEntry, Share
from tests.builders import UNKNOWN_ID
from tests.client import Client, client_of
from tests.pictures import picture, upload
from tests.sharing.conftest import add_person, carry_all, edit, leave_group, membership_of, person_of, share_people

PHONE = {"type": "mobile", "number": "+43 660 111"}


@pytest.fixture
def bobs(bob: User) -> Client:
    """Bob's API client. What he reads has the names that others share with him."""
    client = client_of(bob)
    client.reader = None
    return client


def log_of(client: Client, share: Share, query: str = "") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = client.ok("GET", f"/api/shares/{share.pk}/log{query}")["entries"]
    return rows


def undo(client: Client, share: Share, entry: dict[str, Any], status: int = 200, **body: Any) -> dict[str, Any]:
    path = f"/api/shares/{share.pk}/log/{entry['id']}/undo"
    answer: dict[str, Any] = client.ok("POST", path, body, status=status)
    return answer


def test_who_changed_what(alice: User, bob: User, bobs: Client) -> None:
    share = share_people(alice, bob)
    ada = add_person(alice, surname="Lovelace")
    carry_all()
    edit(alice, ada, nickname="A", organization="Engine", notes="secret")
    carry_all()
    leave_group(alice, ada)
    carry_all()
    entries = log_of(bobs, share)
    assert [entry["action"] for entry in entries] == ["taken_out", "changed", "added"]
    changed = entries[1]
    assert changed == {
        "id": changed["id"],
        "at": changed["at"],
        "by": "Alice",
        "action": "changed",
        "personId": str(person_of(bob, ada).pk),
        "personName": changed["personName"],
        "fields": ["nickname", "organization"],
        "undoable": True,
    }
    assert "Lovelace" in changed["personName"]
    assert [entry["undoable"] for entry in entries] == [False, True, False]


def test_pages_and_retention(alice: User, bob: User, bobs: Client) -> None:
    share = share_people(alice, bob)
    for number in range(5):
        add_person(alice, name=f"P{number}")
    carry_all()
    names, query = [], "?limit=2"
    for expected in (True, True, False):
        page = bobs.ok("GET", f"/api/shares/{share.pk}/log{query}")
        assert (page["hasMore"], page["cursor"] is not None) == (expected, expected)
        names += [entry["personName"] for entry in page["entries"]]
        query = f"?limit=2&cursor={page['cursor']}"
    assert sorted(names) == [f"P{number}" for number in range(5)]
    bobs.ok("GET", f"/api/shares/{share.pk}/log?cursor=x", status=400)
    LogEntry.unscoped.rows().update(created_at=timezone.now() - dt.timedelta(days=91))
    assert log_of(bobs, share) == []


def test_an_undo_travels_as_an_edit(alice: User, bob: User, bobs: Client) -> None:
    share = share_people(alice, bob)
    ada = add_person(alice, nickname="A", phone_numbers=[PHONE])
    carry_all()
    edit(alice, ada, nickname="B", phone_numbers=[])
    carry_all()
    (changed,) = [entry for entry in log_of(bobs, share) if entry["action"] == "changed"]
    assert undo(bobs, share, changed) == {"success": True}
    carry_all()
    ada.refresh_from_db()
    assert (ada.nickname, [one["number"] for one in ada.phone_numbers]) == ("A", ["+43 660 111"])
    entries = log_of(bobs, share)
    assert [(entry["action"], entry["by"]) for entry in entries[:2]] == [("changed", "Bob"), ("undone", "Bob")]
    assert entries[1]["fields"] == ["nickname", "phoneNumbers"]


def test_dates_are_put_back(alice: User, bob: User, api: Client) -> None:
    share = share_people(alice, bob)
    day = {"type": "BIRTHDAY", "title": None, "date": dt.date(1815, 12, 10), "year_unknown": False}
    ada = add_person(alice, important_dates=[day])
    carry_all()
    edit(bob, person_of(bob, ada), important_dates=[])
    carry_all()
    assert not ImportantDate.objects.owned_by(alice).active().filter(person=ada).exists()
    (changed,) = [entry for entry in log_of(api, share) if entry["action"] == "changed"]
    undo(api, share, changed)
    carry_all()
    for user in (alice, bob):
        assert ImportantDate.objects.owned_by(user).active().get(person=person_of(user, ada)).date == day["date"]


def test_changed_again_since(alice: User, bob: User, api: Client, bobs: Client) -> None:
    share = share_people(alice, bob)
    ada = add_person(alice, nickname="A", organization="Engine")
    carry_all()
    edit(alice, ada, nickname="B", organization="Mill")
    carry_all()
    (first,) = [entry for entry in log_of(api, share) if entry["action"] == "changed"]
    edit(bob, person_of(bob, ada), nickname="C")
    carry_all()
    refused = undo(bobs, share, first, 409)
    assert (refused["code"], refused["params"]) == ("changed_since", {"fields": ["nickname"]})
    assert undo(bobs, share, first, force=True) == {"success": True}
    carry_all()
    ada.refresh_from_db()
    assert (ada.nickname, ada.organization) == ("A", "Engine")


def test_what_is_no_change_is_not_undone(alice: User, bob: User, bobs: Client, stranger: Client) -> None:
    share = share_people(alice, bob)
    ada = add_person(alice, nickname="A")
    carry_all()
    (added,) = log_of(bobs, share)
    assert undo(bobs, share, added, 409)["code"] == "not_undoable"
    undo(bobs, share, {"id": UNKNOWN_ID}, 404)
    undo(bobs, share, {"id": "x"}, 404)
    edit(alice, ada, nickname="B")
    carry_all()
    changed = log_of(bobs, share)[0]
    undo(stranger, share, changed, 404)
    undo(bobs, share, changed, 400, force="yes")
    leave_group(bob, person_of(bob, ada))
    carry_all()
    entry = next(one for one in log_of(bobs, share) if one["id"] == changed["id"])
    assert entry["undoable"] is False
    assert undo(bobs, share, changed, 409)["code"] == "not_undoable"


def test_private_fields_stay_as_they_are(alice: User, bob: User, bobs: Client) -> None:
    share = share_people(alice, bob)
    ada = add_person(alice, nickname="A", phone_numbers=[PHONE])
    carry_all()
    edit(alice, ada, phone_numbers=[])
    carry_all()
    path = f"/api/shares/{membership_of(bob).share_id}"
    bobs.ok("PUT", path, {"private": ["phoneNumbers"]})
    (changed,) = [entry for entry in log_of(bobs, share) if entry["action"] == "changed"]
    assert changed["undoable"] is False
    assert undo(bobs, share, changed, 409)["code"] == "not_undoable"


def test_a_former_photo_comes_back(alice: User, bob: User, api: Client, bobs: Client) -> None:
    share = share_people(alice, bob)
    ada = add_person(alice)
    former = upload(api, f"/api/people/{ada.pk}/photo", picture()).json()["photo"]
    carry_all()
    upload(api, f"/api/people/{ada.pk}/photo", picture(color="blue"))
    carry_all()
    purge_pictures(now=timezone.now() + dt.timedelta(days=2))
    changed = next(entry for entry in log_of(bobs, share) if entry["action"] == "changed")
    assert changed["fields"] == ["photo"]
    undo(bobs, share, changed)
    carry_all()
    ada.refresh_from_db()
    assert ada.photo == former
    assert bobs.call("GET", f"/api/photos/{person_of(bob, ada).pk}").status_code == 200
