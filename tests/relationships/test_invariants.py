"""The deep doctor notices a pair or a type that is not whole, which only a write past the services can make."""

from typing import Any

import pytest

from accounts.models import User
from people.models import RelationshipType
from relationships.invariants import find_broken_pairs, find_broken_types
from relationships.models import Relationship
from tests.client import Client
from tests.relationships.steps import make_pair, make_people, relate, type_ids


def test_what_the_services_write_is_whole(api: Client, alice: User) -> None:
    types = type_ids(api)
    made = relate(api, *make_pair(alice), types["PARENT"])
    relate(api, *make_pair(alice), notes="Met in Turin")
    api.ok("DELETE", f"/api/relationships/{made['id']}")
    api.ok("DELETE", f"/api/relationship-types/{types['CHILD']}")
    assert [*find_broken_pairs(), *find_broken_types()] == []


@pytest.mark.parametrize("change", ["person", "type", "no type", "notes", "deleted"])
def test_half_a_change_of_a_pair(api: Client, alice: User, change: str) -> None:
    types = type_ids(api)
    ada, bob, eve = make_people(alice, "Ada Bob Eve")
    made = relate(api, ada, bob, types["PARENT"])
    changes: dict[str, dict[str, Any]] = {
        "person": {"person": eve},
        "type": {"relationship_type": types["FRIEND"]},
        "no type": {"relationship_type": None},
        "notes": {"notes": "Met in Turin"},
        "deleted": {"deleted_at": alice.created_at},
    }
    Relationship.objects.owned_by(alice).filter(pk=made["id"]).update(**changes[change])
    rows = Relationship.objects.owned_by(alice).values_list("pk", flat=True)
    assert set(find_broken_pairs()) == set(rows)


def test_half_a_change_of_a_type(api: Client, alice: User) -> None:
    types = type_ids(api)
    RelationshipType.objects.owned_by(alice).filter(pk=types["CHILD"]).update(inverse=None)
    assert [str(found) for found in find_broken_types()] == [types["PARENT"]]
