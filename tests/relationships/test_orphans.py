"""Orphans through the API: of one person, of many, and deleted together with a person."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from contacts_project.kernel.errors import FieldError
from people.models import Person, RelationshipType
from relationships.connectivity import USER
from relationships.orphans import find_orphans
from relationships.services.relationships import create_relationship, delete_relationship
from tests.builders import UNKNOWN_ID, make_person
from tests.client import Client
from tests.relationships import reference
from tests.relationships.steps import expect_field_error, person_names, relate, type_ids
from tests.rounds import database_settings

pytestmark = pytest.mark.sqlite_suffices


def make_network(api: Client, owner: User, picture: str) -> dict[str, Person]:
    """People of the letters of `picture`, related as its pairs say; `*` is the user."""
    types = type_ids(api)
    pairs = picture.split()
    to_user = {pair[1] for pair in pairs if pair[0] == "*"}
    people = {}
    for letter in sorted(set("".join(pairs)) - {"*"}):
        to = types["FRIEND"] if letter in to_user else None
        people[letter] = make_person(owner, name=letter, relationship_to_user_id=to)
    for pair in pairs:
        if pair[0] != "*":
            relate(api, people[pair[0]], people[pair[1]], types["FRIEND"])
    return people


def orphans(api: Client, person: Person) -> str:
    found = api.ok("GET", f"/api/people/{person.pk}/orphans")["orphans"]
    assert all(list(row) == ["id", "fullName"] for row in found)
    return "".join(row["fullName"] for row in found)


def test_whole_branches_in_name_order(api: Client, alice: User) -> None:
    people = make_network(api, alice, "*b bc ca bd *d ef")
    assert {letter: orphans(api, person) for letter, person in people.items()} == {
        "a": "",
        "b": "ac",
        "c": "a",
        "d": "",
        "e": "",
        "f": "",
    }


def test_full_names(api: Client, alice: User) -> None:
    types = type_ids(api)
    ada = make_person(alice, relationship_to_user_id=types["FRIEND"])
    bob = make_person(alice, name="Bob", surname="Jones", prefix="Dr")
    relate(api, ada, bob)
    api.ok("PUT", "/api/user/name-display-format", {"nameDisplayFormat": "SHORT"})
    assert api.ok("GET", f"/api/people/{ada.pk}/orphans") == {
        "orphans": [{"id": str(bob.pk), "fullName": "Dr Bob Jones"}]
    }


def test_deleted_people_and_relationships_connect_nobody(api: Client, alice: User) -> None:
    people = make_network(api, alice, "*a ab bc *d dc")
    assert orphans(api, people["a"]) == ""
    api.ok("DELETE", f"/api/people/{people['d'].pk}")
    assert orphans(api, people["a"]) == "bc"
    relationship_id = next(
        row["id"]
        for row in api.ok("GET", "/api/relationships")["relationships"]
        if (row["person"]["name"], row["relatedPerson"]["name"]) == ("b", "c")
    )
    api.ok("DELETE", f"/api/relationships/{relationship_id}")
    assert orphans(api, people["a"]) == "b"
    api.ok("GET", f"/api/people/{people['d'].pk}/orphans", status=404)


def test_delete_leaves_orphans_unless_asked(api: Client, alice: User) -> None:
    people = make_network(api, alice, "*a ab bc *d")
    api.ok("DELETE", f"/api/people/{people['a'].pk}")
    assert person_names(api) == "bcd"


def test_delete_with_all_orphans_and_restore_without_them(api: Client, alice: User) -> None:
    people = make_network(api, alice, "*a ab bc *d ef")
    path = f"/api/people/{people['a'].pk}"
    assert "message" in api.ok("DELETE", path, {"deleteOrphans": True})
    assert person_names(api) == "def"
    api.ok("POST", f"{path}/restore")
    assert person_names(api) == "adef"
    assert orphans(api, people["a"]) == ""


def test_delete_with_some_orphans(api: Client, alice: User) -> None:
    people = make_network(api, alice, "*a ab bc *d")
    body = {"deleteOrphans": True, "orphanIds": [str(people["c"].pk)]}
    api.ok("DELETE", f"/api/people/{people['a'].pk}", body)
    assert person_names(api) == "bd"


def test_delete_with_no_orphan_named_deletes_none(api: Client, alice: User) -> None:
    people = make_network(api, alice, "*a ab")
    api.ok("DELETE", f"/api/people/{people['a'].pk}", {"deleteOrphans": True, "orphanIds": []})
    assert person_names(api) == "b"


@pytest.mark.parametrize("body", [{"orphanIds": ["{b}"]}, {"deleteOrphans": False, "orphanIds": ["{b}"]}])
def test_named_orphans_stay_without_delete_orphans(api: Client, alice: User, body: dict[str, Any]) -> None:
    people = make_network(api, alice, "*a ab")
    api.ok("DELETE", f"/api/people/{people['a'].pk}", {**body, "orphanIds": [str(people["b"].pk)]})
    assert person_names(api) == "b"


@pytest.mark.parametrize("letter", ["a", "d", "e"])
def test_ids_of_connected_people_are_refused(api: Client, alice: User, letter: str) -> None:
    """They are the person itself, another connected person, and a person without a connection to the user."""
    people = make_network(api, alice, "*a ab *d ef")
    body = {"deleteOrphans": True, "orphanIds": [str(people["b"].pk), str(people[letter].pk)]}
    expect_field_error(api, "DELETE", f"/api/people/{people['a'].pk}", body, "orphanIds.1")
    assert person_names(api) == "abdef"


@pytest.mark.parametrize("value", [UNKNOWN_ID, "no-id", 5, None])
def test_malformed_ids_are_refused(api: Client, alice: User, value: Any) -> None:
    people = make_network(api, alice, "*a ab")
    path = f"/api/people/{people['a'].pk}"
    expect_field_error(api, "DELETE", path, {"deleteOrphans": True, "orphanIds": [value]}, "orphanIds.0")
    expect_field_error(api, "DELETE", path, {"deleteOrphans": "yes"}, "deleteOrphans")
    assert person_names(api) == "ab"


@pytest.mark.both_databases
def test_orphans_of_many_people(api: Client, alice: User) -> None:
    people = make_network(api, alice, "*a *b ac bc cd *e ef")
    ids = {letter: str(person.pk) for letter, person in people.items()}
    response = api.ok("POST", "/api/people/bulk/orphans", {"personIds": [ids["a"], ids["b"]]})
    assert response == {
        "orphans": [{"id": ids["c"], "fullName": "c"}, {"id": ids["d"], "fullName": "d"}],
        "hasCardDavSync": False,
    }
    response = api.ok("POST", "/api/people/bulk/orphans", {"personIds": [ids["a"], ids["b"], ids["c"], ids["c"]]})
    assert [row["id"] for row in response["orphans"]] == [ids["d"]]
    assert api.ok("POST", "/api/people/bulk/orphans", {"personIds": []})["orphans"] == []
    expect_field_error(api, "POST", "/api/people/bulk/orphans", {}, "personIds")
    expect_field_error(api, "POST", "/api/people/bulk/orphans", {"personIds": [ids["a"], "no-id"]}, "personIds.1")
    assert person_names(api) == "abcdef"


LETTERS = "abcdefgh"
nodes = st.sampled_from([*LETTERS, USER])
edges = st.lists(st.tuples(nodes, nodes).filter(lambda edge: edge[0] != edge[1]), max_size=14)
some_people = st.sets(st.sampled_from(LETTERS), max_size=3)


def relate_two(
    owner: User, one: Person, other: Person, relationship_type: RelationshipType | None, *, then_delete: bool
) -> bool:
    """Relate the two, and delete the relationship if `then_delete`; returns whether they are still related by it."""
    now = owner.created_at
    try:
        row = create_relationship(
            owner=owner,
            person_id=one.pk,
            related_person_id=other.pk,
            type_id=relationship_type.pk if relationship_type else None,
            now=now,
        )
    except FieldError:  # they have a relationship of this type already
        return True
    if then_delete:
        delete_relationship(owner=owner, relationship_id=row.pk, now=now)
    return not then_delete


@pytest.mark.both_databases
@database_settings(10)
@given(edges=edges, deleted_people=some_people, deleted_edges=st.sets(st.integers(0, 13)), removed=some_people)
def test_the_stored_network_agrees_with_the_reference(
    alice: User, edges: list[tuple[str, str]], deleted_people: set[str], deleted_edges: set[int], removed: set[str]
) -> None:
    """The examples have deleted people and relationships, several types between two people, and unconnected people."""
    Person.objects.owned_by(alice).delete()
    now = alice.created_at
    types = list(RelationshipType.objects.owned_by(alice).active().order_by("name"))
    people = {letter: make_person(alice, name=letter) for letter in LETTERS}
    kept = []
    for number, edge in enumerate(edges):
        one, other = sorted(edge, key=lambda end: end != USER)  # the user first
        relationship_type = types[number] if number < len(types) else None
        if one == USER:
            Person.objects.owned_by(alice).filter(pk=people[other].pk).update(relationship_to_user=types[0])
        elif not relate_two(alice, people[one], people[other], relationship_type, then_delete=number in deleted_edges):
            continue
        kept.append((one, other))
    Person.objects.owned_by(alice).filter(name__in=deleted_people).update(deleted_at=now)
    active = set(LETTERS) - deleted_people
    removed &= active
    found = find_orphans(alice, [people[letter].pk for letter in removed])
    expected = reference.orphans_of(removed, active, kept)
    assert found == {people[letter].pk.hex for letter in expected}
