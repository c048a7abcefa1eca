"""Merging two people moves relationships, except duplicates and those with oneself; undo moves them back."""

from typing import Any

from accounts.models import User
from people.models import MergeRecord, Person
from tests.client import Client
from tests.relationships.invariants import check_invariants
from tests.relationships.steps import list_relationships, make_people, relate, type_ids


def merge(api: Client, primary: Person, secondary: Person) -> Any:
    body = {"primaryId": str(primary.pk), "secondaryId": str(secondary.pk)}
    return api.ok("POST", "/api/people/merge", body)


def undo(api: Client, merged: Any, status: int = 200) -> None:
    api.ok("POST", f"/api/people/merge/{merged['mergeId']}/undo", status=status)


def relationship_triples(api: Client) -> list[tuple[str, str, str]]:
    """Person, label of the type and related person of each relationship, by name."""
    return sorted(
        (row["person"]["name"], (row["relationshipType"] or {"label": ""})["label"], row["relatedPerson"]["name"])
        for row in list_relationships(api)
    )


def test_new_relationships_move_with_both_rows(api: Client, alice: User) -> None:
    types = type_ids(api)
    ada, double, bob = make_people(alice, "Ada Double Bob")
    made = relate(api, double, bob, types["PARENT"], "since 1990")
    merged = merge(api, ada, double)
    assert relationship_triples(api) == [("Ada", "Parent", "Bob"), ("Bob", "Child", "Ada")]
    [row] = merged["person"]["relationships"]
    assert (row["id"], row["notes"], row["updatedAt"]) == (made["id"], "since 1990", made["updatedAt"])
    check_invariants(alice)


def test_relationships_with_oneself_and_duplicates_stay(api: Client, alice: User) -> None:
    types = type_ids(api)
    ada, double, bob = make_people(alice, "Ada Double Bob")
    relate(api, ada, double, types["SIBLING"])
    for person in (ada, double):
        relate(api, person, bob, types["PARENT"])
        relate(api, person, bob)
    relate(api, double, bob, types["FRIEND"])
    before = relationship_triples(api)
    merged = merge(api, ada, double)
    assert relationship_triples(api) == [
        ("Ada", "", "Bob"),
        ("Ada", "Friend", "Bob"),
        ("Ada", "Parent", "Bob"),
        ("Bob", "", "Ada"),
        ("Bob", "Child", "Ada"),
        ("Bob", "Friend", "Ada"),
    ]
    check_invariants(alice)
    undo(api, merged)
    assert relationship_triples(api) == before
    check_invariants(alice)


def test_a_merge_of_an_older_version_is_undone(api: Client, alice: User) -> None:
    """Older versions stored the image under "aspects", by the import path of the class."""
    ada, double, bob = make_people(alice, "Ada Double Bob")
    relate(api, double, bob, type_ids(api)["PARENT"])
    before = relationship_triples(api)
    merged = merge(api, ada, double)
    record = MergeRecord.objects.owned_by(alice).get(pk=merged["mergeId"])
    record.image["aspects"] = {
        "relationships.aspect.RelationshipsAspect": record.image.pop("extensions")["relationships"]
    }
    record.save()
    undo(api, merged)
    assert relationship_triples(api) == before
    check_invariants(alice)


def test_undo_keeps_what_was_edited_since(api: Client, alice: User) -> None:
    types = type_ids(api)
    ada, double, bob, eve = make_people(alice, "Ada Double Bob Eve")
    changed, deleted = relate(api, double, bob, types["FRIEND"]), relate(api, double, eve)
    merged = merge(api, ada, double)
    api.ok("PUT", f"/api/relationships/{changed['id']}", {"relationshipTypeId": types["SPOUSE"]})
    api.ok("DELETE", f"/api/relationships/{deleted['id']}")
    relate(api, ada, bob, types["FRIEND"])
    undo(api, merged)
    assert relationship_triples(api) == [
        ("Ada", "Friend", "Bob"),
        ("Bob", "Friend", "Ada"),
        ("Bob", "Spouse", "Double"),
        ("Double", "Spouse", "Bob"),
    ]
    restored = api.ok("POST", f"/api/relationships/{deleted['id']}/restore")["relationship"]
    assert restored["person"]["name"] == "Double"
    check_invariants(alice)


def test_undo_is_refused_when_a_relationship_is_gone_or_would_be_there_twice(api: Client, alice: User) -> None:
    types = type_ids(api)
    ada, double, bob = make_people(alice, "Ada Double Bob")
    relate(api, ada, bob, types["FRIEND"])
    relate(api, double, bob, types["FRIEND"])
    moved = relate(api, double, bob, types["SPOUSE"])
    merged = merge(api, ada, double)
    [kept] = [row for row in list_relationships(api) if row["person"]["name"] == "Ada" and row["id"] != moved["id"]]
    api.ok("DELETE", f"/api/relationships/{kept['id']}")
    path = f"/api/relationships/{moved['id']}"
    api.ok("PUT", path, {"relationshipTypeId": types["FRIEND"]})
    undo(api, merged, status=409)
    api.ok("PUT", path, {"relationshipTypeId": types["SPOUSE"]})
    api.ok("DELETE", path)
    api.ok("DELETE", f"{path}/permanent")
    undo(api, merged, status=409)
    assert relationship_triples(api) == []
    check_invariants(alice)


def test_undo_after_the_related_person_was_merged_too(api: Client, alice: User) -> None:
    ada, double, bob, robert = make_people(alice, "Ada Double Bob Robert")
    relate(api, double, bob)
    first = merge(api, ada, double)
    second = merge(api, robert, bob)
    assert relationship_triples(api) == [("Ada", "", "Robert"), ("Robert", "", "Ada")]
    undo(api, first)
    assert relationship_triples(api) == [("Double", "", "Robert"), ("Robert", "", "Double")]
    undo(api, second)
    assert relationship_triples(api) == [("Bob", "", "Double"), ("Double", "", "Bob")]
    check_invariants(alice)
