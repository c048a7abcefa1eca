"""The graph of a person and of the whole network, through the API."""

from typing import Any

import pytest

from accounts.models import User
from people.models import Group, Membership, Person
from tests.builders import UNKNOWN_ID, make_person
from tests.client import Client
from tests.relationships.steps import expect_field_error, make_ada_and_bob, make_people, relate, type_ids


def make_group(owner: User, name: str, *members: Person) -> Group:
    group = Group.objects.create(owner=owner, name=name, name_key=name.lower(), color="#123456")
    for person in members:
        Membership.objects.create(owner=owner, person=person, group=group)
    return group


def get_graph(api: Client, person: Person) -> Any:
    return api.ok("GET", f"/api/people/{person.pk}/graph")


def node_labels(response: Any) -> list[str]:
    return [node["label"] for node in response["nodes"]]


def edge_labels(response: Any) -> list[tuple[str, str, str | None]]:
    """Source, target and type of each edge, by labels."""
    names = {node["id"]: node["label"] for node in response["nodes"]}
    return sorted((names[edge["source"]], names[edge["target"]], edge["type"] or "") for edge in response["edges"])


def test_a_person_with_direct_connections(api: Client, alice: User) -> None:
    types = type_ids(api)
    ada = make_person(alice, relationship_to_user_id=types["FRIEND"])
    bob, eve, fay = make_people(alice, "Bob Eve Fay", relationship_to_user_id=types["COLLEAGUE"])
    made = relate(api, ada, bob, types["PARENT"])
    relate(api, ada, bob, types["COLLEAGUE"])
    relate(api, eve, ada, types["PARENT"])
    relate(api, eve, fay, types["FRIEND"])
    response = get_graph(api, ada)
    assert node_labels(response)[0] == "Ada"
    assert sorted(node_labels(response)) == ["Ada", "Alice", "Bob", "Eve"]
    assert {node["label"]: node["isCenter"] for node in response["nodes"] if node["isCenter"]} == {"Ada": True}
    assert edge_labels(response) == [
        ("Ada", "Alice", "FRIEND"),
        ("Ada", "Bob", "COLLEAGUE"),
        ("Ada", "Bob", "PARENT"),
        ("Ada", "Eve", "CHILD"),
    ]
    edge = next(edge for edge in response["edges"] if edge["type"] == "PARENT")
    assert (edge["label"], edge["relationshipId"]) == ("Parent", made["id"])
    assert edge["color"].startswith("#")
    user_edge = next(edge for edge in response["edges"] if edge["target"] == "user")
    assert user_edge["relationshipId"] is None


def test_the_user_is_a_node_only_if_an_edge_ends_there(api: Client, alice: User) -> None:
    ada, bob = make_ada_and_bob(alice)
    relate(api, ada, bob)
    response = get_graph(api, ada)
    assert node_labels(response) == ["Ada", "Bob"]
    assert response["edges"][0] | {"relationshipId": None} == {
        "source": str(ada.pk),
        "target": str(bob.pk),
        "type": None,
        "label": None,
        "color": None,
        "relationshipId": None,
    }


def test_a_person_without_relationships_is_a_node_without_edges(api: Client, alice: User) -> None:
    ada = make_person(alice)
    node = {"id": str(ada.pk), "label": "Ada", "groups": [], "colors": [], "isCenter": True, "isUser": False}
    assert get_graph(api, ada) == {"nodes": [node], "edges": []}


def test_nodes_carry_their_groups(api: Client, alice: User) -> None:
    ada, bob = make_ada_and_bob(alice)
    relate(api, ada, bob)
    make_group(alice, "Zoo", bob)
    make_group(alice, "Art", bob)
    gone = make_group(alice, "Gone", bob)
    Group.objects.owned_by(alice).filter(pk=gone.pk).update(deleted_at=gone.created_at)
    node = get_graph(api, ada)["nodes"][1]
    assert (node["groups"], node["colors"]) == (["Art", "Zoo"], ["#123456", "#123456"])


def test_deleted_people_and_relationships_are_not_in_the_graph(api: Client, alice: User) -> None:
    ada, bob, eve = make_people(alice, "Ada Bob Eve")
    relate(api, ada, bob)
    made = relate(api, ada, eve)
    api.ok("DELETE", f"/api/people/{bob.pk}")
    api.ok("DELETE", f"/api/relationships/{made['id']}")
    assert node_labels(get_graph(api, ada)) == ["Ada"]
    assert node_labels(api.ok("GET", "/api/dashboard/graph")) == ["Alice", "Ada", "Eve"]
    api.ok("GET", f"/api/people/{bob.pk}/graph", status=404)


def test_the_whole_network_with_the_user_as_center(api: Client, alice: User) -> None:
    types = type_ids(api)
    ada = make_person(alice, relationship_to_user_id=types["FRIEND"])
    bob, _eve = make_people(alice, "Bob Eve")
    relate(api, ada, bob, types["PARENT"])
    response = api.ok("GET", "/api/dashboard/graph")
    assert node_labels(response) == ["Alice", "Ada", "Bob", "Eve"]
    user = {"id": "user", "label": "Alice", "groups": [], "colors": [], "isCenter": True, "isUser": True}
    assert response["nodes"][0] == user
    assert not any(node["isCenter"] for node in response["nodes"][1:])
    assert edge_labels(response) == [("Ada", "Alice", "FRIEND"), ("Ada", "Bob", "PARENT")]


def test_groups_include_and_exclude_people(api: Client, alice: User) -> None:
    ada, bob, eve, _fay = make_people(alice, "Ada Bob Eve Fay")
    for one, other in ((ada, bob), (bob, eve)):
        relate(api, one, other)
    work, family = make_group(alice, "Work", ada, bob), make_group(alice, "Family", bob, eve)

    def shown(query: str) -> list[str]:
        response = api.ok("GET", f"/api/dashboard/graph?{query}")
        ids = {node["id"] for node in response["nodes"]}
        assert all({edge["source"], edge["target"]} <= ids for edge in response["edges"])
        return node_labels(response)[1:]

    assert shown(f"includeGroupIds={work.pk}") == ["Ada", "Bob"]
    assert shown(f"includeGroupIds={work.pk},{family.pk}") == ["Ada", "Bob", "Eve"]
    assert shown(f"excludeGroupIds={family.pk}") == ["Ada", "Fay"]
    assert shown(f"includeGroupIds={work.pk}&excludeGroupIds={family.pk}") == ["Ada"]
    assert shown("includeGroupIds=&excludeGroupIds=") == ["Ada", "Bob", "Eve", "Fay"]
    assert shown(f"includeGroupIds={UNKNOWN_ID}") == []


def test_a_limit_keeps_those_nearest_to_the_user(api: Client, alice: User) -> None:
    types = type_ids(api)
    zoe = make_person(alice, name="Zoe", relationship_to_user_id=types["FRIEND"])
    ada, bob = make_ada_and_bob(alice)
    relate(api, zoe, bob)
    relate(api, bob, ada)
    assert node_labels(api.ok("GET", "/api/dashboard/graph?limit=2")) == ["Alice", "Zoe", "Bob"]
    assert len(api.ok("GET", "/api/dashboard/graph?limit=500")["nodes"]) == 4


@pytest.mark.parametrize("limit", ["0", "-1", "x", "1.5", "", "٣", "9" * 5000])
def test_a_limit_is_a_positive_number(api: Client, limit: str) -> None:
    expect_field_error(api, "GET", f"/api/dashboard/graph?limit={limit}", None, "limit")


def test_the_groups_of_a_stranger_match_nobody(api: Client, alice: User, mallory: User) -> None:
    make_ada_and_bob(alice)
    foreign = make_group(mallory, "Work", make_person(mallory))
    assert node_labels(api.ok("GET", f"/api/dashboard/graph?includeGroupIds={foreign.pk}")) == ["Alice"]
