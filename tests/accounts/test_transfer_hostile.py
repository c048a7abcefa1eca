"""Edited and malicious documents: each error is in the receipt, and none is a server error."""

from typing import Any

import pytest

from contacts_project.kernel.ids import new_id
from tests.client import Client

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]

HEAD = {"format": "contact-network", "version": 1}


def test_date_with_the_id_of_another_persons_date_gets_a_new_id(api: Client) -> None:
    met = {"title": "Met", "date": "2020-01-01"}
    ada = api.ok("POST", "/api/people", {"name": "Ada", "importantDates": [met]}, status=201)["person"]
    date = {**met, "id": ada["importantDates"][0]["id"]}
    people: list[dict[str, Any]] = [
        {"id": str(new_id()), "name": "Bo", "importantDates": [date, date]},
        {"id": str(new_id()), "name": "Cy", "importantDates": [date, {**date, "id": str(new_id())}]},
    ]
    document = {**HEAD, "people": people}
    receipt = api.ok("POST", "/api/user/import", document)
    assert (receipt["imported"], receipt["errors"]) == (2, 0)
    everybody = api.ok("GET", "/api/people?includeAll=true")["people"]
    assert [len(person["importantDates"]) for person in everybody] == [1, 2, 2]
    assert len({date["id"] for person in everybody for date in person["importantDates"]}) == 5
    assert api.ok("POST", "/api/user/import", document)["skipped"] == 2


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"])
def test_time_outside_the_range_of_utc_is_an_error(api: Client, moment: str) -> None:
    group = {"id": str(new_id()), "name": "Old", "color": "#112233", "createdAt": moment}
    receipt = api.ok("POST", "/api/user/import", {**HEAD, "groups": [group]})
    assert (receipt["imported"], receipt["errors"]) == (0, 1)
    assert receipt["errorMessages"][0].startswith("groups, record 1: createdAt:")


@pytest.mark.parametrize("path", ["/api/user/import/validate", "/api/user/import"])
def test_too_many_records_or_values_are_refused(api: Client, path: str) -> None:
    """The number of records and values is limited: each record has a line in the receipt, and values take memory."""
    records = {**HEAD, "people": [None] * 150_000, "groups": [None] * 50_001}
    assert api.ok("POST", path, records, status=400)["details"][0]["field"] == "people"
    values = {**HEAD, "people": [[[]] * 1_000_001]}
    assert "values" in api.ok("POST", path, values, status=400)["error"]


@pytest.mark.parametrize("version", [True, 1.0, "1", 0, 2, None], ids=repr)
def test_another_version_is_refused(api: Client, version: Any) -> None:
    response = api.ok("POST", "/api/user/import", {**HEAD, "version": version}, status=400)
    assert [detail["field"] for detail in response["details"]] == ["version"]


@pytest.mark.parametrize("path", ["/api/user/import/validate", "/api/user/import"])
def test_missing_references_are_reported_for_the_record(api: Client, path: str) -> None:
    lost = str(new_id())
    ada = {
        "id": str(new_id()),
        "name": "Ada",
        "groupIds": [lost, str(new_id())],
        "relationshipToUserId": lost,
        "customFieldValues": [{"templateId": lost, "value": "M"}],
    }
    bo: dict[str, Any] = {"id": str(new_id()), "name": "Bo", "groupIds": [], "relationshipToUserId": None}
    relationship = {"id": str(new_id()), "personId": ada["id"], "relatedPersonId": bo["id"], "relationshipTypeId": lost}
    receipt = api.ok("POST", path, {**HEAD, "people": [ada, bo], "relationships": [relationship]})
    assert receipt["imported"] == 3
    assert [result.get("reason") for result in receipt["results"]] == [
        "Without what did not come in: relationshipToUserId (1), groupIds (2), customFieldValues (1)",
        None,
        "Without what did not come in: relationshipTypeId (1)",
    ]
