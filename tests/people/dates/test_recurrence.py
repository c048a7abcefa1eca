"""Recurrence against a slow reference that lists every occurrence, over four hundred years."""

from collections.abc import Iterator
from datetime import date, timedelta

import pytest
from dateutil.relativedelta import relativedelta
from hypothesis import assume, example, given
from hypothesis import strategies as st

from accounts.vocabularies import LeapDayRule
from people.dates.calendar_events import rule_lines
from people.dates.recurrence import (
    Recurrence,
    Reminder,
    ReminderRule,
    contact_recurrence,
    full_years,
    once_from,
    shift_months,
)
from people.vocabularies import ReminderKind, Unit

FEB28, MAR1 = LeapDayRule.FEB28, LeapDayRule.MAR1
SPAN = (date(1604, 1, 1), date(2104, 12, 31))

days = st.dates(*SPAN)
leap_days = st.sampled_from([date(year, 2, 29) for year in (1604, 1896, 1904, 1996, 2000, 2024)])
units = st.sampled_from(list(Unit))
rules = st.sampled_from(list(LeapDayRule))
anchors = days | leap_days | days.map(lambda day: day.replace(month=1, day=31))
recurrences = st.builds(Recurrence, anchors, units, st.integers(1, 99), rules, st.integers(0, 1))
leads = st.integers(0, 365)


def reference_occurrences(recurrence: Recurrence, until: date) -> Iterator[date]:
    """Every occurrence up to `until`, one by one; months and years by dateutil."""
    anchor, n = recurrence.anchor, recurrence.first
    steps: dict[Unit, timedelta | relativedelta] = {
        Unit.DAYS: timedelta(days=recurrence.interval),
        Unit.WEEKS: timedelta(weeks=recurrence.interval),
        Unit.MONTHS: relativedelta(months=recurrence.interval),
        Unit.YEARS: relativedelta(years=recurrence.interval),
    }
    step = steps[recurrence.unit or Unit.DAYS]
    to_march = recurrence.leap_day is MAR1 and isinstance(step, relativedelta)
    while (day := anchor + step * n) <= until:
        if to_march and (anchor.month, anchor.day, day.month, day.day) == (2, 29, 2, 28):
            day += timedelta(1)
        if day <= until:
            yield day
        n += 1


def assume_near(recurrence: Recurrence, day: date) -> None:
    """Skip examples whose rule begins far from `day`, for which the reference takes too long."""
    assume(abs((day - recurrence.anchor).days) < 150_000)


@given(recurrences, days)
@example(Recurrence(date(1604, 2, 29), leap_day=MAR1), date(2023, 3, 1))
@example(Recurrence(date(1604, 2, 29), leap_day=MAR1), date(2100, 2, 28))
@example(Recurrence(date(2024, 1, 31), Unit.MONTHS), date(2024, 2, 29))
def test_next_and_previous_occurrence_agree_with_counting(recurrence: Recurrence, day: date) -> None:
    assume_near(recurrence, day)
    longest = {Unit.DAYS: 1, Unit.WEEKS: 7, Unit.MONTHS: 31, Unit.YEARS: 366}[recurrence.unit or Unit.DAYS]
    end = max(day, recurrence.anchor) + timedelta(2 * longest * recurrence.interval)
    every = list(reference_occurrences(recurrence, end))
    assert recurrence.on_or_after(day) == next((found for found in every if found >= day), None)
    assert recurrence.after(day) == next((found for found in every if found > day), None)
    assert recurrence.before(day) == next((found for found in reversed(every) if found < day), None)


@given(recurrences, days, st.integers(0, 800))
def test_occurrences_in_a_range_agree_with_counting(recurrence: Recurrence, day: date, length: int) -> None:
    end = day + timedelta(length)
    assert list(recurrence.between(day, end)) == [
        found for found in reference_occurrences(recurrence, end) if found >= day
    ]


@given(recurrences, days, st.integers(0, 800))
def test_occurrences_are_counted_as_they_are_listed(recurrence: Recurrence, day: date, length: int) -> None:
    end = day + timedelta(length)
    assert recurrence.count_between(day, end) == len(list(recurrence.between(day, end)))


@given(anchors, units, st.integers(1, 99), rules)
def test_far_date_takes_few_steps(anchor: date, unit: Unit, interval: int, rule: LeapDayRule) -> None:
    calls = []

    class Counting(Recurrence):
        def nth(self, n: int) -> date | None:
            calls.append(n)
            return super().nth(n)

    Counting(anchor, unit, interval, rule).on_or_after(date(2104, 7, 1))
    assert len(calls) <= 4
    calls.clear()
    Counting(anchor, unit, interval, rule).count_between(date(2030, 7, 1), date(2104, 7, 1))
    assert len(calls) <= 8


@given(anchors, st.integers(0, 6000), rules)
def test_months_are_shifted_as_dateutil_does_but_for_the_leap_day(anchor: date, months: int, rule: LeapDayRule) -> None:
    expected = anchor + relativedelta(months=months)
    if rule is MAR1 and (anchor.month, anchor.day, expected.month, expected.day) == (2, 29, 2, 28):
        expected += timedelta(1)
    assert shift_months(anchor, months, rule) == expected


@pytest.mark.parametrize(
    ("anchor", "unit", "interval", "day", "expected"),
    [
        ("2024-01-31", Unit.MONTHS, 1, "2024-02-01", "2024-02-29"),
        ("2024-01-31", Unit.MONTHS, 1, "2024-03-01", "2024-03-31"),
        ("2024-01-31", Unit.MONTHS, 1, "2025-02-01", "2025-02-28"),
        ("2024-01-30", Unit.MONTHS, 1, "2025-02-01", "2025-02-28"),
        ("2024-08-31", Unit.MONTHS, 3, "2024-09-01", "2024-11-30"),
        ("2024-08-31", Unit.MONTHS, 3, "2025-05-01", "2025-05-31"),
        ("2024-12-30", Unit.WEEKS, 2, "2025-01-01", "2025-01-13"),
        ("2024-12-30", Unit.DAYS, 10, "2025-01-01", "2025-01-09"),
        ("2020-02-29", Unit.YEARS, 1, "2023-01-01", "2023-02-28"),
        ("2020-02-29", Unit.YEARS, 4, "2021-01-01", "2024-02-29"),
        ("1604-12-31", Unit.YEARS, 1, "2026-12-31", "2026-12-31"),
        ("2030-05-01", Unit.YEARS, 1, "2026-01-01", "2030-05-01"),
    ],
)
def test_named_cases(anchor: str, unit: Unit, interval: int, day: str, expected: str) -> None:
    recurrence = Recurrence(date.fromisoformat(anchor), unit, interval)
    assert recurrence.on_or_after(date.fromisoformat(day)) == date.fromisoformat(expected)


def test_leap_day_rule_mar1_moves_it_to_the_first_of_march() -> None:
    recurrence = Recurrence(date(2020, 2, 29), leap_day=MAR1)
    assert [recurrence.nth(n) for n in range(5)] == [
        date(2020, 2, 29),
        date(2021, 3, 1),
        date(2022, 3, 1),
        date(2023, 3, 1),
        date(2024, 2, 29),
    ]


def test_occurrences_end_with_the_calendar_without_an_error() -> None:
    for unit in Unit:
        recurrence = Recurrence(date(9990, 12, 31), unit, 99)
        last = recurrence.before(date.max)
        assert last is not None
        assert recurrence.after(date.max) is None
        assert list(recurrence.between(last, date.max)) == [last]


def test_type_once_has_one_occurrence() -> None:
    once = Recurrence(date(2026, 5, 4), unit=None)
    assert once.on_or_after(date(2026, 5, 4)) == date(2026, 5, 4)
    assert once.on_or_after(date(2020, 1, 1)) == date(2026, 5, 4)
    assert once.on_or_after(date(2026, 5, 5)) is None
    assert once.before(date(2027, 1, 1)) == date(2026, 5, 4)
    assert once.before(date(2026, 5, 4)) is None


def test_type_once_without_year_is_the_next_occurrence() -> None:
    assert once_from(date(1604, 5, 4), date(2026, 5, 4), FEB28) == Recurrence(date(2026, 5, 4), unit=None)
    assert once_from(date(1604, 2, 29), date(2026, 1, 1), MAR1) == Recurrence(date(2026, 3, 1), unit=None)


def test_contact_is_due_an_interval_after_the_last_and_again_every_interval() -> None:
    recurrence = contact_recurrence(date(2026, 1, 31), 1, Unit.MONTHS, FEB28)
    assert list(recurrence.between(date(2026, 1, 1), date(2026, 5, 1))) == [
        date(2026, 2, 28),
        date(2026, 3, 31),
        date(2026, 4, 30),
    ]


@given(recurrences, days, st.sets(leads, max_size=4), st.integers(1, 800))
def test_reminders_in_a_range_agree_with_a_search_of_every_occurrence(
    recurrence: Recurrence, start: date, wanted: set[int], length: int
) -> None:
    end = start + timedelta(length)
    assume_near(recurrence, start)
    expected, previous = [], None
    for occurrence in reference_occurrences(recurrence, end + timedelta(366)):
        for lead in sorted(wanted - {0}, reverse=True):
            notice = occurrence - timedelta(lead)
            if previous is None or notice > previous:
                expected.append(Reminder(occurrence, ReminderKind.LEAD, notice))
        expected.append(Reminder(occurrence, ReminderKind.DAY, occurrence))
        previous = occurrence
    found = list(ReminderRule(recurrence, tuple(wanted)).between(start, end))
    assert found == [reminder for reminder in expected if start <= reminder.day <= end]
    assert [r.day for r in found] == sorted(r.day for r in found)


@given(recurrences, days, st.sets(leads, max_size=4))
def test_first_from_differs_only_by_the_notice_that_has_passed(
    recurrence: Recurrence, day: date, wanted: set[int]
) -> None:
    rule = ReminderRule(recurrence, tuple(wanted))
    first, scheduled = rule.first_from(day), rule.scheduled_from(day)
    if first is None or scheduled is None:
        assert first == scheduled
        return
    assert rule.has(first)
    assert rule.has(scheduled)
    if first != scheduled:
        assert first.kind is ReminderKind.LEAD
        assert first.day < day < first.occurrence == scheduled.occurrence
        assert rule.following(first) == scheduled


@pytest.mark.parametrize(
    ("unit", "interval", "lead", "expected"),
    [
        (Unit.WEEKS, 1, 7, False),
        (Unit.WEEKS, 1, 6, True),
        (Unit.MONTHS, 1, 31, False),
        (Unit.YEARS, 1, 364, True),
    ],
)
def test_notice_is_given_only_after_the_previous_occurrence(
    unit: Unit, interval: int, lead: int, expected: bool
) -> None:
    recurrence = Recurrence(date(2026, 3, 1), unit, interval)
    second = recurrence.nth(1)
    assert second is not None
    assert (recurrence.lead_day(second, lead) is not None) is expected


def test_the_first_occurrence_may_have_any_notice() -> None:
    assert Recurrence(date(2026, 3, 1), Unit.DAYS).lead_day(date(2026, 3, 1), 365) == date(2025, 3, 1)


def test_changed_rule_has_none_of_its_old_reminders() -> None:
    old = ReminderRule(Recurrence(date(2020, 5, 4)), (7,))
    reminder = old.first_from(date(2026, 5, 1))
    assert reminder == Reminder(date(2026, 5, 4), ReminderKind.LEAD, date(2026, 4, 27))
    assert old.has(reminder)
    assert not ReminderRule(Recurrence(date(2020, 5, 4)), (3,)).has(reminder)
    assert not ReminderRule(Recurrence(date(2020, 5, 5)), (7,)).has(reminder)


@pytest.mark.parametrize(
    ("anchor", "occurrence", "expected"),
    [
        ("1990-05-04", "2026-05-04", 36),
        ("1990-05-04", "2026-11-04", None),
        ("2026-05-04", "2026-05-04", None),
        ("2000-02-29", "2026-02-28", 26),
    ],
)
def test_number_of_turns_from_the_anchor_to_the_occurrence(anchor: str, occurrence: str, expected: int | None) -> None:
    assert full_years(date.fromisoformat(anchor), date.fromisoformat(occurrence), FEB28) == expected


def test_a_leap_day_whose_months_are_far_off_lists_no_days() -> None:
    rule = Recurrence(date(2096, 2, 29), Unit.MONTHS, 1, leap_day=MAR1)
    assert rule_lines(rule, rule.anchor, date(2026, 1, 1)) == []
    assert rule_lines(rule, rule.anchor, date(2096, 2, 1))[0].startswith("RDATE;VALUE=DATE:20960229,20960329,")
