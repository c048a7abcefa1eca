"""What a batch takes of the write lock, which on SQLite all writers share. Statements and turns are counted."""

import threading
import time
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.api import batch_runner
from accounts.api.batch_runner import ATOMIC_BATCHES, AtomicBatches
from accounts.models import User
from contacts_project.kernel.errors import UnavailableError
from contacts_project.kernel.external_waits import TooManyExternalWaitsError, release_thread
from contacts_project.kernel.ownership import account_lock
from people.models import Person
from tests.accounts.test_batch import BATCH, group, operation, run_batch, statuses
from tests.builders import make_person
from tests.client import Client
from tests.concurrency import wait_until

pytestmark = pytest.mark.django_db
WRITES = ("INSERT", "UPDATE", "DELETE", "BEGIN", "SAVEPOINT")


@pytest.mark.parametrize("key", [None, "one"])
def test_atomic_batch_of_reads_takes_no_lock(
    api: Client, ada: Person, monkeypatch: pytest.MonkeyPatch, key: Any
) -> None:
    reads = [operation("GET", path) for path in ("/api/people", f"/api/people/{ada.pk}", "/api/people/search?q=ada")]

    def refuse(*args: Any) -> None:
        raise AssertionError("the account's lock is taken")

    monkeypatch.setattr(account_lock, "_raise_revision", refuse)
    extra = {} if key is None else {"HTTP_IDEMPOTENCY_KEY": key}
    if key is None:
        api.ok("GET", "/api/people")  # so that `last_used_at` of the credential is not written now
        with CaptureQueriesContext(connection) as captured:
            results = run_batch(api, *reads, atomic=True)
        assert [sql for query in captured for sql in [query["sql"]] if sql.startswith(WRITES)] == []
    else:
        results = run_batch(api, *reads, atomic=True, **extra)
    assert statuses(results) == [200, 200, 200]


def test_failure_in_a_batch_of_reads_stops_it(api: Client, ada: Person) -> None:
    missing = operation("GET", f"/api/people/{uuid4()}")
    found, listed = operation("GET", f"/api/people/{ada.pk}"), operation("GET", "/api/groups")
    results = run_batch(api, found, missing, listed, atomic=True)
    assert statuses(results) == [424, 404, 424]


LONG_READS = (
    "/api/people",
    "/api/people/search?q=ada",
    "/api/people/search-index",
    "/api/find?q=ada",
    "/api/changes",
    "/api/groups",
    "/api/insights",
    "/api/upcoming",
    "/api/dashboard/graph",
    "/api/people/duplicates",
    "/api/relationships",
)


@pytest.mark.parametrize("path", LONG_READS)
def test_long_read_in_an_atomic_batch_that_writes_is_400(api: Client, alice: User, path: str) -> None:
    results = run_batch(api, group("Friends"), operation("GET", path), group("Family"), atomic=True)
    assert statuses(results) == [424, 400, 424]
    assert results[1]["body"]["code"] == "not_in_batch"
    assert statuses(run_batch(api, operation("GET", path), atomic=True)) == [200]
    assert statuses(run_batch(api, group("Friends"), operation("GET", path))) == [201, 200]


def test_single_records_are_read_in_an_atomic_batch_that_writes(api: Client, ada: Person) -> None:
    made = run_batch(api, group("Friends"))[0]["body"]["group"]["id"]
    paths = (
        f"/api/people/{ada.pk}",
        f"/api/groups/{made}",
        "/api/user/profile",
        "/api/version",
        "/api/notifications/channels",
        "/api/carddav/pending-count",
    )
    results = run_batch(api, group("Family"), *(operation("GET", path) for path in paths), atomic=True)
    assert statuses(results) == [201, *[200] * len(paths)]


def test_next_batch_waits_as_long_as_the_last_one_held_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, account = [1_000.0], uuid4()

    def wait(seconds: float) -> None:
        clock[0] += seconds

    monkeypatch.setattr(batch_runner, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=wait))
    batches, begun = AtomicBatches(), []
    for held in (3.0, 0.5, 0.0):
        with batches.one_at_a_time(account):
            begun.append(clock[0])
            clock[0] += held
            batches.pause(account, held)
        with batches.one_at_a_time(uuid4()):
            pass  # another account does not wait
    assert begun == [1_000.0, 1_006.0, 1_007.0]
    assert clock == [1_007.0]


def test_one_batch_of_an_account_at_a_time_and_a_bounded_line() -> None:
    batches, account = AtomicBatches(), uuid4()
    order: list[str] = []
    most = int(batches._places.limits.waiting_per_key)

    def run() -> None:
        with batches.one_at_a_time(account):
            order.append("begin")
            time.sleep(0.001)
            order.append("end")

    threads = [threading.Thread(target=run) for _ in range(most)]
    with batches.one_at_a_time(account):
        for number, thread in enumerate(threads, start=1):
            thread.start()
            wait_until(lambda: batches._places.waiting(account) == number)  # noqa: B023 - called here
        with pytest.raises(UnavailableError), batches.one_at_a_time(account):
            raise AssertionError
        with batches.one_at_a_time(uuid4()):
            pass
    for thread in threads:
        thread.join(60)
    assert order == ["begin", "end"] * most
    assert not batches._places.held(account)


def test_pauses_that_are_over_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_runner, "_MAX_PAUSES", 3)
    batches, long = AtomicBatches(), uuid4()
    batches.pause(long, 1_000.0)
    for _ in range(10):
        batches.pause(uuid4(), 0.0)
    assert long in batches._next_at
    assert len(batches._next_at) <= 4


def test_call_out_that_is_refused_during_the_pause_keeps_the_place_of_nobody() -> None:
    """With too many requests of the account that wait, the batch is a 503, and the next one waits for its pause."""
    batches, account = AtomicBatches(), uuid4()
    batches.pause(account, 1_000.0)

    def refuse() -> AbstractContextManager[None]:
        raise TooManyExternalWaitsError

    token = release_thread.set(refuse)
    try:
        for _ in range(2):
            with pytest.raises(TooManyExternalWaitsError), batches.one_at_a_time(account):
                raise AssertionError
    finally:
        release_thread.reset(token)
    assert not batches._places.held(account)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="on PostgreSQL a batch holds its own account's lock only")
def test_request_waits_for_its_turn_without_the_lock(api: Client, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with an Idempotency-Key, whose transaction would hold the lock meanwhile."""
    make_person(alice)
    statements: list[int] = []

    def note(seconds: float) -> None:
        assert seconds > 900
        statements.append(len([query for query in captured if query["sql"].startswith(WRITES)]))

    clock = SimpleNamespace(monotonic=time.monotonic, perf_counter=time.perf_counter, sleep=note)
    monkeypatch.setattr(batch_runner, "time", clock)
    body = {"operations": [group("One")], "atomic": True}
    for number in range(2):
        ATOMIC_BATCHES.pause(alice.pk, 1_000)
        with CaptureQueriesContext(connection) as captured:
            api.ok("POST", BATCH, {**body, "operations": [group(f"G{number}")]}, HTTP_IDEMPOTENCY_KEY=f"key{number}")
    assert statements == [0, 0]
    ATOMIC_BATCHES.pause(alice.pk, 1_000)
    run_batch(api, group("Other"))
    run_batch(api, operation("GET", "/api/groups"), atomic=True)
    assert statements == [0, 0], "only what holds the lock for long waits"
