"""A stranger's ids in bodies are refused by the name of their field, like ids that never were, and nothing is done."""

import pytest

from accounts.models import User
from tests.client import Client
from tests.relationships.steps import make_pair, refused, relate, relationships, type_ids

UNKNOWN = "01900000-0000-7000-8000-000000000000"


def test_a_foreign_person_or_type_of_a_relationship(api: Client, stranger: Client, alice: User, mallory: User) -> None:
    ada, bob = make_pair(alice)
    max_, moe = make_pair(mallory)
    own = {"personId": str(max_.pk), "relatedPersonId": str(moe.pk)}
    foreign = {"personId": str(ada.pk), "relatedPersonId": str(bob.pk), "relationshipTypeId": type_ids(api)["FRIEND"]}
    for field, value in foreign.items():
        message = refused(stranger, "POST", "/api/relationships", {**own, field: value}, field)
        assert message == refused(stranger, "POST", "/api/relationships", {**own, field: UNKNOWN}, field)
    assert relationships(stranger) == []
    made = relate(stranger, max_, moe, notes="x")
    body = {"relationshipTypeId": foreign["relationshipTypeId"], "notes": "y"}
    refused(stranger, "PUT", f"/api/relationships/{made['id']}", body, "relationshipTypeId")
    assert made in relationships(stranger)


@pytest.mark.parametrize("name", ["PARENT", "FRIEND"])
def test_a_foreign_inverse_of_a_type(api: Client, stranger: Client, name: str) -> None:
    """It is not told apart from one that does not exist, whatever its inverse is."""
    body = {"name": "mine", "label": "Mine"}
    path = f"/api/relationship-types/{type_ids(stranger)['OTHER']}"
    for method, where in (("POST", "/api/relationship-types"), ("PUT", path)):
        foreign = refused(stranger, method, where, {**body, "inverseId": type_ids(api)[name]}, "inverseId")
        assert foreign == refused(stranger, method, where, {**body, "inverseId": UNKNOWN}, "inverseId")
    assert set(type_ids(stranger)) == set(type_ids(api))


def test_foreign_orphans(api: Client, stranger: Client, alice: User, mallory: User) -> None:
    ada, bob = make_pair(alice)
    body = {"deleteOrphans": True, "orphanIds": [str(bob.pk)]}
    max_, _ = make_pair(mallory)
    refused(stranger, "DELETE", f"/api/people/{max_.pk}", body, "orphanIds.0")
    refused(stranger, "POST", "/api/people/bulk/orphans", {"personIds": [str(ada.pk)]}, "personIds.0")
    assert len(api.ok("GET", "/api/people")["people"]) == len(stranger.ok("GET", "/api/people")["people"]) == 2
