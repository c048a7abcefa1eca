"""The statements that the search words add to a write, without those that begin and end a transaction."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.client import Client
from tests.people.steps import create_template

pytestmark = pytest.mark.django_db


def statements(api: Client, method: str, path: str, body: Any, status: int) -> int:
    with CaptureQueriesContext(connection) as captured:
        api.ok(method, path, body, status=status)
    return len([query for query in captured if not query["sql"].startswith(("PRAGMA", "SAVEPOINT", "RELEASE"))])


def test_a_small_create_and_a_whole_update(api: Client) -> None:
    groups = [api.ok("POST", "/api/groups", {"name": name}, status=201)["group"]["id"] for name in "ab"]
    template = create_template(api, "Drink")
    small = {"name": "Ada", "emails": [{"email": "ada@example.org"}]}
    api.ok("POST", "/api/people", small, status=201)  # warms caches
    assert statements(api, "POST", "/api/people", small, 201) <= 15

    def whole(word: str, number: int) -> dict[str, Any]:
        return {
            "name": f"Ada {word}",
            "surname": "Lovelace",
            "organization": f"Engines {word}",
            "notes": f"Met at the {word}.",
            "phoneNumbers": [{"number": f"+49 30 12345{number}"}],
            "emails": [{"email": f"{word}@example.org"}],
            "addresses": [{"locality": word}],
            "customFields": [{"key": "Instrument", "value": word}],
            "groupIds": [groups[number]],
            "customFieldValues": [{"templateId": template, "value": word}],
            "importantDates": [{"type": "BIRTHDAY", "date": f"181{number}-12-10", "reminderEnabled": True}],
            "contactReminderEnabled": True,
            "lastContact": f"2026-01-1{number}",
        }

    key = api.ok("POST", "/api/people", whole("harp", 0), status=201)["person"]["id"]
    api.ok("PUT", f"/api/people/{key}", whole("lute", 1))
    count = statements(api, "PUT", f"/api/people/{key}", whole("flute", 0), 200)
    assert count <= 21  # one reads the rules of the groups that were joined
