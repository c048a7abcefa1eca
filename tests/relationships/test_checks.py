"""The doctor notices a pair or a type that is not whole, which only a write past the services can make."""

from typing import Any

import pytest

from accounts.models import User
from people.models import RelationshipType
from relationships.checks import check_pairs
from relationships.models import Relationship
from tests.client import Client
from tests.relationships.steps import make_pair, make_people, relate, type_ids


def found() -> list[str | None]:
    return [message.id for message in check_pairs(None)]


def test_what_the_services_write_is_whole(api: Client, alice: User) -> None:
    types = type_ids(api)
    made = relate(api, *make_pair(alice), types["PARENT"])
    relate(api, *make_pair(alice))
    api.ok("DELETE", f"/api/relationships/{made['id']}")
    api.ok("DELETE", f"/api/relationship-types/{types['CHILD']}")
    assert found() == []


@pytest.mark.parametrize("change", ["person", "type", "no type", "deleted"])
def test_half_a_change_of_a_pair(api: Client, alice: User, change: str) -> None:
    types = type_ids(api)
    ada, bob, eve = make_people(alice, "Ada Bob Eve")
    made = relate(api, ada, bob, types["PARENT"])
    changes: dict[str, dict[str, Any]] = {
        "person": {"person": eve},
        "type": {"relationship_type": types["FRIEND"]},
        "no type": {"relationship_type": None},
        "deleted": {"deleted_at": alice.created_at},
    }
    Relationship.objects.owned_by(alice).filter(pk=made["id"]).update(**changes[change])
    assert found() == ["doctor.E060"]


def test_half_a_change_of_a_type(api: Client, alice: User) -> None:
    types = type_ids(api)
    RelationshipType.objects.owned_by(alice).filter(pk=types["CHILD"]).update(inverse=None)
    assert found() == ["doctor.E061"]
