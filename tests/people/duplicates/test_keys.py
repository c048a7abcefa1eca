"""The look-up keys of people."""

import pytest

from people.duplicates.keys import email_key, is_full_name, name_blocks, name_key, phone_key
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
        ["(555) 123-4567", "+1 555 123 4567", "1-555-123-4567", "+1 555 123 4567 ext. 12", "555.123.4567 x9"],
    ),
    ("9123456789", ["8 (912) 345-67-89", "+7 912 345 67 89"]),
    ("6123456", ["+39 06 123456", "06 123456"]),
    ("621123456", ["+352 621 123 456", "621 123 456"]),
]


@pytest.mark.parametrize(("key", "number"), [(key, number) for key, numbers in SAME_LINES for number in numbers])
def test_national_and_international_forms_have_one_key(key: str, number: str) -> None:
    assert phone_key(number) == key


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
