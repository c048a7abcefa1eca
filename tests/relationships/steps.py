"""People and API calls that the tests of relationships share."""

from typing import Any

from accounts.models import User
from people.models import Person
from tests.builders import make_person
from tests.client import Client


def make_people(owner: User, names: str, **fields: Any) -> list[Person]:
    """One person for each letter or word of `names`."""
    words = names.split() if " " in names else list(names)
    return [make_person(owner, name=name, **fields) for name in words]


def make_ada_and_bob(owner: User) -> tuple[Person, Person]:
    """Ada and Bob."""
    return make_person(owner, name="Ada"), make_person(owner, name="Bob")


def type_ids(api: Client) -> dict[str, str]:
    """Ids of the account's types by name."""
    return {row["name"]: row["id"] for row in api.ok("GET", "/api/relationship-types")["relationshipTypes"]}


def relate(api: Client, person: Any, related: Any, type_id: str | None = None, notes: str | None = None) -> Any:
    """Create a relationship of two people (rows or ids); returns its JSON."""
    body = {
        "personId": str(getattr(person, "pk", person)),
        "relatedPersonId": str(getattr(related, "pk", related)),
        "relationshipTypeId": type_id,
        "notes": notes,
    }
    return api.ok("POST", "/api/relationships", body)["relationship"]


def person_names(api: Client) -> str:
    """The joined names of the listed people."""
    return "".join(person["name"] for person in api.ok("GET", "/api/people")["people"])


def list_relationships(api: Client) -> list[Any]:
    found: list[Any] = api.ok("GET", "/api/relationships")["relationships"]
    return found


def expect_field_error(api: Client, method: str, path: str, body: Any, field: str) -> str:
    """Expect a 400 with an error of `field`; returns its message."""
    response = api.ok(method, path, body, status=400)
    messages = {detail["field"]: detail["message"] for detail in response["details"]}
    assert field in messages, response
    return str(messages[field])
