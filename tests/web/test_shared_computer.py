"""What a browser keeps of whom: two accounts on one browser, and the ways in which a session ends."""

import datetime as dt
import json
import re
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, Request, Route, expect

from accounts.models import AccountSession, User
from accounts.services.deletion import delete_account
from accounts.services.sessions import end_sessions
from people.models import Person
from tests.builders import make_person, verify_email
from tests.web.conftest import PASSWORD, Web
from tests.web.test_accessibility import violations

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


@pytest.fixture(autouse=True)
def expected(web: Web) -> None:
    web.chromium.complaints.expected += ["status of 401", "status of 503", "ERR_INTERNET_DISCONNECTED", "ERR_FAILED"]


@pytest.fixture
def ben(mallory: User) -> User:
    """The next person at the computer."""
    mallory.set_password(PASSWORD)
    mallory.name = "Ben"
    mallory.save()
    verify_email(mallory)
    make_person(mallory, name="Bens-friend")
    return mallory


@pytest.fixture(autouse=True)
def ada(alice: User) -> Person:
    User.objects.filter(pk=alice.pk).update(name="Alice")
    return make_person(alice, name="Ada")


def filled(web: Web, context: BrowserContext, path: str = "/people") -> Page:
    page = web.open(path, context)
    expect(page.get_by_text("Ada").first).to_be_visible()
    web.synced(page)
    return page


def stores(page: Page) -> list[str]:
    names: list[str] = page.evaluate("indexedDB.databases().then((all) => all.map(({ name }) => name))")
    return sorted(names)


def edit_offline(page: Page) -> None:
    """Leave an unsent change of Ada's notes in the browser; the network stays away."""
    page.get_by_role("link", name="Ada").first.click()
    page.get_by_role("button", name="Notes").click()
    page.context.set_offline(True)
    page.get_by_role("textbox", name="Notes").fill("typed")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("1 change is saved here and not sent yet.")).to_be_visible()


def sign_out_on_the_page(web: Web, context: BrowserContext) -> None:
    """On a page of the service that runs no script of the client, at an address where browsers ignore
    Clear-Site-Data, as over plain http in a LAN."""
    context.route("**/account/sign-out", ignore_clear_site_data)
    # It answers 404, which a browser reports as an error.
    context.route("**/people/labels?*", lambda route: route.fulfill(response=route.fetch(), status=200))
    page = context.new_page()
    page.goto(f"{web.base}/people/labels?sheet=unknown")
    page.get_by_role("button", name="Sign out").last.click()
    expect(page).to_have_url(re.compile("/$|sign-in"))
    page.close()


def ignore_clear_site_data(route: Route) -> None:
    response = route.fetch(max_redirects=0)
    headers = {name: value for name, value in response.headers.items() if name != "clear-site-data"}
    route.fulfill(status=response.status, headers=headers, body="")


def fill_sign_in(page: Page, user: User) -> None:
    page.get_by_label("E-mail").fill(user.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def test_after_a_sign_out_on_a_page_without_script_nothing_is_shown(web: Web, alice: User, ben: User) -> None:
    context = web.context()
    page = filled(web, context)
    page.goto("about:blank")
    sign_out_on_the_page(web, context)
    page.goto(f"{web.base}/app/people")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(page.get_by_text("Ada")).to_have_count(0)
    fill_sign_in(page, ben)
    expect(page.get_by_role("row")).to_have_count(1)
    expect(page.get_by_text("Bens-friend")).to_be_visible()
    # What the next person adds is theirs.
    page.goto(f"{web.base}/app/people/new")
    page.get_by_label("Given name").fill("Cy")
    page.get_by_role("button", name="Save", exact=True).click()
    web.eventually(page, Person.unscoped.filter(name="Cy").exists)
    assert Person.unscoped.get(name="Cy").owner_id == ben.pk


def test_tab_that_is_open_hides_the_copy_when_its_user_comes_back(web: Web, alice: User) -> None:
    context = web.context()
    page = filled(web, context)
    sign_out_on_the_page(web, context)
    come_back(page)
    expect(page.get_by_role("heading", name="Your session has ended")).to_be_visible()
    expect(page.get_by_text("Ada")).to_have_count(0)
    assert violations(page) == []
    fill_sign_in(page, alice)
    expect(page.get_by_text("Ada").first).to_be_visible()


def test_box_and_line_go_with_the_session(web: Web, alice: User, ben: User) -> None:
    context = web.context()
    page = filled(web, context)
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("Ada")
    expect(page.get_by_role("option").first).to_contain_text("Ada")
    page.keyboard.press("+")
    expect(page.locator("textarea")).to_have_value(re.compile("Ada"))
    sign_out_on_the_page(web, context)
    come_back(page)
    expect(page.get_by_role("heading", name="Your session has ended")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    fill_sign_in(page, ben)
    expect(page.get_by_role("link", name="Ben Settings")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


def come_back(page: Page) -> None:
    """The event that a browser sends to a tab that becomes visible again."""
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def test_another_account_has_a_copy_of_its_own_and_that_of_the_former_is_closed(
    web: Web, alice: User, ben: User
) -> None:
    context = web.context()
    page = filled(web, context)
    edit_offline(page)
    # Meanwhile somebody else has signed in to this browser, on another page.
    web.sign_in(context, ben)
    context.set_offline(False)
    come_back(page)
    # The page is loaded anew for the other account: a click before that leads nowhere.
    expect(page.get_by_role("link", name="Ben Settings")).to_be_visible()
    page.get_by_role("link", name="People").first.click()
    expect(page.get_by_text("Bens-friend")).to_be_visible()
    expect(page.get_by_text("Ada")).to_have_count(0)
    web.synced(page)
    assert len([name for name in stores(page) if name.startswith("contacts of")]) == 2
    assert not Person.unscoped.filter(notes="typed").exists()
    # The former's change is sent when they are back.
    web.sign_in(context, alice)
    page.reload()
    web.eventually(page, Person.unscoped.filter(notes="typed", owner=alice).exists)


def test_sign_out_names_the_unsent_changes_of_others_and_offers_them_as_a_file(
    web: Web, alice: User, ben: User
) -> None:
    context = web.context()
    page = filled(web, context)
    edit_offline(page)
    web.sign_in(context, ben)
    context.set_offline(False)
    page.goto(f"{web.base}/app/account")
    page.get_by_role("button", name="Sign out").last.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Alice: 1 change")
    assert violations(page) == []
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Save as a file: Alice").click()
    saved = json.loads(Path(download.value.path()).read_text())
    assert (saved["account"], [edit["body"] for edit in saved["edits"]]) == (
        {"id": str(alice.pk), "name": "Alice"},
        [{"notes": "typed"}],
    )
    dialog.get_by_role("button", name="Sign out").last.click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert stores(page) == []
    assert not AccountSession.objects.owned_by(ben).exists()


def test_sign_out_while_the_service_is_busy_removes_everything_and_says_so(web: Web, alice: User) -> None:
    context = web.context()
    page = filled(web, context, "/people")
    page.goto(f"{web.base}/app/account")
    context.route(
        "**/api/auth/logout", lambda route: route.fulfill(status=503, headers={"Retry-After": "60"}, body="{}")
    )
    page.get_by_role("button", name="Sign out").last.click()
    page.get_by_role("dialog").get_by_role("button", name="Sign out").last.click()
    expect(page.get_by_role("alert")).to_contain_text("the session has not ended")
    assert violations(page) == []
    assert stores(page) == []
    # Nobody is let in by the session that lives on.
    page.goto(f"{web.base}/app/people")
    expect(page.get_by_role("alert")).to_contain_text("the session has not ended")
    expect(page.get_by_text("Ada")).to_have_count(0)
    context.unroute("**/api/auth/logout")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("alert")).to_have_count(0)
    assert not AccountSession.objects.owned_by(alice).exists()
    page.reload()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    fill_sign_in(page, alice)
    expect(page.get_by_text("Ada").first).to_be_visible()


def test_sign_out_without_a_network_is_made_good_at_the_next_start(web: Web, alice: User) -> None:
    context = web.context(service_workers="allow")
    page = filled(web, context)
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    page.get_by_role("link", name="Alice Settings").click()
    context.set_offline(True)
    page.get_by_role("button", name="Sign out").last.click()
    page.get_by_role("dialog").get_by_role("button", name="Sign out").last.click()
    expect(page.get_by_role("alert")).to_contain_text("the session has not ended")
    assert stores(page) == []
    context.set_offline(False)
    page.reload()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    assert not AccountSession.objects.owned_by(alice).exists()


def test_signing_out_in_the_dialog_of_an_expired_session_removes_all_copies(web: Web, alice: User) -> None:
    context = web.context()
    page = filled(web, context)
    expire_sessions()
    come_back(page)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Your session has ended")
    dialog.get_by_role("button", name="Sign out and remove what is here").click()
    page.get_by_role("dialog", name="Sign out?").get_by_role("button", name="Sign out").last.click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert stores(page) == []


def expire_sessions() -> None:
    Session.objects.update(expire_date=timezone.now() - dt.timedelta(seconds=1))


def test_expired_session_keeps_the_copy_and_shows_it_after_the_sign_in(web: Web, alice: User) -> None:
    context = web.context()
    page = filled(web, context)
    edit_offline(page)
    expire_sessions()
    page.goto("about:blank")
    context.set_offline(False)
    page.goto(f"{web.base}/app/people")
    expect(page.get_by_text("1 change is saved here.")).to_be_visible()
    expect(page.get_by_text("Ada")).to_have_count(0)
    fill_sign_in(page, alice)
    web.eventually(page, Person.unscoped.filter(notes="typed").exists)


@pytest.mark.parametrize("is_open", [True, False], ids=["tab open", "at the start"])
def test_session_that_was_revoked_elsewhere_takes_the_copy_with_it(web: Web, alice: User, is_open: bool) -> None:
    context = web.context()
    page = filled(web, context)
    edit_offline(page)
    end_sessions(user=alice)
    if not is_open:
        page.goto("about:blank")
    context.set_offline(False)
    if is_open:
        come_back(page)
    else:
        page.goto(f"{web.base}/app/people")
    expect(page.get_by_text("You were signed out elsewhere")).to_be_visible()
    expect(page.get_by_text("Alice: 1 change")).to_be_visible()
    assert violations(page) == []
    assert rows(page, alice) == {"records": 0, "blocks": 0, "edits": 1}
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a file: Alice").click()
    assert json.loads(Path(download.value.path()).read_text())["edits"][0]["body"] == {"notes": "typed"}
    # Who signs in again has lost nothing.
    fill_sign_in(page, alice)
    web.eventually(page, Person.unscoped.filter(notes="typed").exists)


def rows(page: Page, user: User) -> dict[str, int]:
    counts: dict[str, int] = page.evaluate(
        """async (name) => {
          const done = (request) => new Promise((resolve, reject) => {
            request.onsuccess = () => resolve(request.result);
            request.onerror = reject;
          });
          const database = await done(indexedDB.open(name));
          const tables = ["records", "blocks", "edits"];
          const transaction = database.transaction(tables);
          const counts = await Promise.all(tables.map((table) => done(transaction.objectStore(table).count())));
          database.close();
          return Object.fromEntries(tables.map((table, at) => [table, counts[at]]));
        }""",
        f"contacts of {user.pk}",
    )
    return counts


def test_revoked_session_without_unsent_changes_leaves_nothing(web: Web, alice: User) -> None:
    page = filled(web, web.context())
    end_sessions(user=alice)
    come_back(page)
    expect(page.get_by_text("You were signed out elsewhere")).to_be_visible()
    assert stores(page) == []
    page.reload()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_changes_of_a_deleted_account_can_be_saved_and_removed(web: Web, alice: User) -> None:
    context = web.context()
    page = filled(web, context)
    edit_offline(page)
    delete_account(user=alice)
    context.set_offline(False)
    come_back(page)
    expect(page.get_by_text("This account has been deleted.")).to_be_visible()
    page.reload()  # not saved yet: it is still offered
    with page.expect_download():
        page.get_by_role("button", name="Save as a file: Alice").click()
    page.get_by_role("button", name="Remove: Alice").click()
    expect(page.get_by_text("Alice: 1 change")).to_have_count(0)
    web.eventually(page, lambda: stores(page) == [])


def test_a_changed_password_keeps_the_copy_of_its_own_browser(web: Web, alice: User) -> None:
    """Also where the former session has ended, and the cookie of the new one comes late."""
    context = web.context()
    page = filled(web, context)
    page.goto(f"{web.base}/app/account/security")
    held: list[Route] = []
    refused: list[str] = []

    def refuse_meanwhile(route: Route) -> None:
        if not held:
            return route.continue_()
        refused.append(route.request.url)
        return route.fulfill(status=401, json={"error": "Signed out.", "code": "session_revoked"})

    context.route("**/api/user/password", lambda route: held.append(route))  # noqa: PLW0108 - playwright inspects it
    context.route("**/api/auth/session", refuse_meanwhile)
    page.get_by_label("Current password").fill(PASSWORD)
    page.get_by_label("New password").fill("Another-1843")
    page.get_by_role("button", name="Change the password").click()
    web.eventually(page, lambda: bool(held))
    come_back(page)
    web.eventually(page, lambda: bool(refused))
    page.wait_for_timeout(2000)  # longer than the moment after which it is asked again
    assert len(refused) == 1
    with page.expect_response(lambda response: response.url.endswith("/api/auth/session") and response.ok):
        held.pop().continue_()
    expect(page.get_by_text("The password was changed.")).to_be_visible()
    page.get_by_role("link", name="People").first.click()
    expect(page.get_by_text("Ada").first).to_be_visible()
    assert stores(page) == [f"contacts of {alice.pk}"]


def test_without_a_network_the_copy_is_shown(web: Web, alice: User) -> None:
    context = web.context(service_workers="allow")
    page = filled(web, context)
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    page.reload()
    expect(page.get_by_text("Ada").first).to_be_visible()
    context.set_offline(True)
    page.reload()
    expect(page.get_by_text("Ada").first).to_be_visible()


def test_nothing_is_shown_before_the_answer_who_is_signed_in(web: Web, alice: User) -> None:
    context = web.context()
    page = filled(web, context)
    held: list[Route] = []
    context.route("**/api/auth/session", lambda route: held.append(route))  # noqa: PLW0108 - playwright inspects it
    page.reload()
    web.eventually(page, lambda: bool(held))
    expect(page.locator(".app[aria-busy]")).to_be_visible()
    expect(page.get_by_text("Ada")).to_have_count(0)
    held[0].continue_()
    expect(page.get_by_text("Ada").first).to_be_visible()


def test_unsent_changes_go_to_no_other_account(web: Web, alice: User, ben: User) -> None:
    """Without coming back to the tab: the sync itself compares before it reads or sends."""
    context = web.context()
    page = filled(web, context)
    page.get_by_role("link", name="Ada").first.click()
    page.get_by_role("button", name="Notes").click()
    # Without a network meanwhile: a sync that compares before the click would close the form.
    context.set_offline(True)
    web.sign_in(context, ben)
    sent: list[str] = []
    page.on("request", lambda request: note_write(sent, request))
    page.get_by_role("textbox", name="Notes").fill("typed")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("1 change is saved here and not sent yet.")).to_be_visible()
    context.set_offline(False)
    expect(page.get_by_text("This browser is signed in to another account now.")).to_be_visible()
    assert sent == []
    assert rows(page, alice)["edits"] == 1


def note_write(sent: list[str], request: Request) -> None:
    if request.method != "GET" and "/api/people" in request.url:
        sent.append(f"{request.method} {request.url}")
