"""Real exports of phones, mail programs and web address books, from a folder next to the repository."""

import datetime as dt

import pytest

from people.vcard import Card, CardDate, read_cards, write_card
from tests.people.vcard.lines import unmapped_lines
from tests.people.vcard.real_cards import FOLDER, needs_real_cards

pytestmark = needs_real_cards


def cards(name: str) -> list[Card]:
    assert FOLDER
    with (FOLDER / name).open("rb") as file:
        results = list(read_cards(file))
    assert [result.error for result in results if result.error] == []
    return [result.card for result in results if result.card]


def test_android() -> None:
    found = cards("John_Doe_ANDROID.vcf")
    assert [card.name for card in found[:2]] == ["john.doe@company.com", "jane.doe@company.com"]
    assert found[3].name == "Ñ Ñ Ñ Ñ Ñ Ñ Ñ Ñ Ñ Ñ Ñ"
    assert [entry["type"] for entry in found[3].phone_numbers] == ["cell", "home", "cell", "home"]
    last = found[4]
    assert (last.name, last.surname, last.organization) == ("Ñ Ñ Ñ", "Ñ Ñ", "Ñ" * 12)
    assert [entry["email"] for entry in last.emails] == ["bob@company.com"]


def test_truncated_photo_of_the_android_export_is_reported() -> None:
    """Its Base64 has 1169 characters, a length that no encoder produces."""
    assert FOLDER
    *_, result, _ = read_cards((FOLDER / "John_Doe_ANDROID.vcf").read_bytes())
    assert result.card
    assert result.card.photo is None
    assert "the photo is not valid base64; the line is kept as it is" in map(str, result.warnings)


def test_google() -> None:
    [card] = cards("John_Doe_GMAIL.vcf")
    assert (card.prefix, card.name, card.middle_name, card.surname, card.suffix) == (
        "Mr.",
        "John",
        "Richter, James",
        "Doe",
        "Sr.",
    )
    assert card.display_name is None
    assert card.important_dates == (
        CardDate(date=dt.date(1980, 3, 22), type="BIRTHDAY"),
        CardDate(date=dt.date(1975, 3, 1), type="ANNIVERSARY"),
    )
    assert (card.notes or "").endswith("DAMAGE.\nFavotire Color: Blue")
    assert "item2.X-ABRELATEDNAMES:Jenny" in unmapped_lines(card)


def test_google_with_labels() -> None:
    [card] = cards("gmail-single2.vcf")
    assert len(card.phone_numbers) == 11
    assert {"type": "CustomePhoneCategory", "number": "5555551121"} in card.phone_numbers
    assert [handle["protocol"] for handle in card.im_handles][-1] == "jabber"
    assert len([line for line in unmapped_lines(card) if "X-ABRELATEDNAMES" in line]) == 16


def test_iphone() -> None:
    [card] = cards("John_Doe_IPHONE.vcf")
    assert card.middle_name == "Richter James"
    assert {"type": "assistantphone", "number": "905-222-1234"} in card.phone_numbers
    assert card.addresses[1]["streetLine2"] == "Building 6, Floor 8"
    assert card.photo
    assert len(card.photo) == 32531


@pytest.mark.parametrize(("name", "photo"), [("John_Doe_MS_OUTLOOK.vcf", 860), ("outlook-2007.vcf", 2324)])
def test_outlook(name: str, photo: int) -> None:
    [card] = cards(name)
    assert card.anniversary
    assert card.photo
    assert len(card.photo) == photo
    assert any(line.startswith("X-MS-OL-DESIGN") for line in unmapped_lines(card))


def test_examples_of_the_standards() -> None:
    assert [card.organization for card in cards("rfc2426-example.vcf")] == [
        "Lotus Development Corporation",
        "Netscape Communications Corp.",
    ]
    [card] = cards("rfc6350-example.vcf")
    assert card.suffix == "ing. jr, M.Sc."
    assert card.important_dates == (CardDate(date=dt.date(1604, 2, 3), type="BIRTHDAY", year_unknown=True),)


@pytest.mark.parametrize("version", ["3.0", "4.0"])
def test_writing_real_exports_loses_nothing(version: str) -> None:
    """A second export equals the first; only lines with the syntax of 2.1 change, and only once."""
    for name in sorted(path.name for path in FOLDER.glob("*.vcf")) if FOLDER else []:
        for card in cards(name):
            [once] = read_cards(write_card(card, version))
            assert once.card
            assert len(unmapped_lines(once.card)) == len(unmapped_lines(card))
            [twice] = read_cards(write_card(once.card, version))
            assert twice.card == once.card
