"""Requests of one account to carddav that start at the same moment."""

import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from threading import Event
from typing import Any
from unittest.mock import patch

import pytest
from django.db.models.signals import post_save
from django.utils import timezone

from accounts.models import User
from accounts.services.deletion import delete_account
from carddav.models import Connection, Mapping, PendingImport, Run, RunTrigger
from carddav.services import books
from carddav.services.runs import start_due_run, start_run
from carddav.services.schedule import sync_due
from contacts_project.kernel.errors import MissingError
from people.models import Person
from tests.builders import make_person
from tests.carddav.builders import make_conflict, make_connection, make_mapping, make_pending
from tests.carddav.sync.synced_account import SyncedAccount, vcard
from tests.concurrency import repeat_concurrently, run_concurrently

pytestmark = pytest.mark.django_db(transaction=True)
BODY = {"serverUrl": "https://dav.example/", "username": "ada", "password": "secret"}


def test_concurrent_requests_create_one_connection(alice: User) -> None:
    found = repeat_concurrently(alice, 4, lambda api, i: api.call("POST", "/api/carddav/connection", BODY))
    assert found == Counter({200: 1, 409: 3})
    assert Connection.objects.owned_by(alice).count() == 1


def test_uploaded_card_is_imported_once(alice: User) -> None:
    body = {"importIds": [str(make_pending(alice).pk)]}
    found = repeat_concurrently(alice, 4, lambda api, i: api.call("POST", "/api/carddav/import", body))
    assert set(found) <= {200, 400}
    assert Person.objects.owned_by(alice).count() == 1


def test_card_of_the_server_is_imported_once(alice: User) -> None:
    synced = SyncedAccount(alice, import_mode="manual")
    synced.server.edit("1.vcf", vcard("Ada L", uid="1"))
    synced.sync()
    body = {"importIds": [str(PendingImport.objects.owned_by(alice).get().pk)]}
    found = repeat_concurrently(alice, 4, lambda api, i: api.call("POST", "/api/carddav/import", body))
    assert set(found) <= {200, 400}
    assert Person.objects.owned_by(alice).count() == Mapping.objects.owned_by(alice).count() == 1


def test_conflict_is_resolved_once(alice: User) -> None:
    synced = SyncedAccount(alice)
    conflict = make_conflict(make_mapping(synced.connection, make_person(alice, name="Ada")))
    path = f"/api/carddav/conflicts/{conflict.pk}/resolve"
    found = repeat_concurrently(alice, 4, lambda api, i: api.call("POST", path, {"resolution": "keep_local"}))
    assert found == Counter({400: 3, 200: 1})


def test_person_exported_twice_gets_one_card(alice: User) -> None:
    synced = SyncedAccount(alice)
    person = make_person(alice, name="Ada")
    body = {"personIds": [str(person.pk)]}
    with patch.object(books, "open_book", synced.open_book):
        found = repeat_concurrently(alice, 3, lambda api, i: api.call("POST", "/api/carddav/export-bulk", body))
    assert set(found) == {200}
    assert len(synced.server.cards) == 1


def test_two_crons_and_a_deleted_connection_start_one_run(alice: User) -> None:
    synced = SyncedAccount(alice)
    for number in range(3):
        synced.server.edit(f"{number}.vcf", vcard(f"P{number} L", uid=str(number)))
    with patch.object(books, "open_book", synced.open_book):
        receipts = run_concurrently(*[lambda: sync_due(now=timezone.now(), trigger=RunTrigger.CRON)] * 3)
    assert [receipt.errors for receipt in receipts] == [0, 0, 0]
    assert Run.objects.owned_by(alice).count() == 1
    assert Person.objects.owned_by(alice).count() == 3


def test_runs_started_while_the_connection_is_deleted(alice: User) -> None:
    synced = SyncedAccount(alice)
    with patch.object(books, "open_book", synced.open_book):
        run_concurrently(
            *[lambda: sync_due(now=timezone.now(), trigger=RunTrigger.CRON)] * 2,
            lambda: synced.api.call("DELETE", "/api/carddav/connection"),
        )
    assert not Run.unscoped.rows().exists()


@pytest.mark.parametrize("start_run", [start_run, start_due_run])
def test_account_deleted_while_its_run_is_created(alice: User, start_run: Callable[..., Run | None]) -> None:
    make_connection(alice)
    is_created = Event()

    def wait(**options: Any) -> None:
        is_created.set()
        time.sleep(0.5)  # the deletion begins before the run is committed

    def delete() -> None:
        assert is_created.wait(120)
        delete_account(user=alice)

    post_save.connect(wait, sender=Run)
    try:
        run_concurrently(partial(start_run, owner=alice, trigger=RunTrigger.CRON, now=timezone.now()), delete)
    finally:
        post_save.disconnect(wait, sender=Run)
    assert not User.objects.filter(pk=alice.pk).exists()
    assert not Run.unscoped.rows().exists()


def test_no_run_is_created_for_a_deleted_account(alice: User) -> None:
    make_connection(alice)
    delete_account(user=User.objects.get(pk=alice.pk))
    assert start_due_run(owner=alice, trigger=RunTrigger.CRON, now=timezone.now()) is None
    with pytest.raises(MissingError):
        start_run(owner=alice, trigger=RunTrigger.CRON, now=timezone.now())
