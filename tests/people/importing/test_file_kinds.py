"""Files that are no tables, given as one: refused by what they are, never an import of nobody."""

import io
import json
import zipfile

import pytest

from tests.client import Client
from tests.people.importing.uploads import import_file, import_vcards, send_form, vcard

pytestmark = [pytest.mark.one_database, pytest.mark.django_db]


def archive(*names: str, content: bytes = b"x" * 200_000) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as target:
        for name in names:
            target.writestr(name, content)
    return file.getvalue()


PEOPLE = [{"name": "Ada", "phones": ["+49 30 123456"]}, {"name": "Bob"}]
FILES = {
    "vcard": ("file_is_vcard", vcard("FN:Ada Lovelace", "N:Lovelace;Ada;;;")),
    "vcard in UTF-16": ("file_is_vcard", vcard("FN:Ada Lovelace").decode().encode("utf-16")),
    "json": ("file_is_json", json.dumps(PEOPLE, indent=2).encode()),
    "json of an object": ("file_is_json", json.dumps({"version": 1, "people": PEOPLE}).encode()),
    "json in lines": ("file_is_json", b"\n".join(json.dumps(one).encode() for one in PEOPLE)),
    "json that is cut": ("file_is_json", json.dumps(PEOPLE).encode()[:-5]),
    "json of texts": ("file_is_json", b'["Ada", "Bob"]'),
    "empty json": ("file_is_json", b"[]"),
    "json with a mark": ("file_is_json", b"\xef\xbb\xbf {\n }"),
    "html": ("file_is_html", b"<!DOCTYPE html>\n<html><body><table><tr><td>Name</td></tr></table></body></html>"),
    "html of Excel": (
        "file_is_html",
        b'<html xmlns:x="urn:schemas-microsoft-com:office:excel"><table></table>',
    ),
    "table of html": ("file_is_html", b"\n <TABLE border=1><tr><td>Ada</td></tr></TABLE>"),
    "xml": ("file_is_xml", b'<?xml version="1.0"?>\n<people><person/></people>'),
    "xml without declaration": ("file_is_xml", b'<contacts type="all">\n<contact name="Ada"/></contacts>'),
    "ldif": ("file_is_ldif", b"version: 1\n\ndn: cn=Ada,mail=ada@example.org\nobjectclass: person\ncn: Ada\n"),
    "calendar": ("file_is_calendar", b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n"),
    "sql": ("file_is_sql", b"-- MySQL dump\nCREATE TABLE people (name TEXT);\nINSERT INTO people VALUES ('Ada');\n"),
    "sql statement": ("file_is_sql", b"INSERT INTO contacts (id, name) VALUES (1, 'Ada');"),
    "xlsx": ("file_is_spreadsheet", archive("[Content_Types].xml", "_rels/.rels", "xl/workbook.xml")),
    "ods": ("file_is_spreadsheet", archive("mimetype", content=b"application/vnd.oasis.opendocument.spreadsheet")),
    "xls": ("file_is_spreadsheet", b"\xd0\xcf\x11\xe0" + bytes(3000) + "Workbook".encode("utf-16-le") + bytes(900)),
    "doc": ("file_is_document", b"\xd0\xcf\x11\xe0" + bytes(3000) + "WordDocument".encode("utf-16-le") + bytes(900)),
    "docx": ("file_is_document", archive("[Content_Types].xml", "word/document.xml")),
    "pdf": ("file_is_document", b"%PDF-1.7\n1 0 obj\n"),
    "rtf": ("file_is_document", rb"{\rtf1\ansi Ada}"),
    "zip": ("file_is_archive", archive("contacts.csv")),
    "gzip": ("file_is_archive", b"\x1f\x8b\x08" + bytes(20)),
    "png": ("file_is_picture", b"\x89PNG\r\n\x1a\n"),
    "jpeg": ("file_is_picture", b"\xff\xd8\xff\xe0"),
    "sqlite": ("not_a_text_file", b"SQLite format 3\0"),
    "bytes": ("not_a_text_file", bytes(range(256)) * 20),
}


@pytest.mark.parametrize("source", ["csv", "csv/inspect", "google", "outlook", "linkedin"])
@pytest.mark.parametrize(("code", "data"), FILES.values(), ids=FILES.keys())
def test_a_file_that_is_no_table_is_refused_by_what_it_is(api: Client, code: str, data: bytes, source: str) -> None:
    response = send_form(api, f"/api/import/{source}", data)
    assert response.status_code == 400
    assert [(detail["field"], detail["code"]) for detail in response.json()["details"]] == [("file", code)]
    assert api.ok("GET", "/api/people")["people"] == []


@pytest.mark.parametrize(
    "data",
    [
        b"[Name],[Email]\nAda,ada@example.org\n",
        b"<Name>;<Email>\nAda;ada@example.org\n",
        b"{Name},{Email}\nAda,ada@example.org\n",
        b"DN,Name\ndn1,Ada\n",
        b"Begin,Name\n2020,Ada\n",
        b"-- my friends --\nAda,ada@example.org\n",
        b"Name,Notes\nAda,BEGIN:VCARD\n",
        b"set,Name\n1,Ada\n",
    ],
)
def test_a_table_that_begins_like_another_file_is_a_table(api: Client, data: bytes) -> None:
    assert send_form(api, "/api/import/csv/inspect", data).status_code == 200


@pytest.mark.parametrize(
    "data", [b"Name,Phone\nAda,1\n", b"Name,At\nAda,10:30\n", b"%PDF-1.7", b"<html>a:b</html>", b'{"a": 1}']
)
def test_what_has_no_card_is_no_vcard_file(api: Client, data: bytes) -> None:
    details = import_vcards(api, data, 400)["details"]
    assert [(detail["field"], detail["code"]) for detail in details] == [("file", "no_vcard")]


@pytest.mark.parametrize("source", ["monica", "nametag"])
def test_a_table_is_no_export_of_an_account(api: Client, source: str) -> None:
    import_file(api, source, b"Name,Email\nAda,ada@example.org\n", 400)
