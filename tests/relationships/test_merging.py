"""Merging two people moves what they are to others: never to oneself, never twice, and back by undo."""

from typing import Any

from accounts.models import User
from people.models import MergeRecord, Person
from tests.client import Client
from tests.relationships.invariants import check_invariants
from tests.relationships.steps import make_people, relate, relationships, type_ids


def merge(api: Client, primary: Person, secondary: Person) -> Any:
    body = {"primaryId": str(primary.pk), "secondaryId": str(secondary.pk)}
    return api.ok("POST", "/api/people/merge", body)


def undo(api: Client, merged: Any, status: int = 200) -> None:
    api.ok("POST", f"/api/people/merge/{merged['mergeId']}/undo", status=status)


def ties(api: Client) -> list[tuple[str, str, str]]:
    """Who is what of whom, by names."""
    return sorted(
        (row["person"]["name"], (row["relationshipType"] or {"label": ""})["label"], row["relatedPerson"]["name"])
        for row in relationships(api)
    )


def test_what_is_new_moves_with_both_rows(api: Client, alice: User) -> None:
    types = type_ids(api)
    ada, double, bob = make_people(alice, "Ada Double Bob")
    made = relate(api, double, bob, types["PARENT"], "since 1990")
    merged = merge(api, ada, double)
    assert ties(api) == [("Ada", "Parent", "Bob"), ("Bob", "Child", "Ada")]
    [row] = merged["person"]["relationships"]
    assert (row["id"], row["notes"], row["updatedAt"]) == (made["id"], "since 1990", made["updatedAt"])
    check_invariants(alice)


def test_nobody_is_related_to_oneself_or_twice_to_another(api: Client, alice: User) -> None:
    types = type_ids(api)
    ada, double, bob = make_people(alice, "Ada Double Bob")
    relate(api, ada, double, types["SIBLING"])
    for person in (ada, double):
        relate(api, person, bob, types["PARENT"])
        relate(api, person, bob)
    relate(api, double, bob, types["FRIEND"])
    before = ties(api)
    merged = merge(api, ada, double)
    assert ties(api) == [
        ("Ada", "", "Bob"),
        ("Ada", "Friend", "Bob"),
        ("Ada", "Parent", "Bob"),
        ("Bob", "", "Ada"),
        ("Bob", "Child", "Ada"),
        ("Bob", "Friend", "Ada"),
    ]
    check_invariants(alice)
    undo(api, merged)
    assert ties(api) == before
    check_invariants(alice)


def test_a_merge_of_an_older_version_is_undone(api: Client, alice: User) -> None:
    """Then the image named the class that moved the relationships, and called it an aspect."""
    ada, double, bob = make_people(alice, "Ada Double Bob")
    relate(api, double, bob, type_ids(api)["PARENT"])
    before = ties(api)
    merged = merge(api, ada, double)
    record = MergeRecord.objects.owned_by(alice).get(pk=merged["mergeId"])
    record.image["aspects"] = {
        "relationships.aspect.RelationshipsAspect": record.image.pop("extensions")["relationships"]
    }
    record.save()
    undo(api, merged)
    assert ties(api) == before
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
    assert ties(api) == [
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
    [kept] = [row for row in relationships(api) if row["person"]["name"] == "Ada" and row["id"] != moved["id"]]
    api.ok("DELETE", f"/api/relationships/{kept['id']}")
    path = f"/api/relationships/{moved['id']}"
    api.ok("PUT", path, {"relationshipTypeId": types["FRIEND"]})
    undo(api, merged, status=409)
    api.ok("PUT", path, {"relationshipTypeId": types["SPOUSE"]})
    api.ok("DELETE", path)
    api.ok("DELETE", f"{path}/permanent")
    undo(api, merged, status=409)
    assert ties(api) == []
    check_invariants(alice)


def test_merges_one_after_the_other(api: Client, alice: User) -> None:
    """The other end is merged away between a merge and its undo."""
    ada, double, bob, robert = make_people(alice, "Ada Double Bob Robert")
    relate(api, double, bob)
    first = merge(api, ada, double)
    second = merge(api, robert, bob)
    assert ties(api) == [("Ada", "", "Robert"), ("Robert", "", "Ada")]
    undo(api, first)
    assert ties(api) == [("Double", "", "Robert"), ("Robert", "", "Double")]
    undo(api, second)
    assert ties(api) == [("Bob", "", "Double"), ("Double", "", "Bob")]
    check_invariants(alice)
