"""Steps of tests about interactions."""

from typing import Any

from people.models import Person
from tests.client import Client


def note(api: Client, *people: Person | str, at: str = "2026-02-20T12:00:00Z", **more: Any) -> dict[str, Any]:
    """Note an interaction with these people; the record."""
    body = {"personIds": [str(getattr(one, "pk", one)) for one in people], "kind": "CALL", "at": at, **more}
    made: dict[str, Any] = api.ok("POST", "/api/interactions", body, status=201)["interaction"]
    return made


def last_contact(api: Client, person: Person | str) -> str | None:
    """lastContact of a person as it is shown."""
    shown: str | None = api.ok("GET", f"/api/people/{getattr(person, 'pk', person)}")["person"]["lastContact"]
    return shown
