"""Dates: what is coming, the year's calendar, insights; a day is the day in the account's zone."""

import datetime as dt
import re
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import expect

from accounts.models import User
from notifications.models import ReminderAnswer
from people.models import Interaction
from tests.builders import make_person
from tests.client import Client
from tests.web.conftest import Web
from tests.web.test_accessibility import violations

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


def add_birthday(elsewhere: Client, person: str, day: dt.date | str) -> None:
    elsewhere.ok("POST", f"/api/people/{person}/important-dates", {"type": "BIRTHDAY", "date": str(day)})


def test_talked_is_logged_and_the_wait_ends(web: Web, alice: User, elsewhere: Client) -> None:
    ada = make_person(alice, name="Ada")
    body = {"contactReminderEnabled": True, "contactReminderInterval": 1, "contactReminderIntervalUnit": "MONTHS"}
    elsewhere.ok("PUT", f"/api/people/{ada.pk}", {**body, "lastContact": "2020-01-01"})
    page = web.open("/dates?days=7")
    expect(page.get_by_text("To get in touch, overdue")).to_be_visible()
    page.get_by_role("button", name="Talked: Ada").click()
    web.eventually(page, Interaction.unscoped.filter(kind="OTHER").exists)
    expect(page.get_by_text("To get in touch, overdue")).to_have_count(0)


def test_reminder_that_is_to_come_is_put_off_and_left_out_and_comes_back(
    web: Web, alice: User, elsewhere: Client
) -> None:
    """The answers of a message's buttons, given in the client: on Dates and on the first page."""
    day = dt.datetime.now(ZoneInfo("UTC")).date() + dt.timedelta(days=5)
    ada = make_person(alice, name="Ada")
    birthday = {"type": "BIRTHDAY", "date": f"1980-{day:%m-%d}", "reminderEnabled": True}
    elsewhere.ok("POST", f"/api/people/{ada.pk}/important-dates", birthday)
    page = web.open("/dates")
    later = page.get_by_role("button", name="Later, or not this time: Birthday: Ada")
    later.click()
    page.get_by_role("menuitem", name="Not this time").click()
    expect(page.get_by_text("You will not be reminded of this any more, this time.")).to_be_visible()
    expect(page.get_by_role("link", name="Ada").first).to_contain_text("Not this time")
    assert violations(page) == []
    page.get_by_role("button", name="Undo").click()
    expect(later).to_be_visible()
    assert not ReminderAnswer.unscoped.exists()
    page.goto("/app/")
    later.click()
    page.get_by_role("menuitem", name="Tomorrow").click()
    expect(page.get_by_role("link", name="Ada").first).to_contain_text("again on")
    page.get_by_role("button", name="Remind me again: Birthday: Ada").click()
    expect(later).to_be_visible()
    assert violations(page) == []


def test_wait_that_is_left_out_this_time_leaves_the_first_page(web: Web, alice: User, elsewhere: Client) -> None:
    ada = make_person(alice, name="Ada")
    body = {"contactReminderEnabled": True, "contactReminderInterval": 1, "contactReminderIntervalUnit": "MONTHS"}
    elsewhere.ok("PUT", f"/api/people/{ada.pk}", {**body, "lastContact": "2020-01-15"})
    page = web.open("/")
    page.get_by_role("button", name="Later, or not this time: To get in touch: Ada").click()
    page.get_by_role("menuitem", name="Not this time").click()
    expect(page.get_by_role("heading", name="Waiting for you")).to_have_count(0)
    assert ReminderAnswer.unscoped.get().person_id == ada.pk


def test_first_page_says_what_could_not_be_read(web: Web, alice: User) -> None:
    web.chromium.complaints.expected.append("status of 500")
    context = web.context()
    context.route("**/api/batch", lambda route: route.fulfill(status=500, json={"error": "Down for a moment."}))
    page = web.open("/", context)
    expect(page.get_by_role("alert")).to_contain_text("Down for a moment.")
    context.unroute("**/api/batch")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_quiet_people_have_no_day(web: Web, alice: User, elsewhere: Client) -> None:
    today = dt.datetime.now(ZoneInfo("UTC")).date()
    for name in ("Ada", "Ben"):
        add_birthday(elsewhere, str(make_person(alice, name=name, quiet=name == "Ben").pk), today.replace(year=1980))
    page = web.open("/dates")
    expect(page.get_by_role("link", name="Ada").first).to_be_visible()
    expect(page.get_by_role("link", name="Ben")).to_have_count(0)


@pytest.mark.parametrize("zone", ["Pacific/Pago_Pago", "Pacific/Kiritimati"])
def test_day_is_that_of_the_account_and_not_of_the_browser(web: Web, alice: User, elsewhere: Client, zone: str) -> None:
    """At UTC-11 and UTC+14, with the browser at the other end."""
    elsewhere.ok("PUT", "/api/user/timezone", {"timezone": zone})
    today = dt.datetime.now(ZoneInfo(zone)).date()
    days = {"Today": today, "Tomorrow": today + dt.timedelta(days=1)}
    for name, day in days.items():
        add_birthday(elsewhere, str(make_person(alice, name=name).pk), f"1980-{day:%m-%d}")
    browser = "Pacific/Kiritimati" if zone == "Pacific/Pago_Pago" else "Pacific/Pago_Pago"
    page = web.open("/dates?days=7", web.context(timezone_id=browser))
    headings = page.get_by_role("heading", level=2)
    expect(headings.first).to_contain_text(f"{today.day} ")
    expect(headings.first).to_contain_text("today")
    expect(headings.nth(1)).to_contain_text("tomorrow")
    assert dt.datetime.now(ZoneInfo(zone)).date() == today, "the day changed while the test ran"


def test_year_shows_each_day_of_it(web: Web, alice: User, elsewhere: Client) -> None:
    """29 February stands on 28 February in a common year, and on itself in a leap year."""
    add_birthday(elsewhere, str(make_person(alice, name="Ada").pk), "1988-02-29")
    wedding = {"type": "ANNIVERSARY", "date": "2020-06-05"}
    ben = make_person(alice, name="Ben")
    elsewhere.ok("POST", f"/api/people/{ben.pk}/important-dates", wedding)
    page = web.open("/dates?view=year&year=2027")
    expect(page.get_by_role("region", name="June").get_by_role("listitem")).to_contain_text("Ben Anniversary · 7 years")
    february = page.get_by_role("region", name="February")
    expect(february.get_by_role("listitem")).to_contain_text("Feb 28Ada Birthday · turns 39")
    assert violations(page) == []
    page.get_by_role("button", name="The year after").click()
    expect(february.get_by_role("listitem")).to_contain_text("Feb 29Ada Birthday · turns 40")
    page.get_by_role("region", name="June").get_by_role("link", name="Ben").click()
    expect(page.get_by_role("region", name="Dates")).to_contain_text(re.compile(r"Anniversary.* · \d+ years"))


def test_insights_say_why(web: Web, alice: User, elsewhere: Client) -> None:
    make_person(alice, name="Ben")
    ada = make_person(alice, name="Ada")
    body = {"contactReminderEnabled": True, "contactReminderInterval": 1, "contactReminderIntervalUnit": "MONTHS"}
    elsewhere.ok("PUT", f"/api/people/{ada.pk}", {**body, "lastContact": "2020-01-01"})
    reasons = elsewhere.ok("GET", "/api/insights")
    page = web.open("/dates")
    page.keyboard.press("3")
    expect(page.get_by_text(reasons["drifting"][0]["reason"])).to_be_visible()
    expect(page.get_by_text(reasons["incomplete"][0]["reason"]).first).to_be_visible()
    assert violations(page) == []
    page.get_by_role("link", name="Log a contact with Ada").click()
    expect(page.get_by_role("heading", name="Log a contact")).to_be_visible()


def test_kind_of_date_that_a_person_has_is_not_offered_again(web: Web, alice: User, elsewhere: Client) -> None:
    """The service refuses a second birthday, which would be told only after the sync."""
    ada = make_person(alice, name="Ada")
    elsewhere.ok("POST", f"/api/people/{ada.pk}/important-dates", {"type": "BIRTHDAY", "date": "1990-05-01"})
    page = web.open(f"/people/{ada.pk}")
    expect(page.get_by_text("Birthday")).to_be_visible()
    page.get_by_role("button", name="Add a date of Ada").click()
    kind = page.get_by_label("Kind")
    expect(kind.locator("option")).to_have_text(["Anniversary", "Name day", "Memorial day", "Another date"])
    page.get_by_role("textbox", name="Title").fill("First flight")
    page.get_by_role("textbox", name="Day").fill("2020-05-01")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_text("First flight")).to_be_visible()
    web.eventually(page, lambda: ada.important_dates.count() == 2)


def test_account_of_before_is_asked_once_for_reminders(web: Web, alice: User, elsewhere: Client) -> None:
    elsewhere.ok("PUT", "/api/user/date-reminder-default", {"dateReminderDefault": "none"})
    page = web.open("/", web.context())
    notice = page.get_by_role("region", name="Reminders")
    expect(notice).to_contain_text("You are not reminded of imported birthdays.")
    notice.get_by_role("button", name="No", exact=True).click()
    expect(notice).to_have_count(0)
    page.reload()
    web.synced(page)
    expect(notice).to_have_count(0)
    # In another browser it is asked again, and the answer is the account's.
    other = web.open("/", web.context())
    notice = other.get_by_role("region", name="Reminders")
    notice.get_by_role("button", name="Remind me").click()
    expect(notice).to_have_count(0)
    assert elsewhere.ok("GET", "/api/user/profile")["user"]["dateReminderDefault"] == "birthdays"
