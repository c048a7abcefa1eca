"""Filters and orders of the list of people: each is an address, and works from the copy, so without a network too."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from tests.client import client_of
from tests.people.importing.uploads import import_file
from tests.web.conftest import Web

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

PHONE = [{"type": "mobile", "number": "+44 20 1234"}]
EMAIL = [{"type": "home", "email": "a@example.org"}]
PEOPLE: dict[str, dict[str, Any]] = {
    "Ada": {"phoneNumbers": PHONE, "emails": EMAIL},
    "Ben": {"phoneNumbers": PHONE, "favourite": True},
    "Cy": {"emails": EMAIL, "quiet": True},
    "Dot": {"favourite": True, "importantDates": [{"type": "BIRTHDAY", "date": "1990-05-01"}]},
}


@pytest.fixture
def groups(alice: User) -> dict[str, str]:
    """Four people; Ada is in Engines, Ben in Poets. The ids of the groups by name."""
    api = client_of(alice)
    ids = {
        name: api.ok("POST", "/api/people", {"name": name, **body}, status=201)["person"]["id"]
        for name, body in PEOPLE.items()
    }
    api.ok(
        "POST",
        "/api/interactions",
        {"personIds": [ids["Ada"]], "kind": "CALL", "at": "2026-01-01T10:00:00Z"},
        status=201,
    )
    members = {"Engines": [ids["Ada"]], "Poets": [ids["Ben"]]}
    made = {
        name: api.ok("POST", "/api/groups", {"name": name, "peopleIds": people}, status=201)
        for name, people in members.items()
    }
    return {name: body["group"]["id"] for name, body in made.items()}


def expect_people(page: Page, *names: str) -> None:
    expect(page.locator(".people-name")).to_have_text(list(names))


def test_each_filter_is_an_address(web: Web, groups: dict[str, str]) -> None:
    page = web.open("/people")
    expect_people(page, "Ben", "Dot", "Ada", "Cy")
    engines, poets = groups["Engines"], groups["Poets"]
    found = {
        "only=favourites": ["Ben", "Dot"],
        "only=favourites,noPhone": ["Dot"],
        "only=noEmail": ["Ben", "Dot"],
        "only=noAddress,noPhoto,quiet": ["Cy"],
        "only=unreachable": ["Dot"],
        "only=never": ["Ben", "Cy", "Dot"],
        f"group={engines}": ["Ada"],
        f"group={engines},{poets}": ["Ben", "Ada"],
        f"group=none,{poets}": ["Ben", "Dot", "Cy"],
        "favouritesFirst=false": ["Ada", "Ben", "Cy", "Dot"],
        "order=desc&favouritesFirst=false": ["Dot", "Cy", "Ben", "Ada"],
        "sort=lastContact&only=quiet": ["Cy"],
    }
    for query, names in found.items():
        page.evaluate("(query) => history.pushState({}, '', `/app/people?${query}`)", query)
        page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
        expect_people(page, *names)
    for sort, first in (("lastContact", "Ada"), ("nextDate", "Dot")):
        page.goto(f"{web.base}/app/people?sort={sort}")
        expect(page.locator(".people-name").first).to_have_text(first)
    # As the service finds them.
    listed = client_of(web.owner).ok("GET", f"/api/people?groupIds={engines},{poets}&favouritesFirst=true")["people"]
    assert [person["name"] for person in listed] == ["Ben", "Ada"]


def test_filters_are_chosen_in_the_menu_and_all_taken_back(web: Web, groups: dict[str, str]) -> None:
    page = web.open("/people")
    for name in ("Favourites", "Without a phone number"):
        page.get_by_role("button", name="Filter and order").click()
        page.get_by_role("menuitemcheckbox", name=name, exact=True).click()
    expect_people(page, "Dot")
    expect(page.get_by_role("button", name="Filter and order")).to_contain_text("2")
    for name in ("Engines", "Poets"):
        page.get_by_role("button", name="Groups").click()
        page.get_by_role("menuitemcheckbox", name=name).click()
    expect(page.get_by_text("Nobody is found.")).to_be_visible()
    page.get_by_role("button", name="Show all").click()
    expect_people(page, "Ben", "Dot", "Ada", "Cy")


def test_people_of_an_import_are_listed_without_a_network_too(web: Web, alice: User) -> None:
    api = client_of(alice)
    api.ok("POST", "/api/people", {"name": "Ada"}, status=201)
    receipt = import_file(api, "csv", "Name,Email\nZoe,zoe@example.org\n")
    context = web.context()
    page = web.open(f"/people?import={receipt['importId']}", context)
    expect_people(page, "Zoe")
    web.synced(page)
    page.get_by_role("button", name="Show all").click()
    expect_people(page, "Ada", "Zoe")
    context.set_offline(True)
    web.chromium.complaints.expected += ["ERR_INTERNET_DISCONNECTED"]
    page.evaluate("(id) => history.pushState({}, '', `/app/people?import=${id}`)", receipt["importId"])
    page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
    expect_people(page, "Zoe")
