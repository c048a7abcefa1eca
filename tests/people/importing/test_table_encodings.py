"""Which encoding a table is read in, whether that is certain, and what a client may name instead."""

import codecs
import io
from typing import Any

import pytest

from people.importing.sources import encodings
from people.importing.sources.encodings import detect_encoding, read_lines
from tests.client import Client
from tests.people.importing.name_tables import NOT_GUESSED, name_tables
from tests.people.importing.uploads import counts, import_file, people_by_name, send_form

pytestmark = pytest.mark.sqlite_suffices

JAPANESE = "名,姓\n太郎,山田\n花子,佐藤\n"


@pytest.mark.one_database
@pytest.mark.parametrize("row_count", [3, 10])
def test_names_of_many_languages_are_read_in_their_encodings(row_count: int) -> None:
    wrong = []
    for language, encoding, text, data in name_tables(row_count):
        found = detect_encoding(io.BytesIO(data))
        if data.decode(found.codec, "replace") != text:
            wrong.append((language, encoding, found))
    assert wrong == []


@pytest.mark.one_database
def test_of_single_rows_all_that_are_wrong_are_called_uncertain() -> None:
    certain = [
        (language, encoding, found)
        for language, encoding, text, data in name_tables(1)
        if (found := detect_encoding(io.BytesIO(data))).is_certain and data.decode(found.codec) != text
    ]
    assert certain == []


@pytest.mark.parametrize(
    "codec", ["utf-16-le", "utf-16-be", "utf-16", "utf-32", "utf-8-sig", "iso2022_jp", "iso2022_kr"]
)
def test_unicode_and_escaped_encodings_are_certain(api: Client, codec: str) -> None:
    text = "First Name,Last Name\n민준,김\n" if codec == "iso2022_kr" else JAPANESE
    response = send_form(api, "/api/import/csv/inspect", text.encode(codec)).json()
    assert response["encodingCertain"] is True
    assert response["columns"][0]["samples"] == [line.split(",")[0] for line in text.splitlines()[1:]]


def test_a_guess_is_told_in_the_receipt_of_each_row_that_it_concerns(api: Client) -> None:
    data = "Name,City\nKåre,Odda\nAda,London\n".encode("mac_roman")
    inspected = send_form(api, "/api/import/csv/inspect", data).json()
    assert inspected["encodingCertain"] is False
    first, second = import_file(api, "csv", data, dryRun="true")["results"]
    assert (first["code"], first["params"]) == ("encoding_uncertain", {"encoding": inspected["encoding"]})
    assert "reason" not in second
    named = import_file(api, "csv", data, encoding="macintosh")["results"]
    assert [result.get("reason") for result in named] == [None, None]
    assert "Kåre" in people_by_name(api)


def test_utf8_with_a_damaged_byte_stays_utf8(api: Client) -> None:
    data = "Name,City\nJörg,Köln\nÄnne,Zürich\nGünther,Düsseldorf\nRené,\nJosé,\n".encode() + b"Bj\xf6rn,Oslo\n"
    response = send_form(api, "/api/import/csv/inspect", data).json()
    assert (response["encoding"], response["encodingCertain"]) == ("utf-8", False)
    results = import_file(api, "csv", data)["results"]
    assert [result["code"] for result in results] == ["encoding_uncertain"] * 6
    assert {"Jörg", "Änne", "Günther"} < people_by_name(api).keys()


def test_a_byte_behind_the_sample_is_looked_at() -> None:
    # Without its last row, the table fits windows-1252 as well.
    rows = "Jörg,Köln\r\n" * 2_000
    data = f"Name,City\r\n{rows}Łukasz,Łódź\r\nŚwiętosława,Częstochowa\r\n".encode("cp1250")
    assert len(rows) > 2 * encodings._SAMPLE
    assert data.decode(detect_encoding(io.BytesIO(data)).codec).endswith("Świętosława,Częstochowa\r\n")


def test_letters_on_the_border_of_two_chunks(monkeypatch: Any) -> None:
    monkeypatch.setattr(encodings, "_CHUNK", 7)
    for codec in ("iso2022_jp", "cp932", "utf-8", "utf-16"):
        file = io.BytesIO(JAPANESE.encode(codec))
        assert "".join(read_lines(file, detect_encoding(file).codec)) == JAPANESE


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        *(("windows-1252", "cp1252"), ("Latin1", "cp1252"), ("ISO-8859-15", "iso8859-15"), ("utf8", "utf-8")),
        *(("UTF-8", "utf-8-sig"), ("utf-16le", "utf-16"), ("macintosh", "mac-roman"), ("cp850", "cp850")),
    ],
)
def test_a_client_may_name_the_encoding(api: Client, name: str, codec: str) -> None:
    data = "Name;City\nJörg;Köln\n".encode(codec)
    assert send_form(api, "/api/import/csv/inspect", data, encoding=name).json()["encodingCertain"] is True
    assert counts(import_file(api, "csv", data, encoding=name)) == (1, 0, 0, 0)
    assert people_by_name(api)["Jörg"]["addresses"][0]["locality"] == "Köln"


#: Names of WHATWG's and of IANA's registry, and of Windows and macOS, which Python does not know.
REGISTERED = {
    "cp874": "windows-874 dos-874 x-windows-874 cswindows874 ms874 cp874",
    "cp1252": "x-cp1252 iso88591 cp28591 ANSI win-1252 windows_1252 CP-1252 cswindows1252 latin-1",
    "cp1251": "x-cp1251 win1251 cp1251 cswindows1251",
    "utf-8-sig": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8 csUTF8 cp65001",
    "utf-16-le": "unicodefeff csUTF16LE",
    "utf-16-be": "unicodefffe csUTF16BE",
    "utf-16": "iso-10646-ucs-2 csUnicode ucs-2 unicode csUTF16",
    "iso8859-2": "iso88592 Latin-2 cp28592 iso_8859-2:1987",
    "iso8859-6": "iso-8859-6-e iso-8859-6-i csiso88596e csISO88596I ISO_8859-6-E",
    "iso8859-7": "iso88597 sun_eu_greek",
    "iso8859-8": "iso-8859-8-i csiso88598e visual logical",
    "iso8859-9": "iso88599 Latin-5",
    "iso8859-15": "csisolatin9 Latin-9 iso885915 csISO885915 cp28605",
    "koi8-r": "koi koi8 cp20866",
    "koi8-u": "koi8-ru csKOI8U cp21866",
    "mac-roman": "mac x-mac-roman csMacintosh cp10000",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian cp10007",
    "mac-greek": "x-mac-greek cp10006 mac_greek",
    "mac-latin2": "x-mac-ce x-mac-centraleurroman cp10029 mac_latin2",
    "cp932": "windows-31j csWindows31J x-sjis windows-932 x-ms-cp932",
    "cp949": "windows-949 ks_c_5601-1989 ksc_5601 csksc56011987 iso-ir-149 cseuckr",
    "gb18030": "windows-936 x-gbk csGBK gb_2312-80 csgb2312 csGB18030",
    "big5hkscs": "cn-big5 x-x-big5 csBig5HKSCS",
    "euc_jp": "x-euc-jp cseucpkdfmtjapanese Extended_UNIX_Code_Packed_Format_for_Japanese cp51932",
    "cp850": "ibm-850 dos-850 cp-850 IBM850",
    "cp858": "IBM00858 CCSID00858 PC-Multilingual-850+euro csIBM00858",
    "cp720": "cp720 dos-720 ibm720",
    "hp-roman8": "hp-roman8 roman8 csHPRoman8",
    "kz1048": "KZ-1048 STRK1048-2002 RK1048",
    "ptcp154": "PTCP154 Cyrillic-Asian",
}


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("codec", "name"), [(codec, name) for codec, names in REGISTERED.items() for name in names.split()]
)
def test_registered_names_of_encodings_are_known(codec: str, name: str) -> None:
    assert encodings.named_codecs(name)[0] == codec


@pytest.mark.one_database
@pytest.mark.parametrize("row_count", [3, 10, 30])
def test_what_an_encoding_that_is_not_guessed_would_fit_as_well_is_uncertain(row_count: int) -> None:
    tables = list(name_tables(row_count, NOT_GUESSED))
    assert len(tables) == 19
    certain = [
        (language, encoding, found)
        for language, encoding, text, data in tables
        if (found := detect_encoding(io.BytesIO(data))).is_certain and data.decode(found.codec, "replace") != text
    ]
    assert certain == []


@pytest.mark.parametrize("path", ["/api/import/csv", "/api/import/csv/inspect", "/api/import/google"])
@pytest.mark.parametrize(
    "name",
    ["klingon", "utf-7", "idna", "unicode_escape", "rot13", "base64", "ascii", "utf-8", "utf-16", "x" * 200, "é"],
)
def test_an_encoding_that_is_none_or_does_not_fit_is_refused(api: Client, path: str, name: str) -> None:
    response = send_form(api, path, "Name,City\nJörg,Köln\n".encode("cp1252"), encoding=name)
    assert response.status_code == 400
    assert [detail["field"] for detail in response.json()["details"]] == ["encoding"]


def test_a_byte_order_mark_is_no_letter_of_the_first_column(api: Client) -> None:
    data = codecs.BOM_UTF16_LE + "Name,City\nAda,London\n".encode("utf-16-le")
    columns = send_form(api, "/api/import/csv/inspect", data, encoding="utf-16-le").json()["columns"]
    assert [column["name"] for column in columns] == ["Name", "City"]


def test_names_of_encodings_that_inspect_answers_can_be_sent_back(api: Client) -> None:
    for _, encoding, text, data in name_tables(3):
        name = send_form(api, "/api/import/csv/inspect", data).json()["encoding"]
        response = send_form(api, "/api/import/csv/inspect", data, encoding=name)
        assert response.status_code == 200, (encoding, name, response.content)
        assert response.json()["columns"][0]["samples"][0] in text
