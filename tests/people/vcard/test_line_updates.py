"""The lines of a card after an edit of the person: only the edited lines change."""

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest

from people.vcard import CardDate, patch_card, write_card
from tests.people.vcard.lines import card_text, read_card, replace_entry

NAME = ("N:Lovelace;Ada;;;", "FN:Ada Lovelace")
HOME = 'ADR;TYPE=home;X-B="geo:1,2":PO Box 7;Flat 2;12 Long Road\\nHouse B;London;;SW1;UK'
REST = ";London;;SW1;UK"


@pytest.mark.parametrize(
    ("line", "change", "after"),
    [
        ("TEL;TYPE=WORK,MSG;TYPE=pref;X-A=1:1", {"number": "2"}, "TEL;TYPE=WORK,MSG;TYPE=pref;X-A=1:2"),
        ("TEL;TYPE=WORK,MSG;TYPE=pref:1", {"type": "home"}, "TEL;TYPE=MSG;TYPE=pref;TYPE=HOME:1"),
        ("tel;type=work:1", {"type": "Boat"}, "item1.TEL:1|item1.X-ABLabel:Boat"),
        ("TEL;VALUE=uri;PREF=7:tel:+1-2;ext=3", {"number": "+1-9 ext. 3"}, "TEL;VALUE=uri;PREF=7:tel:+1-9;ext=3"),
        ("TEL;VALUE=uri;PREF=7:tel:+1-2;ext=3", {"number": "9, then 8"}, "TEL;PREF=7:9\\, then 8"),
        ("EMAIL;TYPE=school;LANGUAGE=en:a@b.org", {"email": "c@d.org"}, "EMAIL;TYPE=school;LANGUAGE=en:c@d.org"),
        ("EMAIL;TYPE=home;X-A=1:not one", {"value": "nor one"}, "EMAIL;TYPE=home;X-A=1:nor one"),
        ("URL;PREF=2:http\\://a.org", {"url": "http://b.org/a,b;c"}, "URL;PREF=2:http://b.org/a,b;c"),
        ("X-SKYPE;TYPE=pref:ada", {"handle": "ada2"}, "X-SKYPE;TYPE=pref:ada2"),
        ("X-SKYPE;TYPE=pref:ada", {"protocol": "x"}, "IMPP;X-SERVICE-TYPE=x;TYPE=pref:x-im:ada"),
        (
            "IMPP;ALTID=1;X-SERVICE-TYPE=Jabber:xmpp:a",
            {"handle": "b c"},
            "IMPP;ALTID=1;X-SERVICE-TYPE=Jabber:xmpp:b%20c",
        ),
        ("GEO;TYPE=home;X-A=1:1.5;2.5", {"latitude": 3.0}, "GEO;TYPE=home;X-A=1:3.0;2.5"),
        (HOME, {"locality": "York"}, HOME.replace("London", "York")),
        (HOME, {"streetLine1": "13 Long Road"}, HOME.replace("12", "13")),
        (HOME, {"streetLine2": "Yard, Flat 2, PO Box 7"}, HOME.replace("House B", "Yard")),
        (HOME, {"streetLine2": "Flat 2, PO Box 7"}, HOME.replace("\\nHouse B", "")),
        (HOME, {"streetLine2": "Yard"}, f'ADR;TYPE=home;X-B="geo:1,2":;;12 Long Road\\nYard{REST}'),
        (f"ADR;X-A=1:;Suite 5\\nBack;{REST}", {"streetLine1": "Suite 6"}, f"ADR;X-A=1:;Suite 6\\nBack;{REST}"),
        (f"ADR;X-A=1:;Suite 5;{REST}", {"streetLine2": "Yard"}, f"ADR;X-A=1:;;Suite 5\\nYard{REST}"),
        ("X-CUSTOM-FIELD;X-A=1:Size;M", {"value": "L, or so"}, "X-CUSTOM-FIELD;X-A=1:Size;L\\, or so"),
    ],
)
def test_an_entry_is_edited_in_its_line(line: str, change: dict[str, Any], after: str) -> None:
    card = read_card(*NAME, "X-BEFORE:1", line, "X-AFTER:1")
    field, [old] = next((f, getattr(card, f)) for f in ("custom_fields", *_LISTS) if getattr(card, f))
    written = write_card(replace_entry(card, field, old, {**old, **change}), "3.0").replace("\r\n ", "")
    assert "\r\nX-BEFORE:1\r\n" + after.replace("|", "\r\n") + "\r\nX-AFTER:1\r\n" in written


_LISTS = ("phone_numbers", "emails", "addresses", "urls", "im_handles", "locations")


@pytest.mark.parametrize(
    ("lines", "change", "after"),
    [
        (["N:Doe;John;Richter,James;Mr.;", "FN:J"], {"surname": "Roe"}, "N:Roe;John;Richter,James;Mr.;"),
        (["N:Doe;;;;", "FN:Doe"], {"prefix": "Dr."}, "N:Doe;;;Dr.;|FN:Dr. Doe"),
        (["N:Doe;;;;", "FN:Doe"], {"surname": "Roe"}, "N:Roe;Doe;;;|FN:Doe Roe"),
        (["N:Gómez,Pérez;Ana;;;;Pérez;x", "FN:A"], {"surname": "Sanz"}, "N:Sanz,Pérez;Ana;;;;Pérez;x"),
        (["N:Doe;Jo;;Mr.;", "FN;X-A=1:Jo Doe"], {"surname": "Roe"}, "N:Roe;Jo;;Mr.;|FN;X-A=1:Jo Roe"),
        ([*NAME, "NICKNAME;X-A=1:Al,Countess"], {"nickname": "Addie"}, "NICKNAME;X-A=1:Addie,Countess"),
        ([*NAME, "TITLE;LANGUAGE=en:A", "TITLE:B"], {"job_title": "C"}, "TITLE;LANGUAGE=en:C|TITLE:B"),
        ([*NAME, "NOTE;X-A=1:One", "NOTE;X-A=2:Two"], {"notes": "One\n\n2"}, "NOTE;X-A=1:One|NOTE;X-A=2:2"),
        ([*NAME, "NOTE;X-A=1:One", "NOTE;X-A=2:Two"], {"notes": "1\n\nTwo"}, "NOTE;X-A=1:1|NOTE;X-A=2:Two"),
        ([*NAME, "GENDER;X-A=1:F;lady"], {"gender": "countess"}, "GENDER;X-A=1:F;countess"),
        ([*NAME, "ORG;X-A=1:IBM;Sales"], {"organization": "ACME"}, "ORG;X-A=1:ACME;Sales"),
        ([*NAME, "CATEGORIES;X-A=1:A,B"], {"categories": ("B", "C, D")}, "CATEGORIES;X-A=1:B,C\\, D"),
        ([*NAME, "X-ANNIVERSARY:20010203T0405"], {"anniversary": dt.date(2002, 3, 4)}, "X-ANNIVERSARY:20020304T0405"),
        ([*NAME, "TEL:"], {"job_title": "C"}, "TEL:|TITLE:C"),
    ],
)
def test_a_field_is_edited_in_its_line(lines: list[str], change: dict[str, Any], after: str) -> None:
    written = write_card(replace(read_card(*lines), **change), "3.0").replace("\r\n ", "")
    assert "\r\n" + after.replace("|", "\r\n") + "\r\n" in written


@pytest.mark.parametrize(
    ("line", "date", "after"),
    [
        ("BDAY;X-A=1:1985-01-28T07:30:00Z", (dt.date(1985, 2, 3), False), "BDAY;X-A=1:1985-02-03T07:30:00Z"),
        ("BDAY:19850128", (dt.date(1986, 2, 3), False), "BDAY:19860203"),
        ("BDAY:--02-03", (dt.date(1604, 5, 6), True), "BDAY;X-APPLE-OMIT-YEAR=1604:1604-05-06"),
        ("BDAY:--02-03", (dt.date(1990, 5, 6), False), "BDAY:1990-05-06"),
        ("BDAY:1985-01-28", (dt.date(1604, 5, 6), True), "BDAY;X-APPLE-OMIT-YEAR=1604:1604-05-06"),
    ],
)
def test_a_birthday_moves_in_its_line(line: str, date: tuple[dt.date, bool], after: str) -> None:
    card = read_card(*NAME, line)
    [old] = card.important_dates
    moved = replace_entry(card, "important_dates", old, CardDate(date=date[0], type="BIRTHDAY", year_unknown=date[1]))
    assert f"\r\n{after}\r\n" in write_card(moved, "3.0")


def test_removed_entry_takes_its_grouped_lines_along() -> None:
    lines = ("item1.ADR:;;A;;;;", "item1.X-ABADR:gb", "item1.X-ABLabel:Cabin", "item2.TEL:1", "item2.X-ABLabel:Boat")
    card = read_card(*NAME, *lines, "WORK.TEL:2", "WORK.KEY:x")
    for field, old in (("addresses", card.addresses[0]), ("phone_numbers", card.phone_numbers[1])):
        card = replace_entry(card, field, old, None)
    written = write_card(card, "3.0")
    assert "item1" not in written
    assert "\r\nitem2.TEL:1\r\nitem2.X-ABLabel:Boat\r\nWORK.KEY:x\r\n" in written


def test_shared_label_is_changed_for_one_entry_only() -> None:
    card = read_card(*NAME, "A.TEL:1", "A.EMAIL:a@b.org", "A.X-ABLabel:Boat")
    edited = replace_entry(card, "phone_numbers", card.phone_numbers[0], {"type": "Car", "number": "1"})
    written = write_card(edited, "3.0")
    assert "\r\nitem1.TEL:1\r\nitem1.X-ABLabel:Car\r\nA.EMAIL:a@b.org\r\nA.X-ABLabel:Boat\r\n" in written


def test_patch_changes_only_the_edited_lines() -> None:
    lines = (
        "n;charset=utf-8:Lovelace;Ada",
        "FN:Ada  Lovelace",
        "item1.TEL;WORK;PREF:1",
        "X-ODD;;a=b:c",
        "REV:1",
        "NOTE:fol",
    )
    text = card_text(*lines, version="2.1").replace("fol", "fol\r\n ded")
    card = read_card(*lines, version="2.1")
    edited = replace_entry(card, "phone_numbers", card.phone_numbers[0], {"type": "work", "number": "2"})
    patched = patch_card(text, replace(edited, notes="fol" + "ded"), revised="2")
    assert patched == text.replace("PREF:1", "PREF:2").replace("REV:1", "REV:2")
    renamed = patch_card(text, replace(card, surname="Byrön", notes="folded"))
    assert "\r\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Byr=C3=B6n;Ada;;;\r\n" in renamed
