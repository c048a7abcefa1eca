"""The TypeScript kit in Chromium: what a browser adds to it, or takes away from it."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route

from accounts.models import User
from people.models import Group, Person
from people.services.photos import set_person_photo
from tests.browser import Chromium
from tests.builders import make_person, make_token
from tests.client import client_of
from tests.clients.kit_pages import KitPages
from tests.pictures import picture

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


@pytest.fixture
def page(kit: KitPages) -> Page:
    return kit.page(kit.context())


def wait_for_people(page: Page, count: int) -> None:
    """Wait until the copy has so many people. `wait_for_function` would take the promise of a function for true."""
    deadline = time.monotonic() + 30
    while (found := page.evaluate("copy.all('person').then(({ length }) => length)")) != count:
        assert time.monotonic() < deadline, f"still {found} people"
        page.wait_for_timeout(50)


# Insecure contexts.


def test_edits_work_on_plain_http_in_a_local_network(
    kit: KitPages, chromium: Chromium, alice: User, tmp_path: Path, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "pi.lan"]
    base = f"http://pi.lan:{kit.server.port}"
    with chromium.profile(tmp_path, "--host-resolver-rules=MAP pi.lan 127.0.0.1") as context:
        kit.prepare(context, base, alice)
        page = kit.page(context, base=base)
        told = page.evaluate("tests.editOnPlainHttp()")
    assert told == [
        False,
        "Signing in by the provider needs a page that was loaded over https: crypto.subtle is missing here.",
    ]
    assert [(p.name, p.surname) for p in Person.unscoped.filter(deleted_at=None)] == [("Ada", "Lovelace")]


# The network.


def test_offline_browser_tries_once(kit: KitPages, page: Page) -> None:
    page.evaluate("copy.sync()")
    kit.requests.clear()
    page.context.set_offline(True)
    kit.chromium.complaints.expected.append("ERR_INTERNET_DISCONNECTED")
    assert page.evaluate("copy.sync().catch((error) => error.name)") == "TypeError"
    assert len(kit.requests) <= 3  # one of each of the three feeds


@pytest.mark.parametrize("way", ["ask", "request", "api", "pages"])
def test_connection_takes_the_fetch_of_the_browser(page: Page, alice: User, way: str) -> None:
    make_person(alice, name="Ada")
    page.evaluate("(token) => { window.plain = new kit.Connection(location.origin, token, fetch) }", make_token(alice))
    read = {
        "ask": "plain.ask('GET', '/api/people').then((body) => body.people[0].name)",
        "request": "plain.request('GET', '/api/people').then((r) => r.json()).then((body) => body.people[0].name)",
        "api": "plain.api.GET('/api/people').then(({ data }) => data.people[0].name)",
        "pages": "plain.pages('/api/people', 'people').next().then(({ value }) => value.name)",
    }
    assert page.evaluate(read[way]) == "Ada"


# The store.


def test_store_is_removed_while_other_tabs_have_it_open(kit: KitPages) -> None:
    context = kit.context()
    first, second = kit.page(context), kit.page(context)
    first.evaluate("copy.create('person', { name: 'Ada' })")
    first.evaluate("kit.IndexedDbStore.remove('copy')")
    second.wait_for_timeout(0)
    assert second.evaluate("timesClosed") == 1
    assert first.evaluate("kit.IndexedDbStore.open('copy').then((store) => store.all('edits'))") == []


def test_ranges_are_read_by_key_and_by_person(page: Page) -> None:
    """The store is asked for no more rows than the answer has."""
    told = page.evaluate("tests.readRanges()")
    assert told == [[0, 0, 1, 0, 1, 0], [0, 1, 1]]  # each time of the rows and of the blocks of the type


def test_blocks_of_a_type_are_read_alone(page: Page) -> None:
    told = page.evaluate("tests.readBlocksOfGroups()")
    assert told == [250, 3]


def test_what_hangs_on_a_person_is_read_by_an_index(page: Page) -> None:
    told = page.evaluate("tests.readWhatHangsOnPeople()")
    assert told == [[[1, 1, 1], [1, 0, 1]], [[1, 1, 1], [1, 1, 1]], [[0, 0, 1], [1, 0, 1]]]


def test_store_of_the_former_version_is_upgraded(kit: KitPages) -> None:
    context = kit.context()
    page = kit.page(context, "other")
    page.evaluate("tests.makeDatabaseOfVersion1()")
    page = kit.page(context, "old")
    assert page.evaluate("copy.of('importantDate', 'p').then((dates) => dates.map(({ id }) => id))") == ["d"]


def test_live_table_is_kept_current_record_by_record(kit: KitPages) -> None:
    context = kit.context()
    first, second = kit.page(context), kit.page(context)
    second.evaluate("tests.openLiveTable()")
    ada = first.evaluate("copy.create('person', { name: 'Ada' })")
    second.wait_for_function("() => [...table.rows.values()].join() === 'Ada'")
    first.evaluate("(ada) => copy.update('person', ada, { name: 'Ada L.' })", ada)
    second.wait_for_function("() => [...table.rows.values()].join() === 'Ada L.'")
    first.evaluate("copy.sync()")
    first.evaluate("(ada) => copy.delete('person', ada)", ada)
    second.wait_for_function("() => table.rows.size === 0")
    assert second.evaluate("seen[0] === 0 && seen.slice(1).every((size) => size === 1)")


def test_subscribers_in_all_tabs_are_told_who_changed_what(kit: KitPages) -> None:
    context = kit.context()
    pages = [kit.page(context), kit.page(context)]
    for each in pages:
        each.evaluate("tests.noteChanges()")
    pages[0].evaluate("copy.create('person', { name: 'Ada' })")
    pages[1].wait_for_function("() => told.length > 0")
    assert pages[0].evaluate("told") == [["user", "person/"]]
    assert pages[1].evaluate("told") == [["other", "person/"]]
    pages[0].evaluate("copy.sync()")
    assert ["sync", "person/"] in pages[0].evaluate("told")


# Streams.


def test_one_tab_has_the_stream_and_all_follow(kit: KitPages, alice: User) -> None:
    context = kit.context()
    pages = [kit.page(context) for _ in range(7)]
    for each in pages:
        each.evaluate("tests.startSyncer()")
    for each in pages:
        each.wait_for_function("() => phases.at(-1) === 'idle'")
    client_of(alice).ok("POST", "/api/people", {"name": "Ada"}, status=201)
    for each in pages:
        wait_for_people(each, 1)
    assert kit.requests.count("GET /api/changes/stream") == 1
    # The tab that has the stream is closed: another one takes it over.
    leader = kit.page_of_last("GET /api/changes/stream")
    leader.close()
    client_of(alice).ok("POST", "/api/people", {"name": "Ben"}, status=201)
    for each in pages:
        if each is not leader:
            wait_for_people(each, 2)
    assert kit.requests.count("GET /api/changes/stream") == 2


def test_change_between_the_sync_and_the_start_of_the_stream_is_shown(kit: KitPages, page: Page, alice: User) -> None:
    """The request of the stream is held until everything else has come to rest, and the change was made."""
    held: list[Route] = []
    page.route("**/api/changes/stream", lambda route: held.append(route))  # noqa: PLW0108 - playwright marks the function
    page.evaluate("tests.startSyncer()")
    page.wait_for_function("() => phases.at(-1) === 'idle'")
    while not held:
        page.wait_for_timeout(20)
    client_of(alice).ok("POST", "/api/people", {"name": "Ada"}, status=201)
    assert page.evaluate("copy.all('person')") == []
    held[0].continue_()
    wait_for_people(page, 1)


def test_stream_pauses_while_the_page_is_hidden(kit: KitPages, page: Page, alice: User) -> None:
    page.evaluate("tests.startSyncer()")
    with page.expect_event("requestfailed", lambda request: "stream" in request.url):
        page.wait_for_function("() => phases.at(-1) === 'idle'")
        while not kit.requests.count("GET /api/changes/stream"):
            page.wait_for_timeout(20)
        page.evaluate("tests.hide(true)")
    client_of(alice).ok("POST", "/api/people", {"name": "Ada"}, status=201)
    page.evaluate("tests.hide(false)")
    wait_for_people(page, 1)
    assert kit.requests.count("GET /api/changes/stream") == 2


# Sessions.


def test_session_writes_with_the_csrf_token_and_after_it_has_changed(kit: KitPages, page: Page) -> None:
    assert (
        page.evaluate("connection.ask('POST', '/api/groups', { name: 'First' }).then(({ group }) => group.name)")
        == "First"
    )
    page.context.add_cookies([{"name": "csrftoken", "value": "x" * 32, "url": kit.server.base}])
    kit.chromium.complaints.expected.append("status of 403")
    assert (
        page.evaluate("connection.ask('POST', '/api/groups', { name: 'Second' }).then(({ group }) => group.name)")
        == "Second"
    )
    assert page.evaluate("ended") == 0


def test_first_writes_of_a_browser_ask_for_the_csrf_token_together(kit: KitPages, page: Page) -> None:
    """Else the second answer would replace the cookie to which the token of the first belongs: 403 in the console."""
    page.evaluate("""Promise.all(["First", "Second", "Third"].map((name) =>
      connection.ask("POST", "/api/groups", { name })))""")
    assert Group.unscoped.count() == 3
    assert kit.requests.count("GET /api/auth/csrf") == 1


def test_ended_session_is_told_once_per_answer_and_keeps_the_edits(kit: KitPages, page: Page, alice: User) -> None:
    page.evaluate("copy.create('person', { name: 'Ada' })")
    page.context.clear_cookies()
    kit.chromium.complaints.expected.append("status of 401")
    assert page.evaluate("copy.sync().catch((error) => [error.status, error.code])") == [401, "unauthenticated"]
    assert page.evaluate("ended") > 0
    kit.prepare(page.context, kit.server.base, alice)
    page.evaluate("copy.sync()")
    assert Person.unscoped.get().name == "Ada"


def test_refusal_of_another_server_ends_no_session(kit: KitPages, page: Page) -> None:
    kit.chromium.complaints.expected.append("status of 401")
    body = '{"success": false, "error": "Wrong password.", "code": "auth"}'
    page.context.route("**/api/carddav/connection/test", lambda route: route.fulfill(status=401, body=body))
    page.evaluate("connection.request('POST', '/api/carddav/connection/test', {})")
    assert page.evaluate("ended") == 0


def test_photo_is_set_and_its_address_changes_with_it(page: Page, alice: User, media: Path) -> None:
    ada = make_person(alice, name="Ada")
    pictures = [list(picture(color=color)) for color in ("red", "blue")]
    told = page.evaluate("tests.setPhotos", [str(ada.pk), pictures])
    assert told == [2, 200, "image/jpeg", None]


# Photos among the edits.


def test_photo_of_a_new_person_waits_with_the_other_edits(kit: KitPages, page: Page) -> None:
    ada = page.evaluate("tests.createPersonWithPhoto()")
    # The page is closed before anything was sent.
    again = kit.page(page.context)
    page.close()
    assert again.evaluate("tests.shownPhoto", ada) == "data:image/"
    assert again.evaluate(
        "copy.pending().then((edits) => edits.map(({ action, body }) => [action, 'photo' in body]))"
    ) == [
        ["create", False],
        ["update", True],
        ["update", False],
    ]
    assert again.evaluate("copy.sync()")["conflicts"] == 0
    assert again.evaluate("copy.pending().then(({ length }) => length)") == 0
    person = Person.unscoped.get()
    assert (person.photo is not None, person.surname) == (True, "Lovelace")
    assert again.evaluate("tests.shownPhoto", ada) == "http://127."
    assert sum("/photo" in request for request in kit.requests) == 1
    again.evaluate("(ada) => copy.setPhoto(ada, null)", ada)
    assert again.evaluate("tests.shownPhoto", ada) is None
    again.evaluate("copy.sync()")
    assert not Person.unscoped.get().photo


def test_photo_that_was_changed_elsewhere_is_a_conflict(page: Page, alice: User, media: Path) -> None:
    ada = make_person(alice, name="Ada")
    page.evaluate("copy.sync()")
    page.evaluate("tests.paintPhoto", [str(ada.pk), "red"])
    set_person_photo(owner_id=alice.pk, person_id=ada.pk, picture=picture(color="blue"), now=timezone.now())
    theirs = Person.unscoped.get().photo
    assert page.evaluate("copy.sync()")["conflicts"] == 1
    assert Person.unscoped.get().photo == theirs
    page.evaluate("copy.conflicts().then(([conflict]) => copy.resolve(conflict, 'mine')).then(() => copy.sync())")
    assert Person.unscoped.get().photo not in (theirs, None)
    assert page.evaluate("copy.conflicts()") == []


@pytest.mark.parametrize("is_changed_since", [False, True])
def test_photo_whose_response_was_lost_is_no_conflict_with_itself(
    kit: KitPages, page: Page, alice: User, media: Path, is_changed_since: bool
) -> None:
    ada = make_person(alice, name="Ada")
    page.evaluate("copy.sync()")
    page.evaluate("tests.paintPhoto", [str(ada.pk), "red"])
    stored = threading.Event()

    def lose_response(route: Route) -> None:
        route.fetch()
        stored.set()

    page.route("**/photo", lose_response)
    page.evaluate("void copy.sync().catch(() => undefined)")
    while not stored.is_set():
        page.wait_for_timeout(50)
    red = Person.unscoped.get().photo
    if is_changed_since:
        set_person_photo(owner_id=alice.pk, person_id=ada.pk, picture=picture(color="blue"), now=timezone.now())
    else:
        client_of(alice).ok("PUT", f"/api/people/{ada.pk}", {"notes": "elsewhere"})
    last = Person.unscoped.get().photo
    again = kit.page(page.context)
    page.close()
    assert again.evaluate("copy.sync()")["conflicts"] == 0
    assert again.evaluate("copy.pending()") == []
    # It was sent once: what another device has set since stays.
    assert (Person.unscoped.get().photo, last == red) == (last, not is_changed_since)
    assert again.evaluate("(ada) => copy.get('person', ada).then(({ photo }) => photo)", str(ada.pk)) == last


def test_photo_meets_a_newer_version_of_the_person(page: Page, alice: User, media: Path) -> None:
    """412 for what others have changed of them is no conflict; nor is the deletion after an own photo."""
    ada = make_person(alice, name="Ada")
    page.evaluate("copy.sync()")
    page.evaluate("tests.paintPhoto", [str(ada.pk), "red"])
    client_of(alice).ok("PUT", f"/api/people/{ada.pk}", {"notes": "elsewhere"})
    assert page.evaluate("copy.push()") == 1
    person = Person.unscoped.get()
    assert (bool(person.photo), person.notes) == (True, "elsewhere")
    page.evaluate("tests.paintPhoto", [str(ada.pk), "blue"])
    page.evaluate("(ada) => copy.delete('person', ada)", str(ada.pk))
    assert page.evaluate("copy.sync()")["conflicts"] == 0
    assert Person.unscoped.get().deleted_at is not None


def test_photo_brings_what_another_device_changed_meanwhile(
    kit: KitPages, page: Page, alice: User, media: Path
) -> None:
    """The ETag of the answer may be of a later version than the copy's. A later edit is a conflict all the same."""
    ada = make_person(alice, name="Ada", notes="old")
    page.evaluate("copy.sync()")
    page.evaluate("tests.paintPhoto", [str(ada.pk), "red"])
    page.evaluate("(ada) => copy.update('person', ada, { notes: 'mine' })", str(ada.pk))

    def after_photo(route: Route) -> None:
        response = route.fetch()
        other = client_of(alice)
        other.ok("PUT", f"/api/people/{ada.pk}", {"notes": "elsewhere", "surname": "Lovelace"})
        etag = other.get(f"/api/people/{ada.pk}")["ETag"]
        route.fulfill(response=response, headers={**response.headers, "etag": etag})

    page.route("**/photo", after_photo, times=1)
    assert page.evaluate("copy.push()") >= 1
    person = Person.unscoped.get()
    assert (bool(person.photo), person.notes, person.surname) == (True, "elsewhere", "Lovelace")
    (conflict,) = page.evaluate("copy.conflicts()")
    assert (conflict["field"], conflict["mine"], conflict["theirs"]) == ("notes", "mine", "elsewhere")
    assert page.evaluate("(ada) => copy.get('person', ada).then(({ surname }) => surname)", str(ada.pk)) == "Lovelace"


def test_person_removed_for_good_is_made_anew_with_the_new_photo(
    kit: KitPages, page: Page, alice: User, media: Path
) -> None:
    ada = make_person(alice, name="Ada")
    kit.chromium.complaints.expected.append("status of 404")
    page.evaluate("copy.sync()")
    page.evaluate("tests.paintPhoto", [str(ada.pk), "red"])
    client_of(alice).ok("DELETE", f"/api/people/{ada.pk}")
    client_of(alice).ok("DELETE", f"/api/people/{ada.pk}/permanent")
    assert page.evaluate("copy.sync()")["conflicts"] == 1
    page.evaluate("copy.conflicts().then(([conflict]) => copy.resolve(conflict, 'mine'))")
    page.evaluate("copy.push()")
    again = Person.unscoped.get()
    assert (again.pk != ada.pk, again.name, bool(again.photo)) == (True, "Ada", True)
    shown = page.evaluate("(id) => copy.get('person', id)", str(again.pk))
    assert (shown["name"], shown["photo"], shown["phoneNumbers"]) == ("Ada", again.photo, [])


def test_photo_that_is_refused_waits_for_the_user(kit: KitPages, page: Page, alice: User) -> None:
    ada = make_person(alice, name="Ada")
    kit.chromium.complaints.expected.append("status of 400")
    page.evaluate("copy.sync()")
    page.evaluate("(ada) => copy.setPhoto(ada, new Blob(['no picture'], { type: 'image/png' }))", str(ada.pk))
    assert page.evaluate("copy.sync()")["refused"] == 1
    page.evaluate("copy.refused().then(([edit]) => copy.discard(edit))")
    assert page.evaluate("(ada) => copy.get('person', ada).then(({ photo }) => photo)", str(ada.pk)) is None
