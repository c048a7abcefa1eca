"""Calendar feeds: made, read by a calendar program, changed, given another address, deleted."""

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from notifications.models import CalendarFeed
from tests.client import Client
from tests.web.conftest import Web
from tests.web.test_accessibility import violations

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


@pytest.fixture
def group(alice: User, elsewhere: Client) -> str:
    """Ada is in the group, Ben is not; both have a birthday."""
    group: str = elsewhere.ok("POST", "/api/groups", {"name": "Family"}, status=201)["group"]["id"]
    birthday = {"type": "BIRTHDAY", "date": "1815-12-10"}
    for name, ids in (("Ada", [group]), ("Ben", [])):
        body = {"name": name, "groupIds": ids, "importantDates": [birthday]}
        elsewhere.ok("POST", "/api/people", body, status=201)
    return group


def shown_address(page: Page) -> str:
    """The address that is shown, as the calendar program of a stranger would read it."""
    expect(page.get_by_role("heading", name="Address of the subscription")).to_be_focused()
    return (
        page.get_by_role("region", name="Address of the subscription")
        .locator("code")
        .inner_text()
        .partition("/calendar/")[2]
    )


def read(web: Web, address: str) -> tuple[int, str]:
    answer = web.visitor().request.get(f"{web.base}/calendar/{address}")
    return answer.status, answer.text()


def test_feed_is_made_read_changed_and_ended(web: Web, group: str) -> None:
    page = web.open("/calendar-feeds")
    web.synced(page)
    page.get_by_role("button", name="New subscription").click()
    page.get_by_label("Name of the subscription").fill("Birthdays")
    page.get_by_label("Whom to get in touch with").uncheck()
    page.get_by_label("Family").check()
    page.get_by_label("Language of its texts").select_option("de-DE")
    page.wait_for_timeout(400)
    page.reload()
    expect(page.get_by_label("Name of the subscription")).to_have_value("Birthdays")
    assert violations(page) == []
    page.get_by_role("button", name="Create").click()
    first = shown_address(page)
    expect(page.get_by_role("img", name="QR code with the address of the subscription")).to_be_visible()
    assert violations(page) == []
    status, text = read(web, first)
    assert (status, "Ada" in text, "Ben" in text, "Geburtstag" in text) == (200, True, False, True)
    page.get_by_role("button", name="I have kept it").click()
    page.reload()
    card = page.get_by_role("region", name="Birthdays")
    expect(card).to_contain_text("Last read")
    expect(card).to_contain_text("Birthdays and other dates · In Family · alarms · Deutsch")
    page.get_by_role("button", name="Change Birthdays").click()
    page.get_by_label("Alarms where a reminder is on").uncheck()
    web.eventually(page, lambda: not CalendarFeed.unscoped.get().alarms)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("Alarms where a reminder is on")).to_be_checked()
    web.eventually(page, lambda: CalendarFeed.unscoped.get().alarms)
    page.get_by_label("Name of the subscription").fill("All days")
    page.get_by_label("Family").uncheck()
    page.get_by_role("button", name="Close", exact=True).click()
    expect(page.get_by_role("region", name="All days")).to_contain_text("Everybody")
    assert "Ben" in read(web, first)[1]
    feed = CalendarFeed.unscoped.get()
    assert (feed.kinds, feed.language, feed.alarms) == (["important_date"], "de-DE", True)
    page.get_by_role("button", name="New address of All days").click()
    page.get_by_role("dialog").get_by_role("button", name="New address").click()
    second = shown_address(page)
    assert (read(web, first)[0], read(web, second)[0]) == (404, 200)
    page.get_by_role("button", name="Delete All days").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No calendar reads along yet.")).to_be_visible()
    assert read(web, second)[0] == 404


def test_too_many_feeds_are_refused_and_the_form_keeps_what_was_typed(web: Web, elsewhere: Client) -> None:
    for number in range(20):
        elsewhere.ok("POST", "/api/calendar-feeds", {"name": f"Feed {number}"}, status=201)
    web.chromium.complaints.expected += ["409"]
    page = web.open("/calendar-feeds")
    page.get_by_role("button", name="New subscription").click()
    page.get_by_label("Name of the subscription").fill("One more")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("alert")).to_contain_text("at most 20 calendar feeds")
    expect(page.get_by_label("Name of the subscription")).to_have_value("One more")
