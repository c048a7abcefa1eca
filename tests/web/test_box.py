"""The box "Search or do" and the line that adds, by keys alone."""

import re
from dataclasses import dataclass
from uuid import UUID

import pytest
from playwright.sync_api import Locator, Page, expect

from accounts.models import User
from people.models import CustomFieldTemplate, CustomFieldValue, Group, ImportantDate, Interaction, Person
from tests.builders import make_person
from tests.client import Client
from tests.web.conftest import Web
from tests.web.test_accessibility import violations_in_both_schemes

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


@dataclass
class Keys:
    """Presses keys and counts them."""

    page: Page
    count: int = 0

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.count += 1

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)


def together(entry: Interaction) -> list[UUID]:
    return [row.person_id for row in entry.participations.order_by("position")]


@pytest.fixture
def people(alice: User, elsewhere: Client) -> dict[str, Person]:
    elsewhere.ok("PUT", "/api/user/language", {"language": "en"})  # brings the types of relationship into the feed
    jane = make_person(alice, name="Jane", surname="Roe", nickname="Jay")
    reach = {
        "phoneNumbers": [{"type": "mobile", "number": "+49 170 1112233"}],
        "emails": [{"type": "home", "email": "jane@example.org"}],
        "addresses": [{"type": "home", "locality": "Porto"}],
    }
    elsewhere.ok("PUT", f"/api/people/{jane.pk}", reach)
    return {
        "jane": jane,
        "ana": make_person(alice, name="Ana", surname="García"),
        "ben": make_person(alice, name="Ben"),
        "eva1": make_person(alice, name="Eva", surname="Weiß"),
        "eva2": make_person(alice, name="Eva", surname="Schwarz"),
    }


def open_box(web: Web, path: str = "/people") -> tuple[Page, Keys]:
    page = web.open(path)
    web.synced(page)
    return page, Keys(page)


def field(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Search or do")


def options(page: Page) -> Locator:
    return page.get_by_role("option")


def line(page: Page) -> Locator:
    return page.locator("textarea")


def chosen(page: Page) -> Locator:
    return page.locator("[role=option][aria-selected=true]")


# What is written. The commonest tasks, and their keys, are those of test_tasks.py.


def test_person_with_a_number_and_a_birthday_without_a_year_is_added(web: Web, people: dict[str, Person]) -> None:
    page, keys = open_box(web, "/")
    keys.press("n")
    keys.type("Zora Neale 0170 9998877 birthday 3 May")
    expect(page.get_by_text("New person: Zora Neale")).to_be_visible()
    assert Person.unscoped.filter(name="Zora").count() == 0
    keys.press("Enter")
    expect(page.get_by_role("heading", name="Zora Neale", level=1)).to_be_visible()
    web.eventually(page, lambda: ImportantDate.unscoped.count() == 1)
    zora = Person.unscoped.get(name="Zora", surname="Neale")
    assert [entry["number"] for entry in zora.phone_numbers] == ["0170 9998877"]
    date = ImportantDate.unscoped.get()
    assert (date.person_id, date.type, str(date.date), date.year_unknown) == (zora.pk, "BIRTHDAY", "1604-05-03", True)
    assert date.reminder_enabled
    assert keys.count == 2


def test_birthday_is_added_and_taken_back(web: Web, people: dict[str, Person]) -> None:
    page, keys = open_box(web)
    keys.press("+")
    keys.type("ana birthday 3 May 1990")
    keys.press("Enter")
    web.eventually(page, lambda: ImportantDate.unscoped.count() == 1)
    assert (keys.count, str(ImportantDate.unscoped.get().date)) == (2, "1990-05-03")
    page.get_by_role("button", name="Undo").click()
    web.eventually(page, lambda: ImportantDate.unscoped.filter(deleted_at=None).count() == 0)


# What is found, and why.


def test_box_says_why_somebody_was_found(web: Web, alice: User, people: dict[str, Person]) -> None:
    long = "We spoke of wood and strings. " * 20
    people["ben"].notes = f"{long}They met at the vineyard near Valencia. {long}"
    people["ben"].save()
    people["ana"].custom_fields = [{"key": "Allergie", "value": "Nüsse"}]
    people["ana"].save()
    template = CustomFieldTemplate.unscoped.create(owner=alice, name="Shirt", slug="shirt", type="TEXT")
    CustomFieldValue.unscoped.create(owner=alice, person=people["eva1"], template=template, value="Mauve")
    page, keys = open_box(web)
    web.owner.refresh_from_db()
    keys.press("+")
    keys.type("Dinner with Eva Schwarz, we talked about Timbuktu")
    keys.press("Enter")
    web.eventually(page, lambda: Interaction.unscoped.count() == 1)
    keys.press("Control+k")
    for words, name, mark in [
        ("vineyard", "Ben", "vineyard"),
        ("allergie nüsse", "Ana", "Allergie"),
        ("mauve", "Eva Weiß", "Mauve"),
        ("timbuktu", "Eva Schwarz", "Timbuktu"),
        ("0170 1112233", "Jane", "+49 170 1112233"),
        ("jane@example", "Jane", "jane@example"),
    ]:
        field(page).fill(words)
        expect(options(page).first).to_contain_text(name)
        expect(options(page).first.locator("mark").first).to_have_text(mark)
        text = options(page).first.locator(".hit-detail").inner_text()
        assert len(re.sub(r"^(Note|Logged|Phone|E-mail): ", "", text)) <= 120


def test_list_of_people_looks_into_whole_texts_and_logged_contacts(
    web: Web, elsewhere: Client, people: dict[str, Person]
) -> None:
    people["ben"].notes = "We spoke of wood and strings. " * 20 + "Vineyard."
    people["ben"].save()
    body = {"personIds": [str(people["ana"].pk)], "kind": "CALL", "at": "2026-11-01T10:00:00Z", "notes": "Timbuktu"}
    elsewhere.ok("POST", "/api/interactions", body, status=201)
    page, _ = open_box(web)
    for words, name in (("vineyard", "Ben"), ("timbuktu", "Ana")):
        page.get_by_role("searchbox", name="Search people").fill(words)
        expect(page.get_by_role("row")).to_have_count(1)
        expect(page.get_by_role("row")).to_contain_text(name)


def test_missed_call_leads_to_its_person(web: Web, people: dict[str, Person]) -> None:
    page, keys = open_box(web, "/")
    keys.press("Control+k")
    keys.type("0049 170 111 22 33")
    expect(chosen(page)).to_contain_text("Jane")
    # The Enter of an input method, as Safari tells it.
    field(page).dispatch_event("keydown", {"key": "Enter", "keyCode": 229})
    expect(chosen(page)).to_contain_text("Jane")
    keys.press("Enter")
    expect(page.get_by_role("heading", name="Jane", level=1)).to_be_visible()


def test_ties_of_the_best_hit_are_found(web: Web, elsewhere: Client, people: dict[str, Person]) -> None:
    page, keys = open_box(web)
    keys.press("Control+k")
    keys.type("ana")
    expect(chosen(page)).to_contain_text("Ana García")
    types = elsewhere.ok("GET", "/api/relationship-types")["relationshipTypes"]
    parent = next(kind["id"] for kind in types if kind["name"] == "PARENT")
    pair = {"personId": str(people["ben"].pk), "relatedPersonId": str(people["ana"].pk)}
    elsewhere.ok("POST", "/api/relationships", {**pair, "relationshipTypeId": parent})
    expect(options(page).filter(has_text="Parent of Ana García")).to_contain_text("Ben")  # while the box is open


# What can be done.


@pytest.mark.parametrize(
    ("words", "first", "heading"),
    [
        ("call jane", 'Call Jane "Jay" Roe', None),
        ("jane birthday 3 may", 'Birthday of Jane "Jay" Roe', None),
        ("log meeting with ana and ben", "Meeting with Ana García and Ben", None),
        ("open ben", "Open Ben", "Ben"),
        ("map", "Map", "Map"),
        ("password", "Sign-in and security", None),
        ("choir", "Choir", "Choir"),
    ],
)
def test_words_say_what_is_to_be_done(
    web: Web, alice: User, people: dict[str, Person], words: str, first: str, heading: str | None
) -> None:
    Group.unscoped.create(owner=alice, name="Choir")
    page, keys = open_box(web)
    keys.press("Control+k")
    keys.type(words)
    expect(options(page).first).to_contain_text(first)
    if heading:
        keys.press("Enter")
        expect(page.get_by_role("heading", name=heading, level=1)).to_be_visible()


def test_action_in_words_is_shown_before_it_is_written(web: Web, people: dict[str, Person]) -> None:
    page, keys = open_box(web)
    keys.press("Control+k")
    keys.type("log meeting with ana and ben")
    expect(chosen(page)).to_contain_text("Meeting with")
    keys.press("Enter")
    expect(line(page)).to_have_value("log meeting with ana and ben")
    expect(page.get_by_text("Meeting with Ana García and Ben")).to_be_visible()
    assert Interaction.unscoped.count() == 0
    keys.press("Enter")
    web.eventually(page, lambda: Interaction.unscoped.count() == 1)


def test_actions_in_the_language_of_the_account(web: Web, elsewhere: Client, people: dict[str, Person]) -> None:
    elsewhere.ok("PUT", "/api/user/language", {"language": "de-DE"})
    page, keys = open_box(web)
    keys.press("Control+k")
    keys.type("jane anrufen")
    expect(chosen(page)).to_contain_text('Jane "Jay" Roe anrufen')
    page.get_by_role("combobox").fill("papierkorb")
    expect(chosen(page)).to_contain_text("Papierkorb")
    page.get_by_role("combobox").fill("Anas Geburtstag am 3. Mai")
    expect(chosen(page)).to_contain_text("3. Mai")


def test_slash_opens_the_box_with_people_first(web: Web, people: dict[str, Person]) -> None:
    page, keys = open_box(web, "/")
    keys.press("/")
    expect(page.get_by_role("combobox", name="Search people")).to_be_focused()
    keys.type("call jane")
    expect(options(page).first).to_contain_text("+49 170 1112233")
    expect(chosen(page).locator(".avatar")).to_be_visible()


# The box itself.


def test_box_opens_while_somebody_types_and_gives_the_focus_back(web: Web, people: dict[str, Person]) -> None:
    page, keys = open_box(web, f"/log?person={people['ana'].pk}")
    notes = page.get_by_label("Notes")
    notes.fill("half a sen")
    keys.press("Control+k")
    expect(field(page)).to_be_focused()
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(notes).to_be_focused()
    expect(notes).to_have_value("half a sen")


def test_nothing_typed_shows_who_was_opened_last(web: Web, people: dict[str, Person]) -> None:
    page, keys = open_box(web)
    for name in ("ana", "ben"):
        keys.press("Control+k")
        keys.type(name)
        expect(chosen(page).locator(".avatar")).to_be_visible()
        keys.press("Enter")
        expect(page.get_by_role("heading", level=1, name=name.title())).to_be_visible()
    page.goto(f"{web.base}/app/")
    expect(page.locator("h1")).to_be_visible()
    keys.press("Control+k")
    last = page.get_by_role("group", name="Opened last").get_by_role("option")
    expect(last).to_have_count(2)
    expect(last.first).to_contain_text("Ben")
    expect(page.get_by_role("group", name="On this page").get_by_role("option").first).to_be_visible()


def test_arrows_choose_and_plus_makes_a_line(web: Web, people: dict[str, Person]) -> None:
    page, keys = open_box(web)
    keys.press("Control+k")
    keys.type("eva")
    expect(options(page).nth(1)).to_contain_text("Eva")
    keys.press("ArrowDown")
    expect(options(page).nth(1)).to_have_attribute("aria-selected", "true")
    active = field(page).get_attribute("aria-activedescendant")
    assert active == options(page).nth(1).get_attribute("id")
    keys.press("ArrowUp", "ArrowUp")
    expect(options(page).last).to_have_attribute("aria-selected", "true")
    keys.press("+")
    expect(line(page)).to_have_value("eva")


def test_box_and_line_work_without_a_network(web: Web, people: dict[str, Person]) -> None:
    context = web.context(service_workers="allow")
    page = web.open("/people", context)
    web.synced(page)
    keys = Keys(page)
    keys.press("Control+k")
    expect(field(page)).to_be_focused()
    keys.press("Escape")
    web.chromium.complaints.expected.append("ERR_INTERNET_DISCONNECTED")
    context.set_offline(True)
    keys.press("Control+k")
    keys.type("0170 1112233")
    expect(chosen(page)).to_contain_text("Jane")
    keys.press("Escape", "+")
    keys.type("called ben yesterday")
    keys.press("Enter")
    expect(page.get_by_text("Logged: Call")).to_be_visible()
    context.set_offline(False)
    web.eventually(page, lambda: Interaction.unscoped.count() == 1)


# The line.


def test_name_that_two_people_have_asks(web: Web, people: dict[str, Person]) -> None:
    page, keys = open_box(web)
    keys.press("+")
    keys.type("called eva")
    save = page.get_by_role("button", name="Log it")
    expect(page.get_by_role("group", name="Which eva?")).to_be_visible()
    expect(save).to_be_disabled()
    keys.press("Enter")
    page.get_by_role("button", name="Eva Schwarz").click()
    expect(save).to_be_enabled()
    save.click()
    web.eventually(page, lambda: Interaction.unscoped.count() == 1)
    assert together(Interaction.unscoped.get()) == [people["eva2"].pk]


def test_what_is_not_understood_is_the_note(web: Web, people: dict[str, Person]) -> None:
    page, keys = open_box(web, f"/people/{people['ana'].pk}")
    keys.press("+")
    keys.type("the key is under the stone")
    expect(page.get_by_text("Note with Ana García")).to_be_visible()
    keys.press("Enter")
    web.eventually(page, lambda: Interaction.unscoped.count() == 1)
    entry = Interaction.unscoped.get()
    assert (entry.kind, entry.notes) == ("NOTE", "the key is under the stone")


def test_chips_correct_what_was_understood(web: Web, people: dict[str, Person]) -> None:
    page, keys = open_box(web)
    keys.press("+")
    keys.type("met ana and ben yesterday")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Message").click()
    dialog.get_by_role("button", name="Remove Ben").click()
    dialog.get_by_label("Day").fill("2026-01-05")
    expect(dialog.get_by_text("Message with Ana García")).to_be_visible()
    expect(line(page)).to_have_value("met ana and ben yesterday")
    dialog.get_by_role("button", name="Log it").click()
    web.eventually(page, lambda: Interaction.unscoped.count() == 1)
    entry = Interaction.unscoped.get()
    assert (entry.kind, entry.at.date().isoformat()) == ("MESSAGE", "2026-01-05")
    assert together(entry) == [people["ana"].pk]


def test_names_are_completed_while_they_are_typed(web: Web, people: dict[str, Person]) -> None:
    page, keys = open_box(web)
    keys.press("+")
    keys.type("called schw")
    page.get_by_role("button", name="Eva Schwarz").click()
    expect(line(page)).to_have_value("called Eva Schwarz ")
    expect(page.get_by_text("Call with Eva Schwarz")).to_be_visible()


def test_forms_are_one_tap_away(web: Web, people: dict[str, Person]) -> None:
    page, keys = open_box(web)
    for button, path in [
        ("A new person", "/people/new"),
        ("A contact", "/log"),
        ("A date with a reminder", "/dates/new"),
    ]:
        keys.press("+")
        page.get_by_role("list").get_by_role("button", name=button).click()
        expect(page).to_have_url(re.compile(path))
        page.go_back()
    keys.press("+")
    page.get_by_role("list").get_by_role("button", name="A relationship").click()
    expect(page.get_by_role("dialog", name="A relationship")).to_be_visible()
    keys.press("Escape")
    keys.press("n", "Enter")
    expect(page.get_by_role("heading", name="New person")).to_be_visible()


def test_what_was_typed_is_kept_after_escape(web: Web, people: dict[str, Person]) -> None:
    page, keys = open_box(web)
    keys.press("+")
    keys.type("met ana")
    expect(line(page)).to_have_value("met ana")
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.wait_for_function("!history.state?.sheet")  # its entry of the history goes a moment later
    page.reload()
    expect(page.locator("h1")).to_be_visible()
    keys.press("+")
    expect(line(page)).to_have_value("met ana")
    page.get_by_role("button", name="Cancel").click()
    keys.press("+")
    expect(line(page)).to_have_value("")
    assert Interaction.unscoped.count() == 0


def test_axe_finds_nothing(web: Web, people: dict[str, Person]) -> None:
    for size in ({"width": 1280, "height": 900}, {"width": 390, "height": 844}):
        page = web.open("/people", web.context(viewport=size))
        web.synced(page)
        page.keyboard.press("Control+k")
        for words in ("", "jane", "call jane", "settings", "zzzz"):
            field(page).fill(words)
            page.wait_for_timeout(300)
            assert violations_in_both_schemes(page) == [], words
        page.keyboard.press("Escape")
        page.keyboard.press("+")
        for words in ("", "Tea with ana yesterday in Porto, well", "called eva", "ben birthday 3 May"):
            line(page).fill(words)
            page.wait_for_timeout(300)
            assert violations_in_both_schemes(page) == [], words


def test_nothing_is_wider_than_a_small_phone(web: Web, people: dict[str, Person]) -> None:
    page = web.open("/people", web.context(viewport={"width": 320, "height": 640}, has_touch=True))
    web.synced(page)
    wide = """(dialog) => [...dialog.querySelectorAll("*")].filter((each) =>
      each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).overflowX === "auto").length"""
    page.keyboard.press("Control+k")
    field(page).fill("jane")
    expect(options(page).first).to_contain_text("Jane")
    assert page.get_by_role("dialog").evaluate(wide) == 0
    page.keyboard.press("Escape")
    page.keyboard.press("+")
    line(page).fill("Tea with jane and ben yesterday in Porto, something long happened there")
    expect(page.get_by_text("This will be written")).to_be_visible()
    assert page.get_by_role("dialog").evaluate(wide) == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
