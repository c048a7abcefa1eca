"""The table of people.entries, line by line, and the laws of pairing."""

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from people import field_table
from people.entries import COMPARISONS, pair_entries
from people.phone_numbers import PhoneNumber, parse_phone, phone_keys
from people.vcard.card import ENTRY_FIELDS
from tests.people.same_entries import DIFFERENT, SAME, Case

COLUMNS = {field.name: field.card for field in field_table.FIELDS}


@pytest.mark.parametrize("case", SAME, ids=str)
def test_the_same(case: Case) -> None:
    column = COLUMNS[case.field]
    assert pair_entries(column, [case.other], [case.one]) == pair_entries(column, [case.one], [case.other]) == [0]


@pytest.mark.parametrize("case", DIFFERENT, ids=str)
def test_different(case: Case) -> None:
    column = COLUMNS[case.field]
    assert pair_entries(column, [case.other], [case.one]) == pair_entries(column, [case.one], [case.other]) == [None]


def numbers(*texts: str) -> list[dict[str, Any]]:
    return [{"type": "home", "number": text} for text in texts]


def test_pairs_are_one_to_one_and_exact_equals_come_first() -> None:
    new, old = numbers("0151 2", "+49 151 2", "0151 2"), numbers("+49 151 2", "0151 2")
    assert pair_entries("phone_numbers", new, old) == [1, 0, None]
    assert pair_entries("emails", [{"email": "A@x.org"}, {"email": "a@x.org"}], [{"email": "a@x.org"}]) == [None, 0]


def test_a_national_number_that_may_be_two_is_neither() -> None:
    both = numbers("+43 151 23456789", "+49 151 23456789")
    assert pair_entries("phone_numbers", numbers("0151 23456789"), both) == [None]
    # Also if one of them has a pair: beside the two, a third import finds the same.
    assert pair_entries("phone_numbers", numbers("+43 151 23456789", "0151 23456789"), both) == [0, None]
    assert pair_entries("phone_numbers", numbers("0151 23456789", "+43 151 23456789"), both[1:]) == [None, None]
    # The same number twice is one number.
    assert pair_entries("phone_numbers", numbers("0151 23456789"), numbers("+49 151 23456789", "+4915123456789")) == [0]


def test_an_edited_entry_is_the_only_one_left_of_its_kind() -> None:
    old = [{"type": "home", "number": "1"}, {"type": "work", "number": "2"}, {"type": "work", "number": "3"}]
    new = [{"type": "work", "number": "3"}, {"type": "work", "number": "4"}, {"type": "home", "number": "5"}]
    assert pair_entries("phone_numbers", new, old, edits=True) == [2, 1, 0]
    assert pair_entries("phone_numbers", new, old) == [2, None, None]
    assert pair_entries("phone_numbers", new[1:], old, edits=True) == [None, 0]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("+49 (0)151/23-45", PhoneNumber("491512345", is_international=True)),
        ("0049 (0) 151 2345", PhoneNumber("491512345", is_international=True)),
        ("011 49 151 2345", PhoneNumber("491512345", is_international=True)),
        ("(+49) 151 2345", PhoneNumber("491512345", is_international=True)),
        ("tel:+49-151-2345;ext=7", PhoneNumber("491512345", is_international=True, extension="7")),
        ("(0151) 2345", PhoneNumber("01512345")),
        ("030 1234 Durchwahl 56", PhoneNumber("0301234", extension="56")),
        ("030 1234 ext. 56", PhoneNumber("0301234", extension="56")),
        ("030 1234,,56#", PhoneNumber("0301234", extension="56")),
        ("٠١٥١ ٢٣٤٥", PhoneNumber("01512345")),
        ("０１５１", PhoneNumber("0151")),
        ("*31#0151", PhoneNumber("*31#0151")),
        ("0800 FLOWERS", PhoneNumber("0800flowers")),
        ("Reception", PhoneNumber("reception")),
        ("000", PhoneNumber("000")),
        ("+", PhoneNumber("+")),
        ("", PhoneNumber("")),
    ],
)
def test_parsed_numbers(text: str, number: PhoneNumber) -> None:
    assert parse_phone(text) == number


@pytest.mark.parametrize(
    "mark",
    [
        *";,#x",
        "ext.",
        "Durchwahl",
        "poste",
        "interno",
        "toestel",
        "ramal",
        "anexo",
        "dahili",
        "доб.",
        "内線",
        "分机",
        "내선",
    ],
)
def test_an_extension_in_any_language_belongs_to_the_number(mark: str) -> None:
    """To compare entries, and to search and find duplicates, alike."""
    one, other = (f"030 123456 {mark} {extension}" for extension in (12, 13))
    assert parse_phone(one) == PhoneNumber("030123456", extension="12")
    assert pair_entries("phone_numbers", numbers(one), numbers(other)) == [None]
    assert pair_entries("phone_numbers", numbers(one), numbers("030 123456")) == [None]
    assert phone_keys(one) == ("3012345612",)
    assert phone_keys(other) == ("3012345613",)


def test_an_address_is_the_same_in_both_normal_forms() -> None:
    assert pair_entries("emails", [{"email": "ZOE\u0308@x.org"}], [{"email": "zo\u00eb@x.org"}]) == [0]


@given(st.text(max_size=60))
def test_any_text_is_the_same_as_itself_with_blanks(text: str) -> None:
    for field, key in (("phone_numbers", "number"), ("emails", "email"), ("urls", "url"), ("im_handles", "handle")):
        assert pair_entries(field, [{key: f" {text} "}], [{key: text}]) == [0]


PHONES = st.lists(
    st.sampled_from(["+49 30 1", "+43 30 1", "030 1", "30 1", "0049301", "+36 30 1", "06 30 1", "+7 30 1", "8301"]),
    max_size=6,
)


@given(PHONES, PHONES)
def test_joining_the_same_lists_again_adds_nothing(known: list[str], new: list[str]) -> None:
    old, others = numbers(*known), numbers(*new)
    pairs = pair_entries("phone_numbers", others, old)
    joined = [*old, *(entry for entry, index in zip(others, pairs, strict=True) if index is None)]
    assert None not in pair_entries("phone_numbers", others, joined)
    used = [index for index in pairs if index is not None]
    assert len(used) == len(set(used))
    assert pairs.count(None) == pair_entries("phone_numbers", old, others).count(None) + len(others) - len(old)


def test_each_number_is_parsed_once_to_pair_spellings(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    parse = parse_phone

    def count(text: str) -> PhoneNumber:
        nonlocal calls
        calls += 1
        return parse(text)

    monkeypatch.setattr("people.entries.parse_phone", count)
    one, other = [numbers(*(f"{prefix} {number}" for number in range(1000, 1500))) for prefix in ("+49 30", "030")]
    assert pair_entries("phone_numbers", other, one) == list(range(500))
    assert calls == 2 * 500


def test_every_field_of_a_card_is_compared() -> None:
    assert COMPARISONS.keys() == {*ENTRY_FIELDS, "categories", "relationships"}


@pytest.mark.parametrize("module", ["people.entries", "people.phone_numbers", "carddav.sync.plan"])
def test_what_is_called_pure_loads_neither_django_nor_drf(module: str) -> None:
    check = f"import sys, {module}; print([name for name in sys.modules if name in {{'django', 'rest_framework'}}])"
    found = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
