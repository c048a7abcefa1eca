"""Filters and orders of the list of people: each is an address, and works from the copy, so without a network too."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from people.models import Person
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
        page.get_by_role("button", name="Filter", exact=True).click()
        page.get_by_role("menuitemcheckbox", name=name, exact=True).click()
    expect_people(page, "Dot")
    page.get_by_role("button", name="Without the filter Favourites").click()
    expect_people(page, "Cy", "Dot")
    for name in ("Engines", "Poets"):
        page.get_by_role("button", name="Filter", exact=True).click()
        page.get_by_role("menuitemcheckbox", name=name).click()
    expect(page.get_by_text("Nobody is found.")).to_be_visible()
    page.get_by_role("button", name="All", exact=True).click()
    expect_people(page, "Ben", "Dot", "Ada", "Cy")


def test_a_filter_is_kept_as_a_list(web: Web, groups: dict[str, str]) -> None:
    page = web.open("/people?only=favourites")
    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_role("menuitem", name="Keep as a list").click()
    page.get_by_role("button", name="All", exact=True).click()
    expect_people(page, "Ben", "Dot", "Ada", "Cy")
    page.get_by_role("link", name="Favourites", exact=True).click()
    expect_people(page, "Ben", "Dot")
    user = client_of(web.owner).ok("GET", "/api/user/profile")["user"]
    assert user["savedLists"] == [{"name": "Favourites", "query": "only=favourites"}]


def test_list_and_person_stand_side_by_side_on_a_desk(web: Web, groups: dict[str, str]) -> None:
    page = web.open("/people?favouritesFirst=false")
    web.synced(page)
    for key in "jjjj":  # within the time in which letters are typed together; the first one shows the first person
        page.keyboard.press(key)
    expect(page.get_by_role("heading", level=1)).to_have_text("Dot")
    expect_people(page, "Ada", "Ben", "Cy", "Dot")
    expect(page.get_by_role("row").nth(3)).to_be_focused()
    page.keyboard.press("x")
    expect(page.get_by_role("checkbox", name="Select Dot")).to_be_checked()
    page.keyboard.press("Shift+ArrowUp")
    expect(page.get_by_role("group", name="With those selected")).to_contain_text("2 selected")
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    web.eventually(page, lambda: Person.unscoped.get(name="Cy").favourite)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    assert "favouritesFirst=false" in page.url
    # The neighbours of a person are those of the list as it is shown.
    page.goto("/app/people?only=favourites&order=desc&favouritesFirst=false")
    expect_people(page, "Dot", "Cy", "Ben")
    for key, name in (("j", "Dot"), ("]", "Cy"), ("]", "Ben"), ("]", "Ben"), ("[", "Cy")):
        page.keyboard.press(key)
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
    expect_people(page, "Dot", "Cy", "Ben")


def test_table_is_sorted_by_its_heads(web: Web, groups: dict[str, str]) -> None:
    page = web.open("/people?favouritesFirst=false")
    page.get_by_role("button", name="As a table").click()
    heads = page.locator(".people-heads")
    heads.get_by_role("button", name="Last contact").click()
    expect(page.locator(".people-name").first).to_have_text("Ada")
    heads.get_by_role("button", name="Name").click()
    heads.get_by_role("button", name="Name").click()
    expect_people(page, "Dot", "Cy", "Ben", "Ada")


def test_people_of_an_import_are_listed_without_a_network_too(web: Web, alice: User) -> None:
    api = client_of(alice)
    api.ok("POST", "/api/people", {"name": "Ada"}, status=201)
    receipt = import_file(api, "csv", "Name,Email\nZoe,zoe@example.org\n")
    context = web.context()
    page = web.open(f"/people?import={receipt['importId']}", context)
    expect_people(page, "Zoe")
    web.synced(page)
    page.get_by_role("button", name="All", exact=True).click()
    expect_people(page, "Ada", "Zoe")
    context.set_offline(True)
    web.chromium.complaints.expected += ["ERR_INTERNET_DISCONNECTED"]
    page.evaluate("(id) => history.pushState({}, '', `/app/people?import=${id}`)", receipt["importId"])
    page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
    expect_people(page, "Zoe")
