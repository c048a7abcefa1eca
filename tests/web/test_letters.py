"""Letters: whom they go to, the table, and the labels to print."""

import csv

import pytest
from playwright.sync_api import expect

from accounts.models import User
from tests.client import Client
from tests.web.conftest import Web
from tests.web.test_accessibility import violations

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

HOME = {"streetLine1": "Hauptstraße 1", "locality": "Bonn", "postalCode": "53111", "country": "DE"}
LONDON = {"streetLine1": "St James's Square 12", "locality": "London", "country": "GB"}


@pytest.fixture
def choir(alice: User, elsewhere: Client) -> str:
    """A group with a couple; Cleo, who is in no group, lives elsewhere."""
    group: str = elsewhere.ok("POST", "/api/groups", {"name": "Choir"}, status=201)["group"]["id"]
    for name in ("Anna", "Ben"):
        body = {"name": name, "surname": "Meier", "addresses": [HOME], "groupIds": [group]}
        elsewhere.ok("POST", "/api/people", body, status=201)
    elsewhere.ok("POST", "/api/people", {"name": "Cleo", "addresses": [LONDON]}, status=201)
    return group


def test_letters_go_to_households_of_groups(web: Web, choir: str) -> None:
    page = web.open("/letters")
    web.synced(page)
    expect(page.get_by_text("2 letters.")).to_be_visible()
    page.get_by_label("Choir").check()
    expect(page.get_by_text("1 letter.")).to_be_visible()
    entry = page.get_by_role("listitem").filter(has_text="Anna and Ben Meier")
    expect(entry).to_contain_text("53111 Bonn")
    expect(entry.get_by_role("link")).to_have_text(["Anna Meier", "Ben Meier"])
    assert violations(page) == []
    page.reload()  # the choice is a part of the address
    expect(page.get_by_text("1 letter.")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download a table (CSV)").click()
    rows = csv.reader(download.value.path().read_text("utf-8-sig").splitlines())
    assert [row[0] for row in rows] == ["name", "Anna and Ben Meier"]
    page.get_by_label("Sheet of labels").select_option("5160")
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Print labels").click()
    expect(opened.value.locator(".sheet-5160 .label")).to_have_count(1)
    expect(opened.value.get_by_text("Anna and Ben Meier")).to_be_visible()
    # Those who are selected in the list.
    page.goto("/app/people")
    page.get_by_role("button", name="Select", exact=True).click()
    page.get_by_role("checkbox", name="Select Cleo").check()
    page.get_by_role("button", name="More with those selected").click()
    page.get_by_role("menuitem", name="Letters").click()
    expect(page.get_by_text("1 letter.")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="Cleo")).to_contain_text("London")
    assert "personIds=" in (page.get_by_role("link", name="Print labels").get_attribute("href") or "")
    page.get_by_role("button", name="To everybody").click()
    expect(page.get_by_text("2 letters.")).to_be_visible()


def test_choices_and_buttons_are_not_printed(web: Web, choir: str) -> None:
    page = web.open("/letters")
    web.synced(page)
    expect(page.get_by_text("2 letters.")).to_be_visible()
    page.emulate_media(media="print")
    expect(page.get_by_text("Hauptstraße 1").last).to_be_visible()
    expect(page.get_by_text("United Kingdom").last).to_be_visible()
    expect(page.get_by_role("checkbox")).to_have_count(0)
    expect(page.get_by_role("button")).to_have_count(0)
    for name in ("Print labels", "Download a table (CSV)"):
        expect(page.get_by_role("link", name=name)).to_have_count(0)
