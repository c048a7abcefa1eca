"""Calendars: added by their address or a sign-in, and what they propose is logged on Today, offline too."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import User
from meetings.models import CalendarSource, MeetingAnswer
from people.models import Interaction, Person
from tests.carddav.servers import PASSWORD, radicale
from tests.client import Client
from tests.loopback import allow_loopback, closed_port, recording_server
from tests.meetings.calendars import attendee, event, utc
from tests.meetings.conftest import CalendarServer, known_person, read
from tests.meetings.test_caldav import make_calendar, put_event
from tests.web.conftest import MESSAGES, Web
from tests.web.test_accessibility import violations
from tests.web.test_today import settle

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

ADA, BEN = attendee("ada@example.org"), attendee("ben@example.org")
GRACE = attendee("grace@example.org", CN="Grace Hopper")
YESTERDAY = timezone.now().replace(hour=9, minute=0) - dt.timedelta(days=1)


def meeting(uid: str, summary: str, *lines: str, hours: int = 0, days: int = 0) -> str:
    """An event of an hour, yesterday from nine on, or days before."""
    begin = YESTERDAY + dt.timedelta(hours=hours, days=-days)
    return event(uid, utc(begin), *lines, summary=summary, end=utc(begin + dt.timedelta(hours=1)))


@pytest.fixture
def calendar(settings: Any) -> Iterator[CalendarServer]:
    allow_loopback(settings)
    with recording_server() as recorder:
        yield CalendarServer(recorder)


@pytest.fixture
def people(alice: User) -> tuple[Person, Person]:
    settle(alice)
    return known_person(alice, "Ada", email="ada@example.org"), known_person(alice, "Ben", email="ben@example.org")


def read_all() -> None:
    """Read each calendar, as the worker does."""
    for key in CalendarSource.unscoped.rows().values_list("pk", flat=True):
        read({"id": str(key)})


def with_proposals(elsewhere: Client, calendar: CalendarServer, *events: str) -> None:
    calendar.serve(*events)
    body = {"name": "Work", "kind": "ics", "url": calendar.url}
    elsewhere.ok("POST", "/api/calendar-sources", body, status=201)
    read_all()


def row(page: Page, title: str) -> Any:
    return page.get_by_role("listitem").filter(has=page.get_by_text(title, exact=True))


def test_calendar_is_added_by_its_address_and_looked_after(
    web: Web, people: Any, calendar: CalendarServer, elsewhere: Client
) -> None:
    page = web.open("/calendars")
    page.get_by_role("button", name="Add a calendar").click()
    for provider in ("Outlook", "iCloud", "Nextcloud", "Google"):
        page.get_by_role("button", name=provider, exact=True).click()
    expect(page.get_by_text("Secret address in iCal format")).to_be_visible()
    assert violations(page) == []
    calendar.data = b"<html></html>"
    page.get_by_label("Secret address of the calendar").fill(calendar.url)
    web.chromium.complaints.expected += ["401", "404", "429"]
    page.get_by_role("button", name="Add", exact=True).last.click()
    expect(page.get_by_role("alert")).to_have_text("There is no calendar at this address. Was it copied whole?")
    calendar.status = 401
    page.get_by_role("button", name="Add", exact=True).last.click()
    expect(page.get_by_role("alert")).to_have_text("The server asks for a user name and a password.")
    assert not CalendarSource.unscoped.rows().exists()
    calendar.status = 200
    calendar.serve(meeting("lunch", "Lunch", ADA), "UID:broken")
    page.get_by_label("User name on the server").fill("alice")
    page.get_by_label("Password").fill("secret")
    page.get_by_label("What you call it").fill("Work")
    page.get_by_role("button", name="Add", exact=True).last.click()
    card = page.get_by_role("region", name="Work")
    expect(card).to_contain_text("Is read in a moment")
    read_all()
    expect(card).to_contain_text("Last read")
    expect(card).to_contain_text("1 entry in it cannot be read and is left out")
    expect(card).not_to_contain_text("hidden")
    assert violations(page) == []
    calendar.status = 503
    card.get_by_role("button", name="Read now: Work").click()
    read_all()
    expect(card).to_contain_text("The server has a fault of its own. It is asked again by itself.")
    card.get_by_role("button", name="Read now: Work").click()
    expect(page.get_by_role("alert")).to_contain_text("It was asked for less than a minute ago.")
    assert violations(page) == []
    card.get_by_role("button", name="Change Work").click()
    page.get_by_label("What you call it").fill("Office")
    page.get_by_role("button", name="Save").click()
    office = page.get_by_role("region", name="Office")
    expect(office).to_be_visible()
    source = CalendarSource.unscoped.get()
    assert (source.url, source.username, source.password) == (calendar.url, "alice", "secret")
    office.get_by_role("link", name="1 meeting to log").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Meetings to log")
    page.go_back()
    office.get_by_role("button", name="Remove Office").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("No calendar is read yet.")).to_be_visible()
    assert not CalendarSource.unscoped.rows().exists()


def test_server_is_signed_in_to_and_its_calendars_are_chosen(
    web: Web, people: Any, settings: Any, tmp_path: Path
) -> None:
    allow_loopback(settings)
    with radicale(tmp_path) as server:
        work, private = make_calendar(server, "user", "Work"), make_calendar(server, "user", "Private")
        put_event(server, "user", work, "a", meeting("lunch", "Lunch", ADA))
        put_event(server, "user", private, "b", meeting("secret", "Secret", ADA, hours=3))
        page = web.open("/calendars")
        page.get_by_role("button", name="Add a calendar").click()
        page.get_by_role("button", name="Nextcloud").click()
        page.get_by_label("Address of the server").fill(f"http://127.0.0.1:{closed_port()}/")
        page.get_by_label("User name on the server").fill("user")
        page.get_by_label("Password").fill(PASSWORD)
        web.chromium.complaints.expected.append("404")
        page.get_by_role("button", name="Sign in and look").click()
        expect(page.get_by_role("alert")).to_have_text("Nobody answers at this address.")
        page.get_by_label("Address of the server").fill(server.url)
        page.keyboard.press("Enter")
        page.get_by_label("Private").uncheck()
        assert violations(page) == []
        page.get_by_label("What you call it").fill("Server")
        page.keyboard.press("Enter")
        card = page.get_by_role("region", name="Server")
        expect(card).to_contain_text("Is read in a moment")
        read_all()
        expect(card).to_contain_text("Work")
        card.get_by_role("link", name="1 meeting to log").click()
        expect(row(page, "Lunch")).to_be_visible()
        page.go_back()
        card.get_by_role("button", name="Change Server").click()
        page.get_by_label("Private").check()
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_label("Private")).to_have_count(0)
        read_all()
        expect(card).to_contain_text("All 2 calendars are read")
        expect(card.get_by_role("link", name="2 meetings to log")).to_be_visible()


def test_today_asks_and_one_tap_or_key_answers(
    web: Web, people: Any, calendar: CalendarServer, elsewhere: Client
) -> None:
    ada, ben = people
    with_proposals(
        elsewhere,
        calendar,
        meeting("lunch", "Lunch", ADA, BEN, GRACE, hours=3),
        meeting("walk", "Walk", ADA, hours=5),
        meeting("choir", "Choir", BEN, days=1),
        meeting("daily", "Stand-up", "RRULE:FREQ=DAILY;COUNT=3", BEN, days=6),
        meeting("talk", "Talk", ADA, days=9),
    )
    page = web.open("/", web.context(viewport={"width": 320, "height": 800}, has_touch=True))
    asked = page.get_by_role("region", name="Log it?")
    lunch = row(page, "Lunch")
    expect(lunch).to_contain_text("You met Ada and Ben: Lunch")
    decisions = page.get_by_role("region", name="To decide").get_by_role("link")
    expect(decisions.filter(has_text="7 meetings to log")).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    dismiss_series(page, "Stand-up")
    expect(decisions.filter(has_text="4 meetings to log")).to_be_visible()
    # One tap for the unknown guest, one for the meeting.
    lunch.get_by_role("button", name="Grace Hopper").tap()
    lunch.get_by_role("button", name="Log it: Lunch").tap()
    expect(lunch).to_have_count(0)
    web.eventually(page, Interaction.unscoped.filter(title="Lunch").exists)
    grace = Person.unscoped.get(name="Grace", surname="Hopper")
    was_there = Interaction.unscoped.get().participations.values_list("person_id", flat=True)
    assert set(was_there) == {ada.pk, ben.pk, grace.pk}
    # The undo deletes what was logged, and whom it made.
    page.get_by_role("button", name="Undo").last.tap()
    expect(page.get_by_text("It is not logged any more, and not asked again.")).to_be_visible()
    web.eventually(page, lambda: not Interaction.unscoped.filter(deleted_at=None).exists())
    web.eventually(page, lambda: not Person.unscoped.filter(name="Grace", deleted_at=None).exists())
    # By keys: the first card is logged, the next one is not, which can be taken back.
    page.keyboard.press("j")
    expect(row(page, "Walk")).to_be_focused()
    page.keyboard.press("d")
    expect(row(page, "Choir")).to_be_focused()
    page.keyboard.press("x")
    expect(row(page, "Choir")).to_have_count(0)
    page.get_by_role("button", name="Undo").last.click()
    expect(row(page, "Choir")).to_be_visible()
    web.eventually(page, Interaction.unscoped.filter(title="Walk").exists)
    asked.get_by_role("button", name="More: Choir").click()
    page.get_by_role("menuitem", name="Choose who was there").click()
    dialog = page.get_by_role("dialog")
    assert violations(page) == []
    dialog.get_by_role("button", name="Remove Ben").click()
    dialog.get_by_role("combobox", name="Who was there").fill("ada")
    page.keyboard.press("Enter")
    dialog.get_by_label("Kind").select_option(label="Call")
    dialog.get_by_role("button", name="Log it").click()
    web.eventually(page, Interaction.unscoped.filter(title="Choir", kind="CALL", participations__person=ada).exists)
    row(page, "Talk").get_by_role("button", name="Log it: Talk").click()
    expect(asked).to_have_count(0)
    page.goto("/app/meetings")
    expect(page.get_by_text("Nothing to log.")).to_be_visible()
    assert violations(page) == []
    # What is never to be asked again is told once it cannot be taken back any more.
    web.eventually(page, MeetingAnswer.unscoped.rows().filter(kind="series").exists)


def dismiss_series(page: Page, title: str) -> None:
    """The service is told once the message is gone, here after ten seconds."""
    page.evaluate("key => localStorage.removeItem(key)", MESSAGES)
    page.get_by_role("button", name=f"More: {title}").tap()
    page.get_by_role("menuitem", name="Never this series").tap()
    expect(row(page, title)).to_have_count(0)
    page.evaluate("key => localStorage.setItem(key, 'long')", MESSAGES)


def test_answers_without_a_network_are_sent_later(
    web: Web, people: Any, calendar: CalendarServer, elsewhere: Client
) -> None:
    with_proposals(
        elsewhere,
        calendar,
        meeting("lunch", "Lunch", ADA),
        meeting("walk", "Walk", ADA, BEN, hours=3),
        meeting("gone", "Picnic", BEN, hours=6),
    )
    context = web.context()
    page = web.open("/", context)
    expect(row(page, "Lunch")).to_be_visible()
    web.synced(page)
    context.set_offline(True)
    web.chromium.complaints.expected.extend(["ERR_INTERNET_DISCONNECTED", "status of 400"])
    page.get_by_role("button", name="Log all 3").click()
    expect(page.get_by_role("region", name="Log it?")).to_have_count(0)
    expect(page.get_by_role("link", name="3 changes not sent")).to_be_visible()
    # Meanwhile one is answered elsewhere, and another one leaves the calendar.
    found = {each["title"]: each["id"] for each in elsewhere.ok("GET", "/api/meeting-proposals")["proposals"]}
    elsewhere.ok("POST", "/api/meeting-proposals/accept", {"ids": [found["Lunch"]]})
    calendar.serve(meeting("lunch", "Lunch", ADA), meeting("walk", "Walk", ADA, BEN, hours=3))
    read_all()
    context.set_offline(False)
    web.eventually(page, Interaction.unscoped.filter(title="Walk").exists)
    page.get_by_role("link", name="1 change needs a decision").click()
    expect(page.get_by_text("Its calendar does not have this meeting any more")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Log it all the same").click()
    web.eventually(page, Interaction.unscoped.filter(title="Picnic").exists)
    titles = Interaction.unscoped.order_by("title").values_list("title", flat=True)
    assert list(titles) == ["Lunch", "Picnic", "Walk"]
