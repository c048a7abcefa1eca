"""A dry run of a vCard file: the receipt of the import that would follow, and nothing written."""

from typing import Any

import pytest

from accounts.models import User
from people.models import AwaitedMember, Group, Person
from tests.builders import set_plan_limits
from tests.client import Client
from tests.people.importing.uploads import import_vcards, send_form, vcard

pytestmark = [pytest.mark.sqlite_suffices, pytest.mark.django_db]


def group(name: str, *members: str) -> bytes:
    return vcard(f"FN:{name}", "KIND:group", *(f"MEMBER:{member}" for member in members), version="4.0")


FILE = b"".join(
    (
        group("Choir", "ada", "bo", "later", "mailto:x@example.org"),
        vcard("FN:Ada", "N:;Ada;;;", "UID:ada", "BDAY:1815-12-10", "ORG:Engines"),
        vcard("FN:Bo", "N:;Bo;;;", "UID:bo", "BDAY:1990-01-02", "CATEGORIES:Team"),
        vcard("FN:Bo", "N:;Bo;;;", "UID:bo"),
        vcard("NOTE:nobody"),
        group("Choir", "ada", "later", "never"),
        group("Empty"),
    )
)


def dry_run(client: Client, data: bytes, status: int = 200, **fields: str) -> Any:
    response = send_form(client, "/api/vcard/import", data, "a.vcf", dryRun="true", **fields)
    assert response.status_code == status, response.content
    return response.json()


def without_people(receipt: Any) -> Any:
    results = [{key: value for key, value in result.items() if key != "personId"} for result in receipt["results"]]
    return {**receipt, "results": results, "importId": None}


@pytest.mark.both_databases
@pytest.mark.parametrize("limits", [{}, {"people": 50, "groups": 2, "reminders": 1, "templates": 1}])
def test_receipt_is_that_of_the_import_and_nothing_changes(
    api: Client, alice: User, settings: Any, limits: dict[str, int]
) -> None:
    if limits:
        set_plan_limits(settings, **limits)
    import_vcards(api, vcard("FN:Ada", "N:;Ada;;;", "UID:ada"))
    alice.refresh_from_db()
    revision = alice.revision
    dry = dry_run(api, FILE, remind="birthdays")
    assert (dry["importId"], dry["birthdays"], dry["reminders"]) == (None, 2, 1 if limits else 2)
    ids = {result["name"]: result.get("personId", "") for result in dry["results"] if result["status"] != "skipped"}
    assert ids == {"Ada": str(Person.unscoped.get().pk), "Bo": None, "": ""}
    alice.refresh_from_db()
    assert alice.revision == revision
    assert not Group.unscoped.exists()
    assert not AwaitedMember.unscoped.exists()
    assert len(api.ok("GET", "/api/imports")["imports"]) == 1
    response = api.generic("POST", "/api/vcard/import?remind=birthdays", FILE, "text/vcard")
    assert without_people(dry) == without_people(response.json())
    # And once more, when all of it is there.
    again = dry_run(api, FILE)
    assert without_people(again) == without_people(import_vcards(api, FILE))


def test_query_of_a_body_says_it_too_and_a_wrong_word_is_refused(api: Client) -> None:
    path = "/api/vcard/import?dryRun=true"
    assert api.generic("POST", path, FILE, "text/vcard").json()["imported"] == 2
    for wrong in ("1", "True"):
        response = api.generic("POST", f"/api/vcard/import?dryRun={wrong}", FILE, "text/vcard")
        assert (response.status_code, response.json()["details"][0]["field"]) == (400, "dryRun")
    assert not Person.unscoped.exists()


def test_awaited_members_are_limited_as_in_the_import(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("people.importing.groups.MAX_AWAITED", 3)
    data = group("A", "one", "two") + group("B", "three", "four") + group("A", "five")
    assert without_people(dry_run(api, data)) == without_people(import_vcards(api, data))
