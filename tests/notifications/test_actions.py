"""The action links of a reminder: GET asks for confirmation, POST acts, once."""

from typing import Any

import orjson
import pytest
from django.core.management import call_command

from accounts.models import User
from notifications.channels.webhook import body_of
from notifications.models import Delivery
from people.models import Person
from tests.builders import make_person, make_user
from tests.client import Client, client_of
from tests.notifications.recording_channel import DOWN, RecordingChannel
from tests.notifications.test_reminders import CONTACT, DAY, LEAD, remind, run, run_each
from tests.notifications.test_upcoming_reminders import short, upcoming

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock"), pytest.mark.sqlite_suffices]

# The clock is frozen at noon on 1 March 2026; runs use later instants.
BIRTHDAY_RUN = "2026-03-11T09:00:00Z"


def links(channel: RecordingChannel, place: int = -1) -> dict[str, str]:
    """The paths of a notice's actions, by kind and days, from the body of its webhook."""
    actions = orjson.loads(body_of(channel.sent[place].notice))["data"]["actions"]
    return {f"{one['kind']}{one.get('days', '')}": "/api/" + one["url"].partition("/api/")[2] for one in actions}


def submit_action(browser: Client, path: str) -> Any:
    return browser.ok("post", path)


def interactions(api: Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.ok("get", "/api/interactions")["interactions"]
    return found


def answers(api: Client) -> list[list[str]]:
    rows = api.ok("get", "/api/notifications/deliveries")["deliveries"]
    return [[f"{answer['kind']}{answer.get('days', '')}" for answer in row["answers"]] for row in rows]


@pytest.fixture
def birthday(api: Client, ada: Person, channel: RecordingChannel) -> str:
    """Ada's birthday, whose reminder was sent; returns the id of the date."""
    date = remind(api, ada, "1990-03-11")
    run(BIRTHDAY_RUN)
    return date


def test_get_changes_nothing_and_post_acts_once(
    api: Client, browser: Client, ada: Person, channel: RecordingChannel, birthday: str
) -> None:
    path = links(channel)["contacted"]
    page = browser.get(path, HTTP_ACCEPT="text/html")
    assert (page.status_code, page["Referrer-Policy"]) == (200, "same-origin")
    assert '<form method="post">' in page.content.decode()
    assert "Ada" in page.content.decode()
    assert (interactions(api), answers(api)) == ([], [[]])
    first, second = submit_action(browser, path), submit_action(browser, path)
    assert first == {"success": True, "message": "Noted: you were in touch with Ada today."}
    assert second == {"success": True, "message": "This was done before. Nothing has changed."}
    (made,) = interactions(api)
    assert (made["kind"], made["personIds"], made["at"][:10]) == ("OTHER", [str(ada.pk)], "2026-03-01")
    assert api.ok("get", f"/api/people/{ada.pk}")["person"]["lastContact"] == "2026-03-01"
    assert answers(api) == [["contacted"]]
    html = browser.post(path, HTTP_ACCEPT="text/html,*/*;q=0.8").content.decode()
    assert "This was done before" in html
    assert "<form" not in browser.get(path).content.decode()


def test_snoozed_reminder_is_sent_again_over_every_channel(
    api: Client, browser: Client, channel: RecordingChannel, birthday: str
) -> None:
    channel.on = {"one": None, "two": None}
    assert "Wednesday, 14 March" not in submit_action(browser, links(channel)["snooze1"])["message"]
    assert (
        submit_action(browser, links(channel)["snooze3"])["message"]
        == "You will be reminded again on Saturday, 14 March."
    )
    assert [entry for entry in short(upcoming(api)) if entry[1] == "2026-03-11"] == [
        (DAY, "2026-03-11", "2026-03-14T09:00:00.000Z", "snoozed")
    ]
    run_each("2026-03-12T09:00:00Z", "2026-03-14T08:59:00Z")
    assert len(channel.sent) == 1
    run_each("2026-03-14T09:00:00Z", "2026-03-14T09:00:00Z")
    assert [(sent.key, sent.notice.content["daysUntil"]) for sent in channel.sent[1:]] == [("one", -3), ("two", -3)]
    assert submit_action(browser, links(channel)["snooze1"])["message"].endswith("Sunday, 15 March.")
    run("2026-03-15T09:00:00Z")
    assert len(channel.sent) == 5


def test_snoozed_reminder_that_is_switched_off_is_neither_sent_nor_forecast(
    api: Client, browser: Client, channel: RecordingChannel, birthday: str
) -> None:
    submit_action(browser, links(channel)["snooze3"])
    date = api.ok("get", f"/api/people/{person_of(api)}/important-dates")["importantDates"][0]
    body = {**date, "reminderEnabled": False}
    api.ok("put", f"/api/people/{person_of(api)}/important-dates/{birthday}", body)
    assert [entry for entry in upcoming(api) if entry["willSend"]] == []
    run("2026-03-14T09:00:00Z")
    assert len(channel.sent) == 1


def person_of(api: Client) -> str:
    [person] = api.ok("get", "/api/people")["people"]
    return str(person["id"])


def test_skipped_occurrence_is_not_sent_on_its_day_either(
    api: Client, browser: Client, ada: Person, channel: RecordingChannel
) -> None:
    remind(api, ada, "1990-03-11", reminderLeadDays=7)
    api.ok("put", "/api/user/weekly-digest", {"enabled": True, "weekday": 1})
    run("2026-03-04T09:00:00Z")
    assert channel.sent_notices == [(LEAD, "2026-03-11")]
    submit_action(browser, links(channel)["skip"])
    assert {entry[3] for entry in short(upcoming(api)) if entry[1] == "2026-03-11"} == {"skipped"}
    run(BIRTHDAY_RUN)
    call_command("send_digests", "--now", "2026-03-09T09:00:00Z")
    assert len(channel.sent) == 1
    run("2027-03-11T09:00:00Z")
    assert channel.sent_notices[1:] == [(DAY, "2027-03-11")]
    rows = api.ok("get", "/api/notifications/deliveries")["deliveries"]
    assert [(row["status"], row["code"]) for row in rows if row["date"] == "2026-03-11"] == [
        ("skipped", "skipped"),
        ("sent", None),
    ]


@pytest.mark.both_databases
def test_pending_deliveries_of_other_channels_are_not_sent(
    api: Client, browser: Client, ada: Person, channel: RecordingChannel
) -> None:
    channel.on, channel.outcomes = {"one": None, "two": None}, [DOWN]
    remind(api, ada, "1990-03-11")
    run(BIRTHDAY_RUN)
    submit_action(browser, links(channel)["contacted"])
    run("2026-03-11T09:10:00Z")
    assert len(channel.sent) == 2
    assert set(Delivery.unscoped.values_list("state", "code")) == {("skipped", "contacted"), ("sent", "")}


def test_advance_notice_snoozed_to_the_day_replaces_that_of_the_day(
    api: Client, browser: Client, ada: Person, channel: RecordingChannel
) -> None:
    remind(api, ada, "1990-03-11", reminderLeadDays=1)
    run("2026-03-10T09:00:00Z")
    submit_action(browser, links(channel)["snooze1"])
    assert short(upcoming(api)) == [(DAY, "2026-03-11", BIRTHDAY_RUN.replace("Z", ".000Z"), "snoozed")]
    run_each(BIRTHDAY_RUN, BIRTHDAY_RUN)
    assert channel.sent_notices == [(LEAD, "2026-03-11"), (DAY, "2026-03-11")]


@pytest.mark.parametrize(
    ("said", "standing", "comes_on"),
    [(("snooze1", "skip"), "skipped", None), (("skip", "snooze1"), "snoozed", "2026-03-12T09:00:00.000Z")],
)
def test_later_action_replaces_the_earlier(
    api: Client,
    browser: Client,
    channel: RecordingChannel,
    birthday: str,
    said: tuple[str, str],
    standing: str,
    comes_on: str | None,
) -> None:
    for word in said:
        assert "before" not in submit_action(browser, links(channel)[word])["message"]
    assert [entry for entry in short(upcoming(api)) if entry[1] == "2026-03-11"] == [
        (DAY, "2026-03-11", comes_on, standing)
    ]
    run_each("2026-03-12T09:00:00Z", "2026-03-14T09:00:00Z")
    assert len(channel.sent) == (2 if comes_on else 1)


@pytest.mark.both_databases
def test_actions_of_contact_reminders(api: Client, browser: Client, alice: User, channel: RecordingChannel) -> None:
    bob = make_person(alice, name="Bob")
    body = {"name": "Bob", "lastContact": "2026-02-13", "contactReminderEnabled": True}
    api.ok("put", f"/api/people/{bob.pk}", body)
    run("2026-03-13T09:00:00Z")
    assert channel.sent_notices == [(CONTACT, "2026-03-13")]
    submit_action(browser, links(channel)["snooze1"])
    run("2026-03-14T09:00:00Z")
    assert channel.sent_notices[1:] == [(CONTACT, "2026-03-13")]
    submit_action(browser, links(channel)["snooze3"])
    api.ok("put", f"/api/people/{bob.pk}", {**body, "lastContact": "2026-03-14"})
    run("2026-03-17T09:00:00Z")
    assert len(channel.sent) == 2


@pytest.mark.both_databases
def test_snoozed_reminder_follows_a_changed_hour(
    api: Client, browser: Client, channel: RecordingChannel, birthday: str
) -> None:
    submit_action(browser, links(channel)["snooze1"])
    api.ok("put", "/api/user/reminder-hour", {"hour": 12})
    run("2026-03-12T11:59:00Z")
    assert len(channel.sent) == 1
    run("2026-03-12T12:00:00Z")
    assert len(channel.sent) == 2


def test_snoozed_reminder_is_sent_once_by_the_scheduler(
    api: Client, browser: Client, ada: Person, channel: RecordingChannel, clock: Any
) -> None:
    remind(api, ada, "1990-03-01")
    call_command("deliver_reminders")
    submit_action(browser, links(channel)["snooze1"])
    clock.move_to("2026-03-02T09:00:00Z")
    call_command("deliver_reminders")
    call_command("deliver_reminders")
    assert channel.sent_notices == [(DAY, "2026-03-01")] * 2


def test_forged_and_expired_links_are_refused(
    browser: Client, channel: RecordingChannel, birthday: str, clock: Any
) -> None:
    path = links(channel)["skip"]
    forged = path[:-3] + ("AAA" if path[-3:] != "AAA" else "BBB")
    for method in ("get", "post"):
        assert browser.call(method, forged).status_code == 404
    assert browser.get(forged, HTTP_ACCEPT="text/html")["Content-Type"].startswith("text/html")
    clock.move_to("2026-04-10T08:59:59Z")
    assert browser.call("get", path).status_code == 200
    clock.move_to("2026-04-10T09:00:00Z")
    for method in ("get", "post"):
        assert browser.call(method, path).status_code == 410
    assert browser.post(path, HTTP_ACCEPT="text/html").status_code == 410


def test_action_for_a_deleted_person(
    api: Client, browser: Client, ada: Person, channel: RecordingChannel, birthday: str
) -> None:
    api.ok("delete", f"/api/people/{ada.pk}", {})
    assert browser.call("post", links(channel)["contacted"]).status_code == 404
    assert answers(api) == [[]]


def merge_into_bob(api: Client, alice: User, person: Person) -> str:
    bob = str(make_person(alice, name="Bob").pk)
    api.ok("post", "/api/people/merge", {"primaryId": bob, "secondaryId": str(person.pk)})
    return bob


def test_action_for_a_person_merged_since_is_about_whom_they_were_merged_into(
    api: Client, browser: Client, alice: User, ada: Person, channel: RecordingChannel, birthday: str
) -> None:
    bob = merge_into_bob(api, alice, ada)
    for _ in range(2):
        submit_action(browser, links(channel)["contacted"])
    assert [row["personIds"] for row in interactions(api)] == [[bob]]
    submit_action(browser, links(channel)["snooze1"])
    run("2026-03-12T09:00:00Z")
    assert len(channel.sent) == 2


def test_action_after_a_merge_that_ended_the_reminder(
    api: Client, browser: Client, alice: User, channel: RecordingChannel
) -> None:
    carl = make_person(alice, name="Carl")
    api.ok("put", f"/api/people/{carl.pk}", {"lastContact": "2026-02-13", "contactReminderEnabled": True})
    run("2026-03-13T09:00:00Z")
    bob = merge_into_bob(api, alice, carl)
    for kind in ("snooze1", "skip"):
        assert browser.call("post", links(channel)[kind]).status_code == 404
    submit_action(browser, links(channel)["contacted"])
    assert [row["personIds"] for row in interactions(api)] == [[bob]]
    api.ok("delete", f"/api/people/{bob}", {})
    assert browser.call("post", links(channel)["contacted"]).status_code == 404


@pytest.mark.both_databases
def test_actions_survive_export_and_import(
    api: Client, browser: Client, ada: Person, channel: RecordingChannel
) -> None:
    remind(api, ada, "1990-03-11", reminderLeadDays=7)
    remind(api, ada, "1990-03-04")
    run("2026-03-04T09:00:00Z")
    pressed = {sent.notice.kind.value: links(channel, place) for place, sent in enumerate(channel.sent)}
    submit_action(browser, pressed[LEAD]["skip"])
    submit_action(browser, pressed[DAY]["snooze3"])
    document = api.ok("get", "/api/user/export")
    other = client_of(make_user("other@example.org"))
    dry = other.ok("post", "/api/user/import/validate", document)
    assert (dry["errors"], dry["results"][-1]["status"]) == (0, "imported")
    for _ in range(2):
        other.ok("post", "/api/user/import", document)
    known = {(entry["date"], entry["sendAt"], entry["reason"]) for entry in upcoming(other, 13)}
    assert known == {("2026-03-11", None, "skipped"), ("2026-03-04", "2026-03-07T09:00:00.000Z", "snoozed")}
    told = len(channel.sent)
    run_each("2026-03-07T09:00:00Z", BIRTHDAY_RUN)
    assert channel.sent_notices[told:] == [(DAY, "2026-03-04")] * 2
