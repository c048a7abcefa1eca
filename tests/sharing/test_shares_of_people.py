"""What a person shows of its shares."""

from typing import Any

import pytest

from accounts.models import User
from people.models import Person
from sharing.models import CopyState, Reason, Share, ShareConflict, SharedCopy
from tests.client import Client, client_of
from tests.sharing.conftest import (
    add_person,
    carry_all,
    copy_of,
    membership_of,
    person_of,
    put_into_group,
    share_people,
)

pytestmark = pytest.mark.sqlite_suffices


@pytest.fixture
def share(alice: User, bob: User) -> Share:
    return share_people(alice, bob)


@pytest.fixture
def ada(share: Share, alice: User) -> Person:
    """Whom alice has added; bob has her, too."""
    person = add_person(alice)
    carry_all()
    return person


def reader_of(user: User) -> Client:
    user.refresh_from_db()
    client = client_of(user)
    client.reader = None
    return client


def shares_of(client: Client, person: Person) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.ok("GET", f"/api/people/{person.pk}")["person"]["shares"]
    return found


def test_a_person_without_shares(api: Client, alice: User) -> None:
    assert api.ok("POST", "/api/people", {"name": "Ada"}, status=201)["person"]["shares"] == []


@pytest.mark.both_databases
def test_a_shared_person(share: Share, ada: Person, alice: User, bob: User) -> None:
    shown = [{"shareId": str(share.pk), "name": "Family", "state": "synced"}]
    for user, person in ((alice, ada), (bob, person_of(bob, ada))):
        assert shares_of(reader_of(user), person) == shown
        [listed] = reader_of(user).ok("GET", "/api/people?includeAll=true")["people"]
        assert listed["shares"] == shown


@pytest.mark.parametrize(
    ("columns", "state"),
    [
        ({"reason": Reason.TAKEN_OUT}, "waiting"),
        ({"state": CopyState.WAITING, "reason": Reason.PROPOSED}, "waiting"),
        ({"state": CopyState.OUT}, "out"),
    ],
)
def test_states(share: Share, ada: Person, alice: User, columns: dict[str, Any], state: str) -> None:
    SharedCopy.objects.owned_by(alice).update(**columns)
    assert [entry["state"] for entry in shares_of(reader_of(alice), ada)] == [state]


def test_a_conflict(share: Share, ada: Person, alice: User) -> None:
    copy = copy_of(alice, ada)
    fields = [{"field": "nickname", "base": None, "local": "A", "remote": "B"}]
    ShareConflict.objects.create(owner=alice, membership=copy.membership, copy=copy, fields=fields)
    assert shares_of(reader_of(alice), ada)[0]["state"] == "conflict"
    [change] = reader_of(alice).ok("GET", "/api/changes?types=shareConflict")["changes"]
    assert (change["record"]["personName"], change["record"]["fields"]) == ("Ada", fields)


def test_neither_in_the_etag_nor_in_the_feed(share: Share, ada: Person, alice: User) -> None:
    client, path = reader_of(alice), f"/api/people/{ada.pk}"
    etag = client.call("GET", path)["ETag"]
    SharedCopy.objects.owned_by(alice).update(state=CopyState.OUT)
    assert shares_of(client, ada)[0]["state"] == "out"
    assert client.call("GET", path)["ETag"] == etag
    SharedCopy.objects.owned_by(alice).delete()
    assert client.call("GET", path)["ETag"] == etag
    [change] = client.ok("GET", "/api/changes?types=person")["changes"]
    assert "shares" not in change["record"]
    assert change["etag"] == etag


def test_two_shares(share: Share, ada: Person, alice: User, bob: User, carol: User) -> None:

    school = share_people(alice, carol, name="School")
    put_into_group(alice, ada, share=school)
    carry_all()
    assert [entry["name"] for entry in shares_of(reader_of(alice), ada)] == ["Family", "School"]
    assert membership_of(carol, school).share_id == school.pk
