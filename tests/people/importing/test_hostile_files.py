"""Malicious files that are meant to take much time or memory or to cause an error 500 are handled."""

import csv
import datetime as dt
import gzip
import io
import json
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.texts import Text
from people.importing.sources import tables
from people.importing.sources.days import DateColumn, DayReader
from people.importing.sources.documents import parse_datetime
from people.importing.sources.drafts import RecordDraft
from people.importing.sources.monica_tables import open_sql_export, read_tables
from people.importing.sources.sheets import open_csv
from people.importing.sources.tables import DETECT_ALL, open_table
from people.importing.sources.targets import read_mapping
from people.vcard.limits import MAX_REMARKS, TEXT_LIMITS
from tests.client import Client
from tests.people.importing.uploads import import_file

pytestmark = pytest.mark.sqlite_suffices


def test_unclosed_comment_hides_the_rest_of_the_file() -> None:
    text = "INSERT INTO `tags` (`id`) VALUES (1);" + "/* ;" * 50_000 + "INSERT INTO `tags` (`id`) VALUES (2);"
    assert read_tables(io.BytesIO(text.encode()), frozenset({"tags"})) == {"tags": [{"id": "1"}]}


def test_records_of_a_shared_id_are_read_once() -> None:
    tables = ("contacts (id)", "conversations (id, contact_id)", "messages (conversation_id)")
    rows = ("(1)", "(1, 1)", "(1)")
    text = "".join(
        f"INSERT INTO {table} VALUES {', '.join([row] * 200)};\n" for table, row in zip(tables, rows, strict=True)
    )
    contacts = open_sql_export(io.BytesIO(text.encode()))["data"][0]["values"]
    assert len(contacts) == 1
    [conversation] = contacts[0]["data"][0]["values"]
    assert len(conversation["properties"]["messages"]) == 200


def test_unclosed_quotes_cause_few_lines_to_be_read_again(monkeypatch: Any) -> None:
    lines_read = 0

    class Counting(tables._RereadableLines):
        def __next__(self) -> str:
            nonlocal lines_read
            line = super().__next__()
            lines_read += 1
            return line

    monkeypatch.setattr(tables, "_RereadableLines", Counting)
    monkeypatch.setattr(tables, "_MAX_REREAD", 20_000)
    lines = 'a","b\n' * 3_001
    rows = list(tables._parse_rows(iter(lines.splitlines(keepends=True)), ","))
    assert [list(row.cells) for row in rows] == [["a", "b"]] * 3_001
    assert lines_read < 3 * 3_001


def test_separator_is_found_in_a_bounded_number_of_characters(monkeypatch: Any) -> None:
    """csv.Sniffer, which was used before, took the fourth power of the length of a line with one quote."""
    monkeypatch.delattr("csv.Sniffer")
    read: list[int] = []

    def count_characters(lines: Any, **options: Any) -> Any:
        text = list(lines)
        read.append(sum(map(len, text)))
        return csv.reader(text, **options)

    monkeypatch.setattr(tables, "csv", SimpleNamespace(reader=count_characters, Error=csv.Error))
    for size in (400, 800, 2_000_000):
        read.clear()
        tables._detect_delimiter(['"a' * size])
        assert read == [min(2 * size, tables._SAMPLE_CHARACTERS)] * 4


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("Name;Street, number\nAda;High Street, 1\n", ";"),
        ("Name|Phone\nAda|1;2;3\n", "|"),
        ('"Last, First";Phone\n"Lovelace, Ada";1\n', ";"),
        ("Last, first;Phone\nLovelace, Ada;1\n", ";"),
        ("Name\tNotes\nAda\tone, two, three\n", "\t"),
        ('\n\nName;Notes\nAda;6" pipe, blue\n', ";"),
        ("Name\n", ","),
        ("", ","),
    ],
)
def test_separator_of_a_table(text: str, mark: str) -> None:
    assert tables._detect_delimiter(text.splitlines(keepends=True)) == mark


@pytest.mark.parametrize(
    ("source", "document"),
    [
        ("monica", '{{"account": {{"data": [{}]}}}}'.format(",".join(["{}"] * 40))),
        ("monica", "INSERT INTO `tags` (`id`) VALUES {};".format(",".join(["(1)"] * 40))),
        ("nametag", '{{"exportDate": "2026-01-01", "people": [{}]}}'.format(",".join(["{}"] * 40))),
    ],
)
def test_values_of_a_document_are_limited(api: Client, monkeypatch: Any, source: str, document: str) -> None:
    for module in ("contacts_project.kernel.json", "people.importing.sources.monica_tables"):
        monkeypatch.setattr(f"{module}.MAX_DOCUMENT_VALUES", 50)
    [detail] = import_file(api, source, document, status=400)["details"]
    assert detail["field"] == "file"
    assert "values" in detail["message"]


def test_of_more_contacts_than_are_imported_one_is_built(monkeypatch: Any) -> None:
    monkeypatch.setattr("people.importing.sources.monica_tables.MAX_ROWS", 2)
    text = "INSERT INTO contacts (id) VALUES (1), (2), (3), (4);"
    contacts = open_sql_export(io.BytesIO(text.encode()))["data"][0]["values"]
    assert [contact["properties"]["id"] for contact in contacts] == ["1", "2", "3"]


def test_rows_that_are_not_read_do_not_count_as_values(monkeypatch: Any) -> None:
    monkeypatch.setattr("people.importing.sources.monica_tables.MAX_DOCUMENT_VALUES", 50)
    text = "INSERT INTO `users` (`id`) VALUES {};\nINSERT INTO `tags` (`id`) VALUES (1);".format(",".join(["(1)"] * 40))
    assert read_tables(io.BytesIO(text.encode()), frozenset({"tags"})) == {"tags": [{"id": "1"}]}


def test_remarks_and_notes_of_a_record_are_limited() -> None:
    draft = RecordDraft(DayReader(is_month_first=False, this_year=2026))
    draft.set_text("name", "Ada")
    for number in range(2_000):
        draft.warn(Text("remark", f"remark {number}"))
        draft.set_text("notes", "x" * 1_000)
    result = draft.build_result(0)
    assert len(result.warnings) == MAX_REMARKS + 1
    assert str(result.warnings[-1]).startswith("and 1,9")
    assert result.card is not None
    assert len(result.card.notes or "") == TEXT_LIMITS["notes"]


def test_unreadable_file_is_a_request_error(api: Client) -> None:
    assert import_file(api, "csv", "x" * 140_000, status=400)["error"]
    assert import_file(api, "csv", "Name\nAda\n", status=400, mapping='{"Name": "\\ud800"}')["error"]
    wide = import_file(api, "csv", "Name,Email\nAda," + "," * tables.MAX_COLUMNS + "\nBob,\n")
    assert (wide["imported"], wide["errorMessages"]) == (1, ["Row 1: the row has more than 1,000 cells"])
    empty = import_file(api, "csv", "Name,Email\n")
    assert (empty["success"], empty["errors"], empty["importId"]) == (True, 0, None)
    assert len(api.ok("GET", "/api/imports")["imports"]) == 1
    for junk in (
        gzip.compress(b"Name\n" * 9_999),
        bytes(range(256)) * 40,
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"\xd0\xcf\x11\xe0" + bytes(500),
    ):
        assert import_file(api, "csv", junk, status=400)["details"][0]["field"] == "file"


def test_orders_of_dates_are_joined_once_for_all_columns(alice: User, monkeypatch: Any) -> None:
    merged = 0

    def count_merge(column: DateColumn, other: DateColumn) -> None:
        nonlocal merged
        merged += 1

    monkeypatch.setattr(DateColumn, "merge", count_merge)
    data = ",".join(["name", *["birthday"] * 300]) + "\n" + ",".join(["Ada", *["4/3/1980"] * 300]) + "\n"
    open_csv(alice, io.BytesIO(data.encode()), "", timezone.now(), DETECT_ALL)
    assert merged == 300


def test_columns_of_a_mapping_are_folded_once(alice: User, monkeypatch: Any) -> None:
    class CountedName(str):
        folded = 0

        def casefold(self) -> str:
            CountedName.folded += 1
            return super().casefold()

    table = open_table(io.BytesIO(b"Name,Notes\nAda,\n"))
    table.names = [CountedName(name) for name in table.names]
    keys = {"name": "name", "NAME": "name", "nAME": "name", "NOTES": "notes", "notes": "notes"}
    assert [target.field for target in read_mapping(json.dumps(keys), table)] == ["name", "notes"]
    assert CountedName.folded == len(table.names)


def test_times_have_the_range_of_the_api(api: Client, alice: User) -> None:
    assert [parse_datetime(f"{year}-06-01T00:00:00Z") for year in ("0001", "0999")] == [None, None]
    assert parse_datetime("9999-12-31T23:00:00Z") is None
    assert parse_datetime("1000-06-01") == dt.datetime(1000, 6, 1, 12, tzinfo=dt.UTC)
    entries = [{"date": f"{year}-12-31", "title": "A day", "peopleIds": ["a"]} for year in ("0001", "2020", "9999")]
    account = {"exportDate": "2026-01-01", "people": [{"id": "a", "name": "Ada"}], "journalEntries": entries}
    assert import_file(api, "nametag", json.dumps(account))["imported"] == 1
    assert len(api.ok("GET", "/api/interactions")["interactions"]) == 1


def test_number_of_records_other_than_people_is_limited(api: Client, monkeypatch: Any) -> None:
    for name in ("MAX_TYPES", "MAX_INTERACTIONS", "MAX_RELATIONSHIPS"):
        monkeypatch.setattr(f"people.importing.related_records.{name}", 1)
    relationships = [{"relatedPersonId": "b", "relationshipType": {"name": name}} for name in ("ONE", "TWO")]
    people = [{"id": "a", "name": "Ada", "relationships": relationships}, {"id": "b", "name": "Bob"}]
    entries = [{"date": f"2020-01-0{day}", "title": "A day", "peopleIds": ["a"]} for day in (1, 2, 3)]
    account = {"exportDate": "2026-01-01", "people": people, "journalEntries": entries}
    receipt = import_file(api, "nametag", json.dumps(account))
    assert import_file(api, "nametag", json.dumps(account), dryRun="true")["skipped"] == 5
    assert [(result["name"], result["reason"]) for result in receipt["results"][2:]] == [
        (name, f"{count} of them were left out: of one file 1 are taken")
        for name, count in (("relationship types", 1), ("interactions", 2), ("relationships", 1))
    ]
    assert len(api.ok("GET", "/api/interactions")["interactions"]) == 1
    assert len(api.ok("GET", "/api/relationships")["relationships"]) == 2
