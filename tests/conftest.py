"""Fixtures of all tests: alice (owner), mallory (stranger) and their clients. Blocks the network beyond loopback."""

import functools
import gc
import ipaddress
import itertools
import logging
import os
import shutil
import socket
import sys
from collections.abc import Iterator
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
from people.models import Person
from tests.builders import make_person, make_user
from tests.client import Client, client_of
from tests.databases import flush
from tests.leaks import LineHandler, plants
from tests.mailbox import Mailbox, smtp_server, use
from tests.rounds import rounds
from tests.second_process import second_process
from tests.workers import ROOT

gc.disable()  # until the tests are collected: nearly all that is made meanwhile stays

# No deadline: a property test must not fail because the machine is slow.
hypothesis_settings.register_profile(
    "tests", max_examples=rounds(25), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("tests")


ON_POSTGRESQL = "TEST_DATABASE_URL" in os.environ
# The slowest files. If one of them ran last, the other process would have nothing left to do.
LONGEST = {
    "test_clients.py",
    "test_compose.py",
    "test_drill.py",
    "test_growth.py",
    "test_killed_worker.py",
    "test_lists.py",
    "test_offline.py",
    "test_offline_soak.py",
    "test_real_servers.py",
    "test_routes.py",
    "test_serve.py",
    "test_server_faults.py",
    "test_stateful.py",
    "test_upgrade.py",
    "test_workers.py",
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the slowest files first. On PostgreSQL, skip tests that do not depend on the database."""
    items.sort(key=lambda item: item.path.name not in LONGEST)
    wanted = [item for item in items if is_in_share(item) and (depends_on_database(item) or not ON_POSTGRESQL)]
    config.hook.pytest_deselected(items=list(set(items).difference(wanted)))
    items[:] = wanted


def pytest_collection_finish(session: pytest.Session) -> None:
    """No collection of garbage has to look through the thousands of tests, which takes a tenth of their time."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


def depends_on_database(item: pytest.Item) -> bool:
    """Whether the test may use the database and is not marked `one_database`, as independent of which it is."""
    if item.get_closest_marker("one_database"):
        return False
    fixtures = getattr(item, "fixturenames", [])
    return bool(item.get_closest_marker("django_db") or {"db", "transactional_db"}.intersection(fixtures))


def is_in_share(item: pytest.Item) -> bool:
    """Whether the test is one of the half of its combinations in which every two values meet, of two parameters each
    value, or of the half of this database; or all are to be run."""
    indices = item.callspec.indices if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    if item.get_closest_marker("split"):
        place = next(iter(indices.values())) + ON_POSTGRESQL
    elif (item.get_closest_marker("pairs") and len(indices) > 2) or item.get_closest_marker("alternating"):
        place = sum(indices.values())
    else:
        return True
    return place % 2 < rounds(1)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Of the two processes of a database each runs the files that it is the first to claim: the tests of a file share
    what they start.
    """
    if "TEST_CLAIMS" not in os.environ or session.testsfailed:  # of which pytest tells when a file cannot be loaded
        return None
    claims = Path(os.environ["TEST_CLAIMS"])
    ours = (item for item in session.items if is_ours(claims, item.path))
    with second_process(session):
        for item, following in itertools.pairwise(itertools.chain(ours, [None])):
            assert item
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
    return True


@functools.cache
def is_ours(claims: Path, file: Path) -> bool:
    """Whether this process is the first to claim the file."""
    try:
        (claims / str(file.relative_to(ROOT)).replace("/", ".")).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def pytest_sessionfinish(session: pytest.Session) -> None:
    shutil.rmtree(settings.DATA_DIR, ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def _routes_are_loaded() -> None:
    """Import all routes before any test changes the clock, because some modules read the time at import."""
    assert get_resolver().url_patterns


@pytest.fixture(autouse=True)
def _only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail a test that connects to an address beyond loopback."""
    real = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and not ipaddress.ip_address(address[0].partition("%")[0]).is_loopback:
            raise AssertionError(f"a test tried to reach {address}")
        real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)


@pytest.fixture(scope="session", autouse=True)
def _only_what_has_rows_is_emptied() -> Iterator[None]:
    """What a test leaves that has transactions of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda case: flush())
        yield


@pytest.fixture(scope="session", autouse=True)
def _rows_may_be_set_up_by_hand() -> Iterator[None]:
    """Let tests write rows without account_write, which the code of the service needs."""
    real = account_lock.refuse_write
    outside = ("/django/", "/contacts_project/kernel/ownership/", "/accounts/models/user.py", "<")

    def refuse(model: type[Any]) -> dict[str, Any]:
        frame = sys._getframe(1)
        while any(part in frame.f_code.co_filename for part in outside) and frame.f_back:
            frame = frame.f_back
        return {} if "/tests/" in frame.f_code.co_filename else real(model)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(account_lock, "refuse_write", refuse)
        yield


@pytest.fixture(scope="session", autouse=True)
def _what_is_written_is_planted() -> Iterator[None]:
    """Passwords as they are set, names as they are saved: tests.leaks looks for them."""

    def plant(instance: Any, sender: type[Any], **kwargs: Any) -> None:
        if sender in (Person, User):
            owner_id = instance.owner_id if sender is Person else instance.pk
            plants.add_names(owner_id, (instance.name, instance.surname, instance.nickname))

    def set_password(self: User, raw_password: str | None) -> None:
        plants.passwords.update(filter(None, [raw_password]))
        real(self, raw_password)

    real = User.set_password
    handler = LineHandler()
    pre_save.connect(plant)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(User, "set_password", set_password)
        logging.getLogger().addHandler(handler)
        yield
        logging.getLogger().removeHandler(handler)
    pre_save.disconnect(plant)


@pytest.fixture(autouse=True)
def _nothing_leaks() -> Iterator[None]:
    """Fail a test whose log lines, mails or answers contain secrets or private data."""
    plants.clear()
    yield
    for message in getattr(mail, "outbox", []):
        plants.look_at_mail(message.message().as_bytes())
    assert not plants.found, "\n".join(plants.found)


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
        use(box, settings)
        yield box


@pytest.fixture
def schedule(db: None) -> None:
    """Create the rows of the schedule, which the flush after a transactional test deletes."""
    seed_schedule(plan=[])
