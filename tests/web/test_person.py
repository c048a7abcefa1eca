"""The page of a person: reaching and logging in a tap or a key, one form for everything and each section by itself, the
people around, and new people."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from people.models import ImportantDate, Interaction, Person
from relationships.models import Relationship
from tests.builders import make_person
from tests.client import Client
from tests.pictures import picture
from tests.web.conftest import Web
from tests.web.test_accessibility import violations

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

NUMBER = "+44 20 7946 0000"


@pytest.fixture
def ada(alice: User, elsewhere: Client) -> Person:
    ada = make_person(alice, name="Ada", surname="Lovelace")
    body = {
        "phoneNumbers": [{"type": "mobile", "number": NUMBER}],
        "emails": [{"type": "home", "email": "ada@example.org"}],
        "notes": "No nuts, at all\nAsk about the engine",
        "importantDates": [{"type": "BIRTHDAY", "date": "1815-12-10", "reminderEnabled": True}],
    }
    elsewhere.ok("PUT", f"/api/people/{ada.pk}", body)
    return ada


def test_who_is_around_stands_beside_on_a_wide_screen(web: Web, alice: User, elsewhere: Client, ada: Person) -> None:
    """The third pane, from 100rem on."""
    ben = make_person(alice, name="Ben", surname="Byron")
    types = elsewhere.ok("GET", "/api/relationship-types")["relationshipTypes"]
    kind = next(each["id"] for each in types if each["label"] == "Sibling")
    pair = {"personId": str(ben.pk), "relatedPersonId": str(ada.pk), "relationshipTypeId": kind}
    elsewhere.ok("POST", "/api/relationships", pair)
    for person in (ada, ben):
        elsewhere.ok("PUT", f"/api/people/{person.pk}", {"addresses": [{"type": "home", "locality": "London"}]})
    page = web.open(f"/people/{ada.pk}", web.context(viewport={"width": 1680, "height": 900}))
    expect(page.get_by_role("region", name="Before you talk")).to_contain_text("No nuts, at all")
    expect(page.get_by_role("region", name="Also in London").get_by_role("link")).to_contain_text("Sibling")
    assert violations(page) == []
    page.get_by_role("region", name="Around Ada", exact=True).get_by_role("link", name="Ben").click()
    expect(page.get_by_role("heading", name="Ben Byron", level=1)).to_be_visible()
    expect(page.get_by_role("region", name="Around Ben", exact=True)).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 900})
    expect(page.get_by_role("complementary")).to_have_count(0)


def press(page: Page, *keys: str) -> int:
    """Press these keys; returns how many that were."""
    for key in keys:
        page.keyboard.press(key)
    return len(keys)


def test_call_is_logged_by_one_tap_and_taken_back(web: Web, ada: Person) -> None:
    page = web.open(f"/people/{ada.pk}")
    page.get_by_role("group", name="Log now").get_by_role("button", name="Called").click()
    together = page.get_by_role("region", name="Together")
    expect(together.get_by_role("listitem").filter(has_text="Call")).to_contain_text("today")
    web.eventually(page, Interaction.unscoped.filter(kind="CALL", deleted_at=None).exists)
    page.get_by_role("button", name="Undo").click()
    web.eventually(page, lambda: not Interaction.unscoped.filter(deleted_at=None).exists())


def test_call_is_logged_by_two_keys_and_a_line_with_its_words(web: Web, ada: Person) -> None:
    page = web.open(f"/people/{ada.pk}")
    web.synced(page)
    assert press(page, "l", "Enter") == 2
    web.eventually(page, Interaction.unscoped.filter(kind="CALL", title=None).exists)
    press(page, "l", "ArrowRight")
    expect(page.get_by_text("Enter logs: Wrote")).to_be_visible()
    page.keyboard.type("About the engine")
    press(page, "Enter")
    expect(page.get_by_role("region", name="Together")).to_contain_text("About the engine")
    web.eventually(page, Interaction.unscoped.filter(kind="MESSAGE", title="About the engine").exists)
    expect(page.get_by_label("What happened with Ada?")).to_have_value("")


def test_line_that_was_not_logged_is_kept(web: Web, ada: Person) -> None:
    page = web.open(f"/people/{ada.pk}")
    page.get_by_label("What happened with Ada?").fill("half typed")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Dates").click()
    expect(page.get_by_role("heading", name="Dates", level=1)).to_be_visible()
    page.go_back()
    expect(page.get_by_label("What happened with Ada?")).to_have_value("half typed")


def test_number_is_changed_by_keys_alone(web: Web, ada: Person) -> None:
    page = web.open(f"/people/{ada.pk}")
    expect(page.get_by_role("heading", name="Ada Lovelace")).to_be_visible()
    keys = press(page, "e", "r")
    number = page.get_by_label("Number")
    expect(number).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type("+44 1")
    assert keys + press(page, "Control+Enter") == 3
    reach = page.get_by_role("region", name="Reach")
    expect(reach.get_by_role("link", name="Call Ada Lovelace: +44 1")).to_be_visible()
    web.eventually(page, lambda: Person.unscoped.get(pk=ada.pk).phone_numbers[0]["number"] == "+44 1")


def test_one_form_has_everything(web: Web, ada: Person, elsewhere: Client) -> None:
    group = elsewhere.ok("POST", "/api/groups", {"name": "Engines"}, status=201)["group"]["id"]
    page = web.open(f"/people/{ada.pk}")
    web.synced(page)
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_label("Given name", exact=True).fill("Augusta")
    page.get_by_label("Surname as spoken").fill("Lavleis")
    page.get_by_label("Year, if known").fill("")
    page.get_by_label("Day").fill("32")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("There is no such day.")).to_be_visible()
    page.get_by_label("Day").fill("11")
    page.get_by_label("Number").fill("+44 2")
    page.get_by_label("Engines").check()
    page.get_by_label("What Ada Lovelace is to you").select_option(label="Friend")
    page.get_by_label("Organization").fill("Analytical Engines")
    page.get_by_role("textbox", name="Notes").fill("Likes machines")
    page.get_by_label("Remind me").select_option(label="Every month")
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_in_viewport()
    expect(page.get_by_role("button", name="Cancel")).to_be_in_viewport()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", name="Augusta Lovelace", level=1)).to_be_visible()
    web.eventually(page, Person.unscoped.filter(name="Augusta", contact_reminder_enabled=True).exists)
    web.eventually(page, ImportantDate.unscoped.filter(date="1604-12-11", year_unknown=True).exists)
    found = elsewhere.ok("GET", f"/api/people/{ada.pk}")["person"]
    assert (found["phoneticSurname"], found["notes"]) == ("Lavleis", "Likes machines")
    assert (found["organization"], found["groupIds"]) == ("Analytical Engines", [group])
    assert found["relationshipToUser"]["label"] == "Friend"
    assert [entry["number"] for entry in found["phoneNumbers"]] == ["+44 2"]


def test_form_says_what_is_wrong_and_escape_leaves_it_with_undo(web: Web, ada: Person) -> None:
    page = web.open(f"/people/{ada.pk}")
    web.synced(page)
    press(page, "e", "r")
    page.get_by_role("textbox", name="E-mail").fill("ada@engines")
    press(page, "Control+Enter")
    expect(page.get_by_text("Something is missing after the @.")).to_be_visible()
    expect(page.get_by_role("textbox", name="E-mail")).to_be_focused()
    press(page, "Escape")
    expect(page.get_by_role("textbox", name="E-mail")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("textbox", name="E-mail")).to_have_value("ada@engines")
    page.reload()
    expect(page.get_by_role("textbox", name="E-mail")).to_have_value("ada@engines")


def test_message_is_asked_for_once_and_remembered_here(web: Web, ada: Person) -> None:
    context = web.context()
    context.route("https://wa.me/**", lambda route: route.fulfill(body="", content_type="text/html"))
    page = web.open(f"/people/{ada.pk}", context)
    reach = page.get_by_role("navigation", name="Reach Ada Lovelace")
    reach.get_by_role("button", name="Message").click()
    with context.expect_page() as opened:
        page.get_by_role("menuitem", name="WhatsApp").click()
    assert opened.value.url == "https://wa.me/442079460000"
    opened.value.close()
    page.reload()
    expect(reach.get_by_role("link", name="Message")).to_have_attribute("href", "https://wa.me/442079460000")
    page.get_by_role("button", name="More about Ada Lovelace").click()
    page.get_by_role("menuitem", name="Ask again how to write a message").click()
    page.reload()
    expect(reach.get_by_role("button", name="Message")).to_be_visible()


def test_call_is_offered_to_be_logged_when_the_user_is_back(web: Web, ada: Person) -> None:
    page = web.open(f"/people/{ada.pk}")
    call = page.get_by_role("navigation", name="Reach Ada Lovelace").get_by_role("link", name="Call")
    expect(call).to_have_attribute("href", "tel:+442079460000")
    call.evaluate("(link) => { link.addEventListener('click', (event) => event.preventDefault()); }")
    press(page, "c")
    page.evaluate("dispatchEvent(new Event('blur')); dispatchEvent(new Event('focus'));")
    expect(page.get_by_text("Log the call with Ada Lovelace?")).to_be_visible()
    page.get_by_role("button", name="Log it").click()
    web.eventually(page, Interaction.unscoped.filter(kind="CALL").exists)


def test_what_is_missing_opens_its_form(web: Web, alice: User) -> None:
    ben = make_person(alice, name="Ben")
    page = web.open(f"/people/{ben.pk}")
    for region in ("Reach", "Dates", "Notes", "About"):
        expect(page.get_by_role("region", name=region, exact=True)).to_have_count(0)
    page.get_by_role("button", name="Call : add a number").click()
    expect(page.get_by_label("Number")).to_be_focused()
    page.keyboard.type("+44 3")
    press(page, "Control+Enter")
    expect(page.get_by_role("region", name="Reach").get_by_role("link", name="Call Ben: +44 3")).to_be_visible()


def test_several_numbers_are_a_menu_with_the_usual_one_first(web: Web, ada: Person, elsewhere: Client) -> None:
    numbers = [{"type": "mobile", "number": NUMBER}, {"type": "work", "number": "+44 5 5555"}]
    elsewhere.ok("PUT", f"/api/people/{ada.pk}", {"phoneNumbers": numbers})
    page = web.open(f"/people/{ada.pk}")
    call = page.get_by_role("navigation", name="Reach Ada Lovelace").get_by_role("button", name="Call")
    call.click()
    expect(page.get_by_role("menuitem")).to_have_text([f"{NUMBER} · Mobile", "+44 5 5555 · Work"])
    page.get_by_role("menuitem", name="+44 5 5555").click()
    call.click()
    expect(page.get_by_role("menuitem")).to_have_text(["+44 5 5555 · Work", f"{NUMBER} · Mobile"])


def test_bell_switches_the_reminder_with_undo(web: Web, ada: Person) -> None:
    page = web.open(f"/people/{ada.pk}")
    bell = page.get_by_role("switch", name="Reminder of: Birthday of Ada Lovelace")
    expect(bell).to_be_checked()
    bell.click()
    expect(bell).not_to_be_checked()
    web.eventually(page, ImportantDate.unscoped.filter(reminder_enabled=False).exists)
    page.get_by_role("button", name="Undo").click()
    expect(bell).to_be_checked()


def test_picture_is_a_button_and_its_removal_is_undone(web: Web, ada: Person, tmp_path: Path) -> None:
    (tmp_path / "ada.png").write_bytes(picture("PNG", (80, 40)))
    page = web.open(f"/people/{ada.pk}")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add a photo of Ada Lovelace").click()
    chooser.value.set_files(tmp_path / "ada.png")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    web.eventually(page, lambda: bool(Person.unscoped.get(pk=ada.pk).photo))
    page.get_by_role("button", name="Change the photo of Ada Lovelace").click()
    page.get_by_role("menuitem", name="Remove the photo").click()
    expect(page.get_by_role("button", name="Add a photo of Ada Lovelace")).to_be_visible()
    page.get_by_role("button", name="Undo").last.click()
    expect(page.get_by_role("button", name="Change the photo of Ada Lovelace")).to_be_visible()


def test_picture_in_the_form_is_saved_with_it_and_not_before(web: Web, ada: Person, tmp_path: Path) -> None:
    (tmp_path / "ada.png").write_bytes(picture("PNG", (80, 40)))
    page = web.open(f"/people/{ada.pk}")
    web.synced(page)
    for button in ("Cancel", "Save"):
        press(page, "e", "e")
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Add a photo", exact=True).click()
        chooser.value.set_files(tmp_path / "ada.png")
        expect(page.get_by_role("dialog").get_by_role("button", name="Save")).to_be_visible()
        press(page, "Escape")  # is the dialog's, which stays, and does not leave the form around it
        page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        chooser.value.set_files(tmp_path / "ada.png")
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        expect(page.get_by_role("button", name="Change the photo", exact=True)).to_be_visible()
        assert not Person.unscoped.get(pk=ada.pk).photo
        page.get_by_role("button", name=button, exact=True).click()
        expect(page.get_by_role("region", name="Together")).to_be_visible()
        if button == "Cancel":
            expect(page.get_by_role("button", name="Add a photo of Ada Lovelace")).to_be_visible()
    web.eventually(page, lambda: bool(Person.unscoped.get(pk=ada.pk).photo))


def test_nobody_is_made_before_the_relationship_is_saved(web: Web, ada: Person) -> None:
    page = web.open(f"/people/{ada.pk}")
    web.synced(page)
    for button in ("Cancel", "Save"):
        press(page, "e", "p")
        page.get_by_role("combobox", name="With whom").fill("Zzyzx Orphan")
        press(page, "Enter")
        expect(page.get_by_role("dialog").get_by_text("Zzyzx Orphan", exact=True)).to_be_visible()
        page.get_by_role("dialog").get_by_role("button", name=button, exact=True).click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        if button == "Cancel":
            page.wait_for_timeout(300)
            web.synced(page)
            assert Person.unscoped.count() == 1
    expect(page.get_by_role("region", name="People around Ada")).to_contain_text("Zzyzx Orphan")
    web.eventually(page, lambda: Person.unscoped.filter(name="Zzyzx", surname="Orphan").count() == 1)
    web.eventually(page, lambda: Relationship.unscoped.count() == 2)


def test_picker_takes_the_suggestion_and_new_people_stand_apart(web: Web, alice: User, ada: Person) -> None:
    make_person(alice, name="Greta")
    page = web.open(f"/people/{ada.pk}")
    web.synced(page)
    press(page, "e", "p")
    picker = page.get_by_role("combobox", name="With whom")
    picker.fill("gret")
    options = page.get_by_role("listbox", name="With whom").get_by_role("option")
    expect(options).to_have_text(["GGreta", "New person: gret"])
    picker.dispatch_event("keydown", {"key": "Enter", "isComposing": True})  # takes over what an input method offers
    expect(options).to_have_text(["GGreta", "New person: gret"])
    press(page, "ArrowDown", "Enter")
    expect(page.get_by_label("Greta is")).to_be_visible()
    picker.fill("gret")
    expect(options).to_have_text(["New person: gret"])


def test_relationship_has_a_time_and_is_changed(web: Web, alice: User, ada: Person, elsewhere: Client) -> None:
    ben = make_person(alice, name="Ben")
    types = {each["name"]: each["id"] for each in elsewhere.ok("GET", "/api/relationship-types")["relationshipTypes"]}
    row = {"personId": str(ada.pk), "relatedPersonId": str(ben.pk), "relationshipTypeId": types["PARENT"]}
    elsewhere.ok("POST", "/api/relationships", {**row, "since": "1836"})
    page = web.open(f"/people/{ada.pk}")
    around = page.get_by_role("region", name="People around Ada")
    expect(around.get_by_role("link", name="Child Ben since 1836")).to_be_visible()
    around.get_by_role("button", name="Child: Ben").click()
    page.get_by_role("menuitem", name="Edit").click()
    expect(page.get_by_label("Ben is")).to_have_value(types["CHILD"])
    page.get_by_label("Ben is").select_option(label="Friend")
    page.get_by_label("Until").fill("1851-11-27")
    page.get_by_label("Since").fill("sometime")
    expect(page.get_by_role("dialog").get_by_role("button", name="Save")).to_be_disabled()
    page.get_by_label("Since").fill("1836-05")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(around.get_by_role("link", name="Friend Ben")).to_contain_text("from May 1836 until 27 November 1851")
    web.eventually(page, lambda: Relationship.unscoped.filter(until="1851-11-27").count() == 2)


def test_neighbours_in_the_list_are_a_key_away(web: Web, alice: User, ada: Person) -> None:
    make_person(alice, name="Ben")
    page = web.open(f"/people/{ada.pk}")
    web.synced(page)
    press(page, "]")
    expect(page.get_by_role("heading", name="Ben", level=1)).to_be_visible()
    press(page, "[")
    expect(page.get_by_role("heading", name="Ada Lovelace", level=1)).to_be_visible()


def test_names_in_arabic_stand_at_their_side(web: Web, alice: User, elsewhere: Client) -> None:
    person = make_person(alice, name="محمد")
    elsewhere.ok("PUT", f"/api/people/{person.pk}", {"organization": "مخبز الأحمد", "gender": "ذكر"})
    page = web.open(f"/people/{person.pk}")
    value = page.get_by_role("region", name="About").locator("dd").first
    side = "(cell) => { const range = document.createRange(); range.selectNodeContents(cell);"
    gap = "return cell.getBoundingClientRect().right - range.getBoundingClientRect().right; }"
    assert value.evaluate(side + gap) < 2


@pytest.mark.parametrize("width", [700, 1100, 1600], ids=["portrait", "landscape", "A3"])
def test_person_is_printed_over_the_whole_paper(web: Web, ada: Person, width: int) -> None:
    page = web.open(f"/people/{ada.pk}", web.context(viewport={"width": width, "height": 900}, color_scheme="dark"))
    web.synced(page)
    page.emulate_media(media="print")
    card = page.get_by_role("region", name="Notes").locator(".card")
    expect(card).to_have_css("background-color", "rgb(255, 255, 255)")
    for hidden in (page.locator(".app-nav"), page.get_by_role("button", name="Edit", exact=True)):
        expect(hidden).to_be_hidden()
    box = page.get_by_role("region", name="Notes").bounding_box()
    assert box is not None
    assert box["width"] > width * 0.8
    expect(page.get_by_text("Add", exact=True)).to_be_hidden()


def test_person_is_added_with_all_that_is_known(web: Web, alice: User, elsewhere: Client, tmp_path: Path) -> None:
    (tmp_path / "ada.png").write_bytes(picture("PNG", (80, 40)))
    ben = make_person(alice, name="Ben")
    elsewhere.ok("POST", "/api/groups", {"name": "Engines"}, status=201)
    types = elsewhere.ok("GET", "/api/relationship-types")["relationshipTypes"]
    for each in types:  # so that the feed has them, which the account of a fixture may not
        elsewhere.ok("PUT", f"/api/relationship-types/{each['id']}", {"label": each["label"], "color": "#112233"})
    page = web.open("/people")
    expect(page.get_by_role("row").filter(has_text="Ben")).to_be_visible()
    web.synced(page)
    page.goto(f"{web.base}/app/people/new")
    page.get_by_label("Given name").fill("Ada")
    page.get_by_label("Phone number").fill(NUMBER)
    page.get_by_label("E-mail").fill("ada@example.org")
    more = page.get_by_role("group", name="More")
    for chip in ("Birthday", "Address", "Groups", "Relationship to you", "Sister, partner … of somebody"):
        more.get_by_role("button", name=chip).click()
    page.get_by_label("Day").fill("29")
    page.get_by_label("Month").select_option(label="February")
    page.get_by_label("Town").fill("London")
    page.get_by_label("Engines").check()
    page.get_by_label("What Ada is to you").select_option(label="Friend")
    page.get_by_role("combobox", name="Of whom").fill("ben")
    press(page, "Enter")
    page.get_by_label("Ada is", exact=True).select_option(label="Sibling")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add a photo").click()
    chooser.value.set_files(tmp_path / "ada.png")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Change the photo", exact=True)).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", name="Ada", level=1)).to_be_visible()
    web.eventually(page, lambda: Relationship.unscoped.filter(person__name="Ada", related_person=ben).exists())
    web.eventually(page, lambda: bool(Person.unscoped.get(name="Ada").photo))
    found = Person.unscoped.get(name="Ada")
    assert found.addresses[0]["locality"] == "London"
    person = elsewhere.ok("GET", f"/api/people/{found.pk}")["person"]
    assert [group["name"] for group in person["groups"]] == ["Engines"]
    assert ImportantDate.unscoped.get().year_unknown is True
    assert str(ImportantDate.unscoped.get().date) == "1604-02-29"


def test_people_are_added_one_after_another_and_who_is_there_is_said(web: Web, ada: Person) -> None:
    page = web.open("/people/new")
    web.synced(page)
    page.get_by_label("Given name").fill("Ada")
    page.get_by_label("Surname").fill("Lovelac")
    said: Any = page.get_by_role("status").filter(has_text="Ada Lovelace is here already.")
    expect(said.get_by_role("link", name="Open")).to_have_attribute("href", f"/app/people/{ada.pk}")
    page.get_by_label("Given name").fill("Ben")
    page.get_by_label("Surname").fill("")
    expect(said).to_have_count(0)
    page.get_by_label("Phone number").fill(NUMBER)
    expect(said).to_be_visible()
    page.get_by_label("Phone number").fill("")
    page.get_by_role("button", name="Save and add another").click()
    expect(page.get_by_label("Given name")).to_have_value("")
    expect(page.get_by_label("Given name")).to_be_focused()
    page.keyboard.type("Cid")
    press(page, "Control+Enter")
    expect(page.get_by_role("heading", name="Cid", level=1)).to_be_visible()
    web.eventually(page, lambda: Person.unscoped.filter(name__in=["Ben", "Cid"]).count() == 2)
