"""Property test: the forecast equals the one that is computed from every row of the account, without preselection."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import pytest
import time_machine
from django.db import models, transaction
from hypothesis import example, given
from hypothesis import strategies as st

from accounts.models import User
from accounts.vocabularies import LeapDayRule
from notifications.models import Delivery
from notifications.notices.actions import ACTIONS
from notifications.services import forecast
from notifications.services.answers import answer_reminder
from notifications.services.digests import digest_events, schedule_digest
from notifications.services.due_scan import scan_due
from notifications.services.forecast import upcoming_reminders
from people.dates import schedule, upcoming
from people.dates.upcoming import count_upcoming, upcoming_events
from people.mentions import Silence
from people.models import ImportantDate, Person
from people.services.reminders import reschedule_account
from people.vocabularies import DateType, ReminderType, Unit
from tests.builders import make_person
from tests.notifications.recording_channel import RecordingChannel
from tests.rounds import database_settings

# Zones at both ends of the day, and some that change their clocks at midnight.
ZONES = ("UTC", "Pacific/Kiritimati", "Pacific/Niue", "Europe/Berlin", "America/Santiago", "Asia/Beirut")
LEADS = (0, 1, 7, 29, 40, 364, 365)
CLOCKS = st.fixed_dictionaries(
    {
        "time_zone": st.sampled_from(ZONES),
        "reminder_hour": st.integers(0, 23),
        "leap_day_rule": st.sampled_from(LeapDayRule.values),
        "default_reminder_lead_days": st.sampled_from(LEADS),
        "quiet_hours": st.sampled_from([None, {"from": "22:00", "to": "07:00"}, {"from": "01:00", "to": "23:00"}]),
    }
)
NOW = st.sampled_from(
    [
        dt.datetime(*day, hour, tzinfo=dt.UTC)
        for day in ((2026, 3, 1), (2027, 2, 27), (2028, 2, 28), (2028, 12, 31))
        for hour in (0, 11, 23)
    ]
)
UNITS = st.sampled_from(Unit.values)
# Offsets in days from today, of up to more than a year.
OFFSETS = st.integers(-40, 60) | st.integers(-400, 400)
LEAP_DAYS = st.sampled_from([dt.date(1604, 2, 29), dt.date(2000, 2, 29), dt.date(2024, 2, 29), dt.date(2024, 1, 31)])
REMINDERS = st.just({"reminder_enabled": False}) | st.fixed_dictionaries(
    {
        "reminder_enabled": st.just(True),
        "reminder_type": st.sampled_from(ReminderType.values),
        "reminder_interval": st.integers(1, 3) | st.integers(4, 40),
        "reminder_interval_unit": UNITS | st.just(Unit.YEARS.value),
        "reminder_lead_days": st.none() | st.sampled_from(LEADS),
        "extra_lead_days": st.lists(st.sampled_from(LEADS[1:]), unique=True, max_size=3),
    }
)
DATES = st.fixed_dictionaries(
    {
        "type": st.none() | st.sampled_from(DateType.values),
        "on": LEAP_DAYS | st.tuples(OFFSETS, st.sampled_from([0, 0, 1, 4, 30])),
        "year_unknown": st.booleans(),
        "reminder": REMINDERS,
        "is_dead": st.sampled_from([False, False, True]),
        "is_quiet": st.sampled_from([False, False, True]),
        "is_deleted": st.sampled_from([False, False, False, True]),
    }
)
CONTACTS = st.fixed_dictionaries(
    {
        "contact_reminder_interval": st.integers(1, 3) | st.integers(4, 99),
        "contact_reminder_interval_unit": UNITS,
        "last": st.none() | st.integers(-500, 5),
        "quiet": st.sampled_from([False, False, True]),
    }
)
# Steps in an account's history: runs of the planner for so many days later, answers, and changes of rows.
STEPS = st.lists(
    st.tuples(st.just("run"), st.sampled_from([0, 0, 1, 3, 30, 100, 400]))
    | st.tuples(st.just("wait"), st.sampled_from([1, 2, 30]))
    | st.tuples(st.just("answer"), st.integers(0, 20), st.sampled_from(ACTIONS))
    | st.tuples(st.just("move"), st.sampled_from(ZONES), st.booleans())
    | st.tuples(st.just("die"), st.integers(0, 5))
    | st.tuples(st.just("hush"), st.integers(0, 5), st.booleans())
    | st.tuples(st.just("switch off"), st.integers(0, 5)),
    max_size=8,
)
DAYS = st.sampled_from([0, 1, 2, 7, 30, 365, 366]) | st.integers(0, 366)


class AccountHistory:
    """One account and the steps of its history."""

    def __init__(self, owner: User, now: dt.datetime, clock: dict[str, Any]) -> None:
        User.objects.filter(pk=owner.pk).update(**clock, weekly_digest_enabled=True)
        self.owner, self.now = User.objects.get(pk=owner.pk), now
        schedule_digest(self.owner, now=now)

    @property
    def clock(self) -> schedule.Calendar:
        return schedule.load_calendar(self.owner)

    def add_date(self, wanted: dict[str, Any]) -> None:
        today = self.clock.today(self.now)
        deleted_at = self.now if wanted["is_deleted"] else None
        person = make_person(
            self.owner,
            deathday=today if wanted["is_dead"] else None,
            quiet=wanted["is_quiet"],
            deleted_at=deleted_at,
            created_at=self.now,
        )
        row = ImportantDate(owner=self.owner, person=person, type=wanted["type"], **wanted["reminder"])
        row.date = _date(wanted["on"], today)
        row.year_unknown = wanted["year_unknown"]
        if row.year_unknown:
            row.date = dt.date(1604, row.date.month, row.date.day)
        schedule.schedule_date(row, self.clock, self.now)
        row.save()

    def add_contact(self, wanted: dict[str, Any]) -> None:
        columns = {key: value for key, value in wanted.items() if key != "last"}
        last = None if wanted["last"] is None else self.clock.today(self.now) + dt.timedelta(wanted["last"])
        person = make_person(
            self.owner, contact_reminder_enabled=True, last_contact=last, created_at=self.now, **columns
        )
        schedule.schedule_contact(person, self.clock, self.now)
        person.save()

    def apply_step(self, step: tuple[Any, ...]) -> None:
        getattr(self, step[0].replace(" ", "_"))(*step[1:])

    def run(self, days: int) -> None:
        scan_due(now=self.now + dt.timedelta(days), owner_ids=[self.owner.pk])

    def wait(self, days: int) -> None:
        self.now += dt.timedelta(days)

    def answer(self, place: int, action: Any) -> None:
        rows = Delivery.objects.owned_by(self.owner).filter(person__deleted_at=None).exclude(person=None)
        if deliveries := list(rows.select_related("owner", "person").order_by("planned_at", "id")):
            answer_reminder(delivery=deliveries[place % len(deliveries)], action=action, now=self.now)

    def move(self, zone: str, is_followed: bool) -> None:
        User.objects.filter(pk=self.owner.pk).update(time_zone=zone)
        self.owner.refresh_from_db()
        if is_followed:
            reschedule_account(owner_id=self.owner.pk, now=self.now)

    def die(self, place: int) -> None:
        people = list(Person.objects.owned_by(self.owner).order_by("id"))
        if people:
            Person.objects.owned_by(self.owner).filter(pk=people[place % len(people)].pk).update(
                deathday=self.clock.today(self.now)
            )

    def hush(self, place: int, is_quiet: bool) -> None:
        people = list(Person.objects.owned_by(self.owner).order_by("id"))
        if people:
            Person.objects.owned_by(self.owner).filter(pk=people[place % len(people)].pk).update(quiet=is_quiet)

    def switch_off(self, place: int) -> None:
        dates = list(ImportantDate.objects.owned_by(self.owner).order_by("id"))
        if dates:
            row = dates[place % len(dates)]
            row.reminder_enabled = False
            schedule.schedule_date(row, self.clock, self.now)
            row.save()

    def check_cut_lists(self, days: int, whole: dict[str, Any]) -> None:
        """A list with a limit is the beginning of that in `whole`."""
        today = self.clock.today(self.now)
        reminders, events = whole["reminders"].reminders, whole[f"{today} True"].events
        for limit in (1, 3, 10):
            cut = upcoming_reminders(self.owner, now=self.now, days=days, limit=limit)
            assert cut == (reminders[:limit], len(reminders) > limit)
            cut_events = upcoming_events(self.owner, start=today, days=days, limit=limit)
            assert cut_events == (events[:limit], len(events) > limit)

    def all_forecasts(self, days: int) -> dict[str, Any]:
        """All forecast responses for so many days."""
        today = self.clock.today(self.now)
        starts = (today - dt.timedelta(1), today, today + dt.timedelta(3))
        return {
            "reminders": upcoming_reminders(self.owner, now=self.now, days=days, limit=100_000),
            **{
                f"{start} {deceased}": upcoming_events(
                    self.owner, start=start, days=days, limit=100_000, with_deceased=deceased
                )
                for start in starts
                for deceased in (True, False)
            },
            "counts": [count_upcoming(self.owner, start=start, days=days) for start in starts],
        }


def _date(wanted: Any, today: dt.date) -> dt.date:
    if isinstance(wanted, dt.date):
        return wanted
    offset, years = wanted
    day: dt.date = today + dt.timedelta(offset)
    return day if (day.month, day.day) == (2, 29) else day.replace(year=day.year - years)


@contextmanager
def every_row_is_read() -> Iterator[None]:
    """As if nothing were known of a row before it was looked at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(upcoming, "_candidates_between", lambda dates, start, end: dates)
        patch.setattr(forecast, "_candidate_dates", lambda it: upcoming.active_dates(it.owner).order_by("id"))
        patch.setattr(
            forecast,
            "_candidate_contacts",
            lambda it: Person.objects.owned_by(it.owner).active().filter(contact_reminder_enabled=True).order_by("id"),
        )
        # Each digest for itself, as when it is sent.
        patch.setattr(
            forecast,
            "_digest_days_with_events",
            lambda it, days: {day for day in days if digest_events(it.owner, day).events},
        )
        yield


@contextmanager
def no_deferred_column_is_loaded() -> Iterator[None]:
    """Fail if a column that the query left out is loaded afterwards, row by row."""

    def refuse(row: Any, using: Any = None, fields: Any = None, **kwargs: Any) -> None:
        raise AssertionError(f"{fields} of a {type(row).__name__} were not read with it")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models.Model, "refresh_from_db", refuse)
        yield


NOON = dt.datetime(2026, 3, 1, 11, tzinfo=dt.UTC)
CLOCK = {
    "time_zone": "UTC",
    "reminder_hour": 9,
    "leap_day_rule": "FEB28",
    "default_reminder_lead_days": 0,
    "quiet_hours": None,
}
IN_DAYS = {"contact_reminder_interval_unit": "DAYS", "quiet": False}
EVERY_40_DAYS = {**IN_DAYS, "contact_reminder_interval": 40, "last": -20}
TODAY = {**IN_DAYS, "contact_reminder_interval": 1, "last": -1}


def date_in(days: int, interval: int, unit: str, lead: int) -> dict[str, Any]:
    """A date `days` days ahead that recurs at an interval."""
    reminder = {"reminder_enabled": True, "reminder_type": "RECURRING", "reminder_lead_days": lead}
    reminder |= {"reminder_interval": interval, "reminder_interval_unit": unit, "extra_lead_days": []}
    years = 4 if unit == "YEARS" else 0
    shape = {"type": None, "year_unknown": False, "is_dead": False, "is_quiet": False, "is_deleted": False}
    return {**shape, "on": (days, years), "reminder": reminder}


@database_settings(15)
@given(
    now=NOW,
    clock=CLOCKS,
    dates=st.lists(DATES, max_size=8),
    contacts=st.lists(CONTACTS, max_size=3),
    steps=STEPS,
    days=DAYS,
)
# What is 20 days ahead was sent by a run ahead, but is still to come.
@example(now=NOON, clock=CLOCK, dates=[date_in(-20, 40, "DAYS", 40)], contacts=[], steps=[("run", 30)], days=30)
@example(now=NOON, clock=CLOCK, dates=[date_in(20, 1, "YEARS", 365)], contacts=[], steps=[("run", 30)], days=30)
@example(now=NOON, clock=CLOCK, dates=[], contacts=[EVERY_40_DAYS], steps=[("run", 30)], days=30)
# The notice of a later day is sent in the last hour of the last day, where days end last.
@example(
    now=NOON,
    clock=CLOCK | {"time_zone": "Pacific/Niue", "reminder_hour": 23},
    dates=[date_in(37, 1, "YEARS", 7)],
    contacts=[],
    steps=[],
    days=30,
)
# What is due today where days begin first waits to be sent where it is still yesterday.
@example(
    now=NOON,
    clock=CLOCK | {"time_zone": "Pacific/Kiritimati", "reminder_hour": 0},
    dates=[],
    contacts=[TODAY],
    steps=[("move", "Pacific/Niue", True)],
    days=0,
)
def test_forecast_equals_the_one_from_all_rows(
    alice: User,
    channel: RecordingChannel,
    now: dt.datetime,
    clock: Any,
    dates: Any,
    contacts: Any,
    steps: Any,
    days: int,
) -> None:
    with transaction.atomic():
        story = AccountHistory(alice, now, clock)
        for wanted in dates:
            story.add_date(wanted)
        for wanted in contacts:
            story.add_contact(wanted)
        for step in steps:
            story.apply_step(step)
        with time_machine.travel(story.now, tick=False):
            with every_row_is_read():
                expected = story.all_forecasts(days)
            with no_deferred_column_is_loaded():
                assert story.all_forecasts(days) == expected
                story.check_cut_lists(days, expected)
        transaction.set_rollback(True)


def test_rows_without_a_near_reminder_are_in_the_forecast(alice: User, channel: RecordingChannel) -> None:
    """As after what was sent, skipped or answered: the occurrence itself is still ahead."""
    now = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
    story, today = AccountHistory(alice, now, {"time_zone": "UTC", "reminder_hour": 8}), dt.date(2026, 3, 1)
    on = {"reminder_enabled": True, "reminder_type": ReminderType.RECURRING, "reminder_interval": 1}
    for unit, lead, kind in product(Unit.values, (0, 10, 40), (None, DateType.BIRTHDAY)):
        for due_at, deathday in product((None, now + dt.timedelta(300)), (None, today)):
            ImportantDate.objects.create(
                owner=alice,
                person=make_person(alice, deathday=deathday),
                type=kind,
                date=dt.date(2024, 3 if unit == Unit.YEARS or kind else 5, 20),
                **on,
                reminder_interval_unit=unit,
                reminder_lead_days=lead,
                next_due_at=due_at,
                next_occurrence_on=due_at and due_at.date(),
                next_kind="day" if due_at else "",
            )
    with time_machine.travel(now, tick=False):
        with every_row_is_read():
            expected = story.all_forecasts(30)
        assert story.all_forecasts(30) == expected
        story.check_cut_lists(30, expected)
    reasons = {entry["reason"] for entry in expected["reminders"].reminders}
    assert {forecast.NOTICE_TOO_EARLY, Silence.DECEASED} <= reasons
    assert {event["type"] for event in expected["2026-03-01 True"].events} == {None, DateType.BIRTHDAY}
