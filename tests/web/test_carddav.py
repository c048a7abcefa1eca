"""CardDAV: connect with a test first, the plan, the sync, and what waits for a decision."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from carddav.models import Conflict, Connection, HeldBack, Mapping, PendingImport, Run
from carddav.services.runs import execute_run
from people.models import Person
from tests.builders import make_person
from tests.carddav.builders import make_conflict, make_connection, make_mapping, make_pending, make_run
from tests.carddav.servers import DavServer, radicale
from tests.loopback import allow_loopback, closed_port
from tests.web.conftest import Web
from tests.web.test_accessibility import violations

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

CARD = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:zoe\r\nFN:Zoe\r\nN:;Zoe;;;\r\nEND:VCARD\r\n"


@pytest.fixture
def server(tmp_path: Path, settings: Any) -> Iterator[DavServer]:
    allow_loopback(settings)
    with radicale(tmp_path) as server:
        yield server


def work(web: Web, page: Page) -> None:
    """Do the run that the page has started, as the worker does."""
    queued = Run.unscoped.filter(ended_at=None)
    expect(page.get_by_text("Waiting for the worker")).to_be_visible()
    web.eventually(page, queued.exists)
    execute_run(queued.get().pk)


def test_server_is_tested_connected_planned_and_synced(web: Web, alice: User, server: DavServer) -> None:
    book = server.make_book("user")
    server.put("user", f"{book}zoe.vcf", CARD)
    page = web.open("/carddav")
    assert violations(page) == []
    page.get_by_label("Address of the server").fill(f"http://127.0.0.1:{closed_port()}/")
    page.get_by_label("User name on the server").fill("user")
    page.get_by_label("Password").fill("secret")
    web.chromium.complaints.expected += ["404"]
    page.get_by_role("button", name="Test and connect").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert not Connection.unscoped.exists()
    page.get_by_label("Address of the server").fill(server.url)
    page.get_by_role("button", name="Test and connect").click()
    page.get_by_role("button", name="Show what would happen").click()
    work(web, page)
    expect(page.get_by_role("heading", name="This would happen")).to_be_visible()
    expect(page.get_by_text("1 waits to be imported").first).to_be_visible()
    assert not PendingImport.unscoped.exists()
    page.get_by_role("button", name="Sync now").click()
    work(web, page)
    expect(page.get_by_role("heading", name="Synced", exact=True)).to_be_visible()
    page.get_by_role("button", name="Import it: Zoe").click()
    web.eventually(page, lambda: Person.unscoped.filter(name="Zoe").exists())
    assert violations(page) == []
    page.get_by_role("button", name="Disconnect").click()
    page.get_by_role("dialog").get_by_role("button", name="Disconnect").click()
    expect(page.get_by_role("heading", name="Connect a server")).to_be_visible()


def test_login_is_changed_after_a_test_and_its_draft_survives(web: Web, alice: User, server: DavServer) -> None:
    server.make_book("user")
    make_connection(alice, server_url=server.url, last_error_code="auth")
    page = web.open("/carddav")
    page.get_by_role("button", name="Change the login").click()
    page.get_by_label("User name on the server").fill("user")
    page.get_by_label("Address of the server").fill(f"http://127.0.0.1:{closed_port()}/")
    page.get_by_label("Password").fill("better")
    page.wait_for_timeout(400)
    page.reload()
    expect(page.get_by_label("User name on the server")).to_have_value("user")
    expect(page.get_by_label("Password")).to_have_value("")
    page.get_by_label("Password").fill("better")
    web.chromium.complaints.expected += ["404"]
    page.get_by_role("button", name="Test and save").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert Connection.unscoped.get().username == "ada"
    assert violations(page) == []
    page.get_by_label("Address of the server").fill(server.url)
    page.get_by_role("button", name="Test and save").click()
    expect(page.get_by_role("button", name="Change the login")).to_be_visible()
    connection = Connection.unscoped.get()
    assert (connection.username, connection.password, connection.server_url) == ("user", "better", server.url)
    assert connection.last_error_code == ""
    page.reload()
    expect(page.get_by_label("Password")).to_have_count(0)


def test_what_waits_is_decided(web: Web, alice: User) -> None:
    connection = make_connection(alice, sync_enabled=False, auto_export_new=False)
    ada, ben = make_person(alice, name="Ada", organization="Here"), make_person(alice, name="Ben")
    make_conflict(make_mapping(connection, ada))
    make_mapping(connection, ben)
    Mapping.unscoped.filter(person=ben).update(code=HeldBack.REFUSED)
    make_pending(alice)
    run = make_run(connection)
    Run.unscoped.filter(pk=run.pk).update(updated_locally=1)
    page = web.open("/carddav")
    expect(page.get_by_role("button", name="Try again: Ben")).to_be_visible()
    page.keyboard.press("2")
    expect(page.get_by_label("On the server: There")).to_be_checked()
    assert violations(page) == []
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Changed here and on the server")).to_have_count(0)
    assert Conflict.unscoped.get().resolution == "keep_remote"
    page.get_by_role("button", name="Import 1").click()
    web.eventually(page, lambda: Person.unscoped.filter(name="Zoe").exists())
    page.get_by_role("button", name="Take back: ").click()
    page.get_by_role("dialog").get_by_role("button", name="Take back").click()
    web.eventually(page, lambda: Run.unscoped.get(pk=run.pk).undone_at is not None)
