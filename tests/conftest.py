"""Fixtures of all tests: alice (owner), mallory (stranger) and their clients. Blocks the network beyond loopback."""

import gc
import ipaddress
import logging
import os
import shutil
import socket
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.core import mail
from django.core.cache import cache
from django.db.models.signals import pre_save
from django.test import TransactionTestCase
from django.urls import get_resolver
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from accounts.models import User
from contacts_project.beat import seed_schedule
from contacts_project.kernel.ownership import account_lock
from contacts_project.kernel.ownership.models import OwnedQuerySet
from people.models import Person
from tests import ROOT
from tests.builders import make_person, make_user
from tests.client import Client, client_of
from tests.contacts_project.server.server_thread import RunningServer, serve_whole_service
from tests.databases import flush
from tests.leaks import leak_detector, leak_handler
from tests.mailbox import Mailbox, smtp_server, use_mailbox
from tests.open_transactions import end_open_transaction, record_connections
from tests.rounds import rounds

# Until the tests are collected: nearly all objects that this creates stay alive, so there is no garbage to find.
gc.disable()
record_connections()

# No deadline: a property test must not fail because the machine is slow.
hypothesis_settings.register_profile(
    "tests", max_examples=rounds(25), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("tests")

ON_POSTGRESQL = "TEST_DATABASE_URL" in os.environ
# They run first: if one of them ran last, the other workers would be idle meanwhile.
SLOWEST_FILES = {
    "test_accessibility.py",
    "test_attacks.py",
    "test_clients.py",
    "test_compose.py",
    "test_drill.py",
    "test_dry_run_property.py",
    "test_fair_worker.py",
    "test_faults.py",
    "test_forecast_property.py",
    "test_growth.py",
    "test_killed_worker.py",
    "test_kit.py",
    "test_lists.py",
    "test_network.py",
    "test_real_servers.py",
    "test_restore.py",
    "test_routes.py",
    "test_serve.py",
    "test_server_faults.py",
    "test_stateful.py",
    "test_syncevolution.py",
    "test_thunderbird.py",
    "test_turkish_database.py",
    "test_two_instances.py",
    "test_upgrade.py",
    "test_watchdog.py",
    "test_workers.py",
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the slowest files first. On PostgreSQL, skip tests that do not depend on the database."""
    items.sort(key=lambda item: item.path.name not in SLOWEST_FILES)
    selected = [item for item in items if is_sampled(item) and (depends_on_database(item) or not ON_POSTGRESQL)]
    config.hook.pytest_deselected(items=list(set(items).difference(selected)))
    items[:] = selected


def pytest_collection_finish(session: pytest.Session) -> None:
    """Exempt the tests from garbage collection: scanning them took a tenth of the run."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


def depends_on_database(item: pytest.Item) -> bool:
    """Whether the test may use the database and its marks leave a reason to run it on each."""
    if item.get_closest_marker("one_database"):
        return False
    if item.get_closest_marker("sqlite_suffices") and not item.get_closest_marker("both_databases") and rounds(1) < 2:
        return False
    return uses_database(item)


def uses_database(item: pytest.Item) -> bool:
    fixtures = getattr(item, "fixturenames", [])
    return bool(item.get_closest_marker("django_db") or {"db", "transactional_db"}.intersection(fixtures))


def is_sampled(item: pytest.Item) -> bool:
    """Whether this run includes the test's combination of parameters.

    `split`: SQLite runs the even values of the first parameter, PostgreSQL the odd ones. `pairs` (of three or more
    parameters) and `alternating` (of two): combinations whose indices have an even sum, in which every pair of values,
    or every single value, occurs. Other tests are always included; with TEST_ROUNDS=2 or more, every combination is.
    """
    indices = item.callspec.indices if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    if item.get_closest_marker("split"):
        position = next(iter(indices.values())) + ON_POSTGRESQL
    elif (item.get_closest_marker("pairs") and len(indices) > 2) or item.get_closest_marker("alternating"):
        position = sum(indices.values())
    else:
        return True
    return position % 2 < rounds(1)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Fail a test that leaves a transaction open, after its own has been rolled back."""
    yield
    if uses_database(item) and (found := end_open_transaction()):
        pytest.fail(found, pytrace=False)


def pytest_sessionfinish(session: pytest.Session) -> None:
    shutil.rmtree(settings.DATA_DIR, ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def _import_routes() -> None:
    """Import all routes before any test changes the clock, because some modules read the time at import."""
    assert get_resolver().url_patterns


@pytest.fixture(autouse=True)
def _block_network_beyond_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail a test that connects to an address beyond loopback."""
    original_connect = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and not ipaddress.ip_address(address[0].partition("%")[0]).is_loopback:
            raise AssertionError(f"a test tried to reach {address}")
        original_connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)


@pytest.fixture(scope="session", autouse=True)
def _fast_flush() -> Iterator[None]:
    """After a transactional test, empty only the tables that have rows, instead of Django's flush of all tables."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda case: flush())
        yield


@pytest.fixture(scope="session", autouse=True)
def _tests_may_write_without_account_write() -> Iterator[None]:
    """Let test code create and change rows outside account_write; code of the service is still refused.

    The caller is the first frame that is neither Django's nor that of the ownership classes.
    """
    tests = f"{ROOT}/tests/"  # the path, as the project may lie in a folder of that name
    original_refuse_write = account_lock.refuse_write
    ours = ("/contacts_project/kernel/ownership/", "/accounts/models/user.py", "/people/models/account_counts.py")
    skipped = ("/django/", *ours, "<")

    def refuse(model: type[Any]) -> dict[str, Any]:
        frame = sys._getframe(1)
        while any(part in frame.f_code.co_filename for part in skipped) and frame.f_back:
            frame = frame.f_back
        return {} if frame.f_code.co_filename.startswith(tests) else original_refuse_write(model)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(account_lock, "refuse_write", refuse)
        yield


@pytest.fixture(scope="session", autouse=True)
def _feed_leak_detector() -> Iterator[None]:
    """Pass every password that is set and every name that is saved to the leak detector."""

    def add_saved_names(instance: Any, sender: type[Any], **kwargs: Any) -> None:
        if sender in (Person, User):
            owner_id = instance.owner_id if sender is Person else instance.pk
            # Not by getattr, which reads columns that were left out of a query.
            leak_detector.add_names(owner_id, map(vars(instance).get, ("name", "surname", "nickname")))

    def set_password(self: User, raw_password: str | None) -> None:
        leak_detector.passwords.update(filter(None, [raw_password]))
        original_set_password(self, raw_password)

    def bulk_update(self: Any, objs: Iterable[Any], *args: Any, **kwargs: Any) -> int:
        rows = list(objs)
        for row in rows:
            add_saved_names(row, type(row))
        return original_bulk_update(self, rows, *args, **kwargs)

    original_set_password, original_bulk_update = User.set_password, OwnedQuerySet.bulk_update
    pre_save.connect(add_saved_names)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(User, "set_password", set_password)
        patch.setattr(OwnedQuerySet, "bulk_update", bulk_update)
        yield
    pre_save.disconnect(add_saved_names)


@pytest.fixture(autouse=True)
def _fail_on_leaks() -> Iterator[None]:
    """Fail a test whose log lines, mails or responses contain secrets or private data."""
    leak_detector.clear()
    # For each test, because one that starts a worker or the scheduler in this process configures logging anew, which
    # removes all handlers of the root logger.
    logging.getLogger().addHandler(leak_handler)
    yield
    logging.getLogger().removeHandler(leak_handler)
    for message in getattr(mail, "outbox", []):
        leak_detector.scan_mail(message.message().as_bytes())
    assert not leak_detector.leaks, "\n".join(leak_detector.leaks)


@pytest.fixture(autouse=True)
def _fresh_cache() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def alice(db: None) -> User:
    return make_user("alice@example.org", name="Alice")


@pytest.fixture
def mallory(db: None) -> User:
    return make_user("mallory@example.org", name="Mallory")


@pytest.fixture
def api(alice: User) -> Client:
    """Alice's API client."""
    return client_of(alice)


@pytest.fixture
def stranger(mallory: User) -> Client:
    """Mallory's API client."""
    return client_of(mallory)


@pytest.fixture
def signed_in(alice: User) -> Client:
    """Alice's browser, with a session."""
    client = Client()
    client.force_login(alice)
    return client


@pytest.fixture
def browser(db: None) -> Client:
    """A browser in which nobody is signed in; its requests are checked for CSRF."""
    return Client(enforce_csrf_checks=True)


@pytest.fixture
def operator(db: None) -> Client:
    """The browser of an operator, who may open the admin."""
    client = Client()
    client.force_login(make_user("op@example.org", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def ada(alice: User) -> Person:
    """A person in alice's account."""
    return make_person(alice, name="Ada")


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """Freeze the time at noon on Sunday, 1 March 2026."""
    with time_machine.travel("2026-03-01T12:00:00Z", tick=False) as traveller:
        yield traveller


@pytest.fixture
def media(settings: Any, tmp_path: Path) -> Path:
    """A folder for the photos of this test."""
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


@pytest.fixture
def mailbox(settings: Any) -> Iterator[Mailbox]:
    """A mail server that the service sends to."""
    with smtp_server() as box:
        use_mailbox(box, settings)
        yield box


@pytest.fixture
def server(transactional_db: None) -> Iterator[RunningServer]:
    """The whole service, served on loopback by a thread of this process."""
    with serve_whole_service() as running:
        yield running


@pytest.fixture
def schedule(db: None) -> None:
    """Create the rows of the schedule, which the flush after a transactional test deletes."""
    seed_schedule(plan=[])
