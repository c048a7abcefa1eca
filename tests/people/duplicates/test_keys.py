"""The look-up keys of people."""

from itertools import combinations
from typing import Any

import pytest

from people.duplicates.keys import email_key, is_full_name, name_blocks, name_key, phone_key, phone_keys
from people.duplicates.phones import short_number
from people.lookup import KEY_COLUMNS, keys_of, keys_of_change
from people.names import NameParts

SAME_LINES = [
    (
        "15123456789",
        [
            "+49 151 23456789",
            "0151/234 567 89",
            "0049 151 23456789",
            "+49 (0)151-23456789",
            "4915123456789",
            "tel:+49-151-23456789",
            "\uff0b49 \u0661\u0665\u0661 23456789",
        ],
    ),
    (
        "5551234567",
        ["(555) 123-4567", "+1 555 123 4567", "1-555-123-4567", "555.123.4567, 555.123.4568"],
    ),
    ("555123456712", ["+1 555 123 4567 ext. 12", "555.123.4567 x12", "(555) 123-4567;ext=12", "555 123 4567, 12"]),
    ("5512345678", ["+52 55 1234 5678", "+52 1 55 1234 5678", "0052 1 55 1234 5678", "55 1234 5678"]),
    ("1112345678", ["+54 9 11 1234-5678", "+54 11 1234 5678", "+54 11 15 1234 5678", "5491112345678", "011 1234-5678"]),
    ("15123456789", ["011 49 151 23456789", "0011 49 151 23456789", "010 49 151 23456789", "001 49 151 23456789"]),
    ("15123456789", ["8~10 49 151 23456789", "8 10 49 151 23456789"]),
    ("5551234567", ["00 1 555 123 4567", "011 1 555 123 4567"]),
    ("1123456789", ["011 2345 6789", "+91 11 2345 6789"]),  # Delhi: no exit code
    ("11912345678", ["011 91234-5678", "+55 11 91234 5678"]),  # São Paulo
    ("9123456789", ["8 (912) 345-67-89", "+7 912 345 67 89"]),
    ("6123456", ["+39 06 123456", "06 123456"]),
    ("621123456", ["+352 621 123 456", "621 123 456"]),
]


@pytest.mark.parametrize(("key", "number"), [(key, number) for key, numbers in SAME_LINES for number in numbers])
def test_national_and_international_forms_have_one_key(key: str, number: str) -> None:
    assert phone_key(number) == key


TWO_READINGS = [
    ("+36 30 123 4567", "06 30 123 4567"),
    ("+49 6301 234567", "06301 234567"),
    ("+54 9 11 1234 5678", "011 15 1234-5678"),
    ("+54 9 2966 123456", "02966 15 123456"),
    ("+52 55 1234 5678", "044 55 1234 5678"),
    ("+370 612 34567", "8 612 34567"),
]


@pytest.mark.parametrize(("international", "national"), TWO_READINGS)
def test_a_trunk_prefix_that_may_be_part_of_the_number_is_read_both_ways(international: str, national: str) -> None:
    assert set(phone_keys(international)) <= set(phone_keys(national))
    assert len(phone_keys(international)) == 1


@pytest.mark.parametrize(
    ("number", "digits"),
    [("112", "112"), ("4711", "4711"), ("ext. 123", "123"), ("+49 110", "49110"), ("12", None), ("030 123456", None)],
)
def test_short_numbers_can_be_searched_for(number: str, digits: str | None) -> None:
    assert short_number(number) == digits


@pytest.mark.parametrize("number", ["112", "ext. 12", "secret", "", "+"])
def test_too_few_digits_are_no_key(number: str) -> None:
    assert phone_key(number) is None


def test_other_lines_have_other_keys() -> None:
    assert len({phone_key(number) for number in ("0151 23456789", "0152 23456789", "+49 151 23456788")}) == 3


def test_an_address_has_no_case() -> None:
    assert email_key(" Ada@Example.ORG ") == email_key("ada@example.org")


SAME_NAMES = [
    (NameParts("Ada", "Lovelace"), NameParts("Lovelace", "Ada")),
    (NameParts("Ada", "Lovelace"), NameParts("LOVELACE, Ada")),
    (NameParts("Zo\u00eb", "M\u00fcller"), NameParts("zoe", "muller")),
    (NameParts("Ada", "Lovelace", "King"), NameParts("Ada King", "Lovelace")),
    (NameParts("Sin\u00e9ad", "O'Brien"), NameParts("Sinead", "O\u2019Brien")),
]


@pytest.mark.parametrize(("one", "other"), SAME_NAMES)
def test_order_case_and_accents_do_not_change_the_name_key(one: NameParts, other: NameParts) -> None:
    assert name_key(one) == name_key(other)


SHARED_BLOCKS = [
    (NameParts("Catherine", "Meyer"), NameParts("Kathrin", "Meier")),
    (NameParts("John", "Smith"), NameParts("Jonh", "Smtih")),
    (NameParts("John", "Smith"), NameParts("J.", "Smith")),
    (NameParts("Robert", "Smith", None, None, "Bob"), NameParts("Bob", "Smyth")),
    (NameParts("Ludwig", "van Beethoven"), NameParts("Ludwig", "Beethoven")),
    (NameParts("Mar\u00eda", "Garc\u00eda", None, "L\u00f3pez"), NameParts("Maria", "Garcia")),
    (NameParts("\u592a\u90ce", "\u5c71\u7530"), NameParts("\u5c71\u7530\u592a\u90ce")),
    (NameParts("\u0421\u0435\u0440\u0433\u0435\u0439", "\u0418\u0432\u0430\u043d\u043e\u0432"),
     NameParts("\u0418\u0432\u0430\u043d\u043e\u0432", "\u0421\u0435\u0440\u0433\u0435\u0438")),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SHARED_BLOCKS)
def test_a_misspelt_name_shares_a_block(one: NameParts, other: NameParts) -> None:
    assert name_blocks(one) & name_blocks(other)


def test_a_lone_given_name_has_no_block() -> None:
    assert name_blocks(NameParts("Ada")) == set()
    assert not is_full_name(NameParts("Ada"))


def test_a_name_of_signs_alone_has_no_keys() -> None:
    assert name_key(NameParts("!!!")) is None
    assert name_blocks(NameParts("!!!", "?")) == set()


def test_keys_fit_their_column() -> None:
    long = NameParts("\u5c71" * 100, "\u7530" * 100, "\u592a" * 100, "\u90ce" * 100)
    assert max(len(key) for key in [*name_blocks(long), name_key(long) or ""]) <= 320


_BEFORE: dict[str, Any] = {
    **dict.fromkeys(KEY_COLUMNS, ""),
    "emails": [{"email": "ada.king@example.org"}],
    "phone_numbers": [{"number": "+49 30 1234567"}, {"number": "110"}],
    "addresses": [{"streetLine1": "1 Main Street", "locality": "London", "postalCode": "N1", "country": "GB"}],
    "custom_fields": [{"key": "Team", "value": "Engines"}],
    "name": "Ada",
    "surname": "King",
    "organization": "Society",
    "job_title": "Analyst",
    "notes": "Ada of the society",
}
_AFTER: dict[str, Any] = {
    **{column: f"{_BEFORE[column]} Bea" for column in KEY_COLUMNS},
    "emails": [{"email": "bea.king@example.com"}],
    "phone_numbers": [{"number": "+49 30 7654321"}, {"number": "112"}],
    "addresses": [{"streetLine1": "2 Side Street", "locality": "Leeds", "postalCode": "L2", "country": "GB"}],
    "custom_fields": [{"key": "Team", "value": "Looms"}],
}


def test_the_keys_of_a_change_differ_as_all_keys_do() -> None:
    for number in (1, 2):
        for changed in combinations(sorted(KEY_COLUMNS), number):
            after = {**_BEFORE, **{column: _AFTER[column] for column in changed}}
            before_keys, after_keys = keys_of(_BEFORE), keys_of(after)
            assert before_keys != after_keys
            before, now = keys_of_change(_BEFORE, after, changed)
            assert (before - now, now - before) == (before_keys - after_keys, after_keys - before_keys)
            assert len(before) < len(before_keys)
