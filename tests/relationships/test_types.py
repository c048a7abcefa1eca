"""Relationship types: symmetric, or one of two that name each other, after every operation."""

from typing import Any

import pytest

from accounts.models import User
from tests.builders import make_person
from tests.client import Client
from tests.relationships.steps import make_pair, make_people, refused, relate, relationships, type_ids

PATH = "/api/relationship-types"


def types(api: Client) -> dict[str, Any]:
    """The types by name, after a look that each names one that names it, if any."""
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


def make(api: Client, **body: Any) -> Any:
    return api.ok("POST", PATH, body)["relationshipType"]


def test_name_is_upper_case_and_without_white_space(api: Client) -> None:
    made = make(api, name="  best   friend ", label=" Best friend ", symmetric=True)
    assert (made["name"], made["label"], made["symmetric"]) == ("BEST_FRIEND", "Best friend", True)
    assert api.ok("GET", f"{PATH}/{made['id']}") == {"relationshipType": made}
    refused(api, "POST", PATH, {"name": "Best Friend", "label": "x", "symmetric": True}, "name")


def test_color_is_given_or_picked(api: Client) -> None:
    assert make(api, name="a", label="a", symmetric=True, color="#a1B2c3")["color"] == "#a1B2c3"
    assert make(api, name="b", label="b", symmetric=True)["color"].startswith("#")
    refused(api, "POST", PATH, {"name": "c", "label": "c", "symmetric": True, "color": "red"}, "color")


def test_an_inverse_label_makes_the_inverse(api: Client) -> None:
    mentor = make(api, name="mentor", label="Mentor", inverseLabel="Protégé", color="#000000")
    inverse = types(api)["PROTÉGÉ"]
    assert mentor["inverse"] == {"id": inverse["id"], "name": "PROTÉGÉ", "label": "Protégé"}
    assert not mentor["symmetric"]
    assert inverse["color"] != "#000000"


def test_an_inverse_whose_name_is_taken_gets_a_number(api: Client) -> None:
    made = make(api, name="guardian", label="Guardian", inverseLabel="Child")
    assert made["inverse"]["name"] == "CHILD_2"
    assert types(api)["CHILD_2"]["label"] == "Child"
    again = make(api, name="cousin", label="Cousin", inverseLabel="Cousin")
    assert again["inverse"]["name"] == "COUSIN_2"


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
        ({"inverseId": "01900000-0000-7000-8000-000000000000"}, "inverseId"),
        ({"name": "", "symmetric": True}, "name"),
        ({"name": "x" * 51, "symmetric": True}, "name"),
        ({"name": "ß" * 26, "symmetric": True}, "name"),
        ({"label": "x" * 51, "symmetric": True}, "label"),
        ({"label": None, "symmetric": True}, "label"),
        ({"inverseLabel": "x" * 51}, "inverseLabel"),
    ],
)
def test_a_half_or_bad_type_is_refused(api: Client, body: dict[str, Any], field: str) -> None:
    before = types(api)
    ids = {name: row["id"] for name, row in before.items()}
    body = {key: value.format(**ids) if isinstance(value, str) else value for key, value in body.items()}
    refused(api, "POST", PATH, {"name": "new", "label": "New", **body}, field)
    assert types(api) == before


def test_the_longest_names_and_labels(api: Client) -> None:
    made = make(api, name="x" * 50, label="y" * 50, inverseLabel="x" * 50)
    assert (len(made["name"]), len(made["inverse"]["name"]), len(made["inverse"]["label"])) == (50, 50, 50)


def test_update_keeps_what_is_omitted(api: Client) -> None:
    before = types(api)["PARENT"]
    changed = api.ok("PUT", f"{PATH}/{before['id']}", {"label": "Mum or dad"})["relationshipType"]
    assert changed == {**before, "label": "Mum or dad", "updatedAt": changed["updatedAt"]}
    changed = api.ok("PUT", f"{PATH}/{before['id']}", {"name": "elder", "color": "#112233"})["relationshipType"]
    assert (changed["name"], changed["label"], changed["color"]) == ("ELDER", "Mum or dad", "#112233")
    assert types(api)["CHILD"]["color"] != "#112233"


@pytest.mark.parametrize("name", ["PARENT", "FRIEND"])
def test_a_caller_may_put_what_it_read(api: Client, name: str) -> None:
    before = types(api)[name]
    put = api.ok("PUT", f"{PATH}/{before['id']}", before)["relationshipType"]
    assert put == {**before, "updatedAt": put["updatedAt"]}


def test_update_refuses_what_create_refuses(api: Client) -> None:
    rows = types(api)
    path = f"{PATH}/{rows['FRIEND']['id']}"
    refused(api, "PUT", path, {"name": "parent"}, "name")
    refused(api, "PUT", path, {"symmetric": False}, "inverseLabel")
    refused(api, "PUT", path, {"inverseId": rows["SIBLING"]["id"]}, "inverseId")
    refused(api, "PUT", path, {"inverseId": rows["CHILD"]["id"]}, "inverseId")
    refused(api, "PUT", path, {"symmetric": False, "inverseId": rows["FRIEND"]["id"]}, "inverseId")
    refused(api, "PUT", path, {"label": ""}, "label")
    assert types(api) == rows


def test_a_new_inverse_takes_the_relationships_over(api: Client, alice: User) -> None:
    ids = type_ids(api)
    made = relate(api, *make_pair(alice), ids["PARENT"])
    api.ok("PUT", f"{PATH}/{ids['PARENT']}", {"inverseLabel": "Kid"})
    rows = types(api)
    assert rows["PARENT"]["inverse"]["name"] == "KID"
    assert "CHILD" not in rows
    by_person = {row["personId"]: row["relationshipTypeId"] for row in relationships(api)}
    assert by_person == {made["personId"]: ids["PARENT"], made["relatedPersonId"]: rows["KID"]["id"]}


def test_an_inverse_that_somebody_is_to_the_user_stays(api: Client, alice: User) -> None:
    ids = type_ids(api)
    make_person(alice, relationship_to_user_id=ids["CHILD"])
    api.ok("PUT", f"{PATH}/{ids['PARENT']}", {"inverseLabel": "Kid"})
    assert (types(api)["CHILD"]["inverse"], types(api)["CHILD"]["symmetric"]) == (None, False)


def test_a_pair_becomes_one_symmetric_type(api: Client, alice: User) -> None:
    ids = type_ids(api)
    relate(api, *make_pair(alice), ids["CHILD"])
    assert api.ok("PUT", f"{PATH}/{ids['PARENT']}", {"symmetric": True})["relationshipType"]["symmetric"]
    assert "CHILD" not in types(api)
    assert {row["relationshipTypeId"] for row in relationships(api)} == {ids["PARENT"]}


def test_it_does_not_where_that_would_be_the_same_relationship_twice(api: Client, alice: User) -> None:
    ids = type_ids(api)
    ada, bob = make_people(alice, "Ada Bob")
    relate(api, ada, bob, ids["PARENT"])
    relate(api, bob, ada, ids["PARENT"])
    before = types(api)
    refused(api, "PUT", f"{PATH}/{ids['PARENT']}", {"symmetric": True}, "symmetric")
    assert types(api) == before


def test_a_symmetric_type_becomes_a_pair(api: Client, alice: User) -> None:
    ids = type_ids(api)
    made = relate(api, *make_pair(alice), ids["FRIEND"])
    body = {"symmetric": False, "inverseLabel": "Admirer"}
    changed = api.ok("PUT", f"{PATH}/{ids['FRIEND']}", body)["relationshipType"]
    assert not changed["symmetric"]
    assert types(api)["ADMIRER"]["inverseId"] == ids["FRIEND"]
    by_person = {row["personId"]: row["relationshipTypeId"] for row in relationships(api)}
    assert by_person == {made["personId"]: ids["FRIEND"], made["relatedPersonId"]: changed["inverseId"]}


def test_delete_and_restore_leave_the_inverse_where_it_is(api: Client) -> None:
    before = types(api)
    path = f"{PATH}/{before['CHILD']['id']}"
    assert api.ok("DELETE", path) == {"success": True}
    api.ok("GET", path, status=404)
    parent = {**before["PARENT"], "inverseId": None, "inverse": None}
    assert types(api) == {name: row for name, row in before.items() if name != "CHILD"} | {"PARENT": parent}
    restored = api.ok("POST", f"{path}/restore")["relationshipType"]
    assert restored == {**before["CHILD"], "updatedAt": restored["updatedAt"]}
    assert types(api)["PARENT"] == before["PARENT"]


def test_both_ends_are_deleted_and_restored_one_by_one(api: Client) -> None:
    before = types(api)
    paths = [f"{PATH}/{before[name]['id']}" for name in ("PARENT", "CHILD")]
    for path in paths:
        api.ok("DELETE", path)
    assert [row["inverse"] for row in api.ok("GET", "/api/deleted?type=relationshipTypes")["deleted"]] == [None, None]
    first = api.ok("POST", f"{paths[0]}/restore")["relationshipType"]
    assert (first["inverse"], first["symmetric"]) == (None, False)
    assert api.ok("POST", f"{paths[1]}/restore")["relationshipType"]["inverseId"] == first["id"]
    assert set(types(api)) == set(before)


def test_an_inverse_in_the_trash_comes_back_with_the_next_relationship(api: Client, alice: User) -> None:
    ids = type_ids(api)
    ada, bob = make_pair(alice)
    api.ok("DELETE", f"{PATH}/{ids['CHILD']}")
    make(api, name="child", label="Child of somebody", symmetric=True)
    relate(api, ada, bob, ids["PARENT"])
    rows = types(api)
    assert (rows["CHILD_2"]["id"], rows["PARENT"]["inverseId"]) == (ids["CHILD"], ids["CHILD"])
    assert {row["relationshipTypeId"] for row in relationships(api)} == {ids["PARENT"], ids["CHILD"]}


def remove(api: Client, type_id: str) -> None:
    """Delete a type for good."""
    api.ok("DELETE", f"{PATH}/{type_id}")
    api.ok("DELETE", f"{PATH}/{type_id}/permanent")


def test_a_type_whose_inverse_is_gone_relates_nobody_until_it_has_another(api: Client, alice: User) -> None:
    ids = type_ids(api)
    ada, bob = (str(person.pk) for person in make_pair(alice))
    related = relate(api, ada, bob)
    remove(api, ids["CHILD"])
    body = {"personId": ada, "relatedPersonId": bob, "relationshipTypeId": ids["PARENT"]}
    refused(api, "POST", "/api/relationships", body, "relationshipTypeId")
    path = f"/api/relationships/{related['id']}"
    refused(api, "PUT", path, {"relationshipTypeId": ids["PARENT"]}, "relationshipTypeId")
    through = {"name": "Eve", "connectedThroughId": ada, "relationshipToUserId": ids["PARENT"]}
    refused(api, "POST", "/api/people", through, "relationshipToUserId")
    through.pop("connectedThroughId")
    assert api.ok("POST", "/api/people", through, status=201)["person"]["relationshipToUserId"] == ids["PARENT"]
    kept = api.ok("PUT", f"{PATH}/{ids['PARENT']}", {**types(api)["PARENT"], "label": "Mum"})["relationshipType"]
    assert (kept["label"], kept["inverse"], kept["symmetric"]) == ("Mum", None, False)
    api.ok("PUT", f"{PATH}/{ids['PARENT']}", {"inverseLabel": "Child"})
    assert api.ok("PUT", path, {"relationshipTypeId": ids["PARENT"]})["relationship"]["relationshipTypeId"]
    assert set(types(api)) == set(ids)


@pytest.mark.parametrize("for_good", [False, True])
def test_a_type_takes_another_that_lost_its_inverse(api: Client, for_good: bool) -> None:
    ids = type_ids(api)
    if for_good:
        remove(api, ids["CHILD"])
    else:
        api.ok("DELETE", f"{PATH}/{ids['CHILD']}")
    kid = make(api, name="kid", label="Kid", inverseId=ids["PARENT"], inverseLabel="not needed")
    rows = types(api)
    assert (kid["inverseId"], rows["PARENT"]["inverseId"]) == (ids["PARENT"], kid["id"])
    assert set(rows) == (set(ids) | {"KID"}) - {"CHILD"}
    if not for_good:
        restored = api.ok("POST", f"{PATH}/{ids['CHILD']}/restore")["relationshipType"]
        assert (restored["inverse"], restored["symmetric"]) == (None, False)
        assert types(api)["PARENT"]["inverseId"] == kid["id"]


@pytest.mark.parametrize("name", ["FRIEND", "PARENT"])
def test_so_does_one_that_had_another(api: Client, alice: User, name: str) -> None:
    ids = type_ids(api)
    made = relate(api, *make_pair(alice), ids[name])
    hero = make(api, name="hero", label="Hero", inverseLabel="Admirer")
    api.ok("DELETE", f"{PATH}/{hero['inverseId']}")
    api.ok("PUT", f"{PATH}/{ids[name]}", {"symmetric": False, "inverseId": hero["id"]})
    rows = types(api)
    assert (rows[name]["inverseId"], rows["HERO"]["inverseId"]) == (hero["id"], ids[name])
    by_person = {row["personId"]: row["relationshipTypeId"] for row in relationships(api)}
    assert by_person == {made["personId"]: ids[name], made["relatedPersonId"]: hero["id"]}


def test_a_type_without_inverse_becomes_symmetric(api: Client) -> None:
    ids = type_ids(api)
    remove(api, ids["CHILD"])
    assert api.ok("PUT", f"{PATH}/{ids['PARENT']}", {"symmetric": True})["relationshipType"]["symmetric"]
    assert types(api)["PARENT"]["inverseId"] == ids["PARENT"]


def test_what_is_not_deleted_is_neither_restored_nor_removed(api: Client) -> None:
    path = f"{PATH}/{types(api)['FRIEND']['id']}"
    assert api.ok("POST", f"{path}/restore", status=400)["code"] == "not_deleted"
    assert api.ok("DELETE", f"{path}/permanent", status=400)["code"] == "not_deleted"


def test_a_type_whose_name_was_taken_does_not_come_back(api: Client) -> None:
    path = f"{PATH}/{types(api)['FRIEND']['id']}"
    api.ok("DELETE", path)
    make(api, name="friend", label="Friend", symmetric=True)
    refused(api, "POST", f"{path}/restore", None, "name")
    assert list(types(api)).count("FRIEND") == 1


@pytest.mark.parametrize("name", ["PARENT", "CHILD", "FRIEND"])
def test_a_type_of_a_relationship_is_in_use(api: Client, alice: User, name: str) -> None:
    ids = type_ids(api)
    made = relate(api, *make_pair(alice), ids[name])
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
    assert set(ids) - set(types(api)) == {"CHILD"}


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
    assert types(api)[left]["inverseId"] is None
    api.ok("POST", f"/api/relationships/{made['id']}/restore")
    assert {row["relationshipTypeId"] for row in relationships(api)} == {None}
    assert api.ok("POST", f"/api/people/{person.pk}/restore")["person"]["relationshipToUserId"] is None


def test_a_type_comes_back_with_what_refers_to_it(api: Client, alice: User) -> None:
    """An active row never has a type that is in the trash, and never loses its type."""
    ids = type_ids(api)
    made = relate(api, *make_pair(alice), ids["PARENT"])
    person = make_person(alice, relationship_to_user_id=ids["FRIEND"])
    api.ok("DELETE", f"/api/relationships/{made['id']}")
    api.ok("DELETE", f"/api/people/{person.pk}")
    for name in ("PARENT", "FRIEND"):
        api.ok("DELETE", f"{PATH}/{ids[name]}")
    taken = make(api, name="friend", label="Pal", symmetric=True)
    assert api.ok("POST", f"/api/relationships/{made['id']}/restore")["relationship"]["relationshipType"]
    restored = api.ok("POST", f"/api/people/{person.pk}/restore")["person"]
    assert (restored["relationshipToUser"]["id"], restored["relationshipToUser"]["name"]) == (ids["FRIEND"], "FRIEND_2")
    rows = types(api)
    assert (rows["FRIEND"]["id"], rows["CHILD"]["id"]) == (taken["id"], ids["CHILD"])
