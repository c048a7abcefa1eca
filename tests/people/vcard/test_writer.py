"""The output of the writer, parsed by another library (vobject)."""

import datetime as dt

import pytest
import vobject

from people.vcard import Card, CardDate, read_cards, write_card
from tests.people.vcard.lines import card_lines, without_lines

ADA = Card(
    name="Ada",
    surname="Lovelace; Byron",
    prefix="Lady",
    organization="Engines, Ltd.",
    notes="First line\nsecond, with \\ and ;",
    uid="urn:uuid:1",
    phone_numbers=({"type": "cell", "number": "+44 1"}, {"type": "Boat house", "number": "2"}),
    emails=({"type": "work", "email": "ada@example.org"},),
    important_dates=(CardDate(date=dt.date(1604, 12, 10), type="BIRTHDAY", year_unknown=True),),
    categories=("Maths, old", "Friends"),
    photo=b"\xff\xd8\xff\xe0" + b"x" * 300,
)


def test_a_card_of_version_4() -> None:
    text = write_card(ADA, revised="20260101T000000Z")
    assert text.startswith("BEGIN:VCARD\r\nVERSION:4.0\r\n")
    assert "\r\nFN:Lady Ada Lovelace\\; Byron\r\nN:Lovelace\\; Byron;Ada;;Lady;\r\n" in text
    assert "\r\nTEL;TYPE=cell:+44 1\r\nitem1.TEL:2\r\nitem1.X-ABLabel:Boat house\r\n" in text
    assert "\r\nBDAY:--1210\r\n" in text
    assert "\r\nPHOTO:data:image/jpeg;base64," in text
    assert text.endswith("\r\nREV:20260101T000000Z\r\nEND:VCARD\r\n")


def test_a_card_of_version_3() -> None:
    text = write_card(ADA, "3.0")
    assert "\r\nBDAY;X-APPLE-OMIT-YEAR=1604:1604-12-10\r\n" in text
    assert "\r\nTEL;TYPE=CELL:+44 1\r\n" in text
    assert "\r\nPHOTO;ENCODING=b;TYPE=JPEG:" in text


@pytest.mark.parametrize("version", ["3.0", "4.0"])
def test_no_line_is_longer_than_75_octets(version: str) -> None:
    text = write_card(ADA, version)
    assert all(len(line.encode()) <= 75 for line in text.split("\r\n"))
    assert "\n" not in text.replace("\r\n", "")


def test_vobject_reads_what_we_write() -> None:
    other = vobject.readOne(write_card(ADA, "3.0"))
    assert (other.n.value.family, other.n.value.given) == ("Lovelace; Byron", "Ada")
    assert other.fn.value == "Lady Ada Lovelace; Byron"
    assert other.note.value == ADA.notes
    assert other.categories.value == ["Maths, old", "Friends"]
    assert [tel.value for tel in other.contents["tel"]] == ["+44 1", "2"]
    assert other.photo.value == ADA.photo


def test_we_read_what_vobject_writes() -> None:
    other = vobject.vCard()
    other.add("n").value = vobject.vcard.Name(family="Lovelace", given="Ada", additional="Augusta")
    other.add("fn").value = "Ada Augusta Lovelace"
    other.add("note").value = "long, " * 40
    tel = other.add("tel")
    tel.value, tel.type_param = "+44 1", ["HOME", "VOICE"]
    [result] = read_cards(other.serialize())
    assert result.card
    assert without_lines(result.card) == Card(
        name="Ada",
        surname="Lovelace",
        middle_name="Augusta",
        notes=("long, " * 40).strip(),
        phone_numbers=({"type": "home", "number": "+44 1"},),
    )


def test_every_card_has_n_and_fn_may_differ() -> None:
    text = write_card(Card(name="Ada"), full_name="Countess")
    assert "\r\nFN:Countess\r\nN:;Ada;;;\r\n" in text


def test_label_groups_are_numbered_above_those_in_use() -> None:
    card = Card(
        name="Ada", phone_numbers=({"type": "Boat", "number": "1"},), lines=card_lines("item7.X-ABRELATEDNAMES:Jenny")
    )
    assert "\r\nitem8.TEL:1\r\nitem8.X-ABLabel:Boat\r\n" in write_card(card)


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("x-Foo;A=b:c\\,d", "x-Foo;A=b:c\\,d"),
        ("X-A;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:=C3=A9=0D=0A,", "X-A:é\\n,"),
        ("LABEL;HOME:x", "LABEL;TYPE=HOME:x"),
        ("KEY;X509;ENCODING=BASE64:QUJD RA==", "KEY;ENCODING=b;TYPE=X509:QUJDRA=="),
        ("NOTE:C:\\new; a, b", "NOTE:C:\\\\new\\; a\\, b"),
    ],
)
def test_lines_of_version_2_1_are_written_as_3_0(line: str, written: str) -> None:
    [result] = read_cards(f"BEGIN:VCARD\nVERSION:2.1\nFN:Ada\n{line}\nEND:VCARD\n")
    assert result.card
    assert f"\r\n{written}\r\n" in write_card(result.card, "3.0")
