"""A dry run changes nothing, and a real run that is requested during it runs after it."""

import pytest
from django.utils import timezone

from accounts.models import User
from carddav.models import Connection, Run, RunState
from carddav.services.runs import execute_run, start_run
from carddav.sync.lock import LockedError
from tests.carddav.sync.synced_account import SyncedAccount, counts


@pytest.fixture
def synced(alice: User) -> SyncedAccount:
    synced = SyncedAccount(alice)
    synced.sync()
    synced.api.ok("POST", "/api/people", {"name": "Ada"}, status=201)
    return synced


def start(synced: SyncedAccount, *, dry_run: bool = False, confirm: bool = False) -> Run:
    return start_run(owner=synced.owner, trigger="manual", dry_run=dry_run, confirm=confirm, now=timezone.now())


@pytest.mark.parametrize("confirm", [True, False])
def test_sync_requested_during_a_dry_run_runs_after_it(synced: SyncedAccount, confirm: bool) -> None:
    if confirm:
        Connection.objects.owned_by(synced.owner).update(needs_confirmation=True)
    asked: list[Run] = []

    def request_sync(what: str) -> None:
        if not asked:
            asked.append(start(synced, confirm=confirm))
            with pytest.raises(LockedError):
                execute_run(asked[0].pk)

    synced.server.on_request = request_sync
    dry = start(synced, dry_run=True)
    with synced.patch_open_book():
        assert counts(execute_run(dry.pk)) == {"exported": 1}
        assert not synced.server.cards
        [real] = asked
        assert (real.pk != dry.pk, real.dry_run, real.state) == (True, False, RunState.QUEUED)
        assert start(synced).pk == real.pk
        assert counts(execute_run(real.pk)) == {"exported": 1}
    assert len(synced.server.cards) == 1


def test_requested_dry_run_joins_the_queued_run(synced: SyncedAccount) -> None:
    real = start(synced)
    assert start(synced, dry_run=True).pk == real.pk
    with synced.patch_open_book():
        execute_run(real.pk)
    dry = start(synced, dry_run=True)
    real = start(synced)
    assert dry.pk != real.pk
    assert start(synced, dry_run=True).pk == dry.pk


def test_unconfirmed_requests_join_the_dry_run(synced: SyncedAccount) -> None:
    Connection.objects.owned_by(synced.owner).update(needs_confirmation=True)
    dry = start(synced)
    assert dry.dry_run
    assert start(synced).pk == dry.pk
