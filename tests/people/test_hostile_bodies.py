"""Malicious bodies and parameters are refused with 400, are not stored, and cause no error 500."""

from typing import Any

import pytest

from tests.client import Client

pytestmark = pytest.mark.django_db

ENTRIES: dict[str, dict[str, Any]] = {
    "phoneNumbers": {"number": "+47 22 33 44 55"},
    "emails": {"email": "ada@example.org"},
    "urls": {"url": "https://example.org"},
    "imHandles": {"handle": "@ada"},
    "locations": {"latitude": 1, "longitude": 2},
    "customFields": {"key": "Machine", "value": "Engine"},
    "importantDates": {"date": "1815-12-10"},
}


@pytest.mark.parametrize("field", ENTRIES)
def test_an_entry_is_whole_in_an_update_too(api: Client, field: str) -> None:
    person = api.ok("post", "/api/people", {"name": "Ada"}, status=201)["person"]
    url, entry = f"/api/people/{person['id']}", {**ENTRIES[field], "title": "Met"}
    for missing in ENTRIES[field]:
        half = {name: value for name, value in entry.items() if name != missing}
        response = api.ok("put", url, {field: [entry, half]}, status=400)
        assert [detail["field"] for detail in response["details"]] == [f"{field}.1.{missing}"]
    assert api.ok("get", url)["person"][field] == []
    assert len(api.ok("put", url, {field: [entry]})["person"][field]) == 1


@pytest.mark.parametrize("path", ["/api/people", "/api/notifications/deliveries"])
def test_an_offset_beyond_what_can_be_counted_is_refused(api: Client, path: str) -> None:
    for offset in (2**53, 10**26):
        response = api.ok("get", f"{path}?offset={offset}", status=400)
        assert response["details"][0]["field"] == "offset"
    assert api.ok("get", f"{path}?offset={2**53 - 1}&limit={10**26}")["pagination"]["limit"] == 500
