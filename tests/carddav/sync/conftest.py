"""Fixtures for the sync: synced accounts, with an address book in memory and on real servers, and workers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from accounts.models import User
from contacts_project.celery import app
from tests.carddav.proxy import Proxy
from tests.carddav.servers import DavServer
from tests.carddav.sync.server_synced_account import ServerSyncedAccount
from tests.carddav.sync.synced_account import SyncedAccount
from tests.workers import Workers, workers_in


@pytest.fixture
def synced(alice: User) -> SyncedAccount:
    """Alice's account, synced with an address book in memory."""
    return SyncedAccount(alice)


@pytest.fixture
def server_synced(alice: User, server: DavServer, proxy: Proxy) -> ServerSyncedAccount:
    """Alice's account, synced with a new address book on each real server in turn."""
    return ServerSyncedAccount(alice, server, proxy)


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Workers]:
    app.control  # noqa: B018 - loads the application's settings in this process
    with workers_in(tmp_path) as running:
        yield running
