"""`doctor --deep` finds pairs and types that contradict their inverse, after writes that bypass the services."""

from typing import Any

import pytest

from accounts.models import User
from people.models import RelationshipType
from relationships.invariants import find_broken_pairs, find_broken_types
from relationships.models import Relationship
from tests.client import Client
from tests.relationships.steps import make_ada_and_bob, make_people, relate, type_ids


def test_writes_of_the_services_are_consistent(api: Client, alice: User) -> None:
    types = type_ids(api)
    made = relate(api, *make_ada_and_bob(alice), types["PARENT"])
    relate(api, *make_ada_and_bob(alice), notes="Met in Turin")
    api.ok("DELETE", f"/api/relationships/{made['id']}")
    api.ok("DELETE", f"/api/relationship-types/{types['CHILD']}")
    assert [*find_broken_pairs(), *find_broken_types()] == []


@pytest.mark.parametrize("change", ["person", "type", "no type", "notes", "deleted"])
def test_a_change_of_one_row_of_a_pair_is_found(api: Client, alice: User, change: str) -> None:
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


def test_a_change_of_one_type_of_a_pair_is_found(api: Client, alice: User) -> None:
    types = type_ids(api)
    RelationshipType.objects.owned_by(alice).filter(pk=types["CHILD"]).update(inverse=None)
    assert [str(found) for found in find_broken_types()] == [types["PARENT"]]
