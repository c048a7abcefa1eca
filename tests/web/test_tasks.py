"""The fifteen commonest tasks of the design: as many taps on a phone, and keys on a desk, as its table says.

Each begins on Today, if nothing else is said. Letters that are typed do not count.
"""

import datetime as dt
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, Page, expect

from accounts.models import User
from people.models import Group, ImportantDate, Interaction, Person
from relationships.models import Relationship
from tests.builders import make_person
from tests.client import Client
from tests.web.conftest import Web
from tests.web.test_imports import CARDS, DROP, file
from tests.web.test_today import NO_HANDLER, add_birthday, settle, today

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

PHONE: Any = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1"
DESK: Any = {"viewport": {"width": 1280, "height": 900}}
# What a link would open beside the browser is the title of the page.
KEEP_CALLS = """addEventListener("click", (event) => {
  const url = event.target.closest?.("a")?.href ?? "";
  if (/^(tel|sms|mailto):/.test(url)) { document.title = url; event.preventDefault(); }
})"""
NUMBER, NEW_NUMBER = "020 7946 0000", "020 7946 0009"
PEOPLE = ["Ana García", "Ben", "Cid", "Dan", "Eve"]


class Hand:
    """Taps and presses, and counts both."""

    def __init__(self, web: Web, page: Page, elsewhere: Client) -> None:
        self.web, self.page, self.elsewhere = web, page, elsewhere
        self.count = 0

    def tap(self, *targets: Locator) -> None:
        for target in targets:
            target.tap()
            self.count += 1

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.count += 1

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def bar(self, name: str) -> Locator:
        return self.page.get_by_role("navigation", name="Main").get_by_role("link", name=name)

    def line(self) -> Locator:
        return self.page.get_by_role("dialog").get_by_role("textbox")

    def eventually(self, is_true: Callable[[], bool]) -> None:
        self.web.eventually(self.page, is_true)

    def open_person(self, name: str) -> None:
        """Show somebody, which the table does not count."""
        self.page.keyboard.press("Control+k")
        self.page.keyboard.type(name)
        expect(self.page.locator("[role=option][aria-selected=true]")).to_contain_text(name)
        self.page.keyboard.press("Enter")
        expect(self.page.get_by_role("heading", name=name, level=1)).to_be_visible()


@pytest.fixture
def people(alice: User, elsewhere: Client) -> dict[str, Person]:
    """Jane, a favourite, lives in Porto and has her birthday today; Vera is there twice, Zed is in the trash."""
    settle(alice)
    elsewhere.ok("PUT", "/api/user/language", {"language": "en"})  # brings the types of relationship into the feed
    at: dict[str, Any] = {
        "id": str(uuid4()),
        "type": "home",
        "streetLine1": "Rua 1",
        "streetLine2": None,
        "locality": "Porto",
    }
    at |= {
        "region": None,
        "country": None,
        "postalCode": None,
        "geocodeStatus": "done",
        "latitude": 41.15,
        "longitude": -8.61,
    }
    people = {"Jane Roe": make_person(alice, name="Jane", surname="Roe", favourite=True, addresses=[at])}
    reach = {"phoneNumbers": [{"type": "mobile", "number": NUMBER}]}
    elsewhere.ok("PUT", f"/api/people/{people['Jane Roe'].pk}", reach)
    add_birthday(elsewhere, people["Jane Roe"], today())
    for name in PEOPLE:
        given, _, surname = name.partition(" ")
        people[name] = make_person(alice, name=given, surname=surname or None)
    for notes in ("Counts", "Writes"):
        twin = make_person(alice, name="Vera", surname="Wolf")
        elsewhere.ok("PUT", f"/api/people/{twin.pk}", {"emails": [{"email": "vera@example.org"}], "notes": notes})
    zed = make_person(alice, name="Zed")
    elsewhere.ok("DELETE", f"/api/people/{zed.pk}")
    elsewhere.ok("POST", "/api/groups", {"name": "Choir"}, status=201)
    elsewhere.ok("GET", "/api/people/duplicates")  # Today tells what the last search has found
    return people


def begin(hand: Hand, person: str | None = None) -> None:
    if hand.page.locator(".toast").count():  # it goes after eight seconds
        hand.page.goto("/app/")
        hand.page.evaluate(KEEP_CALLS)
    hand.bar("Today").click()
    expect(hand.page.get_by_role("region", name="Jane Roe turns")).to_be_visible()
    if person:
        hand.open_person(person)
    hand.count = 0


# What each task leaves behind.


def logged(kind: str, *names: str) -> bool:
    entries = Interaction.unscoped.filter(kind=kind, deleted_at=None)
    return any({row.person.name for row in each.participations.all()} == set(names) for each in entries)


def has_birthday(name: str, day: str) -> bool:
    return ImportantDate.unscoped.filter(person__name=name, deleted_at=None, date=dt.date.fromisoformat(day)).exists()


def number_of(name: str) -> str:
    numbers: list[Any] = Person.unscoped.get(name=name, deleted_at=None).phone_numbers
    return str(numbers[0]["number"]) if numbers else ""


def tied(*names: str) -> bool:
    siblings = Relationship.unscoped.filter(relationship_type__name="SIBLING")
    return set(siblings.values_list("person__name", flat=True)) == set(names)


def members() -> int:
    return Person.unscoped.filter(memberships__group=Group.unscoped.get()).count()


def here(name: str) -> int:
    return Person.unscoped.filter(name=name, deleted_at=None).count()


# On a phone, by taps.


def tap_1_call_a_favourite(hand: Hand) -> None:
    hand.tap(hand.bar("People"), hand.page.get_by_role("row").get_by_role("link", name="Call Jane Roe"))
    expect(hand.page).to_have_title("tel:02079460000")


def tap_2_find_a_number(hand: Hand) -> None:
    hand.tap(hand.page.get_by_role("main").get_by_role("button", name="Search or do"))
    hand.type("jane")
    expect(hand.page.get_by_role("option").first).to_contain_text(NUMBER)
    hand.page.keyboard.press("Escape")


def tap_3_congratulate(hand: Hand) -> None:
    hand.tap(hand.page.get_by_role("link", name="Write to Jane Roe: SMS"))
    expect(hand.page).to_have_title("sms:02079460000")


def tap_4_log_a_call(hand: Hand) -> None:
    hand.tap(hand.page.get_by_role("group", name="Log now").get_by_role("button", name="Called"))
    hand.eventually(lambda: logged("CALL", "Cid"))


def tap_5_log_a_meeting_with_two(hand: Hand) -> None:
    hand.tap(hand.button("Add"))
    hand.type("Tea with cid and dan in Porto")
    hand.tap(hand.button("Log it"))
    hand.eventually(lambda: logged("MEETING", "Cid", "Dan"))


def tap_6_add_a_person(hand: Hand) -> None:
    hand.tap(hand.button("Add"))
    hand.type("Zora Neale 0170 9998877 birthday 3 May 1990")
    hand.tap(hand.button("Save"))
    hand.eventually(lambda: has_birthday("Zora", "1990-05-03"))
    assert number_of("Zora") == "0170 9998877"


def tap_7_add_a_birthday(hand: Hand) -> None:
    hand.tap(hand.button("Add"))
    hand.type("ana birthday 3 May 1990")
    hand.tap(hand.button("Save"))
    hand.eventually(lambda: has_birthday("Ana", "1990-05-03"))


def tap_8_change_a_number(hand: Hand) -> None:
    hand.tap(hand.page.get_by_role("main").get_by_role("button", name="Search or do"))
    hand.type("jane")
    hand.tap(
        hand.page.get_by_role("option", name="Jane Roe").first,
        hand.button("Edit Reach of Jane Roe"),
        hand.page.get_by_label("Number"),
    )
    hand.page.keyboard.press("Control+a")
    hand.type(NEW_NUMBER)
    hand.tap(hand.button("Save"))
    hand.eventually(lambda: number_of("Jane") == NEW_NUMBER)


def tap_9_say_who_is_what_of_whom(hand: Hand) -> None:
    hand.tap(hand.button("Add"))
    hand.type("Ben is Ana's brother")
    hand.tap(hand.button("Save"))
    hand.eventually(lambda: tied("Ben", "Ana"))


def tap_10_put_five_into_a_group(hand: Hand) -> None:
    hand.tap(hand.bar("People"), hand.button("Select"))
    hand.tap(*(hand.page.get_by_role("row", name=name) for name in PEOPLE))
    hand.tap(hand.button("Add to a group"), hand.page.get_by_role("menuitem", name="Choir"))
    hand.eventually(lambda: members() == 5)


def tap_11_bring_people_from_a_file(hand: Hand) -> None:
    hand.tap(hand.bar("More"), hand.page.get_by_role("main").get_by_role("link", name="Import"))
    with hand.page.expect_file_chooser() as chooser:
        hand.tap(hand.page.get_by_text("Choose files"))
    chooser.value.set_files([file("phone.vcf", CARDS)])
    hand.tap(hand.button("Bring in 2 people"))
    hand.eventually(lambda: here("Charles") == 1)


def tap_12_connect_a_phone(hand: Hand) -> None:
    hand.tap(
        hand.bar("More"),
        hand.page.get_by_role("main").get_by_role("link", name="Settings"),
        hand.page.get_by_role("link", name="Phones and computers"),
        hand.button("Set up this phone"),
    )
    expect(hand.page.get_by_role("link", name="Configuration profile")).to_be_visible()


def tap_13_join_two(hand: Hand) -> None:
    hand.tap(hand.page.get_by_role("link", name="1 person may be here twice"), hand.button("Join them"))
    hand.eventually(lambda: here("Vera") == 1)


def tap_14_who_lives_in_porto(hand: Hand) -> None:
    hand.tap(
        hand.bar("More"),
        hand.page.get_by_role("main").get_by_role("link", name="Map"),
        hand.page.locator(".bleed-picture").get_by_role("button", name="Jane Roe"),
    )
    expect(hand.page.locator(".bleed-peek")).to_contain_text("Porto")
    expect(hand.page.get_by_role("region", name="Chosen").get_by_role("link", name="Jane Roe")).to_be_attached()


def tap_15_bring_back_who_was_deleted(hand: Hand) -> None:
    hand.tap(
        hand.bar("More"), hand.page.get_by_role("main").get_by_role("link", name="Trash"), hand.button("Restore: Zed")
    )
    hand.eventually(lambda: here("Zed") == 1)


# On a desk, by keys alone.


def key_1_call_a_favourite(hand: Hand) -> None:
    hand.press("Control+k")
    hand.type("jane")
    expect(hand.page.locator("[role=option][aria-selected=true]")).to_contain_text("Jane Roe")
    hand.press("Tab", "Enter")
    expect(hand.page).to_have_title("tel:02079460000")


def key_2_find_a_number(hand: Hand) -> None:
    hand.press("Control+k")
    hand.type("jane")
    expect(hand.page.get_by_role("option").first).to_contain_text(NUMBER)
    hand.page.keyboard.press("Escape")


def key_3_congratulate(hand: Hand) -> None:
    hand.press("w")
    expect(hand.page).to_have_title("sms:02079460000")


def key_4_log_a_call(hand: Hand) -> None:
    hand.press("l", "Enter")
    hand.eventually(lambda: logged("CALL", "Cid"))


def key_5_log_a_meeting_with_two(hand: Hand) -> None:
    hand.press("+")
    hand.type("Tea with cid and dan in Porto, they moved")
    hand.press("Enter")
    hand.eventually(lambda: logged("MEETING", "Cid", "Dan"))
    entry = Interaction.unscoped.get(kind="MEETING")
    assert (entry.title, entry.notes) == ("Tea in Porto", "they moved")


def key_6_add_a_person(hand: Hand) -> None:
    hand.press("n")
    hand.type("Zora Neale 0170 9998877 birthday 3 May 1990")
    hand.press("Enter")
    hand.eventually(lambda: has_birthday("Zora", "1990-05-03"))


def key_7_add_a_birthday(hand: Hand) -> None:
    hand.press("+")
    hand.type("ana birthday 3 May 1990")
    hand.press("Enter")
    hand.eventually(lambda: has_birthday("Ana", "1990-05-03"))


def key_8_change_a_number(hand: Hand) -> None:
    hand.press("Control+k")
    hand.type("jane")
    expect(hand.page.locator("[role=option][aria-selected=true]")).to_contain_text("Jane Roe")
    hand.press("Enter")
    expect(hand.page.get_by_role("heading", name="Jane Roe", level=1)).to_be_visible()
    hand.press("e", "r")
    expect(hand.page.get_by_label("Number")).to_be_focused()
    hand.page.keyboard.press("Control+a")
    hand.type(NEW_NUMBER)
    hand.press("Control+Enter")
    hand.eventually(lambda: number_of("Jane") == NEW_NUMBER)


def key_9_say_who_is_what_of_whom(hand: Hand) -> None:
    hand.press("+")
    hand.type("Ben is Ana's brother")
    expect(hand.page.get_by_text("Ben is Sibling of Ana García.")).to_be_visible()
    hand.press("Enter")
    hand.eventually(lambda: tied("Ben", "Ana"))


def key_10_put_five_into_a_group(hand: Hand) -> None:
    """On the list of people."""
    hand.bar("People").click()
    expect(hand.page.get_by_role("row", name="Ana García")).to_be_visible()
    hand.press("j", *["Shift+ArrowDown"] * 4, "t")
    expect(hand.page.get_by_role("menuitem", name="Choir")).to_be_focused()
    hand.type("cho")
    hand.press("Enter")
    hand.eventually(lambda: members() == 5)


def key_11_bring_people_from_a_file(hand: Hand) -> None:
    hand.page.evaluate(DROP, ["phone.vcf", CARDS])
    hand.count += 1
    expect(hand.button("Bring in 2 people")).to_be_focused()
    hand.press("Enter")
    hand.eventually(lambda: here("Charles") == 1)


def key_12_connect_a_phone(hand: Hand) -> None:
    """What follows the two keys is read by the camera of the phone."""
    hand.press("g", "s")
    expect(hand.page.get_by_role("img", name="QR code that opens this page")).to_be_visible()


def key_13_join_two(hand: Hand) -> None:
    hand.page.get_by_role("link", name="1 person may be here twice").focus()
    hand.press("Enter")
    expect(hand.button("Join them")).to_be_enabled()
    hand.press("Enter")
    hand.eventually(lambda: here("Vera") == 1)


def key_14_who_lives_in_porto(hand: Hand) -> None:
    hand.press("g", "m")
    expect(hand.page.get_by_label("Town or person")).to_be_visible()
    hand.press("/")
    hand.type("porto")
    towns = hand.page.get_by_role("grid", name="People by town")
    expect(towns.get_by_role("row").filter(has_text="Porto")).to_contain_text("Jane Roe")


def key_15_bring_back_who_was_deleted(hand: Hand) -> None:
    hand.press("Control+k")
    hand.type("trash")
    expect(hand.page.locator("[role=option][aria-selected=true]")).to_contain_text("Trash")
    hand.press("Enter")
    expect(hand.button("Restore: Zed")).to_be_focused()
    hand.press("Enter")
    hand.eventually(lambda: here("Zed") == 1)


ON_SCREEN = 4  # the task with the person who is shown
TAPS: list[tuple[Callable[[Hand], None], int]] = [
    (tap_1_call_a_favourite, 2),
    (tap_2_find_a_number, 1),
    (tap_3_congratulate, 1),
    (tap_4_log_a_call, 1),
    (tap_5_log_a_meeting_with_two, 2),
    (tap_6_add_a_person, 2),
    (tap_7_add_a_birthday, 2),
    (tap_8_change_a_number, 5),
    (tap_9_say_who_is_what_of_whom, 2),
    (tap_10_put_five_into_a_group, 9),
    (tap_11_bring_people_from_a_file, 4),
    (tap_12_connect_a_phone, 4),
    (tap_15_bring_back_who_was_deleted, 3),  # before one of the two goes into the trash
    (tap_13_join_two, 2),
    (tap_14_who_lives_in_porto, 3),
]
KEYS: list[tuple[Callable[[Hand], None], int]] = [
    (key_1_call_a_favourite, 3),
    (key_2_find_a_number, 1),
    (key_3_congratulate, 1),
    (key_4_log_a_call, 2),
    (key_5_log_a_meeting_with_two, 2),
    (key_6_add_a_person, 2),
    (key_7_add_a_birthday, 2),
    (key_8_change_a_number, 5),
    (key_9_say_who_is_what_of_whom, 2),
    (key_10_put_five_into_a_group, 7),
    (key_11_bring_people_from_a_file, 2),
    (key_12_connect_a_phone, 2),
    (key_15_bring_back_who_was_deleted, 3),
    (key_13_join_two, 2),
    (key_14_who_lives_in_porto, 3),
]


def counts(web: Web, page: Page, elsewhere: Client, tasks: list[tuple[Callable[[Hand], None], int]]) -> None:
    hand = Hand(web, page, elsewhere)
    web.synced(page)
    page.evaluate(KEEP_CALLS)
    counted = {}
    for number, (task, _) in enumerate(tasks, 1):
        begin(hand, "Cid" if number == ON_SCREEN else None)
        task(hand)
        counted[task.__name__] = hand.count
    assert counted == {task.__name__: most for task, most in tasks}


def test_taps_of_the_fifteen_commonest_tasks(web: Web, people: dict[str, Person], elsewhere: Client) -> None:
    web.chromium.complaints.expected.append(NO_HANDLER)
    counts(web, web.open("/", web.context(**PHONE, user_agent=IPHONE)), elsewhere, TAPS)


def test_keys_of_the_fifteen_commonest_tasks(web: Web, people: dict[str, Person], elsewhere: Client) -> None:
    web.chromium.complaints.expected.append(NO_HANDLER)
    counts(web, web.open("/", web.context(**DESK)), elsewhere, KEYS)
