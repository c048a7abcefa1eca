"""The connection, account or person is removed during a sync, export or cron; and refused logins."""

from collections.abc import Callable
from contextlib import suppress
from unittest.mock import patch
from uuid import UUID

import pytest
from django.utils import timezone

from accounts.models import User
from carddav.models import Connection, Mapping, Pause, PendingImport, Run, RunState, RunTrigger, Todo
from carddav.services import books, runs, schedule
from carddav.sync.context import JobReport
from carddav.tasks import run_sync
from people.models import Person
from people.services.people import delete_people, remove_person
from tests.builders import make_person
from tests.carddav.builders import make_connection
from tests.carddav.faults import fail
from tests.carddav.proxy import fault_proxy
from tests.carddav.sync.memory_book import Killed
from tests.carddav.sync.synced_account import SyncedAccount, vcard
from tests.client import Client


@pytest.fixture
def synced(alice: User) -> SyncedAccount:
    synced = SyncedAccount(alice)
    for number in range(3):
        synced.server.edit(f"{number}.vcf", vcard(f"P{number} Test", "TEL:1", uid=str(number)))
    return synced


def during_request(synced: SyncedAccount, at: str, work: Callable[[], object]) -> None:
    """Call `work` during the first request of this kind."""
    done: list[str] = []

    def on_request(what: str) -> None:
        if what.startswith(at) and not done:
            done.append(what)
            work()

    synced.server.on_request = on_request


@pytest.mark.parametrize("at", ["changes", "multiget"])
def test_connection_removed_during_a_run(synced: SyncedAccount, at: str) -> None:
    during_request(synced, at, lambda: synced.api.ok("DELETE", "/api/carddav/connection"))
    run = synced.sync()
    assert run.code == "interrupted"
    for model in (Connection, Run, PendingImport, Mapping, Todo):
        assert not model.unscoped.rows().exists()
    assert not Person.objects.owned_by(synced.owner).exists()


def test_connection_removed_before_its_run(synced: SyncedAccount) -> None:
    run = runs.start_run(owner=synced.owner, trigger="manual", now=timezone.now())
    synced.api.ok("DELETE", "/api/carddav/connection")
    run_sync(str(run.pk))


@pytest.mark.parametrize("at", ["changes", "multiget"])
def test_account_deleted_during_a_run(synced: SyncedAccount, at: str) -> None:
    during_request(synced, at, lambda: User.objects.filter(pk=synced.owner.pk).delete())
    assert synced.sync().code == "interrupted"
    assert not Run.unscoped.rows().exists()


@pytest.mark.parametrize("at", ["changes", "multiget"])
def test_connection_removed_during_discovery(synced: SyncedAccount, at: str) -> None:
    during_request(synced, at, lambda: synced.api.ok("DELETE", "/api/carddav/connection"))
    with patch.object(books, "open_book", synced.open_book):
        response = synced.api.call("POST", "/api/carddav/discover")
    assert response.status_code in {404, 409}, response.content
    assert not PendingImport.unscoped.rows().exists()


def test_connection_removed_during_an_export(synced: SyncedAccount) -> None:
    person = synced.make_person(name="Bob")
    during_request(synced, "put", lambda: synced.api.ok("DELETE", "/api/carddav/connection"))
    with patch.object(books, "open_book", synced.open_book):
        response = synced.api.call("POST", "/api/carddav/export-bulk", {"personIds": [str(person.pk)]})
    assert response.status_code in {404, 409}, response.content


def test_server_changed_during_an_export(synced: SyncedAccount) -> None:
    person = synced.make_person(name="Bob")
    during_request(
        synced, "put", lambda: synced.api.ok("PUT", "/api/carddav/connection", {"serverUrl": "https://dav.example/"})
    )
    with patch.object(books, "open_book", synced.open_book):
        response = synced.api.call("POST", "/api/carddav/export-bulk", {"personIds": [str(person.pk)]})
    assert response.status_code == 409, response.content


@pytest.mark.parametrize("is_reply_lost", [False, True])
def test_person_removed_permanently_during_its_push(synced: SyncedAccount, is_reply_lost: bool) -> None:
    synced.sync()
    person = synced.make_person(name="Bob")

    def remove() -> None:
        if is_reply_lost:
            synced.server.faults[len(synced.server.requests)] = "lose_after"
        now = timezone.now()
        delete_people(owner=synced.owner, person_ids=[person.pk], options={"delete_from_card_dav": True}, now=now)
        remove_person(owner=synced.owner, person_id=person.pk)

    during_request(synced, "put", remove)
    assert synced.sync().code == ""
    assert synced.sync().code == ""
    assert not [card for card in synced.server.cards.values() if "Bob" in card.text], "it comes back as an import"
    assert not Person.objects.owned_by(synced.owner).filter(name="Bob").exists()


def test_person_deleted_during_its_push(synced: SyncedAccount) -> None:
    synced.sync()
    person = synced.make_person(name="Bob")
    during_request(
        synced,
        "put",
        lambda: synced.api.ok("DELETE", f"/api/people/{person.pk}", {"deleteFromCardDav": True}),
    )
    assert synced.sync().code == ""
    assert synced.sync().code == ""
    assert not [card for card in synced.server.cards.values() if "Bob" in card.text]
    assert not Person.objects.owned_by(synced.owner).active().filter(name="Bob").exists()
    assert not PendingImport.objects.owned_by(synced.owner).exists()


def test_failing_account_does_not_stop_the_cron(synced: SyncedAccount, mallory: User) -> None:
    make_connection(mallory)
    ran = []

    def execute(run_id: UUID) -> Run:
        ran.append(run_id)
        if len(ran) == 1:
            raise RuntimeError("something nobody thought of")
        run: Run = Run.unscoped.rows().get(pk=run_id)
        run.state = RunState.ENDED
        run.save()
        return run

    with patch.object(schedule, "ACCOUNT_PAUSE_SECONDS", 0), patch.object(schedule, "execute_run", execute):
        receipt = schedule.sync_due(now=timezone.now(), trigger=RunTrigger.CRON)
    assert (receipt.done, receipt.skipped, receipt.errors) == (1, 0, 1)
    assert len(receipt.messages) == 1


def test_cron_skips_accounts_that_another_cron_has_synced(synced: SyncedAccount, mallory: User) -> None:
    """The second cron starts while the first one pauses before its second account."""
    other = SyncedAccount(mallory)
    other.server.edit("1.vcf", vcard("Ada Test", uid="1"))
    openers = {synced.owner: synced.open_book, mallory: other.open_book}
    receipts: list[JobReport] = []

    def sleep(seconds: float) -> None:
        receipts.append(schedule.sync_due(now=timezone.now(), trigger=RunTrigger.CRON))

    with (
        patch("time.sleep", sleep),
        patch.object(books, "open_book", lambda context, **options: openers[context.owner](context, **options)),
    ):
        receipts.append(schedule.sync_due(now=timezone.now(), trigger=RunTrigger.CRON))
    assert [(receipt.done, receipt.skipped, receipt.errors) for receipt in receipts] == [(1, 1, 0), (1, 1, 0)]
    assert [Run.objects.owned_by(owner).count() for owner in (synced.owner, mallory)] == [1, 1]


def test_connection_removed_before_its_turn_does_not_stop_the_cron(synced: SyncedAccount, mallory: User) -> None:
    make_connection(mallory)

    def sleep(seconds: float) -> None:
        Connection.unscoped.rows().delete()

    with patch("time.sleep", sleep), patch.object(books, "open_book", synced.open_book):
        receipt = schedule.sync_due(now=timezone.now(), trigger=RunTrigger.CRON)
    assert receipt.skipped == 1
    assert receipt.done + receipt.errors == 1


@pytest.mark.parametrize(
    ("path", "is_known"),
    [("/api/carddav/discover", True), ("/api/carddav/discover", False), ("/api/carddav/export-bulk", True)],
)
def test_refused_login_is_not_retried(api: Client, alice: User, path: str, is_known: bool) -> None:
    body = {"personIds": [str(make_person(alice, name="Ada").pk)]} if "export" in path else None
    with fault_proxy() as proxy:
        proxy.add(fail(401))
        make_connection(alice, server_url=proxy.url, **({} if is_known else {"book_url": ""}))
        for _ in range(3):
            assert api.ok("POST", path, body)["success"] is False
        assert proxy.count() == 1
    connection = Connection.objects.owned_by(alice).get()
    assert (connection.pause, connection.last_error_code) == (Pause.AUTH, "auth")


def test_retry_after_of_the_server_is_respected(api: Client, alice: User) -> None:
    with fault_proxy() as proxy:
        proxy.add(fail(503, headers={"Retry-After": "300"}))
        make_connection(alice, server_url=proxy.url)
        for _ in range(3):
            assert api.ok("POST", "/api/carddav/discover")["success"] is False
        assert proxy.count() == 1


def test_person_excluded_from_sync_is_skipped(synced: SyncedAccount) -> None:
    person = synced.make_person(name="Bob", card_dav_sync_enabled=False)
    with patch.object(books, "open_book", synced.open_book):
        response = synced.api.ok("POST", "/api/carddav/export-bulk", {"personIds": [str(person.pk)]})
    assert response == {"success": True, "exported": 0, "skipped": 1, "errors": 0, "errorMessages": []}


@pytest.mark.parametrize("fault", ["kill_before", "kill_after"])
@pytest.mark.parametrize("is_removed", [True, False])
def test_person_deleted_after_the_worker_was_killed_during_its_push(
    synced: SyncedAccount, fault: str, is_removed: bool
) -> None:
    synced.sync()
    person = synced.make_person(name="Bob")
    synced.requests()
    synced.server.faults = {2: fault}  # the listing, then the card
    with suppress(Killed):
        synced.sync()
    Run.unscoped.rows().exclude(state=RunState.ENDED).update(state=RunState.ENDED)
    Connection.unscoped.rows().update(held_until=None, holder="", claim=None)
    synced.api.ok("DELETE", f"/api/people/{person.pk}", {"deleteFromCardDav": True})
    if is_removed:
        synced.api.ok("DELETE", f"/api/people/{person.pk}/permanent")
    for _ in range(2):
        assert synced.sync().code == ""
    assert len(synced.server.cards) == 3
    assert Person.objects.owned_by(synced.owner).active().count() == 3
