"""Settings are one place: a list with a search, whose lines say how things stand."""

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Web

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

PHONE = {"width": 390, "height": 844}


def test_the_list_says_how_things_stand(web: Web) -> None:
    web.owner.name = "Alice"
    web.owner.save()
    page = web.open("/settings", web.context(viewport=PHONE))
    settings = page.get_by_role("navigation", name="Settings")
    expect(settings.get_by_role("link", name="You Alice")).to_be_visible()
    expect(settings.get_by_role("link", name="Phones and computers None connected")).to_be_visible()
    expect(settings.get_by_role("link", name="Address book on a server Not connected")).to_be_visible()
    settings.get_by_role("searchbox", name="Find a setting").fill("quiet")
    expect(settings.get_by_role("link")).to_have_count(1)
    settings.get_by_role("link", name="Reminders").click()
    expect(page).to_have_url(f"{web.base}/app/notifications")
