"""Dates of cards in spellings that no version allows: read, told where they are ambiguous, exported, edited."""

import datetime as dt
from dataclasses import replace

import pytest

from contacts_project.kernel.texts import Text
from people.vcard import CardDate, write_card
from tests.people.vcard.lines import read_card, read_result, unmapped_lines


@pytest.mark.parametrize(
    ("value", "days"),
    [
        ("03/04/1980", ("1980-03-04", "1980-04-03")),
        ("3-4-1980", ("1980-03-04", "1980-04-03")),
        ("3/4", ("--03-04", "--04-03")),
    ],
)
@pytest.mark.parametrize(
    "line",
    [
        *("BDAY:{}", "ANNIVERSARY:{}", "DEATHDATE:{}", "X-ABDATE:{}"),
        "X-ANDROID-CUSTOM:vnd.android.cursor.item/contact_event;{};3;;",
    ],
)
def test_a_date_that_may_be_two_is_told_and_kept(line: str, value: str, days: tuple[str, str]) -> None:
    result = read_result("FN:Ada", line.format(value))
    assert result.card
    assert (result.card.important_dates, result.card.anniversary, result.card.deathday) == ((), None, None)
    assert unmapped_lines(result.card) == (line.format(value),)
    [warning] = result.warnings
    assert isinstance(warning, Text)
    assert (warning.code, warning.params["first"], warning.params["second"]) == ("card_date_ambiguous", *days)


@pytest.mark.parametrize(
    ("value", "old", "new"),
    [
        ("1973-9-28", "1973-09-28", "19730928"),
        ("28.09.1973", "1973-09-28", "19730928"),
        ("1973年9月28日", "1973-09-28", "19730928"),
        ("19560411230000", "1956-04-11T230000", "19560411T230000"),
        ("28.9.", "1604-09-28", "--0928"),
        ("03/04/1980", "03/04/1980", "03/04/1980"),
    ],
)
def test_birthdays_are_exported_in_a_spelling_that_others_read(value: str, old: str, new: str) -> None:
    card = read_card("FN:Ada", f"BDAY:{value}")
    for version, expected in (("3.0", old), ("4.0", new)):
        [line] = [line for line in write_card(card, version).split("\r\n") if line.startswith("BDAY")]
        assert line.rpartition(":")[2] == expected


def test_an_edited_date_replaces_one_in_another_spelling() -> None:
    card = read_card("FN:Ada", "X-ANNIVERSARY;X-A=1:28.09.1973", "BDAY:1.2.1980")
    new = dt.date(2001, 2, 3)
    lines = tuple(
        replace(kept, entry=CardDate(date=new, type="BIRTHDAY")) if kept.entry else kept for kept in card.lines
    )
    edited = replace(card, anniversary=new, important_dates=(CardDate(date=new, type="BIRTHDAY"),), lines=lines)
    text = write_card(edited, "3.0")
    assert "X-ANNIVERSARY;X-A=1:2001-02-03\r\n" in text
    assert "BDAY:2001-02-03\r\n" in text
