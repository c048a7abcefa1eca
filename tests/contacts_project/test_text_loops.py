"""Functions over texts that somebody sent take a number of steps that is linear in the text: counted at doubled sizes.

The regular expressions have a test of their own (test_regular_expressions), and so have cards (people/vcard/test_work)
and tables (people/importing/test_hostile_files).
"""

import sys
import unicodedata
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from contacts_project.kernel.text_forms import ascii_digits, case_key, fold, fold_email, fold_letters, nfc
from dav.calendar_texts import parse
from dav.xml import XmlError, read_xml, tag, text
from notifications.channels.ntfy import cut_bytes
from people.dates.calendar_events import fold_line
from people.duplicates import name_words
from people.duplicates.keys import address_keys, name_blocks, name_key, narrow_name_blocks, whole_address_key
from people.entries import identify_entries, normalize, pair_entries
from people.field_table import Compare
from people.find import parse_query
from people.letters.lines import address_lines
from people.lookup import words_of
from people.names import NameParts, display_name, search_key, sort_key
from people.phone_numbers import national_spellings, parse_phone, phone_keys, searched_numbers
from people.vcard import Card, full_name, values
from tests.people.vcard.work import count_work

pytestmark = pytest.mark.one_database

# More than a domain name may have, which is not mapped beyond that.
SIZES = (600, 1_200, 2_400)
#: What a hostile text repeats.
PUMPS = (
    *(
        "a",
        "a ",
        "1",
        "1 2",
        "é",
        "e\u0301",
        "İ",
        "か\u3099",
        "\u0301",
        "\u0301\u0316",
        "a\u0301\u0316",
        "\u0f72\u0f71",
        "\u0f73",
        "'",
        "-",
        "é-",
        "a@",
        "a.",
        "+",
        "(",
        "(0)",
        "ext",
    ),
    *(
        "x",
        "#1",
        "\u0640",
        "ﷺ",
        "\\",
        "\\,",
        ",",
        ";",
        ":",
        "=",
        '"',
        "\r\n",
        "\r\n ",
        "&",
        "<",
        "[",
        "=41",
        "%41",
        "8 ~",
    ),
    *("0015", "=?u?q?", "xn--", "/", "http://", "Ａ", "㍿"),
)
_KINDS = [compare for compare in Compare if compare not in {Compare.DEGREES, Compare.NOT}]


def _names(value: str) -> None:
    parts = NameParts(value, value, value, value, value, value, value)
    for of_parts in (name_blocks, narrow_name_blocks, name_key, sort_key, search_key, display_name):
        of_parts(parts)
    display_name(parts, order="EASTERN")


def _full_name(value: str) -> None:
    parts = ("a", ".", ",", "/", "a a", "|", value)
    for card in (Card(name="a", surname=value), Card(**dict(zip(full_name.FIELDS, parts, strict=True)))):  # type: ignore[arg-type]
        for full in (value, f"a{value[:400]}b", f"a{', ./|' * 80}b", f"{value}, a"):
            if full_name.says_only_name(full, card):
                full_name.respell(full, card, Card(name="b", surname="c"))


def _address(value: str) -> None:
    entry = {"streetLine1": value, "locality": value, "region": value, "postalCode": value, "country": value}
    address_keys(entry), whole_address_key(entry)
    for country in ("Germany", "Japan", value):
        address_lines({**entry, "country": country}, home="Germany", with_country=True)


def _phone(value: str) -> None:
    for number in (value, f"+{value}", f"+49{value}", f"15{value}"):
        national_spellings(parse_phone(number)), phone_keys(number), searched_numbers(number)


def _compared(value: str) -> None:
    for kind in _KINDS:
        for one in (value, f"http://{value}", f"a@{value}"):
            normalize(one, kind)


def _xml(value: str) -> None:
    read_xml(tag("{urn:x}a", text(value), {"b": value}).encode())
    try:
        read_xml(f"<a>{value}".encode())
    except XmlError:
        return


def _card_values(value: str) -> None:
    for read in (values.unescape, values.unescape_21, values.escape, values.escape_uri, values.parse_components):
        read(value)
    for read_part in (values.parse_list, values.street_lines, values.single_line, values.clean_line):
        read_part(value)
    values.decode_base64(value), values.decode_data_uri(f"data:{value}"), values.parse_date(value)
    values.date_readings(value), values.split(value, ";")


TARGETS: dict[str, Callable[[str], object]] = {
    "forms": lambda value: (nfc(value), case_key(value), fold(value), fold_letters(value), ascii_digits(value)),
    "addresses of mail": lambda value: (fold_email(value), fold_email(f"a@{value}"), fold_email(f"{value}@a.example")),
    "words": words_of,
    "queries": parse_query,
    "phone numbers": _phone,
    "names": _names,
    "full names": _full_name,
    "addresses": _address,
    "comparison": _compared,
    "calendar": lambda value: parse(f"BEGIN:VCALENDAR\r\n{value}\r\nEND:VCALENDAR\r\n").values("SUMMARY"),
    "folding": lambda value: fold_line(value.replace("\n", " ")),
    "cutting": lambda value: cut_bytes(value, 300),
    "xml": _xml,
    "values of cards": _card_values,
}


@pytest.fixture(autouse=True)
def _order_marks_by_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Normalization that first does in Python what the interpreter does in C: puts marks into canonical order."""
    normalize = unicodedata.normalize  # noqa: TID251

    def ordered(form: Any, text: str) -> str:
        # Texts without marks are in order; each line of the loop is traced, which takes its time.
        if text.isascii():
            return normalize(form, text)
        characters = [part for character in text for part in normalize("NFKD", character)]
        if not any(map(unicodedata.combining, characters)):
            return normalize(form, text)
        for index in range(1, len(characters)):
            combining, at = unicodedata.combining(characters[index]), index
            while combining and unicodedata.combining(characters[at - 1]) > combining:
                characters[at - 1 : at + 1] = reversed(characters[at - 1 : at + 1])
                at -= 1
        return normalize(form, "".join(characters))

    monkeypatch.setattr(unicodedata, "normalize", ordered)


def count_steps(call: Callable[[], object]) -> int:
    """The lines that are executed, the calls, and the characters that methods of texts go over."""
    lines = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work = count_work(call)
    finally:
        sys.settrace(before)
    return lines + work


def growth(build: Callable[[int], Callable[[], object]]) -> float:
    """How many times as many steps the second doubling adds as the first: 2 if linear, 4 if quadratic."""
    steps = []
    for size in SIZES:
        name_words.words.cache_clear()
        steps.append(count_steps(build(size)))
    first, second, third = steps
    return (third - second) / max(second - first, size / 100)


@pytest.mark.parametrize("target", TARGETS)
def test_steps_are_linear_in_the_text(target: str) -> None:
    call = TARGETS[target]
    call("warm up" * 20)  # also what only a long text loads

    def repeat(pump: str) -> Callable[[int], Callable[[], object]]:
        return lambda size: lambda: call((pump * size)[:size])

    grown = {pump: growth(repeat(pump)) for pump in PUMPS}
    assert len(grown) == len(PUMPS)
    assert {pump: round(times, 1) for pump, times in grown.items() if times > 3} == {}


def _phones(size: int, form: str) -> list[dict[str, str]]:
    return [{"id": str(number), "type": "home", "number": form.format(number)} for number in range(size)]


def _streets(size: int, first: int) -> list[dict[str, str]]:
    return [{"id": f"{first}-{number}", "type": "home", "streetLine1": str(number + first)} for number in range(size)]


@pytest.mark.parametrize(
    "build",
    [
        lambda size: lambda: pair_entries("phone_numbers", _phones(size, "+49{}"), _phones(size, "0{}"), edits=True),
        lambda size: lambda: pair_entries("phone_numbers", _phones(size, "+491"), _phones(size, "01"), by_id=True),
        lambda size: lambda: identify_entries("addresses", _streets(size, 0), _streets(size, 1)),
        lambda size: lambda: read_xml(b"<a>" * size + b"</a>" * size),
        lambda size: lambda: name_words.words("a " * size),
    ],
)
def test_steps_are_linear_in_the_entries(build: Callable[[int], Callable[[], object]]) -> None:
    build(3)()
    assert growth(build) < 3


def test_the_order_of_marks_is_seen() -> None:
    assert growth(lambda size: lambda: unicodedata.normalize("NFC", "\u0301\u0316" * (size // 2))) > 3.5  # noqa: TID251


def test_a_loop_in_a_loop_is_seen() -> None:
    def pairs(size: int) -> int:
        found = 0
        for one in range(size // 8):
            for other in range(size // 8):
                found += one == other
        return found

    assert growth(lambda size: lambda: pairs(size)) > 3.5
    assert growth(lambda size: lambda: [("a" * size).find("b") for _ in range(size // 8)]) > 3.5
