"""The kind of a file is seen from its content; lines that were typed are a table; archives are unpacked."""

import io
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.people.importing.test_account_imports import NAMETAG
from tests.people.importing.test_file_kinds import FILES as NO_TABLES
from tests.people.importing.test_file_kinds import archive
from tests.people.importing.uploads import vcard
from tests.web.modules import run_in_client

IMPORTING = Path("tests/people/importing")
OUTLOOK_EN = (
    "Title,First Name,Middle Name,Last Name,Suffix,Company,Department,Job Title,Business Street,E-mail Address\n"
)
OUTLOOK_JA = "肩書き,名,ミドル ネーム,姓,敬称,会社名,部署,役職,番地 (会社),電子メール アドレス\n,花子,,山田,,,,,,\n"
LINKEDIN = (
    'Notes:\n"When exporting, you may notice that some addresses are missing."\n\n'
    "First Name,Last Name,URL,Email Address,Company,Position,Connected On\nAda,Lovelace,,,,,01 Jan 2024\n"
)
GOOGLE_NEW = "First Name,Middle Name,Last Name,Labels,E-mail 1 - Label,E-mail 1 - Value,Phone 1 - Value\nAda,,L,,,,\n"
GOOGLE_OLD = "Name,Given Name,Additional Name,Family Name,Group Membership,E-mail 1 - Type\nAda,Ada,,L,* myContacts,\n"
KINDS: dict[str, tuple[str, bytes]] = {
    "vCard": ("vcard", vcard("FN:Ada")),
    "vCard of an iPhone in UTF-16": ("vcard", vcard("FN:Ada").decode().encode("utf-16")),
    "vCard with a mark and a grouped line": ("vcard", "\ufeffitem1.BEGIN:VCARD\nFN:Ada\nEND:VCARD\n".encode()),
    "Google, new columns": ("google", GOOGLE_NEW.encode()),
    "Google, old columns": ("google", GOOGLE_OLD.encode()),
    "Google in UTF-16": ("google", GOOGLE_OLD.encode("utf-16")),
    "Outlook in English": ("outlook", OUTLOOK_EN.encode()),
    "Outlook in German": ("outlook", (IMPORTING / "tables/outlook_de.csv").read_bytes()),
    "Outlook in French": ("outlook", (IMPORTING / "tables/outlook_fr.csv").read_bytes()),
    "Outlook in Japanese": ("outlook", OUTLOOK_JA.encode("shift_jis")),
    "LinkedIn, with notes above": ("linkedin", LINKEDIN.encode()),
    "Monica, JSON": ("monica", (IMPORTING / "files/monica_fidelity.json").read_bytes()),
    "Monica, SQL": ("monica", b"-- MySQL dump\nSET NAMES utf8;\nINSERT IGNORE INTO `accounts` (`id`) VALUES (1);\n"),
    "Monica, SQL without comment": ("monica", b"INSERT INTO `contacts` (`id`) VALUES (1);\n"),
    "Nametag": ("nametag", json.dumps(NAMETAG).encode()),
    "Thunderbird": ("csv", (IMPORTING / "tables/thunderbird_de.csv").read_bytes()),
    "own table": ("csv", b"Wer;Handy\nAda;0170 1112233\n"),
    "own table with tabs": ("csv", "Name\tGeburtstag\nJörg\t1.2.1990\n".encode("cp1252")),
    "own table with Excel's first line": ("csv", b"sep=;\r\nName;Mail\r\nAda;ada@example.org\r\n"),
    "names in one column": ("csv", b"Name\nAda Lovelace\nBob Builder\n"),
    "addresses of mail": ("csv", b"ada@example.org\nbob@example.org\n"),
    "column names in brackets": ("csv", b"[Name],[Email]\nAda,ada@example.org\n"),
    "own account": ("account", b'{"format": "contact-network", "version": 1, "people": []}'),
    "Outlook's data file": ("otherProgram", b"!BDN" + bytes(100)),
    "nothing": ("empty", b""),
    "blank": ("empty", b" \r\n\r\n"),
    "prose": ("unknown", b"Dear Ada\n\nthank you for the engine.\n"),
}
# What the service says of a file that is no table, in the words of the client.
WORDS = {
    "file_is_vcard": "vcard",
    "file_is_json": "otherProgram",
    "file_is_html": "webPage",
    "file_is_xml": "otherProgram",
    "file_is_ldif": "otherProgram",
    "file_is_calendar": "calendar",
    "file_is_sql": "monica",
    "file_is_spreadsheet": "spreadsheet",
    "file_is_document": "document",
    "file_is_archive": "archive",
    "file_is_picture": "picture",
}
# The files are in a folder, as numbers: an argument of a program has at most 128 KiB.
READ = """
const { readFileSync } = await import("node:fs");
const files = Array.from({ length: input.count }, (_, number) => readFileSync(`${input.folder}/${number}`));
"""
RECOGNISE = f"""{READ}
const {{ HEAD_BYTES, recognise }} = await load("features/imports/kinds.ts");
return files.map((bytes) => {{
  const found = recognise(bytes.subarray(0, HEAD_BYTES), bytes.subarray(-HEAD_BYTES));
  return found.kind ?? found.wrong;
}});
"""
LINES = """
const { tableOfLines } = await load("features/imports/lines.ts");
return input.map((text) => { const { content, extension } = tableOfLines(text); return [extension, content]; });
"""
UNPACK = f"""{READ}
const {{ unpack }} = await load("features/imports/zip.ts");
const found = [];
for (const bytes of files) {{
  const inside = await unpack(new Blob([bytes]));
  found.push(await Promise.all(inside.map(async (file) => [file.name, (await file.text()).slice(0, 20), file.size])));
}}
return found;
"""


def run_with_files(program: str, folder: Path, files: Iterable[bytes]) -> Any:
    count = 0
    for count, data in enumerate(files, start=1):
        (folder / str(count - 1)).write_bytes(data)
    return run_in_client(program, {"folder": str(folder), "count": count})


def recognise(folder: Path, files: dict[str, bytes]) -> dict[str, Any]:
    return dict(zip(files, run_with_files(RECOGNISE, folder, files.values()), strict=True))


def test_every_kind_is_recognised_from_the_content(tmp_path: Path) -> None:
    found = recognise(tmp_path, {name: data for name, (_kind, data) in KINDS.items()})
    assert found == {name: kind for name, (kind, _data) in KINDS.items()}


def test_what_the_service_refuses_as_a_table_is_known_before(tmp_path: Path) -> None:
    found = recognise(tmp_path, {name: data for name, (_code, data) in NO_TABLES.items()})
    expected = {name: WORDS.get(code) for name, (code, _data) in NO_TABLES.items()}
    unknown = {name for name, code in expected.items() if code is None}
    assert {name: kind for name, kind in found.items() if name not in unknown} == {
        name: kind for name, kind in expected.items() if name not in unknown
    }
    assert {name: found[name] for name in unknown} == {"sqlite": "otherProgram", "bytes": "unknown"}


def test_typed_lines_are_a_table() -> None:
    texts = [
        "Ana García, +34 600 111 222, ana@example.org\nBen Miller <ben@example.org>\n- 山田 花子 03-1234-5678",
        "Name\tPhone\nAda\t1234567",
        "Name,Birthday\nAda,1990-02-01",
        "  BEGIN:VCARD\nFN:Ada\nEND:VCARD",
    ]
    typed = (
        '"full name","phone","email"\n"Ana García","+34 600 111 222","ana@example.org"\n'
        '"Ben Miller","","ben@example.org"\n"山田 花子","03-1234-5678",""'
    )
    assert run_in_client(LINES, texts) == [
        ["csv", typed],
        ["csv", "Name\tPhone\nAda\t1234567"],
        ["csv", "Name,Birthday\nAda,1990-02-01"],
        ["vcf", "BEGIN:VCARD\nFN:Ada\nEND:VCARD"],
    ]


def test_an_archive_gives_its_files_of_people(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("Takeout/Contacts/All Contacts.vcf", vcard("FN:Ada"))
        target.writestr("Takeout/photo.jpg", b"\xff\xd8\xff")
        target.writestr("__MACOSX/._All Contacts.vcf", b"x")
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("zeros.csv", bytes(21 * 1024 * 1024))
        target.writestr("people.csv", b"Name\nAda\n")
    damaged = archive("contacts.csv")[:-30]
    found = run_with_files(UNPACK, tmp_path, [packed.getvalue(), bomb.getvalue(), damaged, b"PK\x03\x04"])
    assert found == [
        [["All Contacts.vcf", "BEGIN:VCARD\r\nVERSION", len(vcard("FN:Ada"))]],
        [["people.csv", "Name\nAda\n", 9]],
        [],
        [],
    ]
