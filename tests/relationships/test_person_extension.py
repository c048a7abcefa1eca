"""What relationships add to people: entries in responses, connectedThroughId, restoring with the person."""

from typing import Any

import pytest

from accounts.models import User
from tests.builders import UNKNOWN_ID, make_person
from tests.client import Client
from tests.relationships.steps import (
    expect_field_error,
    list_relationships,
    make_ada_and_bob,
    make_people,
    relate,
    type_ids,
)

pytestmark = pytest.mark.sqlite_suffices


def get_person(api: Client, row: Any) -> Any:
    return api.ok("GET", f"/api/people/{getattr(row, 'pk', row)}")["person"]


def test_a_person_has_its_outgoing_rows(api: Client, alice: User) -> None:
    ada, bob, eve = make_people(alice, "Ada Bob Eve")
    types = type_ids(api)
    first = relate(api, ada, bob, types["PARENT"], "x")
    second = relate(api, eve, ada, types["PARENT"])
    rows = get_person(api, ada)["relationships"]
    assert [row["relatedPerson"]["name"] for row in rows] == ["Eve", "Bob"]
    assert rows[1] == first
    assert rows[0]["relationshipTypeId"] == types["CHILD"]
    assert second not in rows


def test_rows_to_deleted_people_and_deleted_rows_are_left_out(api: Client, alice: User) -> None:
    ada, bob, eve, fay = make_people(alice, "Ada Bob Eve Fay")
    for other in (bob, eve, fay):
        relate(api, ada, other)
    api.ok("DELETE", f"/api/people/{bob.pk}")
    api.ok("DELETE", f"/api/relationships/{get_person(api, fay)['relationships'][0]['id']}")
    assert [row["relatedPerson"]["name"] for row in get_person(api, ada)["relationships"]] == ["Eve"]
    everyone = api.ok("GET", "/api/people?includeAll=true")["people"]
    assert {row["name"]: len(row["relationships"]) for row in everyone} == {"Ada": 1, "Eve": 1, "Fay": 0}


def test_a_list_without_include_all_has_none(api: Client, alice: User) -> None:
    relate(api, *make_ada_and_bob(alice))
    assert all("relationships" not in row for row in api.ok("GET", "/api/people")["people"])


def test_connected_through_makes_the_pair(api: Client, alice: User) -> None:
    types = type_ids(api)
    ada = make_person(alice)
    body = {"name": "Bob", "connectedThroughId": str(ada.pk), "relationshipToUserId": types["CHILD"]}
    bob = api.ok("POST", "/api/people", body, status=201)["person"]
    assert (bob["relationshipToUserId"], bob["relationshipToUser"]) == (None, None)
    assert "connectedThroughId" not in bob
    [row] = bob["relationships"]
    assert (row["relatedPersonId"], row["relationshipTypeId"]) == (str(ada.pk), types["CHILD"])
    [back] = get_person(api, ada)["relationships"]
    assert (back["relatedPersonId"], back["relationshipTypeId"]) == (bob["id"], types["PARENT"])


@pytest.mark.parametrize("extra", [{}, {"relationshipToUserId": None}])
def test_connected_through_without_a_type(api: Client, alice: User, extra: dict[str, Any]) -> None:
    ada = make_person(alice)
    body = {"name": "Bob", "connectedThroughId": str(ada.pk), **extra}
    [row] = api.ok("POST", "/api/people", body, status=201)["person"]["relationships"]
    assert row["relationshipType"] is None


def test_without_connected_through_the_type_is_that_to_the_user(api: Client) -> None:
    types = type_ids(api)
    body = {"name": "Bob", "connectedThroughId": None, "relationshipToUserId": types["CHILD"]}
    bob = api.ok("POST", "/api/people", body, status=201)["person"]
    assert (bob["relationshipToUserId"], bob["relationships"]) == (types["CHILD"], [])


@pytest.mark.parametrize("value", [UNKNOWN_ID, "no-id", 7, "{foreign}", "{deleted}"])
def test_connected_through_an_own_person_only(api: Client, alice: User, mallory: User, value: Any) -> None:
    foreign, deleted = make_person(mallory), make_person(alice)
    api.ok("DELETE", f"/api/people/{deleted.pk}")
    if isinstance(value, str):
        value = value.format(foreign=foreign.pk, deleted=deleted.pk)
    expect_field_error(api, "POST", "/api/people", {"name": "Bob", "connectedThroughId": value}, "connectedThroughId")
    assert api.ok("GET", "/api/people")["people"] == []


def test_connected_through_is_ignored_on_update(api: Client, alice: User) -> None:
    ada, bob = make_ada_and_bob(alice)
    body = {"connectedThroughId": str(bob.pk), "relationshipToUserId": type_ids(api)["FRIEND"]}
    changed = api.ok("PUT", f"/api/people/{ada.pk}", body)["person"]
    assert changed["relationshipToUser"]["name"] == "FRIEND"
    assert list_relationships(api) == []


def test_relationships_come_back_with_their_people_whatever_the_order(api: Client, alice: User) -> None:
    ada, bob = make_ada_and_bob(alice)
    made = relate(api, ada, bob)
    api.ok("DELETE", f"/api/people/{ada.pk}")
    api.ok("DELETE", f"/api/people/{bob.pk}")
    assert api.ok("POST", f"/api/people/{ada.pk}/restore")["person"]["relationships"] == []
    assert len(api.ok("POST", f"/api/people/{bob.pk}/restore")["person"]["relationships"]) == 1
    assert made in list_relationships(api)


def test_a_new_relationship_changes_the_etag_of_its_people(api: Client, alice: User) -> None:
    ada, bob = make_ada_and_bob(alice)
    before = api.call("GET", f"/api/people/{ada.pk}")["ETag"]
    relate(api, ada, bob)
    assert api.call("GET", f"/api/people/{ada.pk}")["ETag"] != before
