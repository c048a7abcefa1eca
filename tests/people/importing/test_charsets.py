"""vCards that are not UTF-8: the receipt says where the charset is a guess."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.client import Client
from tests.people.importing.uploads import import_vcards, vcard
from tests.people.steps import list_people

NAME = "Иванов"


def remarks_of(result: dict[str, Any]) -> list[str]:
    """The codes of all remarks; one that stands alone is in the result itself."""
    alone = [{"code": result["code"]}] if "code" in result else []
    return [remark["code"] for remark in result.get("remarks", alone)]


def first_remarks(api: Client, data: bytes) -> list[str]:
    return remarks_of(import_vcards(api, data)["results"][0])


@pytest.mark.parametrize("encoding", ["cp1251", "cp1252", "latin-1", "koi8-r", "shift_jis"])
def test_a_card_that_is_not_utf_8_says_so(api: Client, encoding: str) -> None:
    name = {"cp1252": "Zoë", "latin-1": "Zoë", "shift_jis": "山田"}.get(encoding, NAME)
    assert first_remarks(api, vcard("FN:Ada", f"NOTE:{name}").decode().encode(encoding)) == ["charset_guessed"]
    [result] = import_vcards(api, vcard("FN:Ada", f"NOTE:{name}").decode().encode(encoding))["results"]
    assert "CHARSET" in (result["reason"] if len(remarks_of(result)) == 1 else result["remarks"][0]["text"])


@pytest.mark.parametrize(
    "line",
    [
        b"N;ENCODING=QUOTED-PRINTABLE:M=FCller;J=F6rg",
        b"N;CHARSET=US-ASCII:M\xfcller;J\xf6rg",
        b"N;CHARSET=X-UNKNOWN;ENCODING=QUOTED-PRINTABLE:M=FCller;J=F6rg",
    ],
)
def test_values_without_a_charset_that_fits_say_so_too(api: Client, line: bytes) -> None:
    data = b"BEGIN:VCARD\r\nVERSION:2.1\r\n" + line + b"\r\nEND:VCARD\r\n"
    assert first_remarks(api, data) == ["charset_guessed"]
    [person] = list_people(api)
    assert (person["name"], person["surname"]) == ("Jörg", "Müller")


@pytest.mark.parametrize(
    "line",
    [
        "N;CHARSET=WINDOWS-1251:Иванов;Иван".encode("cp1251"),
        b"N;CHARSET=KOI8-R;ENCODING=QUOTED-PRINTABLE:=E9=D7=C1=CE=CF=D7;=E9=D7=C1=CE",
        "N:Иванов;Иван".encode(),
        b"N;ENCODING=QUOTED-PRINTABLE:=D0=98=D0=B2=D0=B0=D0=BD=D0=BE=D0=B2;=D0=98=D0=B2=D0=B0=D0=BD",
    ],
)
def test_declared_charsets_and_utf_8_are_no_guess(api: Client, line: bytes) -> None:
    assert first_remarks(api, b"BEGIN:VCARD\r\nVERSION:2.1\r\n" + line + b"\r\nEND:VCARD\r\n") == []
    [person] = list_people(api)
    assert (person["name"], person["surname"]) == ("Иван", "Иванов")


def test_the_charset_of_the_upload_is_no_guess(api: Client) -> None:
    content_type = "text/vcard; charset=windows-1251"
    file = SimpleUploadedFile("a.vcf", vcard(f"FN:{NAME}").decode().encode("cp1251"), content_type)
    response = api.post("/api/vcard/import", {"file": file})
    [result] = response.json()["results"]
    assert (result["name"], remarks_of(result)) == (NAME, [])


def test_the_rest_of_a_file_is_not_said_to_be_a_guess(api: Client) -> None:
    results = import_vcards(api, vcard("FN:Zoë").decode().encode("cp1252") + vcard("FN:Ada"))["results"]
    assert [remarks_of(result) for result in results] == [["charset_guessed"], []]
