"""API calls that the tests of people share."""

from typing import Any

from tests.client import Client


def create_person(api: Client, name: str, surname: str | None = None, **fields: Any) -> str:
    """Create a person; returns its id."""
    body = {"name": name, "surname": surname, **fields}
    return str(api.ok("POST", "/api/people", body, status=201)["person"]["id"])


def create_template(api: Client, name: str, kind: str = "TEXT", **fields: Any) -> str:
    """Create a custom field template; returns its id."""
    body = {"name": name, "type": kind, **fields}
    return str(api.ok("POST", "/api/custom-field-templates", body, status=201)["customFieldTemplate"]["id"])


def list_people(api: Client) -> list[Any]:
    """Everybody, with all details."""
    people: list[Any] = api.ok("GET", "/api/people?includeAll=true")["people"]
    return people
