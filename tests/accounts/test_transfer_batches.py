"""An import is written in batches: others write between them, and an interrupted import continues when repeated."""

import base64
import datetime as dt
import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from django.db import DataError, OperationalError, connection

from accounts.models import User
from accounts.transfer import importer
from accounts.transfer.sections import times_of
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.ownership import account_lock
from people.lookup import replace_keys
from people.models import Person, RelationshipType
from people.services.person_writer import set_name_keys
from people.transfer import people as people_section
from tests.accounts.test_transfer import export_document, normalize_document
from tests.builders import make_user, set_plan_limits
from tests.client import Client, client_of
from tests.concurrency import wait_until
from tests.pictures import jpeg_of_scans, picture
from tests.relationships.invariants import check_invariants

pytestmark = pytest.mark.sqlite_suffices

PEOPLE = 7


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "_BATCH_SIZE", 3)


@pytest.fixture
def document() -> dict[str, Any]:
    """A document with seven people, each the parent of the next."""
    kinds = [{"id": str(new_id()), "name": name, "label": name, "color": "#112233"} for name in ("UP", "DOWN")]
    for kind, inverse in zip(kinds, reversed(kinds), strict=True):
        kind["inverseId"] = inverse["id"]
    group = {"id": str(new_id()), "name": "Family", "color": "#112233"}
    people: list[dict[str, Any]] = [
        {
            "id": str(new_id()),
            "name": f"P{n}",
            "uid": f"u{n}",
            "groupIds": [group["id"]],
            "relationshipToUserId": kinds[0]["id"],
        }
        for n in range(PEOPLE)
    ]
    relationships = [
        {
            "id": str(new_id()),
            "personId": one["id"],
            "relatedPersonId": other["id"],
            "relationshipTypeId": kinds[0]["id"],
        }
        for one, other in itertools.pairwise(people)
    ]
    return {
        "format": "contact-network",
        "version": 1,
        "groups": [group],
        "relationshipTypes": kinds,
        "people": people,
        "relationships": relationships,
    }


class CutOffError(BaseException):
    """Stands for a killed process: no handler catches it."""


def fail_at(monkeypatch: pytest.MonkeyPatch, call: int, error: BaseException) -> None:
    """Make batch number `call` of the people fail after it was written, and only that one."""
    calls = iter(range(1, 100))

    def refresh(*args: Any) -> None:
        replace_keys(*args)
        if next(calls) == call:
            raise error

    monkeypatch.setattr("people.services.person_writer.replace_keys", refresh)


@pytest.mark.parametrize("call", [1, 2, 3])
def test_an_interrupted_import_continues_when_repeated(
    api: Client, stranger: Client, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch, alice: User, call: int
) -> None:
    with monkeypatch.context() as patch:
        fail_at(patch, call, CutOffError())
        with pytest.raises(CutOffError):
            api.ok("POST", "/api/user/import", document)
    assert Person.objects.owned_by(alice).count() == 3 * (call - 1)
    assert api.ok("POST", "/api/user/import", document)["errors"] == 0
    stranger.ok("POST", "/api/user/import", document)
    assert normalize_document(export_document(api)) == {
        **normalize_document(export_document(stranger)),
        "account": normalize_document(export_document(api))["account"],
    }
    check_invariants(alice)


@pytest.mark.both_databases
def test_receipt_reports_a_database_that_fails_half_way(
    api: Client, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        fail_at(patch, 2, OperationalError("server closed the connection"))
        receipt = api.ok("POST", "/api/user/import", document)
    assert (receipt["success"], receipt["imported"]) == (False, 3 + 3)  # a group, two types, three people
    assert receipt["errors"] == PEOPLE - 3 + PEOPLE - 1
    assert all("Not tried" in message for message in receipt["errorMessages"])
    again = api.ok("POST", "/api/user/import", document)
    assert (again["skipped"], again["imported"], again["errors"]) == (6, PEOPLE - 3 + PEOPLE - 1, 0)


def test_database_unavailable_from_the_start_is_503(
    api: Client, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    del document["groups"], document["relationshipTypes"]
    fail_at(monkeypatch, 1, OperationalError("server closed the connection"))
    assert api.ok("POST", "/api/user/import", document, status=503)["code"] == "unavailable"


def test_record_refused_by_the_database_does_not_stop_the_others(
    api: Client, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(person: Person) -> None:
        if person.name == "P4":
            raise DataError("no")
        set_name_keys(person)

    monkeypatch.setattr("people.services.person_writer.set_name_keys", refuse)
    receipt = api.ok("POST", "/api/user/import", document)
    wrong = [(result["section"], result["index"]) for result in receipt["results"] if result["status"] == "error"]
    assert wrong == [("people", 4), ("relationships", 3), ("relationships", 4)]
    assert receipt["errorMessages"][0] == "people, record 5: This record could not be stored."


@pytest.mark.both_databases
def test_type_refused_by_the_database_does_not_stop_the_others(
    api: Client, alice: User, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = {"id": str(new_id()), "name": "BAD", "label": "Bad", "color": "#112233"}
    document["relationshipTypes"].append(bad)

    def refuse(data: dict[str, Any], now: dt.datetime) -> dict[str, Any]:
        if data.get("name") == "BAD":
            raise DataError("the value is out of range")
        return times_of(data, now)

    monkeypatch.setattr("relationships.transfer.times_of", refuse)
    receipt = api.ok("POST", "/api/user/import", document)
    assert receipt["errorMessages"] == ["relationshipTypes, record 3: This record could not be stored."]
    assert set(RelationshipType.objects.owned_by(alice).values_list("name", flat=True)) == {"UP", "DOWN"}
    check_invariants(alice)


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["/api/user/import", "/api/user/import/validate"])
def test_other_requests_write_during_an_import(
    api: Client, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Others write between two batches of an import, and at any time during a validation, which takes no lock."""
    statuses: list[int] = []
    module, name = (time, "sleep") if path.endswith("import") else (people_section._Batch, "_add_person")
    real: Any = getattr(module, name)

    def meanwhile(*args: Any) -> Any:
        if pool is not None:
            statuses.append(pool.submit(write, len(statuses)).result())
        return real(*args)

    def write(number: int) -> int:
        try:
            return int(api.call("POST", "/api/groups", {"name": f"Meanwhile {number}"}).status_code)
        finally:
            connection.close()

    pool: ThreadPoolExecutor | None = ThreadPoolExecutor(1)
    monkeypatch.setattr(module, name, meanwhile)
    api.ok("POST", path, document)
    pool, used = None, pool
    assert used
    used.shutdown()
    assert statuses
    assert set(statuses) == {201}


def test_import_pauses_after_a_batch_as_long_as_it_took(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite does not queue writers: one that takes the write lock again at once would keep the others out."""
    clock, slept = [100.0], list[float]()
    monkeypatch.setattr(account_lock, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=slept.append))
    monkeypatch.setattr(account_lock, "_throttle", account_lock._Throttle())
    for seconds, gap in ((3, 1), (1, 0), (0, 0)):
        with account_lock.BatchWriter(alice).batch():
            clock[0] += seconds
        clock[0] += gap
    assert slept == [0, 2, 1]


@pytest.fixture
def _free_plan(settings: Any) -> None:
    set_plan_limits(settings, people=6, groups=5, reminders=4, templates=1)


@pytest.mark.both_databases
@pytest.mark.usefixtures("_free_plan")
@pytest.mark.parametrize("path", ["/api/user/import/validate", "/api/user/import"])
def test_reminders_beyond_the_plan_are_switched_off_and_reported(
    api: Client, document: dict[str, Any], path: str
) -> None:
    for person in document["people"]:
        birthday = {"id": str(new_id()), "type": "BIRTHDAY", "date": "2000-01-02", "reminderEnabled": True}
        person |= {"importantDates": [{**birthday, "reminderLeadDays": 3}], "contactReminderEnabled": True}
    receipt = api.ok("POST", path, document)
    people = [result for result in receipt["results"] if result["section"] == "people"]
    assert [result["status"] for result in people] == ["imported"] * 6 + ["error"]
    limit = "Your plan allows 4 reminders."
    assert [message for message in receipt["errorMessages"] if "P3" in message] == [
        f"people, record 4: P3: the contact reminder is switched off: {limit}",
        f"people, record 4: P3: the reminder of BIRTHDAY is switched off: {limit}",
    ]
    assert "switched off" in people[2]["reason"]
    if path.endswith("validate"):
        return
    there = api.ok("GET", "/api/people?includeAll=true")["people"]
    assert [person["contactReminderEnabled"] for person in there] == [True, True] + [False] * 4
    dates = [person["importantDates"][0] for person in there]
    assert [date["reminderEnabled"] for date in dates] == [True, True] + [False] * 4
    assert dates[2]["reminderLeadDays"] is None


def test_refused_pictures_are_left_out_and_reported(
    api: Client, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Any
) -> None:
    settings.MEDIA_ROOT = tmp_path
    monkeypatch.setattr("people.photos.images.MAX_PIXELS_PER_REQUEST", 4 * 100 * 100)
    for number, person in enumerate(document["people"]):
        content = picture("PNG", (100, 100), color=(number, 0, 0))
        content = {1: b"no picture", 2: jpeg_of_scans(201, (10, 10))}.get(number, content)
        person["photo"] = base64.b64encode(content).decode()
    receipt = api.ok("POST", "/api/user/import", document)
    assert (receipt["imported"], receipt["errors"]) == (PEOPLE + 3 + PEOPLE - 1, 3)
    assert receipt["errorMessages"][0].startswith("people, record 2: P1: the photo was left out: This is not a")
    assert receipt["errorMessages"][1].startswith(
        "people, record 3: P2: the photo was left out: This JPEG has more than"
    )
    assert receipt["errorMessages"][2].startswith("people, record 7: P6: the photo was left out: the pictures of one")
    photos = [bool(person["photo"]) for person in api.ok("GET", "/api/people")["people"]]
    assert photos == [True, False, False, True, True, True, False]


def test_accounts_with_long_writes_take_turns_batch_by_batch() -> None:
    throttle, accounts = account_lock._Throttle(), (new_id(), new_id())
    order: list[UUID] = []

    def write(account: UUID, other: UUID) -> None:
        for _ in range(4):
            with throttle.batch(account):
                # So that both always want the next batch: whoever has had one asks again while the other writes.
                wait_until(lambda: throttle._batches.waiting(other) == 1 or order.count(other) == 4)
                order.append(account)

    with ThreadPoolExecutor(2) as pool:
        writes = [pool.submit(write, *pair) for pair in (accounts, accounts[::-1])]
        for one in writes:
            one.result(120)
    assert order in ([*accounts] * 4, [*accounts[::-1]] * 4)


def test_too_many_concurrent_imports_are_503(
    api: Client, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = client_of(make_user("third@example.org"))
    monkeypatch.setattr(account_lock.IMPORTS, "limits", replace(account_lock.IMPORTS.limits, seconds=0.01))
    with account_lock.IMPORTS.hold(None), account_lock.IMPORTS.hold(None):
        refused = api.call("POST", "/api/user/import", document)
    assert (refused.status_code, refused.json()["code"], refused["Retry-After"]) == (503, "unavailable", "10")
    assert api.ok("GET", "/api/people")["people"] == []
    assert other.ok("POST", "/api/user/import", document)["errors"] == 0
