"""Dates: the month, the list, the year, insights; a day is the day in the account's zone."""

import datetime as dt
import re
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import expect

from accounts.models import User
from notifications.models import ReminderAnswer
from people.models import ImportantDate, Interaction
from tests.builders import make_person
from tests.client import Client
from tests.web.conftest import Web
from tests.web.test_accessibility import violations

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


def add_birthday(elsewhere: Client, person: str, day: dt.date | str) -> None:
    elsewhere.ok("POST", f"/api/people/{person}/important-dates", {"type": "BIRTHDAY", "date": str(day)})


def test_wait_ends_when_it_is_done(web: Web, alice: User, elsewhere: Client) -> None:
    ada = make_person(alice, name="Ada")
    body = {"contactReminderEnabled": True, "contactReminderInterval": 1, "contactReminderIntervalUnit": "MONTHS"}
    elsewhere.ok("PUT", f"/api/people/{ada.pk}", {**body, "lastContact": "2020-01-01"})
    page = web.open("/dates?view=list&kind=contact")
    expect(page.get_by_role("region", name="Today")).to_contain_text("overdue")
    page.get_by_role("button", name="Done: Ada").click()
    web.eventually(page, Interaction.unscoped.filter(kind="OTHER").exists)
    expect(page.get_by_text("overdue")).to_have_count(0)


def test_reminder_that_is_to_come_is_put_off_and_left_out_and_comes_back(
    web: Web, alice: User, elsewhere: Client
) -> None:
    """The answers of a message's buttons, given in the client."""
    day = dt.datetime.now(ZoneInfo("UTC")).date() + dt.timedelta(days=5)
    ada = make_person(alice, name="Ada")
    birthday = {"type": "BIRTHDAY", "date": f"1980-{day:%m-%d}", "reminderEnabled": True}
    elsewhere.ok("POST", f"/api/people/{ada.pk}/important-dates", birthday)
    page = web.open("/dates?days=7")
    later = page.get_by_role("button", name="Later, or not this time: Ada turns")
    later.click()
    page.get_by_role("menuitem", name="Not this time").click()
    expect(page.get_by_text("You will not be reminded of this any more, this time.")).to_be_visible()
    expect(page.get_by_role("link", name="Ada").first).to_contain_text("Not this time")
    assert violations(page) == []
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("link", name="Ada").first).not_to_contain_text("Not this time")
    assert not ReminderAnswer.unscoped.exists()
    later.click()
    page.get_by_role("menuitem", name="Tomorrow").click()
    expect(page.get_by_role("link", name="Ada").first).to_contain_text("again on")
    later.click()
    page.get_by_role("menuitem", name="Remind me again").click()
    expect(page.get_by_role("link", name="Ada").first).not_to_contain_text("again on")


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
    expect(page.get_by_role("region", name="Today").get_by_role("listitem")).to_contain_text("Today turns")
    soon = page.get_by_role("region", name="In the next seven days").get_by_role("listitem")
    expect(soon).to_contain_text("Tomorrow turns")
    expect(soon).to_contain_text("tomorrow")
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
    expect(february.get_by_role("listitem")).to_contain_text("28 FebAda Birthday · turns 39")
    assert violations(page) == []
    page.get_by_role("button", name="The year after").click()
    expect(february.get_by_role("listitem")).to_contain_text("29 FebAda Birthday · turns 40")
    page.get_by_role("region", name="June").get_by_role("link", name="Ben").click()
    expect(page.get_by_role("region", name="Dates")).to_contain_text(re.compile(r"Anniversary.* · \d+ years"))


def test_days_of_a_month_are_reached_by_arrows_and_enter_adds(web: Web, alice: User, elsewhere: Client) -> None:
    """Task 7 from here, a birthday to somebody: Enter, their name, Enter, Save."""
    ada = make_person(alice, name="Ada")
    ben = make_person(alice, name="Ben")
    add_birthday(elsewhere, str(ben.pk), "1990-05-14")
    page = web.open("/dates?month=2027-05&day=2027-05-13")
    grid = page.get_by_role("grid", name="May 2027")
    grid.get_by_role("button", name="Thursday 13 May").focus()
    page.keyboard.press("ArrowRight")
    expect(grid.get_by_role("button", name="Friday 14 May: Ben turns 37")).to_be_focused()
    chosen = page.get_by_role("region", name="Friday 14 May")
    expect(chosen.get_by_role("listitem")).to_contain_text("Ben turns 37")
    assert violations(page) == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_role("combobox", name="Whose").press_sequentially("ada")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Day")).to_have_value("2027-05-21")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    web.eventually(page, ada.important_dates.exists)


def test_day_that_is_tapped_shows_whose_it_is(web: Web, alice: User, elsewhere: Client) -> None:
    add_birthday(elsewhere, str(make_person(alice, name="Ben").pk), "1990-05-14")
    context = web.context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = web.open("/dates?month=2027-05", context)
    page.get_by_role("button", name="Friday 14 May: Ben turns 37").tap()
    day = page.get_by_role("region", name="Friday 14 May")
    expect(day.get_by_role("link", name="Ben turns 37")).to_be_visible()
    expect(day.get_by_role("link", name="Add a date on 14 May")).to_have_attribute(
        "href", "/app/dates/new?day=2027-05-14"
    )
    assert violations(page) == []
    page.get_by_role("button", name="The month after").tap()
    expect(page.get_by_role("grid", name="June 2027")).to_be_visible()


@pytest.mark.parametrize(("locale", "first"), [("en-GB", "Mon"), ("en-US", "Sun")])
def test_weeks_begin_as_in_the_region_of_the_browser(web: Web, locale: str, first: str) -> None:
    page = web.open("/dates", web.context(locale=locale))
    expect(page.get_by_role("columnheader").first).to_have_text(first, use_inner_text=True)


def test_days_are_shown_where_the_browser_names_no_language(web: Web) -> None:
    context = web.context()
    # As Chromium does on Linux without a language.
    context.add_init_script("Object.defineProperty(navigator, 'languages', { get: () => ['en-US@posix'] })")
    page = web.open("/dates", context)
    expect(page.get_by_role("columnheader").first).to_have_text("Sun", use_inner_text=True)


def test_reminders_are_switches_and_those_that_lack_are_switched_on_at_once(
    web: Web, alice: User, elsewhere: Client
) -> None:
    for name in ("Ada", "Ben", "Cy"):
        add_birthday(elsewhere, str(make_person(alice, name=name, quiet=name == "Cy").pk), "1990-05-01")
    with_reminder = ImportantDate.unscoped.filter(reminder_enabled=True)
    page = web.open("/dates")
    bell = page.get_by_role("region", name="Next").get_by_role("switch", name="Reminder: Ada turns")
    expect(bell).to_have_attribute("aria-checked", "false")
    expect(page.get_by_text("2 birthdays have no reminder.")).to_be_visible()
    bell.click()
    expect(bell).to_have_attribute("aria-checked", "true")
    page.get_by_role("button", name="Switch them on").click()
    expect(page.get_by_text("1 birthday has a reminder now.")).to_be_visible()
    expect(page.get_by_text("have no reminder")).to_have_count(0)
    web.eventually(page, lambda: with_reminder.count() == 2)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("1 birthday has no reminder.")).to_be_visible()
    web.eventually(page, lambda: with_reminder.count() == 1)


def test_list_is_filtered_by_its_address(web: Web, alice: User, elsewhere: Client) -> None:
    """The wedding of two is one line, whose bell is that of both dates."""
    ada, ben = (str(make_person(alice, name=name).pk) for name in ("Ada", "Ben"))
    add_birthday(elsewhere, ada, "1990-05-01")
    for person in (ada, ben):
        elsewhere.ok("POST", f"/api/people/{person}/important-dates", {"type": "ANNIVERSARY", "date": "2020-06-05"})
    page = web.open("/dates?view=list")
    rows = page.locator(".dates-list").get_by_role("listitem")
    expect(rows).to_have_count(2)
    page.get_by_role("button", name="Anniversaries").click()
    expect(rows).to_have_count(1)
    expect(page).to_have_url(re.compile("kind=anniversary"))
    expect(rows).to_contain_text("Ada and Ben")
    rows.get_by_role("switch").click()
    web.eventually(page, lambda: ImportantDate.unscoped.filter(type="ANNIVERSARY", reminder_enabled=True).count() == 2)


@pytest.mark.parametrize("size", ["A4", "A3"])
@pytest.mark.parametrize("landscape", [False, True], ids=["portrait", "landscape"])
def test_year_is_printed_over_the_whole_width(
    web: Web, alice: User, elsewhere: Client, size: str, landscape: bool
) -> None:
    """On any sheet the months stand beside each other; nothing of the navigation takes room."""
    for month in range(1, 13):
        add_birthday(elsewhere, str(make_person(alice, name=f"Ada{month}").pk), f"1990-{month:02}-05")
    page = web.open("/dates?view=year&year=2027")
    expect(page.get_by_role("region", name="December").get_by_role("listitem")).to_have_count(1)
    page.emulate_media(media="print")
    millimetres = {"A4": (210, 297), "A3": (297, 420)}[size]
    width = (max(millimetres) if landscape else min(millimetres)) - 20
    page.set_viewport_size({"width": round(width / 25.4 * 96), "height": 800})
    months = page.get_by_role("region", name=re.compile("^(January|February|March|April|May|June)$"))
    boxes = [box for month in months.all() if (box := month.bounding_box())]
    assert [box["y"] for box in boxes].count(boxes[0]["y"]) >= {"A4": 3, "A3": 4}[size] + landscape
    assert boxes[0]["x"] < 40
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_insights_say_why(web: Web, alice: User, elsewhere: Client) -> None:
    ben = make_person(alice, name="Ben")
    day = dt.datetime.now(ZoneInfo("UTC")).date() + dt.timedelta(days=9)
    add_birthday(elsewhere, str(ben.pk), f"{day.year - 40}-{day:%m-%d}")
    ada = make_person(alice, name="Ada")
    body = {"contactReminderEnabled": True, "contactReminderInterval": 1, "contactReminderIntervalUnit": "MONTHS"}
    elsewhere.ok("PUT", f"/api/people/{ada.pk}", {**body, "lastContact": "2020-01-01"})
    reasons = elsewhere.ok("GET", "/api/insights")
    page = web.open("/dates")
    page.keyboard.press("4")
    expect(page.get_by_text(reasons["drifting"][0]["reason"])).to_be_visible()
    expect(page.get_by_text(reasons["incomplete"][0]["reason"]).first).to_be_visible()
    expect(page.get_by_text(f"turns 40 · {day.day} {day:%B}")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("link", name="Log a contact with Ada").click()
    expect(page.get_by_role("heading", name="Log a contact")).to_be_visible()


def test_kind_of_date_that_a_person_has_is_not_offered_again(web: Web, alice: User, elsewhere: Client) -> None:
    """The service refuses a second birthday, which would be told only after the sync."""
    ada = make_person(alice, name="Ada")
    elsewhere.ok("POST", f"/api/people/{ada.pk}/important-dates", {"type": "BIRTHDAY", "date": "1990-05-01"})
    page = web.open(f"/people/{ada.pk}")
    page.get_by_role("button", name="Add a date of Ada").click()
    kind = page.get_by_label("Kind")
    expect(kind.locator("option")).to_have_text(["Anniversary", "Name day", "Memorial day", "Another date"])
    page.get_by_role("textbox", name="Title").fill("First flight")
    page.get_by_role("textbox", name="Day").fill("2020-05-01")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("region", name="Dates")).to_contain_text("First flight")
    web.eventually(page, lambda: ada.important_dates.count() == 2)


def test_account_of_before_is_asked_once_for_reminders(web: Web, alice: User, elsewhere: Client) -> None:
    elsewhere.ok("PUT", "/api/user/date-reminder-default", {"dateReminderDefault": "none"})
    page = web.open("/", web.context())
    web.synced(page)
    notice = page.get_by_role("region", name="Reminders")
    expect(notice).to_have_count(0)  # there is nobody whom it could be about
    elsewhere.ok("POST", "/api/people", {"name": "Ada"}, status=201)
    page.reload()
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
