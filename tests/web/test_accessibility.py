"""axe finds nothing on any page, in both schemes; none scrolls sideways on a phone, or breaks words of large text."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from meetings.models import CalendarSource
from people.models import ContactImport, Group, Person
from sharing.models import Share
from tests.builders import make_person
from tests.client import Client, client_of
from tests.meetings.builders import make_proposal
from tests.npm import WEB
from tests.people.importing.uploads import import_vcards, vcard
from tests.web.conftest import Web, follow

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

# Every page of src/app/routes.ts; a test compares.
PATHS = [
    "/",
    "/account",
    "/account/data",
    "/account/preferences",
    "/account/security",
    "/calendar-feeds",
    "/calendars",
    "/carddav",
    "/carddav/conflicts",
    "/custom-fields",
    "/dates",
    "/dates/new",
    "/devices",
    "/duplicates",
    "/duplicates/compare",
    "/groups",
    "/groups/{group}",
    "/import",
    "/import/{import}",
    "/invitation",
    "/letters",
    "/log",
    "/map",
    "/meetings",
    "/more",
    "/network",
    "/notifications",
    "/people",
    "/people/new",
    "/people/{person}",
    "/people/{person}/family",
    "/people/{person}/network",
    "/relationships",
    "/relationships/suggestions",
    "/settings",
    "/shares",
    "/shares/{share}",
    "/shares/{share}/review",
    "/trash",
    "/unsent",
]
OPEN_PATHS = ["/forgotten", "/register", "/sign-in"]
RULES = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
# The dark scheme changes colours alone: of axe's rules, these look at them.
RULES_OF_COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
_RUN = """async (rules) => {
  const { violations } = await axe.run(document, { runOnly: rules });
  const describe = ({ html, failureSummary }) => `${html} ${failureSummary}`;
  return violations.map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(describe)]);
}"""

# Words of letters alone that stand on two lines.
_BROKEN_WORDS = """() => {
  const found = new Set();
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    if (text.parentElement.closest(".hidden-text") || !text.parentElement.checkVisibility()) continue;
    for (const word of text.data.matchAll(/\\p{L}+/gu)) {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) found.add(word[0]);
    }
  }
  return [...found];
}"""


@pytest.fixture
def ada(alice: User) -> Person:
    """A person with something in each section."""
    ada, ben = make_person(alice, name="Ada"), make_person(alice, name="Ben")
    api = client_of(alice)
    group = api.ok("POST", "/api/groups", {"name": "Engines"}, status=201)["group"]["id"]
    api.ok("POST", "/api/shares", {"name": "Engines", "groupId": group}, status=201)
    import_vcards(api, vcard("FN:Cleo", "BDAY:31.02.1990"))
    types = api.ok("GET", "/api/relationship-types")["relationshipTypes"]
    body = {
        "surname": "Lovelace-with-a-very-long-double-surname-without-any-space",
        "notes": "*Likes* **machines**",
        "organization": "Analytical Engines",
        "groupIds": [group],
        "favourite": True,
        "relationshipToUserId": types[0]["id"],
        "phoneNumbers": [{"type": "mobile", "number": "+44 20 7946 0000"}],
        "emails": [{"type": "home", "email": "ada.lovelace.with.a.long.address@analytical-engines.example.org"}],
        "addresses": [{"type": "home", "streetLine1": "St James's Square 12", "locality": "London"}],
        "importantDates": [{"type": "BIRTHDAY", "date": "1815-12-10", "reminderEnabled": True}],
    }
    api.ok("PUT", f"/api/people/{ada.pk}", body)
    pair = {"personId": str(ada.pk), "relatedPersonId": str(ben.pk), "relationshipTypeId": types[0]["id"]}
    api.ok("POST", "/api/relationships", pair)
    call = {"personIds": [str(ada.pk)], "kind": "CALL", "at": "2026-01-01T10:00:00Z", "notes": "About numbers"}
    api.ok("POST", "/api/interactions", call, status=201)
    calendar = CalendarSource.objects.create(owner=alice, name="Work", kind="ics", url="https://example.org/a.ics")
    guest = {"email": "grace@example.org", "name": "Grace Hopper"}
    make_proposal(calendar, ada, title="Conversazione about engines", location="Dorset Street", unknown=[guest])
    return ada


def address_of(path: str, ada: Person) -> str:
    values = {"group": Group.unscoped.get().pk, "import": ContactImport.unscoped.get().pk}
    return path.format(person=ada.pk, share=Share.unscoped.get().pk, **values)


def violations(page: Page, rules: Any = RULES) -> list[Any]:
    # Through the debugger, since the policy allows no other script.
    if not page.evaluate("'axe' in window"):
        page.evaluate((WEB / "node_modules/axe-core/axe.min.js").read_text())
    found: list[Any] = page.evaluate(_RUN, rules)
    return found


def violations_in_both_schemes(page: Page) -> list[Any]:
    """Of a page in the light scheme: all of them, and what the dark one adds."""
    found = violations(page)
    page.emulate_media(color_scheme="dark")
    found += violations(page, RULES_OF_COLOURS)
    page.emulate_media(color_scheme="light")
    return found


def test_all_pages_are_listed() -> None:
    source = (WEB / "src/app/routes.ts").read_text()
    listed = {re.sub(r"\{\w+\}", ":id", path) for path in (*PATHS, *OPEN_PATHS)}
    assert {part.partition('"')[0] for part in source.split('path: "')[1:]} == listed


def test_axe_finds_nothing(web: Web, ada: Person) -> None:
    page = web.open("/people/new")
    web.synced(page)
    found = {}
    for path in PATHS:
        open_page(page, path, ada)
        if wrong := violations_in_both_schemes(page):
            found[path] = wrong
    assert found == {}


def test_axe_finds_nothing_without_a_session(web: Web) -> None:
    web.chromium.complaints.expected.append("status of 401")
    page = web.open("/sign-in", web.visitor())
    for path in OPEN_PATHS:
        page.goto(f"/app{path}")
        expect(page.locator("h1")).to_be_visible()
        assert violations(page) == [], path


def test_axe_finds_nothing_in_dialogs_and_forms(web: Web, ada: Person) -> None:
    page = web.open(f"/people/{ada.pk}")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    for section in ("Reach", "Notes", "About"):
        page.get_by_role("button", name=f"Edit {section} of Ada").click()
    assert violations(page) == []
    page.get_by_role("button", name="Add a date of Ada").click()
    assert violations(page) == []


@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_about_a_person_on_phone_and_desk(web: Web, ada: Person, width: int) -> None:
    page = web.open("/", web.context(viewport={"width": width, "height": 844}))
    web.synced(page)
    for query in ("", "?edit=contact", "?edit=all"):
        page.goto(f"/app/people/{ada.pk}{query}")
        expect(page.locator("h1")).to_be_visible()
        expect(page.get_by_role("button", name="Save", exact=True)).to_have_count(1 if query else 0)
        assert violations_in_both_schemes(page) == [], query
        page.evaluate("localStorage.clear()")
    page.goto("/app/people/new")
    page.get_by_label("Given name").fill("Ada")
    for chip in page.get_by_role("group", name="More", exact=True).get_by_role("button").all_inner_texts():
        page.get_by_role("button", name=chip, exact=True).click()
    assert violations_in_both_schemes(page) == []


def test_no_page_scrolls_sideways_on_a_small_phone(web: Web, ada: Person) -> None:
    page = web.open("/people/new", web.context(viewport={"width": 320, "height": 640}))
    web.synced(page)
    widths = {}
    for path in PATHS:
        open_page(page, path, ada)
        widths[path] = page.evaluate("document.documentElement.scrollWidth")
    assert {path: width for path, width in widths.items() if width > 320} == {}


def test_text_of_twice_the_size_fits_a_phone(web: Web, ada: Person, elsewhere: Client) -> None:
    elsewhere.ok("PUT", f"/api/people/{ada.pk}", {"surname": "Lovelace", "emails": []})
    page = web.context(viewport={"width": 390, "height": 844}).new_page()
    sizes = {"fontSizes": {"standard": 32, "fixed": 26}}
    page.context.new_cdp_session(page).send("Page.setFontSizes", sizes)
    page.goto("/app/people/new")
    expect(page.locator("h1")).to_be_visible()
    web.synced(page)
    widths, broken = {}, {}
    for path in PATHS:
        open_page(page, path, ada)
        widths[path] = page.evaluate("document.documentElement.scrollWidth")
        broken[path] = page.evaluate(_BROKEN_WORDS)
    assert {path: width for path, width in widths.items() if width > 390} == {}
    assert {path: words for path, words in broken.items() if words} == {}


def open_page(page: Page, path: str, ada: Person) -> None:
    follow(page, address_of(path, ada))
    page.wait_for_timeout(100)


def test_heading_has_the_focus_on_a_new_page(web: Web, ada: Person) -> None:
    page = web.open("/people")
    page.get_by_role("row").first.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_be_focused()


def test_list_is_one_tab_stop(web: Web, ada: Person) -> None:
    page = web.open("/people")
    web.synced(page)
    page.get_by_role("row").first.focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("row").nth(1)).to_be_focused()
    page.keyboard.press("Home")
    expect(page.get_by_role("row").first).to_be_focused()
    page.keyboard.press("End")
    expect(page.get_by_role("row").last).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[role=grid]')") is None
