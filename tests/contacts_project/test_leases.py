"""Leases on rows: one worker gets it, an expired one writes nothing, and that of a killed process is free at once.

Which processes count as dead: a killed one at once, never a running one, and never one of another machine.
"""

import datetime as dt
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import AccountMail, MailKind
from contacts_project.kernel.processes import is_gone, this_process
from tests import ROOT

LEASE = dt.timedelta(minutes=1)
NOW = timezone.now()


@pytest.fixture
def row(db: Any) -> AccountMail:
    return AccountMail.objects.create(kind=MailKind.RESET, address="ada@example.org", next_try_at=NOW)


def rows() -> Any:
    return AccountMail.objects.filter(next_try_at__lte=NOW)


def test_row_is_held_until_release_or_expiry(row: AccountMail) -> None:
    claim = rows().acquire(LEASE, clock=NOW, tries=7)
    row.refresh_from_db()
    assert (row.claim, row.tries, row.holder) == (claim, 7, this_process())
    assert rows().acquire(LEASE, clock=NOW) is None
    assert not rows().free(NOW).exists()
    assert rows().held_by(claim).release(tries=8) == 1
    row.refresh_from_db()
    assert (row.claim, row.held_until, row.holder, row.tries) == (None, None, "", 8)
    assert rows().acquire(LEASE, clock=NOW) is not None
    assert not rows().abandoned(NOW).exists()
    assert rows().abandoned(NOW + LEASE).exists()
    assert rows().acquire(LEASE, clock=NOW + LEASE) is not None


def test_acquire_respects_the_filters_of_the_queryset(row: AccountMail) -> None:
    assert AccountMail.objects.filter(next_try_at__lt=NOW).acquire(LEASE, clock=NOW) is None
    assert rows().free(NOW).exists()


def test_renew_extends_the_lease_and_fails_once_it_is_lost(row: AccountMail) -> None:
    ours = rows().held_by(rows().acquire(LEASE, clock=NOW))
    assert ours.renew(LEASE, clock=NOW + LEASE / 2)
    assert rows().acquire(LEASE, clock=NOW + LEASE) is None
    theirs = rows().held_by(rows().acquire(LEASE, clock=NOW + 2 * LEASE))
    assert not ours.renew(LEASE, clock=NOW + 2 * LEASE)
    assert (ours.update(tries=9), ours.release(tries=9)) == (0, 0)
    assert theirs.release() == 1
    assert rows().get().tries == 0


def test_held_by_none_matches_no_row(row: AccountMail) -> None:
    assert not rows().held_by(None).exists()


@pytest.mark.parametrize(("shift", "is_free"), [(1, True), (0, False)])
def test_row_of_a_killed_process_is_free_at_once(row: AccountMail, shift: int, is_free: bool) -> None:
    machine, pid, start = this_process().split(":")
    rows().acquire(LEASE, clock=NOW)
    rows().update(holder=f"{machine}:{pid}:{int(start) - shift}")
    assert rows().free(NOW).exists() is is_free
    assert rows().abandoned(NOW).exists() is is_free
    assert (rows().acquire(LEASE, clock=NOW) is not None) is is_free


def test_unknown_holders_count_as_running(row: AccountMail) -> None:
    rows().acquire(LEASE, clock=NOW)
    for holder in ("elsewhere:1:1", ""):
        rows().update(holder=holder)
        assert rows().acquire(LEASE, clock=NOW) is None


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("holder", ["nobody", "a killed process"])
def test_concurrent_acquire_succeeds_once(holder: str) -> None:
    AccountMail.objects.create(kind=MailKind.RESET, address="ada@example.org", next_try_at=NOW)
    if holder != "nobody":
        rows().acquire(LEASE, clock=NOW)
        rows().update(holder=this_process() + "0")

    def acquire(_: int) -> UUID | None:
        try:
            return rows().acquire(LEASE, clock=NOW)  # type: ignore[no-any-return]
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        claims = [claim for claim in pool.map(acquire, range(6)) if claim]
    assert claims == [rows().get().claim]


@pytest.mark.django_db(transaction=True)
def test_renew_in_a_transaction_blocks_others_until_its_end() -> None:
    AccountMail.objects.create(kind=MailKind.RESET, address="ada@example.org", next_try_at=NOW)
    ours = rows().held_by(rows().acquire(LEASE, clock=NOW))

    def take_late() -> UUID | None:
        try:
            return rows().acquire(LEASE, clock=NOW + LEASE)  # type: ignore[no-any-return]
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            assert ours.renew(LEASE, clock=NOW + LEASE / 2)
            late = pool.submit(take_late)
            with pytest.raises(TimeoutError):
                late.result(0.3)
            assert ours.update(tries=3) == 1
        assert late.result(20) is None
    assert rows().get().tries == 3


PRINT_IDENTITY = (
    "from contacts_project.kernel.processes import this_process; print(this_process(), flush=True); input()"
)


def test_killed_process_is_dead() -> None:
    command = [sys.executable, "-c", PRINT_IDENTITY]
    child = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin is not None
    assert child.stdout is not None
    with child.stdin, child.stdout:
        name = child.stdout.readline().strip()
        assert not is_gone(name)
        child.kill()
        child.wait()
        assert is_gone(name)


def test_reused_pid_is_another_process() -> None:
    machine, pid, start = this_process().split(":")
    assert not is_gone(f"{machine}:{pid}:{start}")
    assert is_gone(f"{machine}:{pid}:{start}0")
    assert not is_gone(f"elsewhere:{pid}:{start}0")
    assert not is_gone("")
