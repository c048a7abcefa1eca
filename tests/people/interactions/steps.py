"""API calls that the tests of interactions share."""

from typing import Any

from people.models import Person
from tests.client import Client


def add_interaction(
    api: Client, *people: Person | str, at: str = "2026-02-20T12:00:00Z", **more: Any
) -> dict[str, Any]:
    """Create an interaction with these people; returns the record."""
    body = {"personIds": [str(getattr(one, "pk", one)) for one in people], "kind": "CALL", "at": at, **more}
    made: dict[str, Any] = api.ok("POST", "/api/interactions", body, status=201)["interaction"]
    return made


def last_contact(api: Client, person: Person | str) -> str | None:
    """The lastContact of a person in the response."""
    shown: str | None = api.ok("GET", f"/api/people/{getattr(person, 'pk', person)}")["person"]["lastContact"]
    return shown
