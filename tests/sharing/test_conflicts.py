"""Conflicts of shares: which arise, and how they are resolved."""

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from people.models import Person
from people.photos.names import photo_hash
from relationships.models import Relationship
from relationships.services.relationships import create_relationship, update_relationship
from sharing.carry.carrier import carry_account
from sharing.models import Share
from tests.builders import UNKNOWN_ID
from tests.client import Client, client_of
from tests.pictures import picture, upload
from tests.sharing.conftest import add_person, carry_all, edit, person_of, share_people

PHONE = {"type": "mobile", "number": "+43 660 111"}


@pytest.fixture
def bobs(bob: User) -> Client:
    """Bob's API client. What he reads has the names that others share with him."""
    client = client_of(bob)
    client.reader = None
    return client


def conflicts_of(client: Client, share: Share) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = client.ok("GET", f"/api/shares/{share.pk}/conflicts")["conflicts"]
    return rows


def resolve(client: Client, conflict: dict[str, Any], status: int = 200, **body: Any) -> dict[str, Any]:
    path = f"/api/share-conflicts/{conflict['id']}/resolve"
    answer: dict[str, Any] = client.ok("POST", path, body, status=status)
    return answer


def _edit_both(alice: User, bob: User, ours: dict[str, Any], theirs: dict[str, Any]) -> tuple[Share, Person, Person]:
    """Alice's edit reaches the share first. Returns the share, her person and Bob's."""
    share = share_people(alice, bob)
    ada = add_person(alice, surname="Lovelace", nickname="A", phone_numbers=[PHONE])
    carry_all()
    other = person_of(bob, ada)
    edit(alice, ada, **ours)
    edit(bob, other, **theirs)
    carry_all()
    return share, ada, other


def _reload(*people: Person) -> None:
    for person in people:
        person.refresh_from_db()


def test_the_second_has_the_conflict(alice: User, bob: User, api: Client, bobs: Client) -> None:
    share, ada, other = _edit_both(alice, bob, {"nickname": "Ours"}, {"nickname": "Theirs", "job_title": "Countess"})
    _reload(ada, other)
    assert (ada.nickname, other.nickname, ada.job_title) == ("Ours", "Theirs", "Countess")
    assert conflicts_of(api, share) == []
    (conflict,) = conflicts_of(bobs, share)
    assert conflict == {
        "id": conflict["id"],
        "shareId": str(share.pk),
        "personId": str(other.pk),
        "personName": conflict["personName"],
        "fields": [{"field": "nickname", "base": "A", "local": "Theirs", "remote": "Ours"}],
        "by": "Alice",
        "createdAt": conflict["createdAt"],
    }
    assert bobs.ok("GET", f"/api/shares/{share.pk}")["share"]["conflictCount"] == 1


@pytest.mark.parametrize(
    ("resolution", "expected"), [("keep_local", "Theirs"), ("keep_remote", "Ours"), ("merged", "Theirs")]
)
def test_a_side_is_kept(alice: User, bob: User, bobs: Client, resolution: str, expected: str) -> None:
    share, ada, other = _edit_both(alice, bob, {"nickname": "Ours"}, {"nickname": "Theirs"})
    (conflict,) = conflicts_of(bobs, share)
    assert resolve(bobs, conflict, resolution=resolution) == {"success": True}
    carry_all()
    _reload(ada, other)
    assert (ada.nickname, other.nickname) == (expected, expected)
    assert conflicts_of(bobs, share) == []
    assert bobs.ok("GET", f"/api/shares/{share.pk}")["share"]["conflictCount"] == 0
    assert resolve(bobs, conflict, 400, resolution=resolution)["code"] == "already_resolved"


def test_values_of_a_merge(alice: User, bob: User, bobs: Client) -> None:
    share, ada, other = _edit_both(alice, bob, {"nickname": "Ours"}, {"nickname": "Theirs"})
    (conflict,) = conflicts_of(bobs, share)
    refused = resolve(bobs, conflict, 400, resolution="merged", values={"surname": "Byron"})
    assert refused["details"][0]["field"] == "values.surname"
    assert resolve(bobs, conflict, 400, resolution="merged", values={"nickname": "x" * 1000})["code"] == "invalid"
    assert resolve(bobs, conflict, resolution="merged", values={"nickname": "Both"}) == {"success": True}
    carry_all()
    _reload(ada, other)
    assert (ada.nickname, other.nickname) == ("Both", "Both")


def test_one_entry_that_is_two_things(alice: User, bob: User, bobs: Client) -> None:
    ours, theirs = ([{**PHONE, "number": f"+43 660 {number}"}] for number in (222, 333))
    share, ada, other = _edit_both(alice, bob, {"phone_numbers": ours}, {"phone_numbers": theirs})
    (conflict,) = conflicts_of(bobs, share)
    assert [one["field"] for one in conflict["fields"]] == ["phoneNumbers"]
    resolve(bobs, conflict, resolution="merged")
    carry_all()
    _reload(ada, other)
    numbers = [{entry["number"] for entry in person.phone_numbers} for person in (ada, other)]
    assert numbers == [{"+43 660 222", "+43 660 333"}] * 2


def test_a_conflict_ends_when_both_say_the_same(alice: User, bob: User, bobs: Client) -> None:
    share, ada, other = _edit_both(alice, bob, {"nickname": "Ours"}, {"nickname": "Theirs"})
    edit(alice, ada, nickname="Theirs")
    carry_all()
    assert conflicts_of(bobs, share) == []
    edit(bob, other, nickname="Next")
    carry_all()
    _reload(ada)
    assert ada.nickname == "Next"


def test_strangers(alice: User, bob: User, api: Client, bobs: Client, stranger: Client) -> None:
    share, *_ = _edit_both(alice, bob, {"nickname": "Ours"}, {"nickname": "Theirs"})
    (conflict,) = conflicts_of(bobs, share)
    for client in (api, stranger):
        resolve(client, conflict, 404, resolution="keep_local")
    resolve(bobs, {"id": UNKNOWN_ID}, 404, resolution="keep_local")
    resolve(bobs, {"id": "x"}, 404, resolution="keep_local")
    resolve(bobs, conflict, 400, resolution="both")
    resolve(bobs, conflict, 400)
    stranger.ok("GET", f"/api/shares/{share.pk}/conflicts", status=404)
    assert conflicts_of(bobs, share) == [conflict]
    bobs.ok("DELETE", f"/api/shares/{share.pk}/membership")
    bobs.ok("GET", f"/api/shares/{share.pk}/conflicts", status=404)
    resolve(bobs, conflict, 404, resolution="keep_local")


@pytest.mark.parametrize(
    ("resolution", "value"), [("keep_local", ""), ("keep_remote", ""), ("merged", "local"), ("merged", "remote")]
)
def test_two_pictures(alice: User, bob: User, api: Client, bobs: Client, resolution: str, value: str) -> None:
    share = share_people(alice, bob)
    ada = add_person(alice)
    carry_all()
    other = person_of(bob, ada)
    for color in ("white", "red"):
        upload(api, f"/api/people/{ada.pk}/photo", picture(color=color))
        if color == "white":
            carry_all()
    upload(bobs, f"/api/people/{other.pk}/photo", picture(color="blue"))
    carry_account(alice.pk)
    carry_all()
    (conflict,) = conflicts_of(bobs, share)
    assert [one["field"] for one in conflict["fields"]] == ["photo"]
    _reload(ada, other)
    red, blue = (photo_hash(person.photo or "") for person in (ada, other))
    assert red != blue
    refused = resolve(bobs, conflict, 400, resolution="merged", values={"photo": "0" * 64})
    assert refused["details"][0]["field"] == "values.photo"
    values: dict[str, Any] = {"values": {"photo": conflict["fields"][0][value]}} if value else {}
    resolve(bobs, conflict, resolution=resolution, **values)
    assert conflicts_of(bobs, share) == []
    carry_all()
    _reload(ada, other)
    expected = blue if "local" in {resolution.removeprefix("keep_"), value} else red
    assert [photo_hash(person.photo or "") for person in (ada, other)] == [expected, expected]


@pytest.mark.parametrize(
    ("resolution", "sides", "expected"),
    [
        ("keep_local", "", "2011"),
        ("keep_remote", "", "2010"),
        ("merged", "", "2011"),
        ("merged", "local", "2011"),
        ("merged", "remote", "2010"),
        ("merged", "local remote", "2011"),
    ],
)
def test_one_relationship_that_begins_twice(
    alice: User, bob: User, bobs: Client, resolution: str, sides: str, expected: str
) -> None:
    share = share_people(alice, bob)
    ada, ben = add_person(alice, name="Ada"), add_person(alice, name="Ben")
    create_relationship(
        owner=alice, person_id=ada.pk, related_person_id=ben.pk, type_id=None, now=timezone.now(), content={}
    )
    carry_all()
    other = person_of(bob, ada)
    for user, person, since in ((alice, ada, "2010"), (bob, other, "2011")):
        row = Relationship.objects.owned_by(user).visible().get(person=person)
        owner = User.objects.get(pk=user.pk)
        update_relationship(owner=owner, row=row, data={"since": since}, now=timezone.now())
    carry_account(alice.pk)
    carry_all()
    (conflict,) = conflicts_of(bobs, share)
    assert [one["field"] for one in conflict["fields"]] == ["relationships"]
    field = conflict["fields"][0]
    for wrong in ("x", [{**field["local"][0], "since": "1815"}]):
        refused = resolve(bobs, conflict, 400, resolution="merged", values={"relationships": wrong})
        assert refused["details"][0]["field"] == "values.relationships"
    chosen = [one for side in sides.split() for one in field[side]]
    values: dict[str, Any] = {"values": {"relationships": chosen}} if sides else {}
    resolve(bobs, conflict, resolution=resolution, **values)
    carry_all()
    assert conflicts_of(bobs, share) == []
    for user, person in ((alice, ada), (bob, other)):
        assert Relationship.objects.owned_by(user).visible().get(person=person).since == expected
