"""Ids that clients choose for the records that they create."""

import datetime as dt
from functools import partial
from typing import Any
from uuid import UUID, uuid1, uuid4

import pytest
import time_machine
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ids import new_id
from tests.builders import make_person, make_user
from tests.client import Client, client_of
from tests.concurrency import run_concurrently

pytestmark = pytest.mark.sqlite_suffices

PATHS = [
    "/api/people",
    "/api/groups",
    "/api/custom-field-templates",
    "/api/relationship-types",
    "/api/relationships",
    "/api/people/{}/important-dates",
    "/api/interactions",
]
every_path = pytest.mark.parametrize("path", PATHS)


def create(owner: User, path: str, key: Any) -> Any:
    """POST a new record of this kind under the id."""
    first, second = (str(make_person(owner).pk) for _ in range(2))
    bodies: dict[str, dict[str, Any]] = {
        "/api/people": {"name": "Grace"},
        "/api/groups": {"name": str(uuid4())},
        "/api/custom-field-templates": {"name": "Size", "type": "TEXT"},
        "/api/relationship-types": {"name": str(uuid4()), "label": "New", "symmetric": True},
        "/api/relationships": {"personId": first, "relatedPersonId": second},
        "/api/interactions": {"personIds": [first], "kind": "CALL", "at": "2026-02-03T12:00:00Z"},
        "/api/people/{}/important-dates": {"title": "Met", "date": "2020-05-04"},
    }
    return client_of(owner).call("POST", path.format(first), {**bodies[path], "id": key})


def created_record(response: Any) -> dict[str, Any]:
    """The record in the response to a create, which must have succeeded."""
    assert response.status_code in {200, 201}, response.content
    [record] = [value for value in response.json().values() if isinstance(value, dict)]
    return record


# Literals, because these are part of the ids of tests, which must be the same in every process of a run.
OF_VERSION_1, OF_VERSION_4 = "96550730-e694-11f1-86a4-02fc00000001", "5517a8c0-c432-41c6-bd5d-9cb0960342b4"


@every_path
@pytest.mark.parametrize("make", [uuid4, new_id])
def test_record_has_the_id_chosen_by_the_client(alice: User, path: str, make: Any) -> None:
    key = str(make())
    assert created_record(create(alice, path, key))["id"] == key


@pytest.mark.both_databases
@pytest.mark.split
@every_path
@pytest.mark.parametrize(
    "key", [None, "", "x", 7, OF_VERSION_1, OF_VERSION_4.replace("-", ""), str(UUID(int=0)), f"{{{OF_VERSION_4}"]
)
def test_invalid_ids_are_refused(alice: User, path: str, key: Any) -> None:
    response = create(alice, path, key)
    assert (response.status_code, response.json()["details"][0]["field"]) == (400, "id")


@every_path
def test_id_of_an_existing_record_is_refused(alice: User, mallory: User, path: str) -> None:
    for taken in (make_person(alice).pk, make_person(mallory).pk, alice.pk, mallory.pk):
        response = create(alice, path, str(taken))
        assert (response.status_code, response.json()["code"]) == (409, "id_taken")
    key = str(uuid4())
    created_record(create(alice, path, key))
    for owner in (alice, mallory):
        for other in PATHS:
            assert create(owner, other, key).status_code == 409


def test_id_stays_taken_as_long_as_its_tombstone(api: Client, alice: User) -> None:
    key = str(uuid4())
    created_record(create(alice, "/api/groups", key))
    api.ok("DELETE", f"/api/groups/{key}")
    api.ok("DELETE", f"/api/groups/{key}/permanent")
    now = timezone.now()
    for days, status in ((0, 409), (119, 409), (121, 201)):
        with time_machine.travel(now + dt.timedelta(days=days), tick=False):
            assert create(alice, "/api/people", key).status_code == status


@pytest.mark.both_databases
def test_dates_of_a_new_person_have_chosen_ids(api: Client) -> None:
    key, date = str(uuid4()), str(uuid4())
    body: dict[str, Any] = {
        "name": "Ada",
        "id": key,
        "importantDates": [{"title": "Met", "date": "2020-05-04", "id": date}],
    }
    person = api.ok("POST", "/api/people", body, status=201)["person"]
    assert (person["id"], [entry["id"] for entry in person["importantDates"]]) == (key, [date])
    for again in ({"id": str(uuid4())}, {"id": date, "importantDates": []}):
        assert api.call("POST", "/api/people", {**body, **again}).json()["code"] == "id_taken"
    twice = str(uuid4())
    body = {"name": "Eve", "id": twice, "importantDates": [{**body["importantDates"][0], "id": twice}]}
    assert api.call("POST", "/api/people", body).json()["code"] == "id_taken"
    body["importantDates"][0]["id"] = str(uuid1())
    assert api.call("POST", "/api/people", body).json()["details"][0]["field"] == "importantDates.0.id"


@pytest.mark.both_databases
def test_concurrent_use_of_an_id_in_two_tables_succeeds_once(transactional_db: None) -> None:
    owners = [make_user("alice@example.org"), make_user("mallory@example.org")]
    for _ in range(5):
        key = str(uuid4())
        calls = [partial(create, owner, path, key) for owner in owners for path in ("/api/people", "/api/groups")]
        statuses = [response.status_code for response in run_concurrently(*calls)]
        assert sorted(statuses) == [201, 409, 409, 409]
