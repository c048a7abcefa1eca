"""Undoing an import deletes what it created and restores what it changed, except what was edited since."""

import datetime as dt
import io
from itertools import islice
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from people.importing.receipts import UNDONE
from people.importing.runs import FileImport, ImportFile
from people.importing.undo import undo_import
from people.models import ContactImport, ImportedRecord
from people.trash import purge_deleted
from tests.client import Client
from tests.people.importing.uploads import import_file, people_by_name

pytestmark = pytest.mark.sqlite_suffices

DATA = "Name,Email,Group\nAda,ada@example.org,New\nBob,bob@example.org,New\nCyd,cyd@example.org,Other\n"


def undo(client: Client, import_id: str, status: int = 200) -> Any:
    return client.ok("DELETE", f"/api/imports/{import_id}", status=status)


@pytest.mark.both_databases
def test_undo_deletes_everything_except_edited_records(api: Client) -> None:
    receipt = import_file(api, "csv", DATA)
    ada, bob = people_by_name(api)["Ada"], people_by_name(api)["Bob"]
    api.ok("PUT", f"/api/people/{ada['id']}", {"nickname": "Countess"})
    body = {"personIds": [bob["id"]], "kind": "CALL", "at": "2026-01-01T10:00:00Z"}
    api.ok("POST", "/api/interactions", body, status=201)
    response = undo(api, receipt["importId"])
    assert response["removed"] == 1
    assert {(kept["personId"], kept["personName"]) for kept in response["kept"]} == {
        (ada["id"], 'Ada "Countess"'),
        (bob["id"], "Bob"),
    }
    assert set(people_by_name(api)) == {"Ada", "Bob"}
    assert [group["name"] for group in api.ok("GET", "/api/groups")["groups"]] == ["New"]
    assert api.ok("GET", "/api/imports")["imports"][0]["undoneAt"]
    assert undo(api, receipt["importId"], 400)["code"] == "already_undone"
    assert not ImportedRecord.unscoped.exists()


@pytest.mark.both_databases
def test_undo_restores_changed_people(api: Client) -> None:
    body = {"name": "Ada", "emails": [{"email": "ada@example.org"}], "importantDates": []}
    ada = api.ok("POST", "/api/people", body, status=201)["person"]
    data = "Name,Email,Phone,Birthday,Group,Company\nAda,ada@example.org,+44 1,1815-12-10,New,Engines\n"
    receipt = import_file(api, "csv", data)
    assert receipt["updated"] == 1
    assert undo(api, receipt["importId"]) == {"removed": 0, "kept": []}
    [person] = people_by_name(api).values()
    assert {key: value for key, value in person.items() if key != "updatedAt"} == {
        key: value for key, value in ada.items() if key != "updatedAt"
    }
    assert api.ok("GET", "/api/groups")["groups"] == []


def test_undo_ignores_restored_and_removed_records(api: Client) -> None:
    receipt = import_file(api, "csv", DATA)
    people = people_by_name(api)
    api.ok("DELETE", f"/api/people/{people['Ada']['id']}", {})
    api.ok("DELETE", f"/api/people/{people['Bob']['id']}", {})
    api.ok("DELETE", f"/api/people/{people['Bob']['id']}/permanent")
    assert undo(api, receipt["importId"]) == {"removed": 1, "kept": []}
    assert people_by_name(api) == {}


@pytest.mark.both_databases
def test_import_older_than_the_retention_cannot_be_undone(api: Client, alice: User, settings: Any) -> None:
    receipt = import_file(api, "csv", DATA)
    later = timezone.now() + dt.timedelta(days=settings.RETENTION_DAYS + 1)
    assert purge_deleted(now=later)["imports"] == 5
    assert api.ok("GET", "/api/imports")["imports"][0]["imported"] == 3
    ContactImport.unscoped.rows().update(created_at=timezone.now() - dt.timedelta(days=settings.RETENTION_DAYS + 1))
    assert undo(api, receipt["importId"], 410)["code"] == "import_too_old"
    assert set(people_by_name(api)) == {"Ada", "Bob", "Cyd"}


@pytest.mark.both_databases
def test_killed_undo_continues(api: Client, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(f"P{n},p{n}@example.org,New\n" for n in range(250))
    receipt = import_file(api, "csv", f"Name,Email,Group\n{rows}")
    row = ContactImport.objects.owned_by(alice).find(receipt["importId"])
    with monkeypatch.context() as patch:
        patch.setattr("people.importing.undo._UndoRun.undo_groups", lambda *args: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            undo_import(owner=alice, import_id=row.pk, now=timezone.now())
    assert undo(api, receipt["importId"]) == {"removed": 0, "kept": []}
    assert people_by_name(api) == {}
    assert api.ok("GET", "/api/groups")["groups"] == []


def open_import(owner: User, data: str) -> FileImport:
    return FileImport(owner=owner, upload=ImportFile(source="csv", file=io.BytesIO(data.encode())), now=timezone.now())


ROWS = "".join(f"P{n},p{n}@example.org,\n" for n in range(250))


def test_edit_during_the_import_is_kept_by_the_undo(api: Client, alice: User) -> None:
    data = f"Name,Email,Phone\n{ROWS}P1,p1@example.org,+44 1\nP2,p2@example.org,+44 2\n"
    outcomes = open_import(alice, data).run()
    ids = [outcome.person_id for outcome in islice(outcomes, 100)]
    api.ok("PUT", f"/api/people/{ids[1]}", {"nickname": "Edited"})
    body = {"personIds": [str(ids[3])], "kind": "CALL", "at": "2026-01-01T10:00:00Z"}
    api.ok("POST", "/api/interactions", body, status=201)
    assert [outcome.status for outcome in outcomes][-2:] == ["updated", "updated"]
    [row] = api.ok("GET", "/api/imports")["imports"]
    assert (row["imported"], row["updated"]) == (250, 2)
    response = undo(api, row["id"])
    assert response["removed"] == 248
    assert {kept["personId"] for kept in response["kept"]} == {str(ids[1]), str(ids[3])}
    assert set(people_by_name(api)) == {"P1", "P3"}


@pytest.mark.both_databases
def test_a_running_import_is_not_undone(api: Client, alice: User) -> None:
    outcomes = open_import(alice, f"Name,Email,Phone\n{ROWS}").run()
    assert len(list(islice(outcomes, 100))) == 100
    [row] = api.ok("GET", "/api/imports")["imports"]
    assert undo(api, row["id"], 409)["code"] == "import_running"
    assert len(list(outcomes)) == 150
    assert undo(api, row["id"])["removed"] == 250


def test_an_undo_ends_an_import_that_was_taken_for_dead(api: Client, alice: User) -> None:
    outcomes = open_import(alice, f"Name,Email,Phone\n{ROWS}").run()
    assert len(list(islice(outcomes, 100))) == 100
    [row] = api.ok("GET", "/api/imports")["imports"]
    assert (row["imported"], row["endedAt"]) == (100, None)
    ContactImport.objects.owned_by(alice).update(held_until=timezone.now())
    assert undo(api, row["id"])["removed"] == 100
    assert {remark for outcome in outcomes for remark in outcome.remarks} == {UNDONE}
    assert people_by_name(api) == {}
    [row] = api.ok("GET", "/api/imports")["imports"]
    assert row["undoneAt"]
    assert row["endedAt"]
    assert (row["imported"], row["errors"]) == (100, 150)


def test_undo_is_refused_while_another_one_runs(api: Client, alice: User) -> None:
    receipt = import_file(api, "csv", DATA)
    row = ContactImport.objects.owned_by(alice).filter(pk=receipt["importId"])
    row.update(undo_until=timezone.now() + dt.timedelta(seconds=30))
    assert undo(api, receipt["importId"], 409)["code"] == "busy"
    row.update(undo_until=timezone.now() - dt.timedelta(seconds=30))
    assert undo(api, receipt["importId"])["removed"] == 3
