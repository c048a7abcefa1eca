"""POST /api/reminders/answer: an answer without a link, to reminders that were sent and to those that are to come."""

from typing import Any

import pytest

from accounts.models import User
from notifications.models import ReminderAnswer
from people.models import Interaction, Person
from tests.builders import make_person
from tests.client import Client
from tests.notifications.recording_channel import RecordingChannel
from tests.notifications.test_actions import answers, links, submit_action
from tests.notifications.test_reminders import CONTACT, DAY, LEAD, remind, run, run_each
from tests.notifications.test_upcoming_reminders import short, upcoming

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock")]

# The clock is frozen at noon on 1 March 2026; runs use later instants.
DAY_OF = "2026-03-11"


def reply(api: Client, on: str, action: str, status: int = 200, **more: Any) -> Any:
    return api.ok("post", "/api/reminders/answer", {"on": on, "action": action, **more}, status=status)


def listed(api: Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.ok("get", "/api/reminders/answers")["answers"]
    return found


@pytest.fixture
def birthday(api: Client, ada: Person, channel: RecordingChannel) -> str:
    return remind(api, ada, "1990-03-11")


def test_day_that_is_to_come_is_skipped_once_and_the_undo_brings_it_back(
    api: Client, channel: RecordingChannel, birthday: str
) -> None:
    for _ in range(2):
        assert reply(api, DAY_OF, "skip", dateId=birthday)["message"].startswith("You will not be reminded")
    shown = {"dateId": birthday, "personId": None, "on": DAY_OF, "state": "skipped", "again": None}
    assert listed(api) == [shown]
    assert {entry[3] for entry in short(upcoming(api)) if entry[1] == DAY_OF} == {"skipped"}
    assert reply(api, DAY_OF, "undo", dateId=birthday)["message"] == "You will be reminded of this again."
    assert reply(api, DAY_OF, "undo", dateId=birthday)["message"] == "Nothing has changed."
    assert listed(api) == []
    run("2026-03-11T09:00:00Z")
    assert channel.sent_notices == [(DAY, DAY_OF)]


def test_skipped_day_is_not_sent_and_that_of_the_next_year_is(
    api: Client, channel: RecordingChannel, birthday: str
) -> None:
    reply(api, DAY_OF, "skip", dateId=birthday)
    run("2026-03-11T09:00:00Z")
    assert channel.sent_notices == []
    run("2027-03-11T09:00:00Z")
    assert channel.sent_notices == [(DAY, "2027-03-11")]


def test_tomorrow_on_a_day_to_come_is_a_notice_in_advance(
    api: Client, channel: RecordingChannel, birthday: str
) -> None:
    assert reply(api, DAY_OF, "snooze", dateId=birthday)["message"].endswith("Monday, 2 March.")
    assert listed(api)[0]["again"] == "2026-03-02"
    run_each("2026-03-02T09:00:00Z", "2026-03-11T09:00:00Z")
    assert channel.sent_notices == [(LEAD, DAY_OF), (DAY, DAY_OF)]


def test_tomorrow_on_the_day_before_adds_nothing(api: Client, channel: RecordingChannel, birthday: str) -> None:
    reply(api, DAY_OF, "snooze", dateId=birthday, days=10)
    run("2026-03-11T09:00:00Z")
    assert channel.sent_notices == [(DAY, DAY_OF)]


def test_snooze_beyond_the_day_moves_its_reminder(api: Client, channel: RecordingChannel, birthday: str) -> None:
    assert reply(api, DAY_OF, "snooze", dateId=birthday, days=12)["message"].endswith("Friday, 13 March.")
    run("2026-03-11T09:00:00Z")
    assert channel.sent_notices == []
    run("2026-03-13T09:00:00Z")
    assert channel.sent_notices == [(DAY, DAY_OF)]


def test_answer_applies_to_the_reminder_that_was_sent_and_its_link_says_so(
    api: Client, browser: Client, channel: RecordingChannel, birthday: str
) -> None:
    run("2026-03-11T09:00:00Z")
    reply(api, DAY_OF, "skip", dateId=birthday)
    assert answers(api) == [["skip"]]
    assert "done before" in submit_action(browser, links(channel)["skip"])["message"]
    reply(api, DAY_OF, "undo", dateId=birthday)
    assert answers(api) == [[]]
    assert "You will not be reminded" in submit_action(browser, links(channel)["skip"])["message"]


def test_talked_makes_an_interaction_which_can_be_taken_back(api: Client, ada: Person, birthday: str) -> None:
    answer = reply(api, DAY_OF, "contacted", dateId=birthday)
    assert answer["message"] == "Noted: you were in touch with Ada today."
    made = Interaction.unscoped.get()
    assert (str(made.pk), made.kind) == (answer["interactionId"], "OTHER")
    api.ok("delete", f"/api/interactions/{made.pk}")
    assert api.ok("get", f"/api/people/{ada.pk}")["person"]["lastContact"] is None


def test_contact_reminder_that_is_due_is_skipped(api: Client, ada: Person, channel: RecordingChannel) -> None:
    body = {"contactReminderEnabled": True, "contactReminderInterval": 1, "contactReminderIntervalUnit": "MONTHS"}
    api.ok("put", f"/api/people/{ada.pk}", {**body, "lastContact": "2026-02-10"})
    refused = reply(api, "2026-03-11", "skip", 400, personId=str(ada.pk))
    assert [detail["field"] for detail in refused["details"]] == ["on"]
    reply(api, "2026-03-10", "skip", personId=str(ada.pk))
    run("2026-03-10T09:00:00Z")
    assert channel.sent_notices == []
    run("2026-04-10T09:00:00Z")
    assert channel.sent_notices == [(CONTACT, "2026-04-10")]


def test_what_is_not_ones_own_or_not_a_day_is_refused(api: Client, ada: Person, birthday: str, mallory: User) -> None:
    foreign = str(make_person(mallory, name="Eve").pk)
    for body in (
        {"on": DAY_OF, "action": "skip"},
        {"on": DAY_OF, "action": "skip", "dateId": birthday, "personId": str(ada.pk)},
        {"on": DAY_OF, "action": "skip", "personId": foreign},
        {"on": "2026-03-12", "action": "skip", "dateId": birthday},
        {"on": DAY_OF, "action": "restore", "dateId": birthday},
        {"on": DAY_OF, "action": "snooze", "dateId": birthday, "days": 31},
    ):
        api.ok("post", "/api/reminders/answer", body, status=400)
    api.ok("delete", f"/api/people/{ada.pk}")
    reply(api, DAY_OF, "skip", 400, dateId=birthday)
    assert not ReminderAnswer.unscoped.exists()
