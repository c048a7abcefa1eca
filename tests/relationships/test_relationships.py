"""A relationship is a pair of rows, which are created, changed, deleted, restored and removed together."""

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


def inverse_of(api: Client, made: Any) -> Any:
    """The other row of the pair, from the list of the API."""
    [found] = [
        row
        for row in list_relationships(api)
        if row["id"] != made["id"]
        and (row["personId"], row["relatedPersonId"]) == (made["relatedPersonId"], made["personId"])
    ]
    return found


def test_create_makes_the_inverse(api: Client, alice: User) -> None:
    ada, bob = make_people(alice, "Ada Bob")
    types = type_ids(api)
    made = relate(api, ada, bob, types["PARENT"], "since 1990")
    assert made["personId"] == str(ada.pk)
    assert made["relatedPersonId"] == str(bob.pk)
    assert made["person"] == {"id": str(ada.pk), "name": "Ada"}
    assert made["relatedPerson"] == {"id": str(bob.pk), "name": "Bob"}
    assert made["relationshipType"] == {"id": types["PARENT"], "label": "Parent"}
    assert (made["notes"], made["deletedAt"]) == ("since 1990", None)
    inverse = inverse_of(api, made)
    assert inverse["relationshipTypeId"] == types["CHILD"]
    assert inverse["notes"] == "since 1990"


def test_list_is_newest_first_with_both_directions(api: Client, alice: User) -> None:
    ada, bob, eve = make_people(alice, "Ada Bob Eve")
    first, second = relate(api, ada, bob), relate(api, bob, eve)
    ids = [row["id"] for row in list_relationships(api)]
    assert len(ids) == len(set(ids)) == 4
    assert ids.index(second["id"]) < ids.index(first["id"])
    assert {row["createdAt"] for row in list_relationships(api)[:2]} == {second["createdAt"]}


def test_one_relationship_is_as_in_the_list(api: Client, alice: User) -> None:
    made = relate(api, *make_ada_and_bob(alice))
    assert api.ok("GET", f"/api/relationships/{made['id']}") == {"relationship": made}
    assert made in list_relationships(api)


def test_type_and_notes_may_be_left_out(api: Client, alice: User) -> None:
    ada, bob = make_people(alice, "Ada Bob")
    body = {"personId": str(ada.pk), "relatedPersonId": str(bob.pk)}
    made = api.ok("POST", "/api/relationships", body)["relationship"]
    assert (made["relationshipTypeId"], made["relationshipType"], made["notes"]) == (None, None, None)
    assert inverse_of(api, made)["relationshipTypeId"] is None


@pytest.mark.both_databases
def test_update_changes_both_rows(api: Client, alice: User) -> None:
    types = type_ids(api)
    made = relate(api, *make_ada_and_bob(alice), types["FRIEND"], "old")
    path = f"/api/relationships/{made['id']}"
    changed = api.ok("PUT", path, {"relationshipTypeId": types["CHILD"]})["relationship"]
    assert (changed["relationshipTypeId"], changed["notes"]) == (types["CHILD"], "old")
    assert inverse_of(api, made)["relationshipTypeId"] == types["PARENT"]
    api.ok("PUT", path, {"notes": "new"})
    assert (inverse_of(api, made)["relationshipTypeId"], inverse_of(api, made)["notes"]) == (types["PARENT"], "new")
    api.ok("PUT", path, {"relationshipTypeId": None, "notes": ""})
    assert (inverse_of(api, made)["relationshipTypeId"], inverse_of(api, made)["notes"]) == (None, None)


def test_a_read_record_may_be_put_back(api: Client, alice: User) -> None:
    made = relate(api, *make_ada_and_bob(alice), type_ids(api)["PARENT"], "x")
    put = api.ok("PUT", f"/api/relationships/{made['id']}", made)["relationship"]
    assert {**put, "updatedAt": None} == {**made, "updatedAt": None}


def test_delete_restore_and_removal_act_on_both_rows(api: Client, alice: User) -> None:
    made = relate(api, *make_ada_and_bob(alice), type_ids(api)["PARENT"])
    inverse = inverse_of(api, made)
    path = f"/api/relationships/{made['id']}"
    assert list(api.ok("DELETE", path)) == ["message"]
    assert list_relationships(api) == []
    api.ok("GET", f"/api/relationships/{inverse['id']}", status=404)
    restored = api.ok("POST", f"/api/relationships/{inverse['id']}/restore")["relationship"]
    assert (restored["id"], restored["deletedAt"]) == (inverse["id"], None)
    assert {row["id"] for row in list_relationships(api)} == {made["id"], inverse["id"]}
    api.ok("DELETE", path)
    assert api.ok("DELETE", f"{path}/permanent") == {"success": True}
    for row_id in (made["id"], inverse["id"]):
        api.ok("POST", f"/api/relationships/{row_id}/restore", status=404)


@pytest.mark.parametrize(("method", "ending"), [("POST", "restore"), ("DELETE", "permanent")])
def test_only_deleted_relationships_are_restored_or_removed(api: Client, alice: User, method: str, ending: str) -> None:
    made = relate(api, *make_ada_and_bob(alice))
    response = api.ok(method, f"/api/relationships/{made['id']}/{ending}", status=400)
    assert response["code"] == "not_deleted"
    assert len(list_relationships(api)) == 2


def test_person_cannot_be_related_to_itself(api: Client, alice: User) -> None:
    ada = make_person(alice)
    body = {"personId": str(ada.pk), "relatedPersonId": str(ada.pk)}
    expect_field_error(api, "POST", "/api/relationships", body, "relatedPersonId")
    assert list_relationships(api) == []


@pytest.mark.parametrize("name", ["PARENT", "FRIEND", None])
def test_the_same_relationship_twice_is_refused_from_either_end(api: Client, alice: User, name: str | None) -> None:
    ada, bob = make_people(alice, "Ada Bob")
    types = type_ids(api)
    back = {"PARENT": "CHILD", "FRIEND": "FRIEND", None: None}[name]
    relate(api, ada, bob, types.get(name or ""))
    for one, other, kind in ((ada, bob, name), (bob, ada, back)):
        body = {"personId": str(one.pk), "relatedPersonId": str(other.pk), "relationshipTypeId": types.get(kind or "")}
        expect_field_error(api, "POST", "/api/relationships", body, "relationshipTypeId")
    assert len(list_relationships(api)) == 2


def test_different_types_between_the_same_two_are_fine(api: Client, alice: User) -> None:
    ada, bob = make_people(alice, "Ada Bob")
    types = type_ids(api)
    for kind in (types["FRIEND"], types["COLLEAGUE"], types["PARENT"], types["CHILD"], None):
        relate(api, ada, bob, kind)
    assert len(list_relationships(api)) == 10


def test_update_and_restore_refuse_a_duplicate(api: Client, alice: User) -> None:
    ada, bob = make_people(alice, "Ada Bob")
    types = type_ids(api)
    relate(api, ada, bob, types["FRIEND"])
    other = relate(api, bob, ada, types["COLLEAGUE"])
    path = f"/api/relationships/{other['id']}"
    expect_field_error(api, "PUT", path, {"relationshipTypeId": types["FRIEND"]}, "relationshipTypeId")
    api.ok("DELETE", path)
    relate(api, ada, bob, types["COLLEAGUE"])
    expect_field_error(api, "POST", f"{path}/restore", None, "relationshipTypeId")
    assert len(list_relationships(api)) == 4


@pytest.mark.both_databases
@pytest.mark.split
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"personId": None}, "personId"),
        ({"personId": UNKNOWN_ID}, "personId"),
        ({"personId": "no-id"}, "personId"),
        ({"personId": 5}, "personId"),
        ({"relatedPersonId": UNKNOWN_ID}, "relatedPersonId"),
        ({"relationshipTypeId": UNKNOWN_ID}, "relationshipTypeId"),
        ({"relationshipTypeId": True}, "relationshipTypeId"),
        ({"notes": "x" * 1001}, "notes"),
        ({"notes": 1}, "notes"),
        ({"notes": "a\x00b"}, "notes"),
    ],
)
def test_bad_values_are_refused_by_name(api: Client, alice: User, change: dict[str, Any], field: str) -> None:
    ada, bob = make_people(alice, "Ada Bob")
    expect_field_error(
        api, "POST", "/api/relationships", {"personId": str(ada.pk), "relatedPersonId": str(bob.pk), **change}, field
    )
    assert list_relationships(api) == []


def test_both_people_are_needed(api: Client) -> None:
    response = api.ok("POST", "/api/relationships", {}, status=400)
    assert {detail["field"] for detail in response["details"]} == {"personId", "relatedPersonId"}


def test_notes_take_1000_characters(api: Client, alice: User) -> None:
    assert relate(api, *make_ada_and_bob(alice), notes="é" * 1000)["notes"] == "é" * 1000


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
@pytest.mark.parametrize("row_id", [UNKNOWN_ID, "no-id", "%00"])
def test_unknown_ids_are_404(api: Client, method: str, row_id: str) -> None:
    api.ok(method, f"/api/relationships/{row_id}", {} if method == "PUT" else None, status=404)


def test_a_relationship_of_a_deleted_person_is_hidden(api: Client, alice: User) -> None:
    ada, bob = make_people(alice, "Ada Bob")
    made = relate(api, ada, bob)
    api.ok("DELETE", f"/api/people/{bob.pk}")
    assert list_relationships(api) == []
    api.ok("GET", f"/api/relationships/{made['id']}", status=404)
    api.ok("PUT", f"/api/relationships/{made['id']}", {"notes": "x"}, status=404)
    api.ok("DELETE", f"/api/relationships/{made['id']}", status=404)
    expect_field_error(
        api, "POST", "/api/relationships", {"personId": str(ada.pk), "relatedPersonId": str(bob.pk)}, "relatedPersonId"
    )
    api.ok("POST", f"/api/people/{bob.pk}/restore")
    assert made in list_relationships(api)


def test_restore_is_refused_while_a_person_is_deleted(api: Client, alice: User) -> None:
    ada, bob = make_people(alice, "Ada Bob")
    path = f"/api/relationships/{relate(api, ada, bob)['id']}"
    api.ok("DELETE", path)
    api.ok("DELETE", f"/api/people/{bob.pk}")
    assert api.ok("POST", f"{path}/restore", status=400)["code"] == "person_deleted"
    api.ok("POST", f"/api/people/{bob.pk}/restore")
    assert list_relationships(api) == []
    api.ok("POST", f"{path}/restore")
    assert len(list_relationships(api)) == 2


def test_permanent_removal_of_a_person_removes_both_rows(api: Client, alice: User) -> None:
    ada, bob = make_people(alice, "Ada Bob")
    made = relate(api, ada, bob)
    api.ok("DELETE", f"/api/people/{bob.pk}")
    api.ok("DELETE", f"/api/people/{bob.pk}/permanent")
    api.ok("POST", f"/api/relationships/{made['id']}/restore", status=404)
    assert api.ok("GET", f"/api/people/{ada.pk}")["person"]["relationships"] == []


def test_names_are_in_the_display_format_of_the_account(api: Client, alice: User) -> None:
    ada = make_person(alice, name="Ada", surname="Lovelace", nickname="Countess")
    bob = make_person(alice, name="Bob", display_name_override="Uncle B.")
    api.ok("PUT", "/api/user/name-display-format", {"nameDisplayFormat": "SHORT"})
    made = relate(api, ada, bob)
    assert (made["person"]["name"], made["relatedPerson"]["name"]) == ("Countess", "Uncle B.")
