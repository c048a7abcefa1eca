"""Export and import of runs and conflicts: imported conflicts can be resolved in the new account."""

import base64
from typing import Any
from uuid import uuid4

import pytest

from accounts.models import User
from carddav.models import Conflict, Connection, Mapping, Run
from people.contents.fields import remote_fields
from people.models import Person
from people.vcard import read_card
from tests.accounts.test_transfer import export_document, normalize_document
from tests.builders import UNKNOWN_ID, make_person
from tests.carddav.builders import make_connection, make_mapping, make_run
from tests.carddav.sync.synced_account import SyncedAccount, vcard
from tests.client import Client
from tests.pictures import picture

pytestmark = pytest.mark.sqlite_suffices

FIELDS = ["organization", "nickname", "phoneNumbers"]
CARD_TEXT = "BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Ada\r\nN:;Ada;;;\r\nORG:There\r\nTEL;TYPE=home:+47 22\r\n{}END:VCARD\r\n"


def make_conflict(person: Person, *, kind: str = "fields", names: list[str] = FIELDS, more: str = "") -> Conflict:
    """Create an open conflict of the person, and the connection if there is none yet."""
    connection = Connection.objects.owned_by(person.owner).first() or make_connection(person.owner)
    raw = CARD_TEXT.format(more)
    remote = remote_fields(read_card(raw)[0])
    fields = [{"field": name, "base": None, "local": None, "remote": remote[name]} for name in names]
    return Conflict.objects.create(
        owner=person.owner,
        connection=connection,
        mapping=make_mapping(connection, person),
        person=person,
        kind=kind,
        fields=fields if kind == "fields" else [],
        remote_raw=raw,
        remote_etag='"7"',
    )


def make_full_run(connection: Connection) -> Run:
    run = make_run(connection)
    run.imported, run.errors, run.error_messages = 3, 2, ["/1.vcf: no card", "ünreadable"]
    run.code, run.error, run.dry_run, run.undone_at = "busy", "The server is busy.", True, run.ended_at
    run.save()
    return run


@pytest.fixture
def history(alice: User) -> Conflict:
    """An ended run and a running one, a resolved conflict and an open one, which is returned."""
    conflict = make_conflict(make_person(alice, name="Ada", organization="Here"))
    make_full_run(conflict.connection)
    Run.objects.create(owner=alice, connection=conflict.connection, trigger="cron", state="running")
    decided = make_conflict(make_person(alice, name="Bo"), kind="remote_deleted")
    decided.resolution, decided.resolved_at = "keep_local", decided.created_at
    decided.save()
    return conflict


def import_into_stranger(api: Client, stranger: Client) -> dict[str, Any]:
    """Import alice's account into mallory's; returns mallory's only open conflict."""
    receipt = stranger.ok("POST", "/api/user/import", export_document(api))
    assert receipt["errors"] == 0, receipt["errorMessages"]
    [conflict] = stranger.ok("GET", "/api/carddav/conflicts")["conflicts"]
    assert not Mapping.objects.owned_by(User.objects.get(email="mallory@example.org")).exists()
    return dict(conflict)


def resolve(client: Client, conflict: dict[str, Any], status: int = 200, **body: Any) -> Any:
    return client.ok("POST", f"/api/carddav/conflicts/{conflict['id']}/resolve", body, status=status)


def person_of(client: Client, conflict: dict[str, Any]) -> dict[str, Any]:
    return dict(client.ok("GET", f"/api/people/{conflict['personId']}")["person"])


@pytest.mark.both_databases
def test_runs_and_conflicts_are_imported(api: Client, stranger: Client, mallory: User, history: Conflict) -> None:
    document = export_document(api)
    assert (len(document["cardDavRuns"]), len(document["cardDavConflicts"])) == (1, 2)
    preview = stranger.ok("POST", "/api/user/import/validate", document)
    assert stranger.ok("POST", "/api/user/import", document) == preview
    assert preview["errors"] == 0, preview["errorMessages"]
    copy = export_document(stranger)
    assert normalize_document(copy) == normalize_document(document)
    again = stranger.ok("POST", "/api/user/import", document)
    assert (again["imported"], again["errors"]) == (0, 0)
    assert {**export_document(stranger), "exportedOn": 0} == {**copy, "exportedOn": 0}
    runs = [client.ok("GET", "/api/carddav/runs")["runs"] for client in (api, stranger)]
    assert [{**run, "id": 0} for run in runs[1]] == [{**run, "id": 0} for run in runs[0] if run["endedAt"]]
    assert Conflict.objects.owned_by(mallory).filter(mapping=None).count() == 2


def test_import_into_the_same_account_duplicates_nothing(api: Client, history: Conflict) -> None:
    document = export_document(api)
    receipt = api.ok("POST", "/api/user/import", document)
    assert (receipt["imported"], receipt["errors"]) == (0, 0)
    assert {**export_document(api), "exportedOn": 0} == {**document, "exportedOn": 0}


@pytest.mark.both_databases
def test_existing_open_conflict_is_kept(api: Client, alice: User, history: Conflict) -> None:
    document = export_document(api)
    for conflict in document["cardDavConflicts"]:
        conflict["id"] = UNKNOWN_ID[:-1] + str(document["cardDavConflicts"].index(conflict))
    api.ok("POST", "/api/user/import", document)
    assert Conflict.objects.owned_by(alice).unresolved().get() == history


BAD_RUNS = [
    {"trigger": "magic"},
    {"imported": -1},
    {"imported": 2**31},
    {"errors": True},
    {"errorMessages": ["x"] * 51},
    {"errorMessages": "x"},
    {"code": "x" * 31},
    {"endedAt": None},
    {"connectionId": UNKNOWN_ID},
]
BAD_CONFLICTS = [
    {"connectionId": UNKNOWN_ID},
    {"personId": UNKNOWN_ID},
    {"kind": "war"},
    {"resolution": "keep_local"},
    {"resolution": ""},
    {"resolvedAt": "2025-01-01T00:00:00Z"},
    {"remoteRaw": "nonsense"},
    {"remoteRaw": None},
    {"fields": []},
    {"fields": [{"field": "uid", "base": None, "local": None, "remote": None}]},
    {"fields": [{"field": "name", "base": None, "local": 5, "remote": None}]},
    {"fields": [{"field": "name", "base": None, "local": "\0", "remote": None}]},
    {"fields": [{"field": "urls", "base": None, "local": [{"url": {}}], "remote": []}]},
    {"fields": [{"field": "name", "base": None, "local": None, "remote": None}] * 2},
]


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("section", "changes"), [("cardDavRuns", BAD_RUNS), ("cardDavConflicts", BAD_CONFLICTS)], ids=["runs", "conflicts"]
)
def test_invalid_records_are_reported_and_do_not_stop_the_others(
    api: Client, stranger: Client, history: Conflict, section: str, changes: list[dict[str, Any]]
) -> None:
    document = export_document(api)
    good = document[section]
    # The bad records come first: if one was imported, the good ones would be refused as duplicates.
    document[section] = [*({**good[0], "id": str(uuid4()), **change} for change in changes), *good]
    receipt = stranger.ok("POST", "/api/user/import", document)
    wrong = [(result["section"], result["index"]) for result in receipt["results"] if result["status"] == "error"]
    assert wrong == [(section, number) for number in range(len(changes))]
    assert receipt["errors"] == len(receipt["errorMessages"]) == len(changes)
    for number, message in enumerate(receipt["errorMessages"], 1):
        assert message.startswith(f"{section}, record {number}: ")
    assert len(export_document(stranger)[section]) == len(good)


def test_remote_values_come_from_the_stored_card(api: Client, stranger: Client, history: Conflict) -> None:
    document = export_document(api)
    document["cardDavConflicts"][0]["fields"][0]["remote"] = "Made up"
    stranger.ok("POST", "/api/user/import", document)
    [conflict] = stranger.ok("GET", "/api/carddav/conflicts")["conflicts"]
    assert conflict["fields"][0]["remote"] == "There"


def test_keep_local_closes_an_imported_conflict(api: Client, stranger: Client, history: Conflict) -> None:
    conflict = import_into_stranger(api, stranger)
    before = person_of(stranger, conflict)
    resolve(stranger, conflict, resolution="keep_local")
    assert person_of(stranger, conflict) == before
    assert stranger.ok("GET", "/api/carddav/conflicts")["conflicts"] == []
    assert resolve(stranger, conflict, status=400, resolution="keep_local")["code"] == "already_resolved"


def test_keep_remote_takes_the_values_of_the_stored_card(api: Client, stranger: Client, history: Conflict) -> None:
    conflict = import_into_stranger(api, stranger)
    resolve(stranger, conflict, resolution="keep_remote")
    person = person_of(stranger, conflict)
    assert (person["organization"], person["nickname"]) == ("There", None)
    assert [entry["number"] for entry in person["phoneNumbers"]] == ["+47 22"]
    assert api.ok("GET", f"/api/people/{history.person_id}")["person"]["organization"] == "Here"


def test_merged_takes_values_and_the_union_of_lists(api: Client, stranger: Client, history: Conflict) -> None:
    number = {"phoneNumbers": [{"type": "work", "number": "+47 11"}]}
    api.ok("PUT", f"/api/people/{history.person_id}", number)
    conflict = import_into_stranger(api, stranger)
    resolve(stranger, conflict, resolution="merged", values={"nickname": "Countess"})
    person = person_of(stranger, conflict)
    assert (person["organization"], person["nickname"]) == ("Here", "Countess")
    assert {entry["number"] for entry in person["phoneNumbers"]} == {"+47 11", "+47 22"}


def test_keep_remote_takes_the_picture_of_the_stored_card(
    api: Client, stranger: Client, alice: User, settings: Any, tmp_path: Any
) -> None:
    settings.MEDIA_ROOT = tmp_path
    data = base64.b64encode(picture(color="red")).decode()
    make_conflict(make_person(alice, name="Ada"), names=["photo"], more=f"PHOTO:data:image/png;base64,{data}\r\n")
    conflict = import_into_stranger(api, stranger)
    resolve(stranger, conflict, resolution="keep_remote")
    assert person_of(stranger, conflict)["photo"]


@pytest.mark.both_databases
def test_picture_at_a_url_is_not_fetched(api: Client, stranger: Client, alice: User) -> None:
    make_conflict(make_person(alice, name="Ada"), names=["photo"], more="PHOTO:https://example.org/ada.jpg\r\n")
    conflict = import_into_stranger(api, stranger)
    response = resolve(stranger, conflict, status=400, resolution="keep_remote")
    assert "address on the net" in str(response)
    resolve(stranger, conflict, resolution="keep_local")


@pytest.mark.parametrize(("resolution", "is_gone"), [("keep_remote", True), ("keep_local", False), ("merged", False)])
def test_remotely_deleted_person_is_deleted_or_kept(
    api: Client, stranger: Client, alice: User, resolution: str, is_gone: bool
) -> None:
    make_conflict(make_person(alice, name="Ada"), kind="remote_deleted")
    resolve(stranger, import_into_stranger(api, stranger), resolution=resolution)
    assert (stranger.ok("GET", "/api/people")["people"] == []) == is_gone
    assert len(api.ok("GET", "/api/people")["people"]) == 1


@pytest.mark.parametrize(("resolution", "is_back"), [("keep_remote", True), ("keep_local", False)])
def test_locally_deleted_person_is_restored_or_stays_deleted(
    api: Client, stranger: Client, alice: User, resolution: str, is_back: bool
) -> None:
    person = make_person(alice, name="Ada")
    make_conflict(person, kind="local_deleted")
    api.ok("DELETE", f"/api/people/{person.pk}")
    resolve(stranger, import_into_stranger(api, stranger), resolution=resolution)
    assert bool(stranger.ok("GET", "/api/people")["people"]) == is_back


@pytest.mark.both_databases
def test_only_keep_local_is_possible_without_a_stored_card(api: Client, alice: User) -> None:
    row = make_conflict(make_person(alice, name="Ada"))
    Conflict.objects.owned_by(alice).filter(pk=row.pk).update(mapping=None, remote_raw="")
    conflict = {"id": str(row.pk)}
    assert "keep_local" in str(resolve(api, conflict, status=400, resolution="keep_remote"))
    resolve(api, conflict, resolution="keep_local")


def test_imported_conflict_is_hidden_from_other_accounts(api: Client, stranger: Client, history: Conflict) -> None:
    conflict = import_into_stranger(api, stranger)
    assert resolve(api, conflict, status=404, resolution="keep_remote")
    assert person_of(stranger, conflict)["organization"] == "Here"


@pytest.mark.both_databases
def test_first_sync_closes_a_deletion_conflict_if_the_card_exists(
    api: Client, stranger: Client, alice: User, mallory: User
) -> None:
    person = make_person(alice, name="Ada", uid="ada-1")
    make_conflict(person, kind="remote_deleted")
    synced = SyncedAccount(mallory)
    import_into_stranger(api, stranger)
    synced.server.edit("1.vcf", vcard("Ada", uid="ada-1"))
    synced.sync()
    assert Mapping.objects.owned_by(mallory).exclude(href="").count() == 1
    assert stranger.ok("GET", "/api/carddav/conflicts")["conflicts"] == []


@pytest.mark.both_databases
def test_first_sync_updates_an_imported_conflict(api: Client, stranger: Client, alice: User, mallory: User) -> None:
    make_conflict(make_person(alice, name="Ada", uid="ada-1", organization="Here"))
    synced = SyncedAccount(mallory)
    stranger.ok("POST", "/api/user/import", export_document(api))
    synced.server.edit("1.vcf", vcard("Ada", "ORG:Elsewhere", uid="ada-1"))
    synced.sync()
    [conflict] = stranger.ok("GET", "/api/carddav/conflicts")["conflicts"]
    assert [(entry["field"], entry["remote"]) for entry in conflict["fields"]] == [("organization", "Elsewhere")]
    assert Conflict.objects.owned_by(mallory).get().mapping is not None


@pytest.mark.both_databases
def test_imported_run_cannot_be_undone(api: Client, stranger: Client, history: Conflict) -> None:
    import_into_stranger(api, stranger)
    [run] = stranger.ok("GET", "/api/carddav/runs")["runs"]
    Run.objects.owned_by(User.objects.get(email="mallory@example.org")).update(undone_at=None)
    response = stranger.ok("POST", f"/api/carddav/runs/{run['id']}/undo")
    assert (response["restored"], response["kept"]) == (0, [])
