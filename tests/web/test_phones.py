"""Phones and computers: adding one, what it gets, what it did, and what is brought back."""

import plistlib

import pytest
from playwright.sync_api import Page, expect

from accounts.models import ApiToken, User
from people.models import Person
from tests.builders import make_person
from tests.client import Client
from tests.dav.devices import Device, card
from tests.web.conftest import PASSWORD, Web
from tests.web.test_accessibility import violations

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

ANDROID = "DAVx5/4.4.5 (2024/11/14; dav4jvm; okhttp/4.12.0) Android/14"


IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1"


def fill_form(page: Page) -> None:
    page.get_by_role("button", name="By hand").click()
    page.get_by_label("Name of the device").fill("Ben's phone")
    page.get_by_label("What it is").select_option("android")
    page.get_by_label("Only some").check()
    page.get_by_label("Family").check()
    page.wait_for_timeout(400)  # drafts are stored a moment after the last change


def test_phone_is_added_and_gets_its_group_alone(web: Web, alice: User, elsewhere: Client) -> None:
    group = elsewhere.ok("POST", "/api/groups", {"name": "Family"}, status=201)["group"]["id"]
    ada, _ben = make_person(alice, name="Ada"), make_person(alice, name="Ben")
    elsewhere.ok("PUT", f"/api/people/{ada.pk}", {"groupIds": [group]})
    context = web.context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = web.open("/devices", context)
    web.synced(page)
    fill_form(page)
    page.reload()
    expect(page.get_by_label("Name of the device")).to_have_value("Ben's phone")
    expect(page.get_by_label("Family")).to_be_checked()
    assert violations(page) == []
    page.get_by_role("button", name="Make an app password").click()
    expect(page.get_by_role("heading", name="Set up Ben's phone")).to_be_focused()
    expect(page.get_by_text("Choose “Groups are per-contact categories”.")).to_be_visible()
    expect(page.get_by_role("img", name="QR code with address, user name and app password")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Copy App password").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    phone = Device(alice)
    phone.token = page.evaluate("navigator.clipboard.readText()")
    listing = phone.propfind(phone.book, "d:getetag", depth="1", HTTP_USER_AGENT=ANDROID)
    assert [href for href in listing.entries if href.endswith(".vcf")] == [f"{phone.book}{ada.pk}.vcf"]
    page.get_by_role("button", name="I have kept it").click()
    page.reload()
    row = page.get_by_role("region", name="Ben's phone")
    expect(row).to_contain_text("DAVx⁵, Android · Last seen")
    expect(row).to_contain_text("reads and writes · In Family")
    expect(page.get_by_text(phone.token)).to_have_count(0)


def test_a_phone_is_connected_by_four_taps(web: Web, alice: User) -> None:
    """Task 12 of the design: More, Settings, Phones and computers, Set up this phone."""
    page = web.open("/", web.context(viewport={"width": 390, "height": 844}, has_touch=True, user_agent=IPHONE))
    web.synced(page)
    main = page.get_by_role("navigation", name="Main")
    main.get_by_role("link", name="People").tap()
    # An iPhone zooms into a field with smaller letters.
    field = page.get_by_role("searchbox", name="Search people")
    assert field.evaluate("(field) => parseFloat(getComputedStyle(field).fontSize)") >= 16
    main.get_by_role("link", name="More").tap()
    page.get_by_role("main").get_by_role("link", name="Settings").tap()
    page.get_by_role("link", name="Phones and computers").tap()
    page.get_by_role("button", name="Set up this phone").tap()
    expect(page.get_by_role("heading", name="Set up iPhone")).to_be_focused()
    link = page.get_by_role("link", name="Configuration profile")
    profile = page.request.get(web.base + (link.get_attribute("href") or ""))
    assert plistlib.loads(profile.body())["PayloadContent"][0]["CardDAVUsername"] == alice.email
    assert violations(page) == []
    expect(page.get_by_text("Waiting for the device to sign in")).to_be_visible()
    phone = Device(alice)
    phone.token = page.locator("code").last.inner_text()
    phone.propfind("/dav/", "d:displayname", HTTP_USER_AGENT="iOS/18.1 dataaccessd/1.0")
    expect(page.get_by_text("Waiting for the device to sign in")).to_have_count(0)
    expect(page.get_by_role("region", name="iPhone", exact=True)).to_contain_text("Last seen")


def test_a_desk_shows_the_code_that_opens_the_page_on_a_phone(web: Web, alice: User) -> None:
    page = web.open("/devices")
    expect(page.get_by_role("img", name="QR code that opens this page")).to_be_visible()
    expect(page.get_by_text("Allow the profile")).to_be_visible()
    page.get_by_role("button", name="Android").click()
    expect(page.get_by_text("The app DAVx⁵ takes address")).to_be_visible()
    assert violations(page) == []
    assert not ApiToken.objects.owned_by(alice).exists()
    page.get_by_role("button", name="Computer").click()
    page.get_by_role("button", name="Set up a computer").click()
    expect(page.get_by_role("heading", name="Set up Computer")).to_be_focused()


def test_profile_of_an_iphone_is_offered_where_it_is_set_up(web: Web, alice: User) -> None:
    page = web.open("/devices")
    page.get_by_role("button", name="By hand").click()
    page.get_by_label("Name of the device").fill("iPad")
    expect(page.get_by_label("Groups as cards of their own")).to_be_checked()
    page.get_by_label("What it may do").select_option("READ")
    page.get_by_role("button", name="Make an app password").click()
    link = page.get_by_role("link", name="Configuration profile")
    profile = page.request.get(web.base + (link.get_attribute("href") or ""))
    assert plistlib.loads(profile.body())["PayloadContent"][0]["CardDAVUsername"] == alice.email
    token = ApiToken.objects.owned_by(alice).get()
    assert (token.scope, token.group_cards, token.book) == ("READ", True, None)
    # What the QR code opens on the device: the same steps, without the password.
    page.goto(f"/app/devices?device={token.pk}&program=apple")
    expect(page.get_by_role("link", name="Configuration profile")).to_be_visible()
    expect(page.get_by_text("The app password was shown once.")).to_be_visible()
    expect(page.get_by_role("region", name="iPad", exact=True)).to_contain_text("Has not signed in yet")
    page.get_by_label("What it is").select_option("thunderbird")
    expect(page.get_by_text("Add CardDAV Address Book.")).to_be_visible()


def test_what_a_device_did_is_shown_and_undone(web: Web, alice: User, elsewhere: Client) -> None:
    device = Device(alice)
    device.put("a.vcf", card("NICKNAME:Countess"), HTTP_USER_AGENT=ANDROID)
    device.text("a.vcf")
    device.put("a.vcf", card("NICKNAME:Ada"))
    assert device.put("b.vcf", "no card").status_code == 403
    gone = elsewhere.ok("POST", "/api/people", {"name": "Gone"}, status=201)["person"]["id"]
    assert device.call("DELETE", f"{device.book}{gone}.vcf").status_code == 204
    page = web.open("/devices")
    page.get_by_text("It replaced or removed 1 value").click()
    page.get_by_text("1 card could not be saved").click()
    expect(page.get_by_text("b.vcf:")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Put back Nickname of Ada").click()
    web.eventually(page, lambda: Person.objects.owned_by(alice).get(name="Ada").nickname == "Countess")
    expect(page.get_by_text("It replaced or removed")).to_have_count(0)
    page.get_by_role("button", name="Bring back what test deleted").click()
    expect(page.get_by_text("1 entry is back.")).to_be_visible()
    assert Person.objects.owned_by(alice).active().filter(pk=gone).exists()
    page.get_by_role("button", name="Revoke test").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("No phone or computer yet.")).to_be_visible()
    assert device.get("a.vcf").status_code == 401


def test_what_a_lost_phone_deleted_is_brought_back_from_the_trash(web: Web, alice: User, elsewhere: Client) -> None:
    phone = Device(alice)
    for name in ("Ada", "Ben"):
        made = elsewhere.ok("POST", "/api/people", {"name": name}, status=201)["person"]["id"]
        phone.call("DELETE", f"{phone.book}{made}.vcf")
    ApiToken.objects.owned_by(alice).filter(prefix=phone.token[:12]).delete()
    page = web.open("/trash")
    expect(page.get_by_role("listitem").filter(has_text="deleted by test")).to_have_count(2)
    assert violations(page) == []
    page.get_by_role("button", name="Bring back what test deleted").click()
    expect(page.get_by_text("2 entries are back.")).to_be_visible()
    assert Person.objects.owned_by(alice).active().count() == 2
    expect(page.get_by_text("deleted by test")).to_have_count(0)


def test_settings_of_a_device_are_changed_and_the_rest_stays(web: Web, alice: User) -> None:
    Device(alice).propfind("/dav/", "d:displayname", HTTP_USER_AGENT="Evolution/3.46.4")
    page = web.open("/devices")
    expect(page.get_by_role("region", name="test")).to_contain_text("GNOME, Evolution")
    page.get_by_role("button", name="Settings of test").click()
    page.get_by_label("Only some").check()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    page.get_by_label("Favourites").check()
    page.get_by_label("With a number, mail or address").check()
    page.get_by_label("Alarms with the dates").check()
    page.wait_for_timeout(400)
    ApiToken.objects.owned_by(alice).update(name="Desk")  # elsewhere, meanwhile
    page.reload()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("region", name="Desk")).to_contain_text(
        "Favourites · With a number, mail or address · alarms"
    )
    token = ApiToken.objects.owned_by(alice).get()
    assert (token.name, token.book, token.alarms) == ("Desk", {"favourites": True, "reachable": True}, True)


def test_account_says_what_each_token_is_for(web: Web, alice: User, elsewhere: Client) -> None:
    desk = Device(alice)
    desk.propfind("/dav/", "d:displayname", HTTP_USER_AGENT="Evolution/3.46.4")
    ApiToken.objects.owned_by(alice).filter(prefix=desk.token[:12]).update(name="Desk")
    body = {"email": alice.email, "password": PASSWORD, "name": "Pocket"}
    Client().ok("POST", "/api/auth/token", body, status=201)
    page = web.open("/account/security")
    tokens = page.locator("section").filter(has=page.get_by_role("heading", name="App passwords and devices"))
    expect(tokens.get_by_role("listitem").filter(has_text="Desk")).to_contain_text("phone or computer")
    expect(tokens.get_by_role("listitem").filter(has_text="Pocket")).to_contain_text("app that signed in")
    expect(tokens.get_by_role("listitem").filter(has_text="test")).to_contain_text("app password or token")
    assert violations(page) == []
    tokens.get_by_role("link", name="phone or computer", exact=True).click()
    expect(page.get_by_role("region", name="Desk")).to_be_visible()
