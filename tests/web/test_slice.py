"""The first way through the client: an account, people, a person's page, offline, conflicts."""

import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pyotp
import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import Route, expect

from accounts.models import User
from people.models import ImportantDate, Interaction, Person
from relationships.models import Relationship
from tests.accounts.conftest import provider
from tests.builders import make_person
from tests.client import Client, client_of
from tests.oidc_provider import Provider, approve_sign_in
from tests.pictures import picture
from tests.web.conftest import PASSWORD, Web

__all__ = ["provider"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


def test_account_is_made_and_the_first_person_added(web: Web) -> None:
    page = web.open("/register", web.visitor())
    web.chromium.complaints.expected.append("status of 401")
    page.get_by_label("Your name").fill("Grace")
    page.get_by_label("E-mail").fill("grace@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create an account").click()
    expect(page.get_by_role("heading", name="Welcome, Grace")).to_be_visible()
    page.get_by_role("link", name="With a form").click()
    page.get_by_label("Given name").fill("Ada")
    page.get_by_label("Surname").fill("Lovelace")
    page.get_by_role("button", name="Birthday").click()
    page.get_by_label("Day").fill("10")
    page.get_by_label("Month").select_option(label="December")
    page.get_by_label("Year").fill("1815")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", name="Ada Lovelace")).to_be_focused()
    web.eventually(page, ImportantDate.unscoped.exists)
    assert Person.unscoped.get().surname == "Lovelace"


def test_wrong_password_is_said_and_the_right_one_leads_back(web: Web) -> None:
    web.chromium.complaints.expected.append("status of 401")
    page = web.open("/people", web.visitor())
    page.get_by_label("E-mail").fill("alice@example.org")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{web.base}/app/people")


def test_sign_in_through_a_provider_leads_back_to_the_page_that_was_wanted(
    web: Web, provider: Provider, alice: User
) -> None:
    web.chromium.complaints.expected.append("status of 401")
    provider.claims.update(email="alice@example.org", email_verified=True)
    make_person(alice, name="Ada")
    context = web.visitor()
    context.route("**/api/auth/oidc/start*", lambda route: approve(route, provider, web.base))
    page = web.open("/people?q=ada", context)
    page.get_by_role("link", name="Sign in with").click()
    expect(page).to_have_url(f"{web.base}/app/people?q=ada")
    expect(page.get_by_role("row")).to_have_count(1)


def test_sign_in_that_the_provider_refuses_leads_back_and_says_why(web: Web, provider: Provider, alice: User) -> None:
    web.chromium.complaints.expected.append("status of 401")
    context = web.visitor()
    context.route("**/api/auth/oidc/start*", lambda route: deny(route, web.base))
    page = web.open("/people?q=ada", context)
    page.get_by_role("link", name="Sign in with").click()
    expect(page.get_by_role("alert")).to_have_text("The sign-in provider did not confirm who you are.")
    page.get_by_label("E-mail").fill("alice@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{web.base}/app/people?q=ada")
    # The session expires, and the user is refused again in the dialog over their copy.
    web.synced(page)
    Session.objects.update(expire_date=timezone.now())
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.get_by_role("dialog").get_by_role("link", name="Sign in with").click()
    expect(page.get_by_role("alert")).to_contain_text("did not confirm")


def deny(route: Route, base: str) -> None:
    """Send the browser on to where the provider sends it back to if the user refuses there."""
    started = route.fetch(max_redirects=0)
    state = dict(parse_qsl(urlsplit(started.headers["location"]).query))["state"]
    back = f"{base}/api/auth/oidc/callback?error=access_denied&state={state}"
    route.fulfill(status=302, headers={"Location": back, "Set-Cookie": started.headers["set-cookie"]})


def approve(route: Route, provider: Provider, base: str) -> None:
    """Send the browser on to where the provider would send it back to."""
    started = route.fetch(max_redirects=0)
    back = base + approve_sign_in(provider, started.headers["location"])
    route.fulfill(status=302, headers={"Location": back, "Set-Cookie": started.headers["set-cookie"]})


def test_people_are_found_while_typing(web: Web, alice: User) -> None:
    for name in ("Ada", "Ben", "Zoë"):
        make_person(alice, name=name)
    page = web.open("/people")
    rows = page.get_by_role("row")
    expect(rows).to_have_count(3)
    page.get_by_role("searchbox", name="Search people").click()
    page.keyboard.type("zoe")
    expect(rows).to_have_count(1)
    expect(page).to_have_url(re.compile("q=zoe"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Zoë")).to_be_visible()
    page.go_back()
    expect(rows).to_have_count(1)


def test_section_is_edited_and_read(web: Web, alice: User) -> None:
    ada = make_person(alice, name="Ada")
    page = web.open(f"/people/{ada.pk}")
    page.get_by_role("button", name="Phone, e-mail, address").click()
    page.get_by_label("Number").fill("+44 20 1234")
    page.get_by_role("textbox", name="E-mail").fill("ada@example.org")
    page.get_by_role("button", name="Save").click()
    call = page.get_by_role("region", name="Reach").get_by_role("link", name="Call Ada: +44 20 1234")
    expect(call).to_have_attribute("href", "tel:+44201234")
    web.eventually(page, lambda: bool(Person.unscoped.get(pk=ada.pk).emails))
    ada.refresh_from_db()
    assert [entry["number"] for entry in ada.phone_numbers] == ["+44 20 1234"]
    assert [entry["email"] for entry in ada.emails] == ["ada@example.org"]


def test_draft_survives_a_reload_and_an_edit_elsewhere(web: Web, alice: User, elsewhere: Client) -> None:
    ada = make_person(alice, name="Ada")
    page = web.open(f"/people/{ada.pk}")
    page.get_by_role("button", name="Notes").click()
    page.get_by_role("textbox", name="Notes").fill("typed here")
    elsewhere.ok("PUT", f"/api/people/{ada.pk}", {"notes": "elsewhere", "surname": "Lovelace"})
    expect(page.get_by_role("heading", name="Ada Lovelace")).to_be_visible()
    expect(page.get_by_role("textbox", name="Notes")).to_have_value("typed here")
    page.reload()
    expect(page.get_by_role("textbox", name="Notes")).to_have_value("typed here")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Decide").click()
    expect(page.get_by_text("typed here")).to_be_visible()
    page.keyboard.press("1")
    expect(page.get_by_role("button", name="Keep mine")).to_be_focused()
    page.keyboard.press("Enter")
    web.eventually(page, lambda: Person.unscoped.get(pk=ada.pk).notes == "typed here")


def test_offline_edits_are_sent_when_the_network_is_back(web: Web, alice: User) -> None:
    ada = make_person(alice, name="Ada")
    context = web.context()
    page = web.open(f"/log?person={ada.pk}", context)
    expect(page.get_by_text("Ada")).to_be_visible()
    context.set_offline(True)
    web.chromium.complaints.expected.append("ERR_INTERNET_DISCONNECTED")
    page.get_by_text("Call", exact=True).click()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("1 change is saved here and not sent yet.")).to_be_visible()
    assert not Interaction.unscoped.exists()
    context.set_offline(False)
    web.eventually(page, Interaction.unscoped.filter(kind="CALL").exists)


def test_people_are_selected_deleted_and_brought_back(web: Web, alice: User) -> None:
    for name in ("Ada", "Ben", "Carl"):
        make_person(alice, name=name)
    page = web.open("/people")
    web.synced(page)
    # A finger that stays, if not quite.
    touch = {"pointerType": "touch", "clientY": 0}
    ada = page.get_by_role("link", name="Ada")
    ada.dispatch_event("pointerdown", {**touch, "clientX": 0})
    ada.dispatch_event("pointermove", {**touch, "clientX": 4})
    expect(page.get_by_role("checkbox", name="Select Ada")).to_be_checked()
    page.get_by_role("checkbox", name="Select Ben").click()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("row")).to_have_count(1)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("row")).to_have_count(3)
    web.eventually(page, lambda: Person.unscoped.filter(deleted_at=None).count() == 3)


def test_reminders_of_birthdays_are_switched_on_for_many(web: Web, alice: User, elsewhere: Client) -> None:
    for name in ("Ada", "Ben"):
        path = f"/api/people/{make_person(alice, name=name).pk}/important-dates"
        elsewhere.ok("POST", path, {"type": "BIRTHDAY", "date": "1990-05-01", "reminderEnabled": False})
    page = web.open("/people")
    page.get_by_role("button", name="Select", exact=True).click()
    page.get_by_role("checkbox", name="Select Ada").click()
    page.get_by_role("button", name="Select all").click()
    page.get_by_role("button", name="More with those selected").click()
    page.get_by_role("menuitem", name="Reminders of their dates").click()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_text("2 dates were changed.")).to_be_visible()
    web.eventually(page, lambda: ImportantDate.unscoped.filter(reminder_enabled=True).count() == 2)


def test_ended_session_keeps_the_edit_until_sign_in(web: Web, alice: User) -> None:
    ada = make_person(alice, name="Ada")
    context = web.context()
    page = web.open(f"/people/{ada.pk}", context)
    web.synced(page)
    # Without a network meanwhile: whoever is refused is shown nothing but the sign-in.
    context.set_offline(True)
    context.clear_cookies()
    web.chromium.complaints.expected += ["status of 401", "ERR_INTERNET_DISCONNECTED"]
    page.get_by_role("button", name="Notes").click()
    page.get_by_role("textbox", name="Notes").fill("typed")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("1 change is saved here and not sent yet.")).to_be_visible()
    context.set_offline(False)
    expect(page.get_by_role("main")).to_contain_text("1 change is saved here")
    page.get_by_label("E-mail").fill(alice.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    web.eventually(page, lambda: Person.unscoped.get(pk=ada.pk).notes == "typed")


def test_deleted_person_is_taken_back_from_their_page(web: Web, alice: User) -> None:
    ada = make_person(alice, name="Ada")
    page = web.open(f"/people/{ada.pk}")
    page.get_by_role("button", name="More about Ada").click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(page.get_by_text("Ada is in the trash.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("row")).to_have_count(1)


def test_date_and_relationship_are_added_on_the_page(web: Web, alice: User) -> None:
    ada = make_person(alice, name="Ada")
    make_person(alice, name="Ben")
    page = web.open(f"/people/{ada.pk}")
    page.get_by_role("button", name="Birthday", exact=True).click()
    page.get_by_label("Day").fill("1990-05-01")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    dates = page.get_by_role("region", name="Dates")
    expect(dates).to_contain_text("1 May 1990")
    expect(dates.get_by_role("switch", name="Reminder of: Birthday of Ada")).to_be_checked()
    page.get_by_role("button", name="Relationship", exact=True).click()
    page.get_by_role("combobox", name="With whom").fill("ben")
    page.keyboard.press("Enter")
    page.get_by_label("Ben is").select_option(label="Child")
    expect(page.get_by_text("Ben is Child of Ada. Ada is Parent of Ben.")).to_be_visible()
    page.get_by_label("Since").fill("2015-06")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    around = page.get_by_role("region", name="People around Ada")
    expect(around.get_by_role("link", name="Child Ben since June 2015")).to_be_visible()
    web.eventually(page, lambda: Relationship.unscoped.count() == 2)


def test_photo_is_cropped_and_shown(web: Web, alice: User, tmp_path: Path) -> None:
    ada = make_person(alice, name="Ada")
    (tmp_path / "ada.png").write_bytes(picture("PNG", (80, 40)))
    context = web.context()
    # As for a finger in some browsers.
    context.add_init_script("Object.defineProperty(MouseEvent.prototype, 'movementX', { value: 0 })")
    page = web.open(f"/people/{ada.pk}", context)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add a photo of Ada").click()
    chooser.value.set_files(tmp_path / "ada.png")
    page.get_by_role("img", name="The part that is kept").hover()
    page.mouse.down()
    page.mouse.move(0, 0)
    page.mouse.up()
    expect(page.get_by_label("From left to right")).to_have_value("1")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    shown = page.get_by_role("img", name="Photo of Ada")
    expect(shown).to_have_attribute("src", re.compile(r"\?v="))


def test_language_of_the_account_is_that_of_the_pages(web: Web, alice: User) -> None:
    page = web.open("/account/preferences")
    page.get_by_label("Language").select_option("de-DE")
    expect(page.get_by_role("heading", name="Aussehen und Sprache", level=1)).to_be_visible()
    page.get_by_label("Farben").select_option("DARK")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    web.eventually(page, lambda: User.objects.get(pk=alice.pk).language == "de-DE")


def test_second_factor_is_switched_on_and_asked_for(web: Web) -> None:
    web.chromium.complaints.expected.append("status of 401")
    page = web.open("/account/security")
    page.get_by_role("button", name="Switch it on").click()
    secret = page.get_by_role("dialog").locator("code").inner_text()
    page.get_by_label("Code", exact=True).fill(pyotp.TOTP(secret).now())
    page.get_by_role("dialog").get_by_role("button", name="Switch it on").click()
    page.get_by_role("button", name="I have kept them").click()
    expect(page.get_by_text("On: signing in needs a code")).to_be_visible()
    other = web.open("/sign-in", web.visitor())
    other.get_by_label("E-mail").fill("alice@example.org")
    other.get_by_label("Password").fill(PASSWORD)
    other.get_by_role("button", name="Sign in").click()
    expect(other.get_by_label("Code of the second factor")).to_be_visible()


def test_sign_out_leaves_nothing_in_the_browser(web: Web, alice: User) -> None:
    make_person(alice, name="Ada")
    web.chromium.complaints.expected.append("status of 401")
    page = web.open("/account")
    page.get_by_role("button", name="Sign out").last.click()
    page.get_by_role("dialog").get_by_role("button", name="Sign out").last.click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    web.eventually(page, lambda: page.evaluate("indexedDB.databases().then((all) => all.length)") == 0)
    assert page.evaluate("Object.keys(localStorage).filter((key) => /draft|account/.test(key))") == []


def test_changed_address_is_changed_for_all_who_share_it(web: Web, alice: User) -> None:
    address = {"type": "home", "streetLine1": "Ockham Park 1", "locality": "Ockham", "country": "England"}
    api = client_of(alice)
    ada, ben = (
        api.ok("POST", "/api/people", {"name": name, "addresses": [address]}, status=201)["person"]["id"]
        for name in ("Ada", "Ben")
    )
    page = web.open(f"/people/{ada}")
    page.get_by_role("button", name="Edit Reach of Ada").click()
    page.get_by_label("Town").fill("London")
    others = page.get_by_role("switch", name="Also change the address of Ben")
    expect(others).not_to_be_checked()
    others.check()
    page.get_by_role("button", name="Save").click()
    web.eventually(page, lambda: Person.unscoped.get(pk=ben).addresses[0]["locality"] == "London")
    web.eventually(page, lambda: Person.unscoped.get(pk=ada).addresses[0]["locality"] == "London")
    assert api.ok("GET", f"/api/people/{ada}")["person"]["addresses"][0]["streetLine1"] == "Ockham Park 1"
    expect(page.get_by_role("link", name="Decide")).to_have_count(0)


def test_meeting_with_a_group_is_logged(web: Web, alice: User) -> None:
    api = client_of(alice)
    people = [str(make_person(alice, name=name).pk) for name in ("Ada", "Ben")]
    api.ok("POST", "/api/groups", {"name": "Engines", "peopleIds": people}, status=201)
    page = web.open("/log")
    web.synced(page)
    page.get_by_role("combobox", name="With whom").fill("engin")
    page.get_by_role("option", name="Everybody in Engines").click()
    page.get_by_role("button", name="Save").click()
    web.eventually(page, Interaction.unscoped.exists)
    assert Interaction.unscoped.get().participations.count() == 2


def test_family_stands_on_one_sheet(web: Web, alice: User) -> None:
    api = client_of(alice)
    ada, ben, cy = (str(make_person(alice, name=name).pk) for name in ("Ada", "Ben", "Cy"))
    types = {row["name"]: row["id"] for row in api.ok("GET", "/api/relationship-types")["relationshipTypes"]}
    for one, other in ((ada, ben), (ben, cy)):
        pair = {"personId": one, "relatedPersonId": other, "relationshipTypeId": types["PARENT"]}
        api.ok("POST", "/api/relationships", pair)
    page = web.open(f"/people/{ada}/family")
    expect(page.get_by_text("Parent of Ben")).to_be_visible()
    expect(page.get_by_role("link", name="Cy")).to_be_visible()
