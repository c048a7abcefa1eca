"""The lease of a run is renewed during slow responses: a listing, a multiget, a write."""

import datetime as dt
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from accounts.models import User
from carddav.models import Connection, Run
from carddav.sync import lock
from tests.carddav.conftest import card
from tests.carddav.faults import method, reports
from tests.carddav.proxy import Condition, Fault, fault_proxy
from tests.carddav.servers import DavServer
from tests.carddav.sync.server_synced_account import ServerSyncedAccount

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def synced(alice: User, radicale_server: DavServer) -> Iterator[ServerSyncedAccount]:
    with fault_proxy(radicale_server.port) as proxy:
        yield ServerSyncedAccount(alice, radicale_server, proxy, sync_enabled=False)


def submit(pool: ThreadPoolExecutor, work: Callable[[], Any]) -> Any:
    def run() -> Any:
        try:
            return work()
        finally:
            connections.close_all()

    return pool.submit(run)


@pytest.mark.parametrize("slow", [reports("sync-collection"), reports("addressbook-multiget"), method("PUT")])
def test_slow_response_keeps_the_lock(
    synced: ServerSyncedAccount, monkeypatch: pytest.MonkeyPatch, slow: Condition
) -> None:
    synced.put("1.vcf", card("1", "Ada"))
    synced.create(name="Bob")
    monkeypatch.setattr(lock, "HEARTBEAT_SECONDS", 0.05)
    held, until = Event(), Event()
    synced.proxy.add(hold_until(held, until, when=slow))
    rows = Connection.objects.owned_by(synced.owner)
    with ThreadPoolExecutor(1) as pool:
        run = submit(pool, synced.sync)
        assert held.wait(60)
        rows.update(held_until=timezone.now() - dt.timedelta(seconds=1))  # as if the lease had expired
        renewed = wait_until(lambda: rows.filter(held_until__gt=timezone.now()).exists())
        until.set()
        ended: Run = run.result()
    assert renewed
    assert (ended.code, ended.error_messages, ended.imported, ended.exported) == ("", [], 1, 1)


def test_idle_lock_is_not_renewed(synced: ServerSyncedAccount, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "HEARTBEAT_SECONDS", 0.05)
    monkeypatch.setattr(lock, "_MAX_STEP_SECONDS", -1.0)
    rows = Connection.objects.owned_by(synced.owner)
    claim = rows.acquire(lock.LEASE, clock=timezone.now())
    assert claim
    with lock.Lock(synced.connection, claim).heartbeat() as thread:
        rows.update(held_until=timezone.now() - dt.timedelta(seconds=1))
        thread.join(60)
        assert not thread.is_alive()
        assert not rows.filter(held_until__gt=timezone.now()).exists()


def hold_until(held: Event, until: Event, **rest: Any) -> Fault:
    """Let the request through once `until` is set."""

    def before(request: Any) -> None:
        held.set()
        until.wait(60)

    return Fault(before=before, times=1, **rest)


def wait_until(is_true: Callable[[], bool]) -> bool:
    give_up_at = time.monotonic() + 30
    while time.monotonic() < give_up_at:
        if is_true():
            return True
        time.sleep(0.02)
    return False
