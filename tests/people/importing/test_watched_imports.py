"""An import is watched under the id that its client chose, and its receipt is read again later."""

import datetime as dt
import io
import signal
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID, uuid1, uuid4

import orjson
import pytest
import time_machine
from django.conf import settings as project
from django.db import OperationalError
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.processes import this_process
from people.importing.runs import FileImport, ImportFile, VCardImport
from people.models import ContactImport, ImportReceipt
from people.trash import purge_deleted
from tests.builders import make_person, set_plan_limits
from tests.client import Client, client_of
from tests.concurrency import run_concurrently
from tests.people.importing.test_arriving_reminders import FILES, send
from tests.people.importing.test_undo_import import ROWS, undo
from tests.people.importing.uploads import import_file, import_vcards, people_by_name, send_form, vcard
from tests.workers import run_manage

pytestmark = [pytest.mark.sqlite_suffices, pytest.mark.django_db]

TABLE = f"Name,Email,Phone\n{ROWS}"
# A literal, because it is part of the id of a test.
OF_VERSION_4 = "5517a8c0-c432-41c6-bd5d-9cb0960342b4"


def read(client: Client, key: object, status: int = 200) -> Any:
    return client.ok("GET", f"/api/imports/{key}", status=status)


def list_imports(client: Client) -> list[Any]:
    return list(client.ok("GET", "/api/imports")["imports"])


def open_import(owner: User, data: str, **options: Any) -> FileImport:
    upload = ImportFile(source="csv", file=io.BytesIO(data.encode()), name="a.csv")
    return FileImport(owner=owner, upload=upload, now=timezone.now(), **options)


def progress(row: Any) -> tuple[str, int, int]:
    return row["state"], row["done"], row["total"]


@pytest.mark.both_databases
@pytest.mark.parametrize("source", FILES)
def test_each_kind_of_import_takes_an_id_and_is_read_again(api: Client, source: str) -> None:
    key = str(uuid4())
    receipt = send(api, source, FILES[source][0], id=key)
    assert receipt["importId"] == key
    row = read(api, key)
    assert {name: row[name] for name in receipt} == receipt
    assert progress(row) == ("done", len(receipt["results"]), len(receipt["results"]))
    assert row["endedAt"]
    [listed] = list_imports(api)
    assert listed == {name: row[name] for name in listed}
    assert "results" not in listed


@pytest.mark.both_databases
def test_body_without_a_form_has_the_id_in_the_query(api: Client) -> None:
    key = str(new_id())
    response = api.generic("POST", f"/api/vcard/import?id={key}", vcard("FN:Ada"), "text/vcard")
    assert response.json()["importId"] == key
    assert read(api, key)["results"] == response.json()["results"]


@pytest.mark.both_databases
def test_progress_is_seen_while_it_runs(api: Client, alice: User) -> None:
    key = new_id()
    outcomes = open_import(alice, TABLE, import_id=key).run()
    next(outcomes)
    running = read(api, key)
    assert progress(running) == ("running", 100, 250)
    assert progress(list_imports(api)[0]) == ("running", 100, 250)
    assert (running["endedAt"], "results" in running) == (None, False)
    list(islice(outcomes, 100))
    assert progress(read(api, key)) == ("running", 200, 250)
    list(outcomes)
    assert progress(read(api, key)) == ("done", 250, 250)


@pytest.mark.both_databases
def test_file_that_writes_nothing_is_seen_while_it_runs(
    api: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_file(api, "csv", TABLE)
    monkeypatch.setattr("people.importing.log._SECONDS_BETWEEN_COUNTS", 0)
    run = open_import(alice, TABLE)
    outcomes = run.run()
    list(islice(outcomes, 151))
    assert [progress(row) for row in list_imports(api)] == [("running", 150, 250), ("done", 250, 250)]
    list(outcomes)
    assert (run.import_id, len(list_imports(api))) == (None, 1)


@pytest.mark.parametrize(
    ("data", "total"),
    [
        (vcard("FN:A") + b"stray:line\r\n" + vcard("NOTE:?") + b"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:B\r\n", 4),
        (vcard("FN:A", "AGENT:", "BEGIN:VCARD", "VERSION:2.1", "FN:B", "END:VCARD", version="2.1"), 1),
        ("".join(map(bytes.decode, (vcard("FN:Á"), vcard("FN:B")))).encode("utf-16"), 2),
    ],
)
def test_total_of_vcards_is_the_number_of_their_outcomes(
    api: Client, monkeypatch: pytest.MonkeyPatch, data: bytes, total: int
) -> None:
    seen: list[int] = []
    begin = VCardImport.run

    def run(self: VCardImport, cards: Any, number: int) -> Any:
        seen.append(number)
        return begin(self, cards, number)

    monkeypatch.setattr(VCardImport, "run", run)
    receipt = import_vcards(api, data)
    assert (seen, len(receipt["results"])) == ([total], total)
    monkeypatch.setattr("people.api.vcard.MAX_CARDS", 1)
    receipt = import_vcards(api, data)
    assert seen[1:] == [len(receipt["results"])]


@pytest.mark.parametrize("source", [source for source in FILES if source != "vcard"])
def test_total_is_known_before_the_first_record(alice: User, source: str) -> None:
    upload = ImportFile(source=source, file=io.BytesIO(FILES[source][0]))
    run = FileImport(owner=alice, upload=upload, now=timezone.now())
    assert run.source.count() == len(list(run.source.people()))


def test_what_a_file_has_beside_people_counts_at_the_end(api: Client) -> None:
    lists = [{"type": "contact", "values": [{"properties": {"first_name": "Ada"}}]}, {"type": "ritual", "values": [{}]}]
    receipt = send(api, "monica", orjson.dumps({"account": {"data": lists}}))
    assert [result["name"] for result in receipt["results"]] == ["Ada", "ritual"]
    assert progress(read(api, receipt["importId"])) == ("done", 2, 2)


@pytest.mark.both_databases
@pytest.mark.parametrize("source", FILES)
def test_file_that_changes_nothing_is_no_import(api: Client, source: str) -> None:
    data = FILES[source][0]
    dry = send(api, source, data, dryRun="true", id=str(uuid4()))
    assert (dry["importId"], list_imports(api)) == (None, [])
    first = send(api, source, data)
    key = str(uuid4())
    again = send(api, source, data, id=key)
    assert (again["importId"], again["imported"], again["updated"]) == (None, 0, 0)
    read(api, key, 404)
    assert [row["id"] for row in list_imports(api)] == [first["importId"]]


@pytest.mark.both_databases
def test_files_without_people_are_no_imports(api: Client, settings: Any) -> None:
    assert import_vcards(api, vcard("NOTE:?"))["importId"] is None
    assert send_form(api, "/api/vcard/import", b"\xff\xd8\xff\xe0\0\x10JFIF", "a.jpg").status_code == 400
    assert send_form(api, "/api/import/csv", b"\xff\xd8\xff\xe0\0\x10JFIF", "a.jpg").status_code == 400
    set_plan_limits(settings, people=0)
    assert import_vcards(api, vcard("FN:Ada"), 403)["code"] == "plan_limit"
    assert list_imports(api) == []
    assert not ContactImport.unscoped.exists()


def test_groups_alone_are_an_import(api: Client) -> None:
    receipt = import_vcards(api, vcard("FN:Choir", "KIND:group", version="4.0"))
    assert (receipt["imported"], read(api, receipt["importId"])["results"]) == (0, receipt["results"])


@pytest.mark.both_databases
@pytest.mark.parametrize("key", ["", "x", str(UUID(int=0)), OF_VERSION_4.replace("-", ""), f"{{{OF_VERSION_4}}}"])
@pytest.mark.parametrize("path", ["/api/vcard/import", "/api/import/csv"])
def test_invalid_ids_are_refused(api: Client, path: str, key: str) -> None:
    data = vcard("FN:Ada") if path == "/api/vcard/import" else b"Name\nAda\n"
    for response in (send_form(api, path, data, id=key), send_form(api, f"{path}?id={key}", data)):
        assert (response.status_code, response.json()["details"][0]["field"]) == (400, "id")
    assert send_form(api, path, data, id=str(uuid1())).status_code == 400
    assert people_by_name(api) == {}


@pytest.mark.both_databases
@pytest.mark.parametrize("path", ["/api/vcard/import", "/api/import/csv"])
def test_taken_ids_are_refused(api: Client, alice: User, mallory: User, path: str) -> None:
    data = vcard("FN:Zoe") if path == "/api/vcard/import" else b"Name\nZoe\n"
    foreign = import_file(client_of(mallory), "csv", "Name\nEve\n")["importId"]
    for taken in (make_person(alice).pk, make_person(mallory).pk, mallory.pk, foreign):
        for fields in ({}, {"dryRun": "true"}):
            response = send_form(api, path, data, id=str(taken), **fields)
            assert (response.status_code, response.json()["code"]) == (409, "id_taken")
    key = str(uuid4())
    assert send_form(api, path, data, id=key).json()["importId"] == key
    assert send_form(api, path, data, id=key).json()["code"] == "id_taken"
    body = {"name": "Ada", "id": key}
    assert api.call("POST", "/api/people", body).json()["code"] == "id_taken"
    assert [row["id"] for row in list_imports(api)] == [key]


@pytest.mark.both_databases
def test_a_repeat_while_it_runs_is_refused_at_once(api: Client, alice: User) -> None:
    key = new_id()
    outcomes = open_import(alice, TABLE, import_id=key).run()
    next(outcomes)
    assert import_file(api, "csv", TABLE, 409, id=str(key))["code"] == "id_taken"
    list(outcomes)
    assert len(people_by_name(api)) == 250


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_with_one_id_one_runs(alice: User) -> None:
    key = str(uuid4())
    cards = b"".join(vcard(f"FN:P{n}") for n in range(150))
    path = f"/api/vcard/import?id={key}"
    statuses = run_concurrently(
        *(lambda: client_of(alice).generic("POST", path, cards, "text/vcard").status_code for _ in range(2))
    )
    assert sorted(statuses) == [200, 409]
    client = client_of(alice)
    assert [row["id"] for row in list_imports(client)] == [key]
    assert len(people_by_name(client)) == 150


def test_strangers_do_not_read_it(api: Client, stranger: Client) -> None:
    receipt = import_vcards(api, vcard("FN:Ada"))
    read(stranger, receipt["importId"], 404)
    for unknown in (uuid4(), "x"):
        read(api, unknown, 404)


def test_receipt_is_read_in_the_language_of_now(api: Client) -> None:
    cards = vcard("FN:Ada", "BDAY:2999-01-01", "X-ABDATE:x") + vcard("NOTE:?")
    receipt = import_vcards(api, cards)
    api.ok("PUT", "/api/user/language", {"language": "de-DE"})
    row = read(api, receipt["importId"])
    assert row["results"][0]["reason"].startswith("Other: „x“ ist kein Datum")
    assert row["errorMessages"][0].startswith("Karte 2: ")
    api.ok("PUT", "/api/user/language", {"language": "en"})
    assert {name: read(api, receipt["importId"])[name] for name in receipt} == receipt


@pytest.mark.both_databases
def test_an_undone_import_keeps_its_receipt(api: Client) -> None:
    receipt = import_file(api, "csv", TABLE)
    undo(api, receipt["importId"])
    row = read(api, receipt["importId"])
    assert (progress(row), row["results"]) == (("undone", 250, 250), receipt["results"])
    assert progress(list_imports(api)[0]) == ("undone", 250, 250)


@pytest.mark.both_databases
def test_after_the_retention_the_small_answer_is_left(api: Client) -> None:
    receipt = import_file(api, "csv", TABLE)
    later = timezone.now() + dt.timedelta(days=project.RETENTION_DAYS, minutes=1)
    with time_machine.travel(later - dt.timedelta(minutes=2)):
        assert purge_deleted(now=timezone.now())["receipts of imports"] == 0
        assert read(api, receipt["importId"])["results"] == receipt["results"]
    with time_machine.travel(later):
        row = read(api, receipt["importId"])
        assert (progress(row), row["imported"]) == (("done", 250, 250), 250)
        assert not {"results", "birthdays", "importId"} & row.keys()
        assert purge_deleted(now=later)["receipts of imports"] == 1
        assert read(api, receipt["importId"]) == row


@pytest.mark.both_databases
def test_imports_of_before_have_no_receipt(api: Client, alice: User) -> None:
    keys = [import_file(api, "csv", f"Name\n{name}\n")["importId"] for name in ("Ada", "Bo")]
    undo(api, keys[0])
    ContactImport.objects.owned_by(alice).update(total=None)
    ImportReceipt.unscoped.all().delete()
    rows = [read(api, key) for key in keys]
    assert [progress(row) for row in rows] == [("undone", 1, 1), ("done", 1, 1)]
    assert not any("results" in row for row in rows)


def test_oldest_receipts_go_beyond_the_limits_of_an_account(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("people.importing.receipts._STORED_RECEIPTS", 2)
    keys = [import_file(api, "csv", f"Name\nP{n}\n")["importId"] for n in range(3)]
    assert ["results" in read(api, key) for key in keys] == [False, True, True]
    monkeypatch.setattr("people.importing.receipts._STORED_BYTES", 1000)
    keys += [import_file(api, "csv", f"Name\nQ{n}\n" + "x\n" * 20)["importId"] for n in range(2)]
    sizes = list(ImportReceipt.unscoped.order_by("-created_at").values_list("size", flat=True))
    assert sum(sizes) <= 1000 < sum(sizes) + max(sizes) * 2
    assert "results" in read(api, keys[-1])
    assert [row["state"] for row in list_imports(api)] == ["done"] * 5


@pytest.mark.both_databases
def test_failure_before_the_first_write_leaves_nothing(
    api: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = new_id()
    with monkeypatch.context() as patch:
        patch.setattr("people.importing.batch.ImportBatch.prepare", lambda self: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            list(open_import(alice, TABLE, import_id=key).run())
    assert not ContactImport.unscoped.exists()
    assert import_file(api, "csv", TABLE, id=str(key))["importId"] == str(key)


def test_import_of_which_the_end_is_not_stored_is_told_of(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise OperationalError("database is locked")

    with monkeypatch.context() as patch:
        for name in ("has_written", "finish"):
            patch.setattr(f"people.importing.log.ImportLog.{name}", fail)
        receipt = import_file(api, "csv", TABLE)
    ContactImport.unscoped.update(held_until=timezone.now())
    row = read(api, receipt["importId"])
    assert (receipt["imported"], progress(row), row["endedAt"]) == (250, ("done", 250, 250), None)


@pytest.mark.both_databases
def test_failure_after_the_first_write_leaves_what_was_written(
    api: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = new_id()
    outcomes = open_import(alice, TABLE, import_id=key).run()
    next(outcomes)
    monkeypatch.setattr("people.importing.batch.ImportBatch.prepare", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        list(outcomes)
    row = read(api, key)
    assert (progress(row), row["endedAt"], "results" in row) == (("done", 100, 250), None, False)
    assert undo(api, str(key))["removed"] == 100


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("outcomes", [0, 100])
def test_killed_import_does_not_run_for_ever(alice: User, tmp_path: Path, outcomes: int) -> None:
    key, file = new_id(), tmp_path / "a.csv"
    file.write_text(TABLE)
    program = (
        "import os, signal; from uuid import UUID; from django.utils import timezone\n"
        "from accounts.models import User; from people.importing.batch import ImportBatch\n"
        "from people.importing.runs import FileImport, ImportFile\n"
        "real, calls = ImportBatch.prepare, []\n"
        "def prepare(self):\n"
        f"    if len(calls) == {outcomes // 100}: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    calls.append(real(self))\n"
        "ImportBatch.prepare = prepare\n"
        f"upload = ImportFile(source='csv', file=open({str(file)!r}, 'rb'), name='a.csv')\n"
        f"owner, key = User.objects.get(pk={str(alice.pk)!r}), UUID({str(key)!r})\n"
        "list(FileImport(owner=owner, upload=upload, now=timezone.now(), import_id=key).run())\n"
    )
    environment = {"DATA_DIR": str(project.MEDIA_ROOT / "data")}
    exit_code, output = run_manage(tmp_path, environment, "shell", "--no-imports", "-c", program)
    assert exit_code == -signal.SIGKILL, output
    api = client_of(alice)
    row = read(api, key)
    assert (progress(row), row["endedAt"]) == (("done", outcomes, 250), None)
    if outcomes:
        assert import_file(api, "csv", TABLE, 409, id=str(key))["code"] == "id_taken"
        assert import_file(api, "csv", TABLE)["skipped"] == 100
        assert undo(api, str(key))["removed"] == 100
    else:
        # It has written nothing, so that the client may try again with the same id.
        assert import_file(api, "csv", TABLE, id=str(key))["importId"] == str(key)


def test_lease_of_another_machine_expires(api: Client, alice: User) -> None:
    key = new_id()
    next(open_import(alice, TABLE, import_id=key).run())
    ContactImport.objects.owned_by(alice).update(holder="elsewhere:1:1")
    assert read(api, key)["state"] == "running"
    ContactImport.objects.owned_by(alice).update(held_until=timezone.now())
    assert read(api, key)["state"] == "done"
    ContactImport.objects.owned_by(alice).update(holder=this_process(), held_until=timezone.now() + dt.timedelta(1))
    assert read(api, key)["state"] == "running"
