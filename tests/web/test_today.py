"""Today: whose day it is and who it is time for, ticked off; the week, a memory, what is to decide; the first days."""

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import User
from notifications.models import ReminderAnswer
from people.models import Interaction, Person
from tests.builders import make_person
from tests.client import Client
from tests.web.conftest import Web
from tests.web.test_accessibility import violations, violations_in_both_schemes

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

PHONE: Any = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
MONTHLY = {"contactReminderEnabled": True, "contactReminderInterval": 3, "contactReminderIntervalUnit": "MONTHS"}
NUMBER = [{"type": "mobile", "number": "020 7946 0000"}]
NO_HANDLER = "does not have a registered handler"  # of tel: and sms:, in a browser without a telephone


def today() -> dt.date:
    return dt.datetime.now(ZoneInfo("UTC")).date()


def add_birthday(elsewhere: Client, person: Any, day: dt.date, *, born: int = 1986) -> None:
    date = {"type": "BIRTHDAY", "date": f"{born}-{day:%m-%d}", "reminderEnabled": True}
    elsewhere.ok("POST", f"/api/people/{person.pk}/important-dates", date)


def settle(alice: User) -> None:
    """Let the account be a month old, which has no first days any more."""
    User.objects.filter(pk=alice.pk).update(created_at=timezone.now() - dt.timedelta(days=31))


@pytest.fixture
def ada(alice: User, elsewhere: Client) -> Any:
    """Somebody with a number and a birthday today, in an account that is not new."""
    settle(alice)
    person = make_person(alice, name="Ada")
    elsewhere.ok("PUT", f"/api/people/{person.pk}", {"phoneNumbers": NUMBER, "emails": [{"email": "ada@example.org"}]})
    add_birthday(elsewhere, person, today())
    return person


def card_of(page: Page) -> Any:
    return page.get_by_role("region", name="Ada turns")


def test_who_has_a_day_is_congratulated_with_one_tap_and_ticked_off(web: Web, ada: Any) -> None:
    """Task 3 of the fifteen commonest: Write is one tap. What was done says by which way."""
    web.chromium.complaints.expected.append(NO_HANDLER)
    page = web.open("/", web.context(**PHONE))
    card = card_of(page)
    expect(card.get_by_role("link", name="Call Ada: 020 7946 0000")).to_have_attribute("href", "tel:02079460000")
    expect(card.get_by_role("link", name="Mail to Ada: ada@example.org")).to_have_attribute(
        "href", "mailto:ada@example.org"
    )
    write = card.get_by_role("link", name="Write to Ada: SMS")
    expect(write).to_have_attribute("href", "sms:02079460000")
    write.tap()
    card.get_by_role("button", name="Done: Ada").tap()
    expect(card).to_contain_text("You were in touch today.")
    expect(card.get_by_role("button")).to_have_count(0)
    web.eventually(page, Interaction.unscoped.filter(kind="MESSAGE").exists)
    page.reload()
    expect(card).to_contain_text("You were in touch today.")
    assert Interaction.unscoped.count() == 1


def test_keys_write_and_tick_off_and_a_second_press_logs_nothing(web: Web, ada: Any) -> None:
    """By keys alone: `w`, one key, and `d`, however often."""
    web.chromium.complaints.expected.append(NO_HANDLER)
    page = web.open("/")
    expect(card_of(page).get_by_role("button", name="Done: Ada")).to_be_visible()
    page.evaluate(
        """addEventListener("click", (event) => {
             const url = event.target.closest("a")?.href;
             if (url?.startsWith("sms:")) { document.title = url; event.preventDefault(); }
           })"""
    )
    page.keyboard.press("w")
    expect(page).to_have_title("sms:02079460000")
    for _ in range(3):
        page.keyboard.press("d")
    expect(card_of(page)).to_contain_text("You were in touch today.")
    web.eventually(page, Interaction.unscoped.exists)
    web.synced(page)
    assert Interaction.unscoped.count() == 1
    page.get_by_role("button", name="Undo").click()
    expect(card_of(page).get_by_role("button", name="Done: Ada")).to_be_visible()


def test_message_is_asked_for_once(web: Web, ada: Any, elsewhere: Client) -> None:
    web.chromium.complaints.expected.append(NO_HANDLER)
    handles = [{"protocol": "matrix", "handle": "@ada:example.org"}]
    elsewhere.ok("PUT", f"/api/people/{ada.pk}", {"imHandles": handles})
    page = web.open("/")
    expect(card_of(page).get_by_role("button", name="Write to Ada")).to_be_visible()
    page.keyboard.press("w")
    page.get_by_role("menuitem", name="SMS").click()
    expect(card_of(page).get_by_role("link", name="Write to Ada: SMS")).to_be_visible()


@pytest.mark.parametrize(
    ("town", "country", "zone"),
    [("Bengaluru", "India", "Asia/Kolkata"), ("Denver", "United States", "America/Denver")],
)
def test_clock_where_somebody_lives_is_shown(
    web: Web, ada: Any, elsewhere: Client, town: str, country: str, zone: str
) -> None:
    """By the country where all its clocks show the same, else by the town, which the service knows."""
    elsewhere.ok("PUT", "/api/user/timezone", {"timezone": "Europe/Oslo"})
    address = [{"type": "home", "locality": town, "country": country}]
    elsewhere.ok("PUT", f"/api/people/{ada.pk}", {"addresses": address})
    day = dt.datetime.now(ZoneInfo("Europe/Oslo")).date()
    date = elsewhere.ok("GET", f"/api/people/{ada.pk}/important-dates")["importantDates"][0]["id"]
    elsewhere.ok(
        "PUT", f"/api/people/{ada.pk}/important-dates/{date}", {"type": "BIRTHDAY", "date": f"1986-{day:%m-%d}"}
    )
    page = web.open("/")
    expect(card_of(page)).to_contain_text(f"in {town}: ")
    there = dt.datetime.now(ZoneInfo(zone))
    minutes = {f"{there + dt.timedelta(minutes=step):%H:%M} in {town}" for step in (-1, 0)}
    text = card_of(page).inner_text()
    assert any(minute in text for minute in minutes), text


def test_who_it_is_time_for_has_a_reason_and_four_actions(web: Web, alice: User, elsewhere: Client) -> None:
    settle(alice)
    for name, months in (("Ada", 5), ("Ben", 4)):
        person = make_person(alice, name=name)
        last = today() - dt.timedelta(days=31 * months)
        elsewhere.ok("PUT", f"/api/people/{person.pk}", {**MONTHLY, "lastContact": str(last), "phoneNumbers": NUMBER})
    page = web.open("/")
    due = page.get_by_role("region", name="Time to get in touch")
    rows = due.get_by_role("listitem")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("5 months · you want every three months")
    expect(rows.first.get_by_role("link", name="Call Ada: 020 7946 0000")).to_be_visible()
    assert violations(page) == []
    # Keys go through the cards: to the second one, which is ticked off; then the first is put off.
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("d")
    expect(rows).to_have_count(1)
    expect(rows.first).to_be_focused()
    page.keyboard.press("s")
    page.get_by_role("menuitem", name="Not this time").click()
    expect(due).to_have_count(0)
    expect(page.get_by_text("Nothing today.")).to_be_visible()
    assert ReminderAnswer.unscoped.filter(person__name="Ada").exists()
    web.eventually(page, Interaction.unscoped.filter(kind="OTHER").exists)


def test_phone_has_the_other_ways_and_later_in_a_menu(web: Web, alice: User, elsewhere: Client) -> None:
    settle(alice)
    person = make_person(alice, name="Ada")
    elsewhere.ok("PUT", f"/api/people/{person.pk}", {**MONTHLY, "lastContact": "2020-01-01", "phoneNumbers": NUMBER})
    page = web.open("/", web.context(**PHONE))
    page.get_by_role("button", name="Later, or not this time: Get in touch with Ada").tap()
    expect(page.get_by_role("menuitem", name="SMS")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("menuitem", name="Tomorrow").tap()
    expect(page.get_by_role("region", name="Time to get in touch")).to_have_count(0)


def test_quiet_day_says_who_is_next(web: Web, alice: User, elsewhere: Client) -> None:
    settle(alice)
    ada = make_person(alice, name="Ada")
    day = today() + dt.timedelta(days=3)
    add_birthday(elsewhere, ada, day)
    page = web.open("/")
    expect(page.get_by_text(f"Nothing today. The next is Ada, on {day:%A}.")).to_be_visible()
    week = page.get_by_role("region", name="The week")
    expect(week.get_by_role("link", name=f"{day:%A} {day.day} {day:%B}: Ada turns")).to_be_visible()
    assert violations(page) == []


def test_lately_and_a_memory_of_the_day(web: Web, alice: User, elsewhere: Client) -> None:
    settle(alice)
    ada = make_person(alice, name="Ada")
    now = timezone.now()
    for year, title, notes in ((now.year, "Choir", "Sang"), (now.year - 1, "Exam", "Ada passed her exam.")):
        at = now.replace(year=year, day=min(now.day, 28), minute=0, hour=0).isoformat()
        entry = {"personIds": [str(ada.pk)], "kind": "MEETING", "at": at, "title": title, "notes": notes}
        elsewhere.ok("POST", "/api/interactions", entry, status=201)
    page = web.open("/")
    lately = page.get_by_role("region", name="Lately").get_by_role("listitem")
    expect(lately).to_have_count(2)
    expect(lately.first).to_contain_text("Choir")
    expect(lately.first).to_contain_text("with Ada")
    if now.day <= 28:
        expect(page.get_by_role("region", name="A year ago")).to_contain_text("Ada passed her exam.")


def test_decisions_are_figures_of_the_last_search(web: Web, alice: User, elsewhere: Client) -> None:
    """The service searches for no duplicates because somebody opens Today; what was read is there without a network."""
    settle(alice)
    for _ in range(2):
        make_person(alice, name="Ada", surname="Lovelace")
    elsewhere.ok("GET", "/api/people/duplicates")
    asked: list[str] = []
    context = web.context()
    context.on("request", lambda request: asked.append(request.url))
    page = web.open("/", context)
    decisions = page.get_by_role("region", name="To decide")
    expect(decisions.get_by_role("link", name="1 person may be here twice")).to_be_visible()
    assert not any("/api/people/duplicates" in url for url in asked)
    web.chromium.complaints.expected.append("status of 500")
    context.route("**/api/dashboard/stats", lambda route: route.fulfill(status=500, json={"error": "Down for now."}))
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("Down for now.")
    expect(decisions.get_by_role("link")).to_have_count(1)
    context.unroute("**/api/dashboard/stats")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_today_works_without_a_network(web: Web, ada: Any) -> None:
    context = web.context()
    page = web.open("/", context)
    web.synced(page)
    expect(card_of(page).get_by_role("button", name="Done: Ada")).to_be_visible()
    context.set_offline(True)
    web.chromium.complaints.expected.append("ERR_INTERNET_DISCONNECTED")
    page.get_by_role("link", name="Dates").first.click()
    page.get_by_role("link", name="Today").first.click()
    card_of(page).get_by_role("button", name="Done: Ada").click()
    expect(card_of(page)).to_contain_text("You were in touch today.")
    expect(page.get_by_role("region", name="The week")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    context.set_offline(False)
    web.eventually(page, Interaction.unscoped.exists)


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_full_day_has_no_violations_and_no_sideways_scroll(
    web: Web, ada: Any, alice: User, elsewhere: Client, width: int
) -> None:
    ben = make_person(alice, name="Ben-with-a-very-long-double-name-without-any-space")
    elsewhere.ok("PUT", f"/api/people/{ben.pk}", {**MONTHLY, "lastContact": "2020-01-01", "phoneNumbers": NUMBER})
    entry = {"personIds": [str(ben.pk)], "kind": "NOTE", "title": "Tea", "notes": "Ginger"}
    day = today().replace(day=min(today().day, 28))
    for year in (day.year - 1, day.year - 2):
        at = f"{day.replace(year=year)}T12:00:00Z"
        elsewhere.ok("POST", "/api/interactions", {**entry, "at": at}, status=201)
    for _ in range(2):
        make_person(alice, name="Cy", surname="Byron")
    elsewhere.ok("GET", "/api/people/duplicates")
    context = web.context(viewport={"width": width, "height": 800}, has_touch=width < 1000)
    page = web.open("/", context)
    expect(page.get_by_role("region", name="To decide")).to_be_visible()
    for path, shown in (("/app/", "To decide"), ("/app/dates", "Next"), ("/app/dates?view=list", "Today")):
        page.goto(path)
        expect(page.get_by_role("region", name=shown)).to_be_visible()
        assert violations_in_both_schemes(page) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_first_days_leave_step_by_step(web: Web, alice: User, elsewhere: Client) -> None:
    page = web.open("/")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Welcome, Alice")
    steps = page.get_by_role("region", name="The first days").get_by_role("listitem")
    bring = steps.filter(has_text="Bring the people you have")
    expect(bring.get_by_role("link", name="Bring them")).to_be_visible()
    expect(steps.filter(has_text="Open it on a second device")).to_be_visible()
    assert violations(page) == []
    count = steps.count()
    make_person(alice, name="Ada")
    elsewhere.ok("PUT", f"/api/people/{make_person(alice, name='Ben').pk}", {"favourite": True})
    expect(steps).to_have_count(count - 1)
    expect(bring).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Alice")
    page.get_by_role("button", name="Hide").click()
    expect(steps).to_have_count(0)
    page.reload()
    expect(page.get_by_role("region", name="The week")).to_be_visible()
    expect(steps).to_have_count(0)


def test_first_days_are_over_after_two_weeks(web: Web, alice: User) -> None:
    settle(alice)
    make_person(alice, name="Ada")
    page = web.open("/")
    expect(page.get_by_text("Nothing today.")).to_be_visible()
    expect(page.get_by_role("region", name="The first days")).to_have_count(0)


def test_nothing_moves_when_data_arrives(web: Web, ada: Any, alice: User, elsewhere: Client) -> None:
    """Nothing that is shown is pushed away by what is read or asked for after it."""
    address = [{"type": "home", "locality": "Bengaluru", "country": "India"}]
    elsewhere.ok("PUT", f"/api/people/{ada.pk}", {"addresses": address})
    for _ in range(2):
        make_person(alice, name="Ben", surname="Byron")
    elsewhere.ok("GET", "/api/people/duplicates")
    context = web.context()
    page = web.open("/", context)
    web.synced(page)
    page.add_init_script(
        """window.moved = 0;
           new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.moved += entry.value; })
             .observe({ type: "layout-shift", buffered: true });"""
    )
    for path, last in (("/app/", "To decide"), ("/app/dates", "Next"), ("/app/dates?view=list", "Today")):
        page.goto(path)
        expect(page.get_by_role("region", name=last)).to_be_visible()
        web.synced(page)
        page.wait_for_timeout(300)
        assert page.evaluate("window.moved") < 0.01, path


def test_own_birthday_is_a_greeting_and_no_card(web: Web, ada: Any, elsewhere: Client) -> None:
    elsewhere.ok("PUT", "/api/user/me-person", {"personId": str(ada.pk)})
    page = web.open("/")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Happy birthday, Alice")
    expect(page.get_by_role("region", name="The week")).to_be_visible()
    expect(card_of(page)).to_have_count(0)


def test_first_person_is_one_line(web: Web, alice: User) -> None:
    page = web.open("/")
    page.get_by_label("Or begin with one person").fill("Grace Hopper 020 7946 0000")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("textbox")).to_have_value("Grace Hopper 020 7946 0000")
    page.keyboard.press("Enter")
    web.eventually(page, Person.unscoped.filter(name="Grace", surname="Hopper").exists)
