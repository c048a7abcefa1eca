"""Which meetings are proposed, and whom a title names: pure, without a database."""

import datetime as dt
from typing import Any
from uuid import UUID, uuid5

import pytest

from meetings.calendars.occurrences import Zoning, occurrences
from meetings.calendars.parser import read_calendars
from meetings.decisions import Answered, Known, Matcher, People, Proposal, open_proposals, propose
from tests.meetings.calendars import attendee, event, ics

NOW = dt.datetime(2026, 6, 1, 12, tzinfo=dt.UTC)
SPACE = UUID(int=7)


def known(name: str, surname: str = "", *, is_silent: bool = False) -> Known:
    return Known(uuid5(SPACE, f"{name}|{surname}"), name, surname, is_silent)


def people(*named: Known, emails: dict[str, Known] | None = None, **fields: Any) -> People:
    return People(
        {key: [person] for key, person in (emails or {}).items()},
        named,
        **{"own_emails": frozenset({"alice@example.org"}), "days": {}, **fields},
    )


def proposed(*events: str, who: People, now: dt.datetime = NOW) -> list[Proposal]:
    zoning = Zoning(floating=dt.UTC, days=dt.UTC)
    rows = occurrences(read_calendars([ics(*events)]).events, zoning, now - dt.timedelta(days=30), now)
    return propose(rows, who, now)


ADA, BEN = known("Ada", "Lovelace"), known("Ben", "Smith")
QUIET = known("Cleo", "Quiet", is_silent=True)
BOTH = people(ADA, BEN, QUIET, emails={"ada@example.org": ADA, "cleo@example.org": QUIET})


@pytest.mark.parametrize(
    ("title", "found"),
    [
        ("Lunch with Ada", [ADA]),
        ("Ada & Ben: plans", [ADA, BEN]),
        ("Lovelace, Ada / Smith Ben", [ADA, BEN]),
        ("Ada Lovelace's birthday", [ADA]),
        ("Dinner (Ben)", [BEN]),
        ("lunch with ada", []),
        ("ADA", []),
        ("Adamant Benefits", []),
        ("Ben-Gurion airport", []),
        ("Lovelace", []),
        ("Cleo Quiet", []),
        ("", []),
    ],
)
def test_names_in_a_title(title: str, found: list[Known]) -> None:
    assert Matcher(BOTH).find(title) == found


def test_a_given_name_alone_counts_where_one_person_alone_has_it() -> None:
    other = known("Ada", "Byron")
    assert Matcher(people(ADA, other)).find("Lunch with Ada") == []
    assert Matcher(people(ADA, other)).find("Lunch with Ada Byron") == [other]
    silent = known("Ada", "Byron", is_silent=True)
    assert Matcher(people(ADA, silent)).find("Lunch with Ada") == [ADA]


def test_names_of_several_words_and_in_decomposed_letters() -> None:
    maria, jose = known("Anna Maria", "von Trapp"), known("Jos\u00e9")
    assert Matcher(people(maria, jose)).find("Tea: Anna Maria von Trapp, Jose\u0301") == [maria, jose]
    assert Matcher(people(maria)).find("Anna von Trapp") == []


def test_names_of_very_many_words_are_looked_for_in_no_title() -> None:
    twenty = known(" ".join("abcdefghij"), " ".join("klmnopqrst"))
    more = known(" ".join("abcdefghij"), " ".join("klmnopqrstu"))
    title = " ".join("abcdefghijklmnopqrstu")
    assert Matcher(people(twenty, more)).find(title) == [twenty]
    assert Matcher(people(more)).find(title) == []


def test_names_without_spaces() -> None:
    wang, taro = known("\u5c0f\u660e", "\u738b"), known("\u592a\u90ce", "\u5c71\u7530")
    matcher = Matcher(people(wang, taro))
    assert matcher.find("\u548c\u738b\u5c0f\u660e\u5403\u996d") == [wang]
    assert matcher.find("\u5c71\u7530 \u592a\u90ce\u3055\u3093\u3068\u4f1a\u8b70") == [taro]
    assert matcher.find("\u592a\u90ce\u3068\u6563\u6b69") == [taro]


def lunch(*lines: str, **fields: str) -> str:
    return event("lunch", "20260530T100000Z", *lines, end="20260530T110000Z", **fields)


def test_guests_by_address_and_unknown_ones() -> None:
    [found] = proposed(
        lunch(
            attendee("Ada@Example.org", CN="Countess"),
            attendee("new@example.org", CN='"New, Guest"'),
            attendee("alice@example.org", PARTSTAT="ACCEPTED"),
            attendee("cleo@example.org"),
            attendee("no@example.org", PARTSTAT="DECLINED"),
            attendee("room@example.org", CUTYPE="ROOM"),
            "ORGANIZER:mailto:boss@example.org",
            summary="Lunch with Ben",
        ),
        who=BOTH,
    )
    assert found.people == ((ADA.id, "email"), (BEN.id, "name"))
    assert found.unknown == (("new@example.org", "New, Guest"),)


def test_who_declined_was_not_there_though_the_title_has_the_name() -> None:
    declined = attendee("ada@example.org", PARTSTAT="DECLINED")
    [found] = proposed(lunch(declined, summary="Ada and Ben"), who=BOTH)
    assert found.people == ((BEN.id, "name"),)
    two = people(ADA, BEN, emails={"ada@example.org": ADA, "countess@example.org": ADA})
    [found] = proposed(lunch(declined, attendee("countess@example.org"), summary="Ada"), who=two)
    assert found.people == ((ADA.id, "email"),)


def test_one_address_in_two_spellings_is_one_guest() -> None:
    guests = attendee("New@Example.org", CN="New"), attendee("new@example.org")
    [found] = proposed(lunch(*guests, summary="Ada"), who=BOTH)
    assert found.unknown == (("New@Example.org", "New"),)


@pytest.mark.parametrize(
    "lines",
    [
        ["STATUS:CANCELLED"],
        ["CLASS:PRIVATE"],
        ["CLASS:CONFIDENTIAL"],
        [attendee("alice@example.org", PARTSTAT="DECLINED")],
        [attendee(f"guest{number}@example.org") for number in range(31)],
    ],
)
def test_what_is_not_proposed(lines: list[str]) -> None:
    assert proposed(lunch(*lines, summary="Ada"), who=BOTH) == []
    assert len(proposed(lunch(summary="Ada"), who=BOTH)) == 1


def test_what_has_not_ended_or_is_with_nobody() -> None:
    assert proposed(event("a", "20260601T113000Z", summary="Ada", end="20260601T123000Z"), who=BOTH) == []
    assert proposed(event("a", "20260630T113000Z", summary="Ada"), who=BOTH) == []
    assert proposed(lunch(summary="Dentist"), who=BOTH) == []
    assert proposed(lunch(attendee("ada@example.org", PARTSTAT="DECLINED"), summary="x"), who=BOTH) == []


def test_whole_days() -> None:
    day = event("d", ";VALUE=DATE:20260530", summary="Ada")
    [found] = proposed(day, who=BOTH)
    assert (found.day, found.starts_at) == (dt.date(2026, 5, 30), dt.datetime(2026, 5, 30, tzinfo=dt.UTC))
    assert proposed(event("d", ";VALUE=DATE:20260530", "TRANSP:TRANSPARENT", summary="Ada"), who=BOTH) == []
    assert len(proposed(lunch("TRANSP:TRANSPARENT", summary="Ada"), who=BOTH)) == 1
    birthday = people(ADA, BEN, days={ADA.id: {530}})
    assert proposed(day, who=birthday) == []
    assert len(proposed(lunch(summary="Ada"), who=birthday)) == 1


def test_29_february_in_other_years() -> None:
    who = people(ADA, days={ADA.id: {229}})
    now = dt.datetime(2026, 3, 10, tzinfo=dt.UTC)
    for day in ("20260228", "20260301"):
        assert proposed(event("d", f";VALUE=DATE:{day}", summary="Ada"), who=who, now=now) == []
    assert len(proposed(event("d", ";VALUE=DATE:20260302", summary="Ada"), who=who, now=now)) == 1


def test_a_changed_rule_makes_no_answered_day_open_again() -> None:
    def weekly(hour: str) -> str:
        return event("w", f"20260504T{hour}0000Z", "RRULE:FREQ=WEEKLY", summary="Ada")

    before, after = proposed(weekly("10"), who=BOTH), proposed(weekly("11"), who=BOTH)
    answered = Answered({before[0].key}, {before[0].day_key: {before[0].key}})
    opened = list(open_proposals(after, answered, {row.key for row in after}))
    assert [row.starts_at.day for row in opened] == [row.starts_at.day for row in after[1:]]


def test_two_occurrences_of_one_day_are_answered_apart() -> None:
    rows = proposed(event("w", "20260530T090000Z", "RRULE:FREQ=DAILY;BYHOUR=9,15;COUNT=2", summary="Ada"), who=BOTH)
    assert [row.starts_at.hour for row in rows] == [15, 9]
    answered = Answered({rows[0].key}, {rows[0].day_key: {rows[0].key}})
    assert list(open_proposals(rows, answered, {row.key for row in rows})) == rows[1:]


def test_an_event_that_becomes_a_series_keeps_its_answer() -> None:
    single = proposed(event("s", "20260511T100000Z", summary="Ada"), who=BOTH)
    series = proposed(event("s", "20260511T100000Z", "RRULE:FREQ=WEEKLY;COUNT=2", summary="Ada"), who=BOTH)
    answered = Answered({single[0].key}, {single[0].day_key: {single[0].key}})
    opened = list(open_proposals(series, answered, {row.key for row in series}))
    assert [row.starts_at.day for row in opened] == [18]
