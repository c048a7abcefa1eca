"""When reminders of important dates are sent: hour, time zone, lead days, recurrence, catching up, and never twice."""

import datetime as dt
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.models import User
from notifications.channels.interface import AttemptOutcome
from notifications.models import Delivery
from notifications.services import dispatch
from people.models import ImportantDate, Person
from tests.builders import make_person
from tests.client import Client
from tests.notifications.recording_channel import DOWN, OK, RecordingChannel

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock"), pytest.mark.sqlite_suffices]

DAY, LEAD, CONTACT = "reminder.important_date", "reminder.important_date_lead", "reminder.contact"


def remind(api: Client, person: Person, date: str, **body: Any) -> str:
    """Add a date with its reminder on; returns its id."""
    sent = {"title": "Met", "date": date, "reminderEnabled": True, **body}
    made: str = api.ok("post", f"/api/people/{person.pk}/important-dates", sent)["importantDate"]["id"]
    return made


def run(now: str) -> None:
    call_command("deliver_reminders", "--now", now)


def run_each(*instants: str) -> None:
    for moment in instants:
        run(moment)


def test_reminder_is_sent_at_nine_on_its_day(api: Client, ada: Person, channel: RecordingChannel) -> None:
    remind(api, ada, "1990-05-04")
    run("2026-05-04T08:59:59Z")
    assert channel.sent_notices == []
    run("2026-05-04T09:00:00Z")
    assert channel.sent_notices == [(DAY, "2026-05-04")]
    run_each("2026-05-04T09:00:00Z", "2026-05-04T09:01:00Z", "2026-05-05T09:00:00Z")
    assert len(channel.sent) == 1
    run("2027-05-04T09:00:00Z")
    assert channel.sent_notices[1:] == [(DAY, "2027-05-04")]


def test_notice_has_the_content_that_channels_expect(api: Client, ada: Person, channel: RecordingChannel) -> None:
    date_id = remind(api, ada, "1990-05-04", type="BIRTHDAY", title=None)
    run("2026-05-04T09:00:00Z")
    notice = channel.sent[0].notice
    assert notice.content == {
        "personId": str(ada.pk),
        "personName": "Ada",
        "importantDateId": date_id,
        "type": "BIRTHDAY",
        "title": None,
        "date": "2026-05-04",
        "yearUnknown": False,
        "turns": 36,
        "daysUntil": 0,
        "late": False,
    }
    assert notice.expires_at == dt.datetime(2026, 5, 5, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("zone", "hour", "before", "due"),
    [
        ("Asia/Tokyo", 9, "2026-05-03T23:59:00Z", "2026-05-04T00:00:00Z"),
        ("America/New_York", 9, "2026-05-04T12:59:00Z", "2026-05-04T13:00:00Z"),
        ("Pacific/Kiritimati", 0, "2026-05-03T09:59:00Z", "2026-05-03T10:00:00Z"),
        ("Pacific/Niue", 23, "2026-05-05T09:59:00Z", "2026-05-05T10:00:00Z"),
    ],
)
def test_reminder_hour_is_in_the_time_zone_of_the_account(
    api: Client, ada: Person, channel: RecordingChannel, zone: str, hour: int, before: str, due: str
) -> None:
    remind(api, ada, "1990-05-04")
    api.ok("put", "/api/user/timezone", {"timezone": zone})
    api.ok("put", "/api/user/reminder-hour", {"hour": hour})
    run(before)
    assert channel.sent_notices == []
    run(due)
    assert channel.sent_notices == [(DAY, "2026-05-04")]


def test_reminder_is_sent_on_days_of_clock_changes(api: Client, ada: Person, channel: RecordingChannel) -> None:
    api.ok("put", "/api/user/timezone", {"timezone": "Europe/Berlin"})
    api.ok("put", "/api/user/reminder-hour", {"hour": 2})
    remind(api, ada, "1990-03-29")
    run("2026-03-29T00:59:00Z")
    assert channel.sent_notices == []
    run("2026-03-29T01:00:00Z")
    assert channel.sent_notices == [(DAY, "2026-03-29")]


def test_reminder_of_type_once_is_sent_once(api: Client, ada: Person, channel: RecordingChannel) -> None:
    remind(api, ada, "2026-05-04", reminderType="ONCE")
    remind(api, ada, "2020-05-04", reminderType="ONCE")
    run_each("2026-05-04T09:00:00Z", "2027-05-04T09:00:00Z")
    assert channel.sent_notices == [(DAY, "2026-05-04")]


def test_reminder_of_type_once_without_year_is_sent_at_the_next_occurrence(
    api: Client, ada: Person, channel: RecordingChannel, clock: Any
) -> None:
    date_id = remind(api, ada, "2026-02-10", reminderType="ONCE", yearUnknown=True)
    clock.move_to("2027-02-10T09:00:00Z")
    run("2027-02-10T09:00:00Z")
    assert channel.sent_notices == [(DAY, "2027-02-10")]
    api.ok("put", "/api/user/reminder-hour", {"hour": 10})
    run("2028-02-10T10:00:00Z")
    assert len(channel.sent) == 1
    assert ImportantDate.unscoped.get(pk=date_id).next_due_at is None


def test_interval_is_counted_from_the_date(api: Client, ada: Person, channel: RecordingChannel) -> None:
    remind(api, ada, "2026-01-31", reminderInterval=1, reminderIntervalUnit="MONTHS")
    run_each(*(f"2026-{month:02}-{day}T09:00:00Z" for month, day in ((3, 31), (4, 30), (5, 31), (6, 30))))
    assert [date for _, date in channel.sent_notices] == ["2026-03-31", "2026-04-30", "2026-05-31", "2026-06-30"]


def test_leap_day_follows_the_accounts_rule(api: Client, ada: Person, channel: RecordingChannel) -> None:
    remind(api, ada, "2000-02-29")
    run("2027-02-28T09:00:00Z")
    api.ok("put", "/api/user/leap-day-rule", {"leapDayRule": "MAR1"})
    run_each("2028-02-29T09:00:00Z", "2029-02-28T09:00:00Z", "2029-03-01T09:00:00Z")
    assert [date for _, date in channel.sent_notices] == ["2027-02-28", "2028-02-29", "2029-03-01"]


def test_advance_notice_is_sent_in_addition_to_the_day(api: Client, ada: Person, channel: RecordingChannel) -> None:
    remind(api, ada, "1990-05-04", reminderLeadDays=7)
    run("2026-04-27T09:00:00Z")
    assert channel.sent_notices == [(LEAD, "2026-05-04")]
    assert channel.sent[0].notice.content["daysUntil"] == 7
    run("2026-05-04T09:00:00Z")
    assert channel.sent_notices == [(LEAD, "2026-05-04"), (DAY, "2026-05-04")]


def test_default_lead_days_apply_to_dates_without_their_own(
    api: Client, ada: Person, channel: RecordingChannel
) -> None:
    remind(api, ada, "1990-05-04", title="default")
    remind(api, ada, "1990-05-05", title="none", reminderLeadDays=0)
    remind(api, ada, "1990-05-06", title="own", reminderLeadDays=3)
    api.ok("put", "/api/user/reminder-lead-days", {"days": 10})
    run_each(*(f"2026-04-{day}T09:00:00Z" for day in (24, 25, 26)), *(f"2026-05-0{n}T09:00:00Z" for n in range(1, 7)))
    assert channel.sent_notices == [
        (LEAD, "2026-05-04"),
        (LEAD, "2026-05-06"),
        (DAY, "2026-05-04"),
        (DAY, "2026-05-05"),
        (DAY, "2026-05-06"),
    ]


def test_advance_notice_before_the_previous_occurrence_is_left_out(
    api: Client, ada: Person, channel: RecordingChannel
) -> None:
    remind(api, ada, "2026-03-02", reminderInterval=1, reminderIntervalUnit="WEEKS", reminderLeadDays=7)
    run_each("2026-03-02T09:00:00Z", "2026-03-09T09:00:00Z")
    # The first occurrence has no predecessor, so its notice was sent at once.
    assert channel.sent_notices == [(LEAD, "2026-03-02"), (DAY, "2026-03-02"), (DAY, "2026-03-09")]


def test_reminder_enabled_within_the_lead_days_sends_one_advance_notice(
    api: Client, ada: Person, channel: RecordingChannel
) -> None:
    date_id = remind(api, ada, "1990-03-20", reminderLeadDays=30)
    run("2026-03-01T12:01:00Z")
    assert channel.sent_notices == [(LEAD, "2026-03-20")]
    assert channel.sent[0].notice.content["late"] is False
    path = f"/api/people/{ada.pk}/important-dates/{date_id}"
    api.ok("put", path, {"title": "Met", "date": "1990-03-20", "reminderEnabled": True, "reminderLeadDays": 25})
    api.ok("put", "/api/user/reminder-hour", {"hour": 11})
    run_each("2026-03-01T12:02:00Z", "2026-03-10T12:00:00Z")
    assert len(channel.sent) == 1


def test_each_lead_day_has_its_own_notice(api: Client, ada: Person, channel: RecordingChannel) -> None:
    api.ok("put", "/api/user/reminder-lead-days", {"days": 14})
    remind(api, ada, "1990-05-15", extraLeadDays=[3, 14, 30])
    days = ("04-15", "05-01", "05-12", "05-15")
    sends = [entry["sendAt"][5:10] for entry in api.ok("get", "/api/reminders/upcoming?days=90")["reminders"]]
    assert sends == list(days)
    run_each(*(f"2026-{day}T{time}Z" for day in days for time in ("08:59:00", "09:00:00", "09:01:00")))
    assert [sent.notice.content["daysUntil"] for sent in channel.sent] == [30, 14, 3, 0]
    assert channel.sent_notices == [(LEAD, "2026-05-15")] * 3 + [(DAY, "2026-05-15")]


def test_editing_does_not_repeat_sent_notices(api: Client, ada: Person, channel: RecordingChannel, clock: Any) -> None:
    """Switched on inside several windows it gives one notice; lead days that have passed give none to who had one."""
    date_id = remind(api, ada, "1990-03-20", reminderLeadDays=30, extraLeadDays=[20, 5])
    run("2026-03-01T12:01:00Z")
    assert [sent.notice.content["daysUntil"] for sent in channel.sent] == [19]
    path = f"/api/people/{ada.pk}/important-dates/{date_id}"
    body = {"title": "Met", "date": "1990-03-20", "reminderEnabled": True, "reminderLeadDays": 25}
    api.ok("put", path, {**body, "extraLeadDays": [5, 20, 22]})
    clock.move_to("2026-03-01T12:02:00Z")
    run_each("2026-03-01T12:02:00Z", "2026-03-10T12:00:00Z", "2026-03-15T09:00:00Z")
    assert [sent.notice.content["daysUntil"] for sent in channel.sent] == [19, 5]
    clock.move_to("2026-03-15T09:01:00Z")
    api.ok("put", path, {**body, "extraLeadDays": [4, 5]})
    run_each("2026-03-15T09:02:00Z", "2026-03-16T09:00:00Z", "2026-03-20T09:00:00Z")
    assert [sent.notice.content["daysUntil"] for sent in channel.sent] == [19, 5, 4, 0]


def test_changed_default_lead_days_send_an_advance_notice(api: Client, ada: Person, channel: RecordingChannel) -> None:
    remind(api, ada, "1990-03-20")
    api.ok("put", "/api/user/reminder-lead-days", {"days": 30})
    run("2026-03-01T12:01:00Z")
    assert channel.sent_notices == [(LEAD, "2026-03-20")]


def test_reminder_enabled_in_the_afternoon_of_its_day_is_sent_at_once(
    api: Client, ada: Person, channel: RecordingChannel
) -> None:
    remind(api, ada, "1990-03-01")
    remind(api, ada, "1990-02-28")
    run("2026-03-01T12:00:00Z")
    assert channel.sent_notices == [(DAY, "2026-03-01")]
    assert channel.sent[0].notice.content["late"] is False


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("now", "late"),
    [
        ("2026-05-04T09:30:00Z", False),
        ("2026-05-04T14:00:00Z", True),
        ("2026-05-07T09:00:00Z", True),
        ("2026-05-07T09:00:01Z", None),
    ],
)
def test_missed_reminders_are_caught_up_within_three_days(
    api: Client, ada: Person, channel: RecordingChannel, clock: Any, now: str, late: bool | None
) -> None:
    remind(api, ada, "1990-05-04")
    clock.move_to(now)
    run(now)
    if late is None:
        assert channel.sent_notices == []
        assert [(row.state, row.code) for row in Delivery.unscoped.all()] == [("skipped", "missed")]
    else:
        assert channel.sent_notices == [(DAY, "2026-05-04")]
        assert channel.sent[0].notice.content["late"] is late
        assert Delivery.unscoped.get().late is late
    assert ImportantDate.unscoped.get().next_due_at == dt.datetime(2027, 5, 4, 9, tzinfo=dt.UTC)


@pytest.mark.both_databases
def test_only_three_days_are_caught_up_after_a_long_outage(api: Client, ada: Person, channel: RecordingChannel) -> None:
    remind(api, ada, "2026-01-01", reminderInterval=1, reminderIntervalUnit="DAYS")
    run("2026-12-24T10:00:00Z")
    assert [date for _, date in channel.sent_notices] == ["2026-12-22", "2026-12-23", "2026-12-24"]


def test_run_for_the_past_sends_what_was_due_and_keeps_the_schedule(
    api: Client, ada: Person, channel: RecordingChannel
) -> None:
    date_id = remind(api, ada, "1990-01-15")
    before = ImportantDate.unscoped.get(pk=date_id).next_due_at
    run("2026-01-15T09:00:00Z")
    run("2026-01-16T09:00:00Z")
    assert channel.sent_notices == [(DAY, "2026-01-15")]
    assert ImportantDate.unscoped.get(pk=date_id).next_due_at == before


def test_missed_reminders_can_be_sent_by_a_run_for_their_day(
    api: Client, ada: Person, channel: RecordingChannel, clock: Any
) -> None:
    remind(api, ada, "1990-05-04")
    run_each("2026-05-10T09:00:00Z", "2026-05-10T09:01:00Z")
    assert channel.sent_notices == []
    clock.move_to("2026-05-10T09:02:00Z")
    run_each("2026-05-06T09:00:00Z", "2026-05-06T09:00:00Z", "2026-05-10T09:03:00Z")
    assert channel.sent_notices == [(DAY, "2026-05-04")]


def test_no_reminder_for_deleted_or_disabled_rows(
    api: Client, ada: Person, alice: User, channel: RecordingChannel
) -> None:
    bob = make_person(alice, name="Bob")
    gone = remind(api, ada, "1990-05-04")
    off = remind(api, ada, "1990-05-04")
    remind(api, bob, "1990-05-04")
    api.ok("delete", f"/api/people/{ada.pk}/important-dates/{gone}")
    api.ok("put", f"/api/people/{ada.pk}/important-dates/{off}", {"title": "Met", "date": "1990-05-04"})
    Person.unscoped.filter(pk=bob.pk).update(deleted_at=timezone.now())
    run("2026-05-04T09:00:00Z")
    assert channel.sent_notices == []
    Person.unscoped.filter(pk=bob.pk).update(deleted_at=None)
    run("2027-05-04T09:00:00Z")
    assert channel.sent_notices == [(DAY, "2027-05-04")]


def test_delivery_without_enabled_channel_is_recorded_as_skipped(
    api: Client, ada: Person, channel: RecordingChannel
) -> None:
    channel.on = {"one": "disabled"}
    remind(api, ada, "1990-05-04")
    run("2026-05-04T09:00:00Z")
    row = Delivery.unscoped.get()
    assert (row.state, row.code, row.channel) == ("skipped", "no_channel", "")
    channel.on = {"one": None}
    run("2026-05-04T09:01:00Z")
    assert channel.sent_notices == []


@pytest.mark.both_databases
def test_each_destination_has_its_own_delivery(api: Client, ada: Person, channel: RecordingChannel) -> None:
    channel.on = {"one": None, "two": None, "three": "disabled"}
    remind(api, ada, "1990-05-04")
    run("2026-05-04T09:00:00Z")
    assert sorted(sent.key for sent in channel.sent) == ["one", "two"]
    assert len({sent.notice.id for sent in channel.sent}) == 2
    assert sorted(Delivery.unscoped.values_list("channel", "target_key", "state")) == [
        ("recording", "one", "sent"),
        ("recording", "two", "sent"),
    ]


def test_accounts_get_only_their_own_reminders(
    api: Client, ada: Person, mallory: User, channel: RecordingChannel
) -> None:
    remind(api, ada, "1990-05-04")
    run("2026-05-04T09:00:00Z")
    assert [sent.notice.owner.pk for sent in channel.sent] == [ada.owner_id]


@pytest.mark.both_databases
def test_account_that_breaks_the_scan_does_not_delay_others(
    api: Client, stranger: Client, ada: Person, mallory: User, channel: RecordingChannel
) -> None:
    remind(api, ada, "1990-05-04")
    remind(stranger, make_person(mallory, name="Bob"), "1990-05-04")
    api.ok("put", "/api/user/weekly-digest", {"enabled": True, "weekday": 1})
    call_command("deliver_reminders")
    User.objects.filter(pk=ada.owner_id).update(time_zone="Nowhere/Atlantis")
    dispatch.scan(now=dt.datetime(2026, 5, 4, 9, tzinfo=dt.UTC))
    run("2026-05-04T09:00:00Z")
    assert [sent.notice.owner.pk for sent in channel.sent] == [mallory.pk]
    User.objects.filter(pk=ada.owner_id).update(time_zone="UTC")
    run("2026-05-04T09:01:00Z")
    assert [sent.notice.owner.pk for sent in channel.sent[1:]] == [ada.owner_id]


def test_contact_reminder_repeats_while_overdue(api: Client, channel: RecordingChannel) -> None:
    body = {"name": "Bob", "lastContact": "2026-02-20", "contactReminderEnabled": True}
    every = {"contactReminderInterval": 2, "contactReminderIntervalUnit": "WEEKS"}
    bob = api.ok("post", "/api/people", {**body, **every}, status=201)["person"]
    run_each("2026-03-05T09:00:00Z", "2026-03-06T09:00:00Z", "2026-03-20T09:00:00Z")
    assert channel.sent_notices == [(CONTACT, "2026-03-06"), (CONTACT, "2026-03-20")]
    assert channel.sent[0].notice.content == {
        "personId": bob["id"],
        "personName": "Bob",
        "date": "2026-03-06",
        "lastContact": "2026-02-20",
        "interval": 2,
        "intervalUnit": "WEEKS",
        "daysUntil": 0,
        "late": False,
    }


def test_contact_reminder_counts_from_the_last_contact_or_the_creation(api: Client, channel: RecordingChannel) -> None:
    bob = api.ok("post", "/api/people", {"name": "Bob", "contactReminderEnabled": True}, status=201)["person"]
    run_each("2026-03-31T09:00:00Z", "2026-04-01T09:00:00Z")
    assert channel.sent_notices == [(CONTACT, "2026-04-01")]
    api.ok("put", f"/api/people/{bob['id']}", {"lastContact": "2026-03-15"})
    run_each("2026-04-14T09:00:00Z", "2026-04-15T09:00:00Z")
    assert channel.sent_notices[1:] == [(CONTACT, "2026-04-15")]
    api.ok("put", f"/api/people/{bob['id']}", {"contactReminderEnabled": False})
    run("2026-05-15T09:00:00Z")
    assert len(channel.sent) == 2


@pytest.mark.parametrize(("own_date", "outcomes"), [(None, [DOWN, OK]), ("1981-05-04", [DOWN])])
def test_notice_that_waits_for_a_retry_outlives_a_merge_if_its_date_does(
    api: Client,
    alice: User,
    ada: Person,
    channel: RecordingChannel,
    own_date: str | None,
    outcomes: list[AttemptOutcome],
) -> None:
    bob = make_person(alice, name="Bob")
    birthday = {"type": "BIRTHDAY", "title": None}
    if own_date:
        remind(api, bob, own_date, **birthday, reminderEnabled=False)
    remind(api, ada, "1990-05-04", **birthday)
    channel.outcomes = [DOWN]
    run("2026-05-04T09:00:00Z")
    api.ok("post", "/api/people/merge", {"primaryId": str(bob.pk), "secondaryId": str(ada.pk)})
    run("2026-05-04T09:02:00Z")
    assert [sent.outcome for sent in channel.sent] == outcomes
