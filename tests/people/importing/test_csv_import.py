"""Imports of CSV files: columns by name or by a mapping, encodings, delimiters, bad rows, dry runs."""

import io
import json
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from contacts_project.kernel.errors import FieldError
from people.importing.runs import FileImport, ImportFile
from people.importing.sources.days import DayReader
from tests.builders import set_plan_limits
from tests.client import Client
from tests.people.importing.uploads import counts, import_file, people_by_name, send_form
from tests.rounds import database_settings

pytestmark = pytest.mark.sqlite_suffices

GERMAN = (
    "Vorname;Nachname;E-Mail;Telefon (privat);Handy;Straße;PLZ;Ort;Geburtstag;Gruppe;Schuhgröße\r\n"
    "Jürgen;Müller;juergen@example.org;089 1234567;0171 7654321;Hauptstraße 1;"
    "80331;München;24.12.1980;Freunde,Chor;44\r\n"
    "Änne;Groß;;;;;;;31.02.1990;Chor;\r\n"
    ";;;;;;;;;Chor;\r\n"
)


def test_columns_are_recognized_by_name_and_others_reported(api: Client) -> None:
    response = import_file(api, "csv", GERMAN.encode("cp1252"))
    assert counts(response) == (2, 0, 0, 1)
    assert response["results"][0]["reason"] == "the column “Schuhgröße” was left out"
    assert "31.02.1990" in response["results"][1]["reason"]
    assert response["errorMessages"] == ["Row 3: this record has no name, and nothing else to call it by"]
    person = people_by_name(api)["Jürgen"]
    assert (person["surname"], person["emails"][0]["email"]) == ("Müller", "juergen@example.org")
    assert [(entry["type"], entry["number"]) for entry in person["phoneNumbers"]] == [
        ("home", "089 1234567"),
        ("mobile", "0171 7654321"),
    ]
    [address] = person["addresses"]
    assert (address["streetLine1"], address["postalCode"], address["locality"]) == ("Hauptstraße 1", "80331", "München")
    [day] = person["importantDates"]
    assert (day["type"], day["date"]) == ("BIRTHDAY", "1980-12-24T00:00:00.000Z")
    assert {group["name"] for group in person["groups"]} == {"Freunde", "Chor"}


def test_repeated_import_changes_nobody(api: Client, alice: User) -> None:
    import_file(api, "csv", GERMAN)
    before = people_by_name(api)
    repeated = import_file(api, "csv", GERMAN)
    assert counts(repeated) == (0, 0, 2, 1)
    assert people_by_name(api) == before
    imports = api.ok("GET", "/api/imports")["imports"]
    assert [(row["source"], row["fileName"], row["imported"], row["skipped"]) for row in imports] == [
        ("csv", "contacts.csv", 2, 0)
    ]
    assert repeated["importId"] is None


def test_a_mapping_names_columns_by_header_or_number(api: Client) -> None:
    mapping = {"A": "name", "2": "phone:mobile", "C": "address.city:work", "4": "ignore", "e": "contactReminderEnabled"}
    response = import_file(api, "csv", "A,B,C,D,E\nAda,+44 1,London,secret,yes\n", mapping=json.dumps(mapping))
    assert counts(response) == (1, 0, 0, 0)
    assert "reason" not in response["results"][0]
    person = people_by_name(api)["Ada"]
    assert [(entry["type"], entry["number"]) for entry in person["phoneNumbers"]] == [("mobile", "+44 1")]
    assert (person["addresses"][0]["type"], person["addresses"][0]["locality"]) == ("work", "London")
    assert (person["contactReminderEnabled"], person["contactReminderInterval"]) == (True, 1)


@pytest.mark.parametrize(
    "mapping", ['{"A": "shoeSize"}', '{"Z": "name"}', '{"9": "name"}', '{"A": 1}', "[]", "{", "[" * 90_000]
)
def test_invalid_mapping_is_refused(api: Client, mapping: str) -> None:
    response = import_file(api, "csv", "A,B\nAda,1\n", 400, mapping=mapping)
    assert response["details"][0]["field"].startswith("mapping")


@pytest.mark.both_databases
def test_dry_run_returns_the_same_result_and_writes_nothing(api: Client, alice: User) -> None:
    alice.refresh_from_db()
    revision = alice.revision
    rows = "".join(f"Person {n},p{n}@example.org,Team\n" for n in range(150))
    data = f"Name,Email,Group\n{rows}Person 3,p3@example.org,Team\n"
    dry = import_file(api, "csv", data, dryRun="true")
    assert (counts(dry), dry["importId"]) == ((150, 0, 1, 0), None)
    alice.refresh_from_db()
    assert (alice.revision, people_by_name(api), api.ok("GET", "/api/imports")["imports"]) == (revision, {}, [])
    assert counts(import_file(api, "csv", data)) == counts(dry)


def test_a_dry_run_counts_reminders_of_earlier_batches(api: Client, settings: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("people.importing.vcards._BATCH_CARDS", 1)
    set_plan_limits(settings, people=9, groups=9, reminders=1, templates=1)
    data = "Name,contactReminderEnabled\nAda,yes\nBob,yes\n"
    reasons = [
        [result.get("reason") for result in import_file(api, "csv", data, dryRun=dry)["results"]]
        for dry in ("true", "")
    ]
    assert reasons[0] == reasons[1] == [None, "your plan allows 1 reminder: its contact reminder is off"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252", "cp1251", "shift_jis"])
def test_encodings_and_separators_are_found(api: Client, encoding: str) -> None:
    name, city = {"cp1251": ("Фёдор Достоевский", "Москва"), "shift_jis": ("山田太郎", "東京都千代田区")}.get(
        encoding, ("Jörg Größer", "Zürich")
    )
    data = f'Name\tCity\tNotes\n{name}\t{city}\t"two\nlines"\n'.encode(encoding)
    response = send_form(api, "/api/import/csv/inspect", data).json()
    assert response["delimiter"] == "\t"
    assert response["columns"][0] == {"name": "Name", "samples": [name], "proposal": "name"}
    assert response["columns"][1] == {"name": "City", "samples": [city], "proposal": "address.city"}
    import_file(api, "csv", data)
    assert people_by_name(api)[name]["notes"] == "two\nlines"


@pytest.mark.one_database
def test_the_western_encoding_wins_where_the_first_lines_fit_others_as_well(api: Client) -> None:
    rows = [f"Jörg;{'Müller ' * 12}{number}" for number in range(300)]  # more than the 16 KiB that are looked at
    data = "\n".join(["Vorname;Nachname", *rows, "Adèle;Besançon"]).encode("cp1252")
    assert send_form(api, "/api/import/csv/inspect", data).json()["encoding"] == "windows-1252"
    import_file(api, "csv", data)
    assert people_by_name(api)["Adèle"]["surname"] == "Besançon"


def test_a_table_without_header_is_guessed_by_its_values(api: Client) -> None:
    columns = send_form(api, "/api/import/csv/inspect", "Ada,Lovelace,ada@example.org,+44 1234567\n").json()["columns"]
    assert [column["proposal"] for column in columns] == ["name", "surname", "email", "phone"]
    assert [column["name"] for column in columns] == ["1", "2", "3", "4"]


def test_a_line_may_name_the_separator_and_blanks_may_follow_it(api: Client) -> None:
    import_file(api, "csv", 'sep=;\r\nName; "Notes"\r\n"Ada"; "one, two"\r\n')
    assert people_by_name(api)["Ada"]["notes"] == "one, two"


@pytest.mark.both_databases
def test_bad_row_does_not_stop_the_others(api: Client) -> None:
    data = (
        b"Name,Email,Notes\n"
        b'Ada,ada@example.org,"never closed\n'
        b"Bob,bob@example.org,=HYPERLINK(1)\n"
        b"Cy\0d,cyd@example.org," + b"x" * 20_000 + b"\n"
        b"Dan," + b"y" * 140_000 + b"@example.org,\n"
        b"Eve,not-an-address,fine,beyond\n"
    )
    response = import_file(api, "csv", data)
    assert counts(response) == (4, 0, 0, 1)
    reasons = [result.get("reason", "") for result in response["results"]]
    assert "not closed" in reasons[0]
    assert "control characters" in reasons[2]
    assert [remark["code"] for remark in response["results"][2]["remarks"]] == ["controls_removed", "value_cut"]
    assert response["results"][2]["remarks"][1]["params"]["limit"] == 10_000
    assert "more than 131,072 characters" in response["errorMessages"][0]
    assert [remark["params"]["value"] for remark in response["results"][4]["remarks"]] == ["not-an-address", "beyond"]
    people = people_by_name(api)
    assert people["Bob"]["notes"] == "=HYPERLINK(1)"
    assert people["Eve"]["customFields"][0]["value"] == "not-an-address"


@pytest.mark.parametrize(
    ("row", "name", "notes", "is_damaged"),
    [
        ('"Ada,never closed', "Ada", "never closed", True),
        ('Ada,"never closed', "Ada", "never closed", True),
        ('Ada,6" pipe', "Ada", '6" pipe', False),
        ('"Byron, Ada",6" pipe', "Byron, Ada", '6" pipe', False),
        ('"Ada" L.,"never closed', 'Ada" L.', "never closed", True),
        ('6" pipe,"never closed', '6" pipe', "never closed", True),
    ],
)
def test_quote_in_the_last_row(api: Client, row: str, name: str, notes: str, is_damaged: bool) -> None:
    [result] = import_file(api, "csv", f"name,notes\n{row}\n".encode())["results"]
    assert people_by_name(api)[name]["notes"] == notes
    assert ("not closed" in result.get("reason", "")) == is_damaged


def test_quote_that_is_open_at_the_end_takes_no_rows(api: Client) -> None:
    rows = ['Ada,6" pipe,"never closed', "Eve,,", "Bob,,"]  # an even number of quotes
    results = import_file(api, "csv", "\n".join(["name,notes,jobTitle", *rows, ""]).encode())["results"]
    assert ["not closed" in result.get("reason", "") for result in results] == [True, False, False]
    assert people_by_name(api).keys() == {"Ada", "Eve", "Bob"}


def test_other_files_are_refused(api: Client) -> None:
    assert import_file(api, "csv", b"", 400)["details"][0]["field"] == "file"
    assert import_file(api, "csv", b"\n\n \n", 400)["details"][0]["field"] == "file"
    assert import_file(api, "linkedin", "Name,Email\nAda,a@example.org\n", 400)["details"][0]["field"] == "file"
    assert send_form(api, "/api/import/vcard", "Name\nAda\n").status_code == 404
    assert import_file(api, "csv", "Name\nAda\n", 400, dryRun="perhaps")["details"][0]["field"] == "dryRun"
    assert api.call("POST", "/api/import/csv", {"file": "x"}).status_code == 415


def test_plan_limit_applies(api: Client, settings: Any) -> None:
    set_plan_limits(settings, people=2, groups=1, reminders=0, templates=1)
    data = "Name,Group,contactReminderEnabled\nAda,One,yes\nBob,Two,\nCyd,One,\n"
    dry = import_file(api, "csv", data, dryRun="true")
    response = import_file(api, "csv", data)
    assert counts(response) == counts(dry) == (2, 0, 0, 1)
    assert "reminder is off" in response["results"][0]["reason"]
    assert "Two" in response["results"][1]["reason"]
    assert import_file(api, "csv", "Name\nDan\n", 403)["code"] == "plan_limit"
    assert len(api.ok("GET", "/api/imports")["imports"]) == 1


@pytest.mark.parametrize(
    ("text", "is_month_first", "day"),
    [
        ("1980-02-29", False, "1980-02-29"),
        ("--02-29", False, "1604-02-29"),
        ("3.4.1980", True, "1980-04-03"),
        ("3/4/1980", True, "1980-03-04"),
        ("3/4/1980", False, "1980-04-03"),
        ("13/4/1980 0:00", True, "1980-04-13"),
        ("12 Mar 2024", False, "2024-03-12"),
        ("7-Feb-82", False, "1982-02-07"),
        ("March 5, 1999", False, "1999-03-05"),
        ("30.2.1980", False, None),
        ("yesterday", False, None),
    ],
)
def test_dates_are_read_in_common_formats(text: str, is_month_first: bool, day: str | None) -> None:
    found = DayReader(is_month_first, 2026).read(text)
    assert (found and found[0].isoformat()) == day


@pytest.mark.both_databases
@given(st.binary(max_size=400))
@database_settings(20)
def test_any_bytes_end_in_a_receipt_or_a_refusal(alice: User, data: bytes) -> None:
    upload = ImportFile(source="csv", file=io.BytesIO(data))
    try:
        outcomes = list(FileImport(owner=alice, upload=upload, now=timezone.now(), is_dry=True).run())
    except FieldError:
        return
    assert all(outcome.status for outcome in outcomes)
