"""Ids of another account in a body get the same error as unknown ids, and nothing is changed."""

import pytest

from accounts.models import User
from tests.builders import UNKNOWN_ID
from tests.client import Client
from tests.relationships.steps import expect_field_error, list_relationships, make_ada_and_bob, relate, type_ids


def test_a_foreign_person_or_type_of_a_relationship(api: Client, stranger: Client, alice: User, mallory: User) -> None:
    ada, bob = make_ada_and_bob(alice)
    max_, moe = make_ada_and_bob(mallory)
    own = {"personId": str(max_.pk), "relatedPersonId": str(moe.pk)}
    foreign = {"personId": str(ada.pk), "relatedPersonId": str(bob.pk), "relationshipTypeId": type_ids(api)["FRIEND"]}
    for field, value in foreign.items():
        message = expect_field_error(stranger, "POST", "/api/relationships", {**own, field: value}, field)
        assert message == expect_field_error(stranger, "POST", "/api/relationships", {**own, field: UNKNOWN_ID}, field)
    assert list_relationships(stranger) == []
    made = relate(stranger, max_, moe, notes="x")
    body = {"relationshipTypeId": foreign["relationshipTypeId"], "notes": "y"}
    expect_field_error(stranger, "PUT", f"/api/relationships/{made['id']}", body, "relationshipTypeId")
    assert made in list_relationships(stranger)


@pytest.mark.parametrize("name", ["PARENT", "FRIEND"])
def test_a_foreign_inverse_of_a_type(api: Client, stranger: Client, name: str) -> None:
    """The message is that for an unknown type, whatever inverse the foreign type has."""
    body = {"name": "mine", "label": "Mine"}
    path = f"/api/relationship-types/{type_ids(stranger)['OTHER']}"
    for method, where in (("POST", "/api/relationship-types"), ("PUT", path)):
        foreign = expect_field_error(stranger, method, where, {**body, "inverseId": type_ids(api)[name]}, "inverseId")
        assert foreign == expect_field_error(stranger, method, where, {**body, "inverseId": UNKNOWN_ID}, "inverseId")
    assert set(type_ids(stranger)) == set(type_ids(api))


def test_foreign_orphans(api: Client, stranger: Client, alice: User, mallory: User) -> None:
    ada, bob = make_ada_and_bob(alice)
    body = {"deleteOrphans": True, "orphanIds": [str(bob.pk)]}
    max_, _ = make_ada_and_bob(mallory)
    expect_field_error(stranger, "DELETE", f"/api/people/{max_.pk}", body, "orphanIds.0")
    expect_field_error(stranger, "POST", "/api/people/bulk/orphans", {"personIds": [str(ada.pk)]}, "personIds.0")
    assert len(api.ok("GET", "/api/people")["people"]) == len(stranger.ok("GET", "/api/people")["people"]) == 2
