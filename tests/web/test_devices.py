"""Installed and offline, with two tabs, two devices, two accounts, on plain http, and reloaded at any moment."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from contacts_project.pages import web_client
from people.models import Person
from tests.builders import make_person, make_user
from tests.client import Client
from tests.pictures import picture
from tests.rounds import rounds
from tests.web.conftest import Web

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


def ready_worker(page: Page) -> None:
    """Wait until the service worker has all files."""
    # With a limit, since `ready` waits for ever where the installation fails.
    late = "new Promise((_, reject) => setTimeout(reject, 30000, new Error('the worker was not installed')))"
    page.evaluate(f"Promise.race([navigator.serviceWorker.ready.then(() => true), {late}])")


def test_installed_client_opens_and_edits_without_a_network(web: Web, alice: User) -> None:
    ada = make_person(alice, name="Ada")
    context = web.context(service_workers="allow")
    context.add_init_script(
        "window.asked = 0; if (navigator.storage) navigator.storage.persist = async () => Boolean(++window.asked)"
    )
    page = web.open("/people", context)
    web.synced(page)
    ready_worker(page)
    context.set_offline(True)
    web.chromium.complaints.expected += ["ERR_INTERNET_DISCONNECTED", "Failed to fetch"]
    page.goto(f"{web.base}/app/people/{ada.pk}")
    expect(page.get_by_role("heading", name="Ada")).to_be_visible()
    page.get_by_role("button", name="Notes").click()
    page.get_by_role("textbox", name="Notes").fill("in a tunnel")
    assert page.evaluate("window.asked") == 0  # Firefox asks the user then
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("1 change is saved here and not sent yet.")).to_be_visible()
    assert page.evaluate("window.asked") == 1
    expect(page.get_by_role("textbox", name="Notes")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("region", name="Notes")).to_contain_text("in a tunnel")
    context.set_offline(False)
    web.eventually(page, lambda: Person.unscoped.get(pk=ada.pk).notes == "in a tunnel")


def test_photo_that_was_chosen_without_a_network_survives_a_reload(web: Web, alice: User, tmp_path: Path) -> None:
    ada = make_person(alice, name="Ada")
    (tmp_path / "ada.png").write_bytes(picture("PNG", (80, 40)))
    context = web.context(service_workers="allow")
    page = web.open("/people", context)
    web.synced(page)
    ready_worker(page)
    context.set_offline(True)
    web.chromium.complaints.expected += ["ERR_INTERNET_DISCONNECTED", "Failed to fetch"]
    page.goto(f"{web.base}/app/people/{ada.pk}")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add a photo of Ada").click()
    chooser.value.set_files(tmp_path / "ada.png")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_text("1 change is saved here and not sent yet.")).to_be_visible()
    page.reload()
    shown = page.get_by_role("img", name="Photo of Ada")
    expect(shown).to_have_attribute("src", re.compile("^data:image/jpeg"))
    page.get_by_role("link", name="Show").click()
    expect(page.get_by_text("Person changed: Ada (Photo)")).to_be_visible()
    context.set_offline(False)
    web.eventually(page, lambda: bool(Person.unscoped.get(pk=ada.pk).photo))
    page.go_back()
    expect(shown).to_have_attribute("src", re.compile(r"\?v="))


def test_client_can_be_installed(web: Web) -> None:
    """The manifest is readable under the policy, and its icons are there."""
    page = web.open("/", web.context(service_workers="allow"))
    session = page.context.new_cdp_session(page)
    manifest = session.send("Page.getAppManifest")
    assert manifest["errors"] == []
    assert '"start_url": "/app/"' in manifest["data"]
    for icon in ("icon-192.png", "icon-512.png", "icon-maskable-512.png", "icon.svg"):
        assert page.request.get(f"/app/{icon}").ok


def test_new_version_waits_until_the_user_loads_it(
    web: Web, alice: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_person(alice, name="Ada")
    context = web.context(service_workers="allow")
    page = web.open("/people/new", context)
    ready_worker(page)
    page.get_by_label("Given name").fill("half typed")
    page.wait_for_timeout(400)
    newer = tmp_path / "app"
    shutil.copytree(web_client.FOLDER, newer)
    worker = newer / "sw.js"
    worker.write_text(f"{worker.read_text()}\n// newer")
    monkeypatch.setattr(web_client, "FOLDER", newer)
    page.evaluate("navigator.serviceWorker.getRegistration('/app/').then((registration) => registration.update())")
    with page.expect_navigation():
        page.get_by_role("button", name="Load it").click()
    expect(page.get_by_label("Given name")).to_have_value("half typed")


def test_two_tabs_show_the_same(web: Web, alice: User) -> None:
    make_person(alice, name="Ada")
    context = web.context()
    first, second = web.open("/people", context), web.open("/people", context)
    expect(second.get_by_role("row")).to_have_count(1)
    first.get_by_role("button", name="Select", exact=True).click()
    first.get_by_role("checkbox", name="Select Ada").click()
    expect(first.get_by_role("button", name="Delete")).to_be_visible()
    context.set_offline(True)
    web.chromium.complaints.expected += ["ERR_INTERNET_DISCONNECTED", "Failed to fetch"]
    first.get_by_role("button", name="Delete").click()
    expect(second.get_by_role("row")).to_have_count(0)


def test_two_devices_that_edit_the_same_field_lose_nothing(web: Web, alice: User, elsewhere: Client) -> None:
    ada = make_person(alice, name="Ada")
    context = web.context()
    page = web.open(f"/people/{ada.pk}", context)
    web.synced(page)
    context.set_offline(True)
    web.chromium.complaints.expected += ["ERR_INTERNET_DISCONNECTED", "Failed to fetch"]
    page.get_by_role("button", name="Organization and more").click()
    page.get_by_label("Organization").fill("Here")
    page.get_by_label("Profession or role").fill("Analyst")
    page.get_by_role("button", name="Save").click()
    elsewhere.ok("PUT", f"/api/people/{ada.pk}", {"organization": "Elsewhere", "surname": "Lovelace"})
    context.set_offline(False)
    page.get_by_role("link", name="Decide").click()
    expect(page.get_by_text("Elsewhere", exact=True)).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a file").click()
    assert "Here" in download.value.path().read_text()
    page.get_by_role("button", name="Keep the other").click()
    expect(page.get_by_text("All sent", exact=True)).to_be_visible()
    ada.refresh_from_db()
    assert (ada.organization, ada.job_title, ada.surname) == ("Elsewhere", "Analyst", "Lovelace")


def test_another_account_on_the_same_browser_sees_nothing(web: Web, alice: User) -> None:
    make_person(alice, name="Ada")
    other = make_user("bob@example.org", name="Bob")
    context = web.context()
    page = web.open("/people", context)
    expect(page.get_by_role("row")).to_have_count(1)
    web.chromium.complaints.expected.append("status of 401")
    page.goto(f"{web.base}/app/account")
    page.get_by_role("button", name="Sign out").last.click()
    page.get_by_role("dialog").get_by_role("button", name="Sign out").last.click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    # A late response to a request of the ended session would remove the cookie that is set here by hand.
    web.eventually(page, lambda: all(cookie["name"] != "sessionid" for cookie in context.cookies()))
    page.goto("about:blank")
    page.wait_for_timeout(1000)
    web.sign_in(context, other)
    page.goto(f"{web.base}/app/people")
    expect(page.get_by_text("Nobody here yet")).to_be_visible()


def test_address_in_a_local_network_without_https(web: Web, alice: User, settings: Any, tmp_path: Path) -> None:
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "pi.lan"]
    base = web.base.replace("127.0.0.1", "pi.lan")
    with web.chromium.profile(tmp_path, "--host-resolver-rules=MAP pi.lan 127.0.0.1", locale="en-GB") as context:
        context.add_cookies([web.session_cookie(alice, base)])
        web.chromium.complaints.expected.append("Cross-Origin-Opener-Policy header has been ignored")
        page = context.new_page()
        page.goto(f"{base}/app/people/new")
        assert page.evaluate("isSecureContext") is False
        page.get_by_label("Given name").fill("Ada")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("heading", name="Ada")).to_be_visible()
        web.eventually(page, Person.unscoped.filter(name="Ada").exists)


def test_reload_at_any_moment_loses_nothing(web: Web, alice: User) -> None:
    """People are added one after the other, and the page is loaded again while it sends and reads."""
    page = web.open("/people")
    web.synced(page)
    web.chromium.complaints.expected += ["Failed to fetch", "Failed to load resource"]
    names = [f"Person {number}" for number in range(rounds(8))]
    for number, name in enumerate(names):
        page.goto(f"{web.base}/app/people/new")
        page.get_by_label("Given name").fill(name)
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("heading", name=name)).to_be_visible()
        page.wait_for_timeout(number * 93 % 500)
        page.reload()
    page.goto(f"{web.base}/app/people")
    web.eventually(page, lambda: Person.unscoped.count() >= len(names))
    web.synced(page)
    assert sorted(Person.unscoped.values_list("name", flat=True)) == sorted(names)
    expect(page.get_by_role("grid")).to_have_attribute("aria-rowcount", str(len(names)))


def test_client_says_that_the_browser_removed_its_data(web: Web, alice: User) -> None:
    make_person(alice, name="Ada")
    context = web.context()
    page = web.open("/people", context)
    web.synced(page)
    web.eventually(page, lambda: bool(page.evaluate("localStorage.getItem('contacts filled')")))
    name = page.evaluate("indexedDB.databases().then(([{ name }]) => name)")
    page.goto(f"{web.base}/app/icon.svg")
    page.evaluate(
        "(name) => new Promise((done) => { indexedDB.deleteDatabase(name).onsuccess = () => done(null) })", name
    )
    page = web.open("/people", context)
    expect(page.get_by_text("The browser has removed what was saved here.")).to_be_visible()
    expect(page.get_by_role("row")).to_have_count(1)


def test_back_button_closes_a_dialog_and_stays_on_the_page(web: Web, alice: User) -> None:
    make_person(alice, name="Ada")
    page = web.open("/")
    page.goto(f"{web.base}/app/people")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page).to_have_url(f"{web.base}/app/people")
