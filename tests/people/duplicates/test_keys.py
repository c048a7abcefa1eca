"""The look-up keys of people."""

from itertools import combinations
from typing import Any

import pytest
from phonenumbers import COUNTRY_CODE_TO_REGION_CODE, PhoneMetadata

from people.duplicates.keys import email_key, is_full_name, name_blocks, name_key
from people.lookup import KEY_COLUMNS, keys_of, keys_of_change
from people.names import NameParts
from people.phone_numbers import national_spellings, parse_phone, phone_keys, short_number, split_numbers

KINDS_OF_NUMBERS = ("fixed_line", "mobile", "toll_free", "voip", "premium_rate", "shared_cost")

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
    assert phone_keys(number)[0] == key


TWO_READINGS = [
    ("+36 30 123 4567", "06 30 123 4567"),
    ("+49 6301 234567", "06301 234567"),
    ("+54 9 11 1234 5678", "011 15 1234-5678"),
    ("+54 9 2966 123456", "02966 15 123456"),
    ("+52 55 1234 5678", "044 55 1234 5678"),
    ("+370 612 34567", "8 612 34567"),
    ("+36 1 234 5678", "06 1 234 5678"),
    ("+36 22 123 456", "06 22 123 456"),
    ("+36 80 123 456", "06 (80) 123-456"),
    ("+86 131 2345 6789", "131 2345 6789"),
    ("+375 29 491 19 11", "8 029 491-19-11"),
    ("+7 800 123 45 67", "8 800 123-45-67"),
]


@pytest.mark.parametrize(("international", "national"), TWO_READINGS)
def test_a_trunk_prefix_that_may_be_part_of_the_number_is_read_both_ways(international: str, national: str) -> None:
    assert set(phone_keys(international)) <= set(phone_keys(national))
    assert len(phone_keys(international)) == 1


#: Of the example numbers of phonenumbers: a trunk prefix that is also the beginning of many numbers elsewhere, a
#: national number as long as one with a country code, and numbers of four digits, which are no keys.
NOT_ONE_NUMBER = {("AR", "mobile"), ("DE", "toll_free"), ("PH", "toll_free"), ("IN", "premium_rate")} | {
    *(("MH", kind) for kind in ("fixed_line", "mobile", "voip")),
    *(("TK", kind) for kind in ("fixed_line", "mobile")),
    *((region, "fixed_line") for region in ("TA", "NU")),
}


def test_national_forms_of_all_countries_share_a_key_with_the_international_one() -> None:
    different = set()
    for code, regions in COUNTRY_CODE_TO_REGION_CODE.items():
        for region in regions:
            metadata = PhoneMetadata.metadata_for_region(region, None)
            for kind in KINDS_OF_NUMBERS if metadata else ():
                example = getattr(getattr(metadata, kind), "example_number", None)
                for spelling in national_spellings(parse_phone(f"+{code}{example}")) if example else ():
                    if set(phone_keys(f"+{code}{example}")).isdisjoint(phone_keys(spelling.digits)):
                        different.add((region, kind))
    assert different == NOT_ONE_NUMBER


@pytest.mark.parametrize(
    ("number", "digits"),
    [
        ("1-800-FLOWERS", "8003569377"),
        ("1800flowers", "8003569377"),
        ("+1 (800) FLOWERS", "8003569377"),
        ("1-800-FLOWERSHOP", "8003569377"),
        ("1-800-GO-FEDEX", "8004633339"),
        ("0800 FLOWERS", "8003569377"),
    ],
)
def test_letters_of_a_number_are_digits_of_the_keypad(number: str, digits: str) -> None:
    assert phone_keys(number)[0] == digits


@pytest.mark.parametrize(
    ("number", "keys"), [("Büro 4711", ()), ("4711 Büro", ()), ("1234 x 12", ("123412",)), ("1234 ext 5", ("12345",))]
)
def test_words_beside_a_number_are_no_digits(number: str, keys: tuple[str, ...]) -> None:
    assert phone_keys(number) == keys


SEVERAL = [
    "+34600111222; +34600111223",
    "+34600111222;+34600111223;",
    "+34600111222 / +34600111223",
    "+34600111222/+34600111223",
    "+34600111222, +34600111223",
    "+34600111222\n+34600111223",
    "+34600111222\r\n+34600111223",
    "+34600111222 | +34600111223",
    "+34600111222 +34600111223",
    "0170/1112233 / 0171/2223344",
    "030/1234567; 0170 1112233",
    "600111222/600111223",
    "(555) 123-4567 x12; (555) 123-4568 x13",
    "privat: 030 123456; mobil: 0170 1112233",
    "4711; 4712",
]


@pytest.mark.parametrize("text", SEVERAL)
def test_several_numbers_in_one_text_are_several(text: str) -> None:
    parts = split_numbers(text)
    assert len(parts) == 2
    assert phone_keys(text) == (*phone_keys(parts[0]), *phone_keys(parts[1]))


@pytest.mark.parametrize(
    "text",
    [
        "0170/1112233",
        "030/123456-78",
        "036901/12345",
        "+49170/1234567",
        "0049170/1234567",
        "089/1234567/8",
        "+1 555 123 4567 ext. 12",
        "+1 555 123 4567, 12",
        "555 123 4567;ext=12",
        "+49 30 123456,,123",
        "+49 30 123456,,1234567#",
        "+1 555 123 4567,1234567890#",
        "*31#0170 1112233",
        "+34 600 111 222 / 223",
    ],
)
def test_slashes_extensions_and_pauses_do_not_make_several_numbers(text: str) -> None:
    assert split_numbers(text) == [text]


@pytest.mark.parametrize(
    ("number", "digits"),
    [("112", "112"), ("4711", "4711"), ("ext. 123", "123"), ("+49 110", "49110"), ("12", None), ("030 123456", None)],
)
def test_short_numbers_can_be_searched_for(number: str, digits: str | None) -> None:
    assert short_number(number) == digits


@pytest.mark.parametrize("number", ["112", "ext. 12", "secret", "", "+"])
def test_too_few_digits_are_no_key(number: str) -> None:
    assert phone_keys(number) == ()


def test_other_lines_have_other_keys() -> None:
    assert len({phone_keys(number)[0] for number in ("0151 23456789", "0152 23456789", "+49 151 23456788")}) == 3


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
