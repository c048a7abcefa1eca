"""Relationship types: after every operation, a type is symmetric, has an inverse that refers to it, or has none."""

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

PATH = "/api/relationship-types"


def types_by_name(api: Client) -> dict[str, Any]:
    """The types by name. Fails unless each is the inverse of its inverse, or has none."""
    rows = {row["id"]: row for row in api.ok("GET", PATH)["relationshipTypes"]}
    for row in rows.values():
        if row["inverseId"] is None:
            assert (row["inverse"], row["symmetric"]) == (None, False)
            continue
        inverse = rows[row["inverseId"]]
        assert inverse["inverseId"] == row["id"]
        assert row["inverse"] == {key: inverse[key] for key in ("id", "name", "label")}
        assert row["symmetric"] == (inverse is row)
    assert len({row["name"] for row in rows.values()}) == len(rows)
    return {row["name"]: row for row in rows.values()}


def create_type(api: Client, **body: Any) -> Any:
    return api.ok("POST", PATH, body)["relationshipType"]


@pytest.mark.both_databases
def test_types_are_listed_by_label_on_every_database(api: Client) -> None:
    labels = ["z b", "za", "Z-c", "Éa", "ea", "Zb"]
    for label in labels:
        body = {"name": f"N{labels.index(label)}", "label": label, "symmetric": True}
        api.ok("post", "/api/relationship-types", body)
    listed = [row["label"] for row in api.ok("get", "/api/relationship-types")["relationshipTypes"]]
    assert [label for label in listed if label in labels] == ["Éa", "ea", "z b", "Z-c", "za", "Zb"]
    assert len(listed) > len(labels)


def test_name_is_upper_case_and_without_white_space(api: Client) -> None:
    made = create_type(api, name="  best   friend ", label=" Best friend ", symmetric=True)
    assert (made["name"], made["label"], made["symmetric"]) == ("BEST_FRIEND", "Best friend", True)
    assert api.ok("GET", f"{PATH}/{made['id']}") == {"relationshipType": made}
    expect_field_error(api, "POST", PATH, {"name": "Best Friend", "label": "x", "symmetric": True}, "name")


def test_color_is_given_or_picked(api: Client) -> None:
    assert create_type(api, name="a", label="a", symmetric=True, color="#a1B2c3")["color"] == "#a1B2c3"
    assert create_type(api, name="b", label="b", symmetric=True)["color"].startswith("#")
    expect_field_error(api, "POST", PATH, {"name": "c", "label": "c", "symmetric": True, "color": "red"}, "color")


def test_an_inverse_label_makes_the_inverse(api: Client) -> None:
    mentor = create_type(api, name="mentor", label="Mentor", inverseLabel="Protégé", color="#000000")
    inverse = types_by_name(api)["PROTÉGÉ"]
    assert mentor["inverse"] == {"id": inverse["id"], "name": "PROTÉGÉ", "label": "Protégé"}
    assert not mentor["symmetric"]
    assert inverse["color"] != "#000000"


def test_an_inverse_whose_name_is_taken_gets_a_number(api: Client) -> None:
    made = create_type(api, name="guardian", label="Guardian", inverseLabel="Child")
    assert made["inverse"]["name"] == "CHILD_2"
    assert types_by_name(api)["CHILD_2"]["label"] == "Child"
    repeated = create_type(api, name="cousin", label="Cousin", inverseLabel="Cousin")
    assert repeated["inverse"]["name"] == "COUSIN_2"


@pytest.mark.both_databases
@pytest.mark.split
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "inverseLabel"),
        ({"symmetric": False}, "inverseLabel"),
        ({"inverseLabel": " "}, "inverseLabel"),
        ({"symmetric": True, "inverseLabel": "Back"}, "symmetric"),
        ({"symmetric": True, "inverseId": "{SIBLING}"}, "symmetric"),
        ({"symmetric": 1}, "symmetric"),
        ({"inverseId": "{SIBLING}"}, "inverseId"),
        ({"inverseId": "{PARENT}"}, "inverseId"),
        ({"inverseId": "{PARENT}", "inverseLabel": "Back"}, "inverseId"),
        ({"inverseId": UNKNOWN_ID}, "inverseId"),
        ({"name": "", "symmetric": True}, "name"),
        ({"name": "x" * 51, "symmetric": True}, "name"),
        ({"name": "ß" * 26, "symmetric": True}, "name"),
        ({"label": "x" * 51, "symmetric": True}, "label"),
        ({"label": None, "symmetric": True}, "label"),
        ({"inverseLabel": "x" * 51}, "inverseLabel"),
    ],
)
def test_a_type_without_valid_inverse_or_name_is_refused(api: Client, body: dict[str, Any], field: str) -> None:
    before = types_by_name(api)
    ids = {name: row["id"] for name, row in before.items()}
    body = {key: value.format(**ids) if isinstance(value, str) else value for key, value in body.items()}
    expect_field_error(api, "POST", PATH, {"name": "new", "label": "New", **body}, field)
    assert types_by_name(api) == before


def test_the_longest_names_and_labels(api: Client) -> None:
    made = create_type(api, name="x" * 50, label="y" * 50, inverseLabel="x" * 50)
    assert (len(made["name"]), len(made["inverse"]["name"]), len(made["inverse"]["label"])) == (50, 50, 50)


def test_update_keeps_what_is_omitted(api: Client) -> None:
    before = types_by_name(api)["PARENT"]
    changed = api.ok("PUT", f"{PATH}/{before['id']}", {"label": "Mum or dad"})["relationshipType"]
    assert changed == {**before, "label": "Mum or dad", "updatedAt": changed["updatedAt"]}
    changed = api.ok("PUT", f"{PATH}/{before['id']}", {"name": "elder", "color": "#112233"})["relationshipType"]
    assert (changed["name"], changed["label"], changed["color"]) == ("ELDER", "Mum or dad", "#112233")
    assert types_by_name(api)["CHILD"]["color"] != "#112233"


@pytest.mark.parametrize("name", ["PARENT", "FRIEND"])
def test_a_read_record_may_be_put_back(api: Client, name: str) -> None:
    before = types_by_name(api)[name]
    put = api.ok("PUT", f"{PATH}/{before['id']}", before)["relationshipType"]
    assert put == {**before, "updatedAt": put["updatedAt"]}


def test_update_refuses_what_create_refuses(api: Client) -> None:
    rows = types_by_name(api)
    path = f"{PATH}/{rows['FRIEND']['id']}"
    expect_field_error(api, "PUT", path, {"name": "parent"}, "name")
    expect_field_error(api, "PUT", path, {"symmetric": False}, "inverseLabel")
    expect_field_error(api, "PUT", path, {"inverseId": rows["SIBLING"]["id"]}, "inverseId")
    expect_field_error(api, "PUT", path, {"inverseId": rows["CHILD"]["id"]}, "inverseId")
    expect_field_error(api, "PUT", path, {"symmetric": False, "inverseId": rows["FRIEND"]["id"]}, "inverseId")
    expect_field_error(api, "PUT", path, {"label": ""}, "label")
    assert types_by_name(api) == rows


def test_a_new_inverse_takes_over_the_relationships(api: Client, alice: User) -> None:
    ids = type_ids(api)
    made = relate(api, *make_ada_and_bob(alice), ids["PARENT"])
    api.ok("PUT", f"{PATH}/{ids['PARENT']}", {"inverseLabel": "Kid"})
    rows = types_by_name(api)
    assert rows["PARENT"]["inverse"]["name"] == "KID"
    assert "CHILD" not in rows
    by_person = {row["personId"]: row["relationshipTypeId"] for row in list_relationships(api)}
    assert by_person == {made["personId"]: ids["PARENT"], made["relatedPersonId"]: rows["KID"]["id"]}


@pytest.mark.both_databases
def test_a_former_inverse_that_is_some_persons_type_stays(api: Client, alice: User) -> None:
    ids = type_ids(api)
    make_person(alice, relationship_to_user_id=ids["CHILD"])
    api.ok("PUT", f"{PATH}/{ids['PARENT']}", {"inverseLabel": "Kid"})
    assert (types_by_name(api)["CHILD"]["inverse"], types_by_name(api)["CHILD"]["symmetric"]) == (None, False)


@pytest.mark.both_databases
def test_a_pair_becomes_one_symmetric_type(api: Client, alice: User) -> None:
    ids = type_ids(api)
    relate(api, *make_ada_and_bob(alice), ids["CHILD"])
    assert api.ok("PUT", f"{PATH}/{ids['PARENT']}", {"symmetric": True})["relationshipType"]["symmetric"]
    assert "CHILD" not in types_by_name(api)
    assert {row["relationshipTypeId"] for row in list_relationships(api)} == {ids["PARENT"]}


def test_a_pair_does_not_become_symmetric_if_that_makes_a_duplicate(api: Client, alice: User) -> None:
    ids = type_ids(api)
    ada, bob = make_people(alice, "Ada Bob")
    relate(api, ada, bob, ids["PARENT"])
    relate(api, bob, ada, ids["PARENT"])
    before = types_by_name(api)
    expect_field_error(api, "PUT", f"{PATH}/{ids['PARENT']}", {"symmetric": True}, "symmetric")
    assert types_by_name(api) == before


def test_a_symmetric_type_becomes_a_pair(api: Client, alice: User) -> None:
    ids = type_ids(api)
    made = relate(api, *make_ada_and_bob(alice), ids["FRIEND"])
    body = {"symmetric": False, "inverseLabel": "Admirer"}
    changed = api.ok("PUT", f"{PATH}/{ids['FRIEND']}", body)["relationshipType"]
    assert not changed["symmetric"]
    assert types_by_name(api)["ADMIRER"]["inverseId"] == ids["FRIEND"]
    by_person = {row["personId"]: row["relationshipTypeId"] for row in list_relationships(api)}
    assert by_person == {made["personId"]: ids["FRIEND"], made["relatedPersonId"]: changed["inverseId"]}


def test_delete_and_restore_leave_the_inverse_where_it_is(api: Client) -> None:
    before = types_by_name(api)
    path = f"{PATH}/{before['CHILD']['id']}"
    assert api.ok("DELETE", path) == {"success": True}
    api.ok("GET", path, status=404)
    parent = {**before["PARENT"], "inverseId": None, "inverse": None}
    assert types_by_name(api) == {name: row for name, row in before.items() if name != "CHILD"} | {"PARENT": parent}
    restored = api.ok("POST", f"{path}/restore")["relationshipType"]
    assert restored == {**before["CHILD"], "updatedAt": restored["updatedAt"]}
    assert types_by_name(api)["PARENT"] == before["PARENT"]


def test_both_ends_are_deleted_and_restored_one_by_one(api: Client) -> None:
    before = types_by_name(api)
    paths = [f"{PATH}/{before[name]['id']}" for name in ("PARENT", "CHILD")]
    for path in paths:
        api.ok("DELETE", path)
    assert [row["inverse"] for row in api.ok("GET", "/api/deleted?type=relationshipTypes")["deleted"]] == [None, None]
    first = api.ok("POST", f"{paths[0]}/restore")["relationshipType"]
    assert (first["inverse"], first["symmetric"]) == (None, False)
    assert api.ok("POST", f"{paths[1]}/restore")["relationshipType"]["inverseId"] == first["id"]
    assert set(types_by_name(api)) == set(before)


def test_a_deleted_inverse_is_restored_by_the_next_relationship(api: Client, alice: User) -> None:
    ids = type_ids(api)
    ada, bob = make_ada_and_bob(alice)
    api.ok("DELETE", f"{PATH}/{ids['CHILD']}")
    create_type(api, name="child", label="Child of somebody", symmetric=True)
    relate(api, ada, bob, ids["PARENT"])
    rows = types_by_name(api)
    assert (rows["CHILD_2"]["id"], rows["PARENT"]["inverseId"]) == (ids["CHILD"], ids["CHILD"])
    assert {row["relationshipTypeId"] for row in list_relationships(api)} == {ids["PARENT"], ids["CHILD"]}


def remove_type(api: Client, type_id: str) -> None:
    """Delete a type for good."""
    api.ok("DELETE", f"{PATH}/{type_id}")
    api.ok("DELETE", f"{PATH}/{type_id}/permanent")


def test_type_with_a_removed_inverse_cannot_be_used_until_it_has_another(api: Client, alice: User) -> None:
    ids = type_ids(api)
    ada, bob = (str(person.pk) for person in make_ada_and_bob(alice))
    related = relate(api, ada, bob)
    remove_type(api, ids["CHILD"])
    body = {"personId": ada, "relatedPersonId": bob, "relationshipTypeId": ids["PARENT"]}
    expect_field_error(api, "POST", "/api/relationships", body, "relationshipTypeId")
    path = f"/api/relationships/{related['id']}"
    expect_field_error(api, "PUT", path, {"relationshipTypeId": ids["PARENT"]}, "relationshipTypeId")
    body = {"name": "Eve", "connectedThroughId": ada, "relationshipToUserId": ids["PARENT"]}
    expect_field_error(api, "POST", "/api/people", body, "relationshipToUserId")
    body.pop("connectedThroughId")
    assert api.ok("POST", "/api/people", body, status=201)["person"]["relationshipToUserId"] == ids["PARENT"]
    changed = api.ok("PUT", f"{PATH}/{ids['PARENT']}", {**types_by_name(api)["PARENT"], "label": "Mum"})[
        "relationshipType"
    ]
    assert (changed["label"], changed["inverse"], changed["symmetric"]) == ("Mum", None, False)
    api.ok("PUT", f"{PATH}/{ids['PARENT']}", {"inverseLabel": "Child"})
    assert api.ok("PUT", path, {"relationshipTypeId": ids["PARENT"]})["relationship"]["relationshipTypeId"]
    assert set(types_by_name(api)) == set(ids)


@pytest.mark.parametrize("is_removed", [False, True])
def test_a_new_type_may_be_the_inverse_of_one_without_inverse(api: Client, is_removed: bool) -> None:
    ids = type_ids(api)
    if is_removed:
        remove_type(api, ids["CHILD"])
    else:
        api.ok("DELETE", f"{PATH}/{ids['CHILD']}")
    kid = create_type(api, name="kid", label="Kid", inverseId=ids["PARENT"], inverseLabel="not needed")
    rows = types_by_name(api)
    assert (kid["inverseId"], rows["PARENT"]["inverseId"]) == (ids["PARENT"], kid["id"])
    assert set(rows) == (set(ids) | {"KID"}) - {"CHILD"}
    if not is_removed:
        restored = api.ok("POST", f"{PATH}/{ids['CHILD']}/restore")["relationshipType"]
        assert (restored["inverse"], restored["symmetric"]) == (None, False)
        assert types_by_name(api)["PARENT"]["inverseId"] == kid["id"]


@pytest.mark.parametrize("name", ["FRIEND", "PARENT"])
def test_a_type_may_change_to_an_inverse_that_has_none(api: Client, alice: User, name: str) -> None:
    ids = type_ids(api)
    made = relate(api, *make_ada_and_bob(alice), ids[name])
    hero = create_type(api, name="hero", label="Hero", inverseLabel="Admirer")
    api.ok("DELETE", f"{PATH}/{hero['inverseId']}")
    api.ok("PUT", f"{PATH}/{ids[name]}", {"symmetric": False, "inverseId": hero["id"]})
    rows = types_by_name(api)
    assert (rows[name]["inverseId"], rows["HERO"]["inverseId"]) == (hero["id"], ids[name])
    by_person = {row["personId"]: row["relationshipTypeId"] for row in list_relationships(api)}
    assert by_person == {made["personId"]: ids[name], made["relatedPersonId"]: hero["id"]}


def test_a_type_without_inverse_becomes_symmetric(api: Client) -> None:
    ids = type_ids(api)
    remove_type(api, ids["CHILD"])
    assert api.ok("PUT", f"{PATH}/{ids['PARENT']}", {"symmetric": True})["relationshipType"]["symmetric"]
    assert types_by_name(api)["PARENT"]["inverseId"] == ids["PARENT"]


def test_only_deleted_types_are_restored_or_removed(api: Client) -> None:
    path = f"{PATH}/{types_by_name(api)['FRIEND']['id']}"
    assert api.ok("POST", f"{path}/restore", status=400)["code"] == "not_deleted"
    assert api.ok("DELETE", f"{path}/permanent", status=400)["code"] == "not_deleted"


def test_type_whose_name_was_taken_is_not_restored(api: Client) -> None:
    path = f"{PATH}/{types_by_name(api)['FRIEND']['id']}"
    api.ok("DELETE", path)
    create_type(api, name="friend", label="Friend", symmetric=True)
    expect_field_error(api, "POST", f"{path}/restore", None, "name")
    assert list(types_by_name(api)).count("FRIEND") == 1


@pytest.mark.parametrize("name", ["PARENT", "CHILD", "FRIEND"])
def test_a_type_of_a_relationship_is_in_use(api: Client, alice: User, name: str) -> None:
    ids = type_ids(api)
    made = relate(api, *make_ada_and_bob(alice), ids[name])
    assert api.ok("DELETE", f"{PATH}/{ids[name]}", status=400)["code"] == "in_use"
    api.ok("DELETE", f"/api/relationships/{made['id']}")
    api.ok("DELETE", f"{PATH}/{ids[name]}")


def test_a_type_of_a_person_is_in_use_and_its_inverse_is_not(api: Client, alice: User) -> None:
    ids = type_ids(api)
    person = make_person(alice, relationship_to_user_id=ids["PARENT"])
    assert api.ok("DELETE", f"{PATH}/{ids['PARENT']}", status=400)["code"] == "in_use"
    api.ok("DELETE", f"{PATH}/{ids['CHILD']}")
    api.ok("DELETE", f"/api/people/{person.pk}")
    api.ok("DELETE", f"{PATH}/{ids['PARENT']}")
    api.ok("POST", f"/api/people/{person.pk}/restore")
    assert set(ids) - set(types_by_name(api)) == {"CHILD"}


@pytest.mark.parametrize("removed", ["PARENT", "CHILD"])
def test_removal_clears_what_still_refers_to_it(api: Client, alice: User, removed: str) -> None:
    ids = type_ids(api)
    ada, bob = make_people(alice, "Ada Bob")
    made = relate(api, ada, bob, ids["PARENT"])
    person = make_person(alice, relationship_to_user_id=ids[removed])
    api.ok("DELETE", f"/api/relationships/{made['id']}")
    api.ok("DELETE", f"/api/people/{person.pk}")
    api.ok("DELETE", f"{PATH}/{ids[removed]}")
    assert api.ok("DELETE", f"{PATH}/{ids[removed]}/permanent") == {"success": True}
    [left] = {"PARENT", "CHILD"} - {removed}
    assert types_by_name(api)[left]["inverseId"] is None
    api.ok("POST", f"/api/relationships/{made['id']}/restore")
    assert {row["relationshipTypeId"] for row in list_relationships(api)} == {None}
    assert api.ok("POST", f"/api/people/{person.pk}/restore")["person"]["relationshipToUserId"] is None


def test_a_type_is_restored_with_a_row_that_refers_to_it(api: Client, alice: User) -> None:
    """An active row never has a type that is in the trash, and never loses its type."""
    ids = type_ids(api)
    made = relate(api, *make_ada_and_bob(alice), ids["PARENT"])
    person = make_person(alice, relationship_to_user_id=ids["FRIEND"])
    api.ok("DELETE", f"/api/relationships/{made['id']}")
    api.ok("DELETE", f"/api/people/{person.pk}")
    for name in ("PARENT", "FRIEND"):
        api.ok("DELETE", f"{PATH}/{ids[name]}")
    taken = create_type(api, name="friend", label="Pal", symmetric=True)
    assert api.ok("POST", f"/api/relationships/{made['id']}/restore")["relationship"]["relationshipType"]
    restored = api.ok("POST", f"/api/people/{person.pk}/restore")["person"]
    assert (restored["relationshipToUser"]["id"], restored["relationshipToUser"]["name"]) == (ids["FRIEND"], "FRIEND_2")
    rows = types_by_name(api)
    assert (rows["FRIEND"]["id"], rows["CHILD"]["id"]) == (taken["id"], ids["CHILD"])
