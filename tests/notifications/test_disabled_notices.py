"""The mail about a destination that was switched off: sent once, whatever is killed, runs twice, or fails."""

import datetime as dt
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any, NoReturn

import pytest
import time_machine
from django.core.mail import EmailMessage
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.outbound.failures import Code
from contacts_project.kernel.processes import this_process
from notifications import tasks
from notifications.channels import channels
from notifications.channels.endpoint import send_disabled_notices
from notifications.channels.interface import AttemptOutcome
from notifications.models import Destination
from notifications.models.deliveries import last_heartbeat
from notifications.models.destinations import DestinationQuerySet
from tests.client import client_of
from tests.fork_targets import run_command
from tests.loopback import hang, raw_server
from tests.mailbox import Mailbox
from tests.notifications.test_destinations import PATH
from tests.workers import start_fork

GONE = AttemptOutcome(code=Code.HTTP_4XX, is_final=True, is_gone=True)
DEAD_PROCESS = this_process() + "0"

pytestmark = pytest.mark.django_db(transaction=True)


class KilledError(BaseException):
    """Stands for kill -9: no handler of the code under test catches it."""


@pytest.fixture
def disabled_destination(alice: User) -> Destination:
    """A destination that was just switched off, whose mail is due."""
    return make_disabled_destination(alice, "hook")


def make_disabled_destination(owner: User, label: str) -> Destination:
    row = Destination(owner=owner, type="WEBHOOK", label=label, secret="whsec_" + "A" * 44, enabled=False)
    row.set_url(f"https://127.0.0.1/{label}", "")
    row.auto_disabled_at, row.disable_notice_due, row.last_failure_code = timezone.now(), True, "timeout"
    row.save()
    return row


def mark_holder_as_killed() -> None:
    """Let the rows that this process holds be those of a process that was killed."""
    Destination.unscoped.rows().filter(claim__isnull=False).update(holder=DEAD_PROCESS)


def run_while_sending(monkeypatch: pytest.MonkeyPatch, call: Callable[[], Any], *, after: bool = False) -> None:
    """Call a function once, before or after the mail server takes the next mail."""
    send = EmailMessage.send

    def interrupted(message: EmailMessage, *args: Any) -> int:
        monkeypatch.setattr(EmailMessage, "send", send)
        if not after:
            call()
        sent = int(message.send(*args))
        if after:
            call()
        return sent

    monkeypatch.setattr(EmailMessage, "send", interrupted)


def end_delay() -> None:
    """Make the mails whose last try failed due again."""
    Destination.unscoped.rows().filter(holder="").update(held_until=timezone.now())


def raise_killed_error() -> NoReturn:
    raise KilledError


def test_process_killed_while_the_mail_server_is_slow_loses_nothing(
    disabled_destination: Destination, mailbox: Mailbox, tmp_path: Path
) -> None:
    connected = Event()

    def hold(connection: socket.socket) -> None:
        connected.set()
        hang(connection)

    with raw_server(hold) as port:
        run = start_fork(run_command, tmp_path / "log", {"EMAIL_URL": f"smtp://127.0.0.1:{port}"}, "deliver_reminders")
        assert connected.wait(60), (tmp_path / "log").read_text()
        assert send_disabled_notices() == 0, "while the other process lives, it is its mail"
        run.kill()
        run.join()
    assert send_disabled_notices() == 1
    assert send_disabled_notices() == 0
    assert len(mailbox.messages) == 1


def run_killed_at(fatal: int) -> bool:
    """Run, and be killed before the statement of this number; False if there were fewer."""
    numbers = count(1)

    def check(execute: Any, *statement: Any) -> Any:
        return raise_killed_error() if next(numbers) == fatal else execute(*statement)

    with connection.execute_wrapper(check), suppress(KilledError):
        send_disabled_notices()
        return False
    return True


def test_kill_before_any_statement_repeats_only_an_unrecorded_mail(
    disabled_destination: Destination, mailbox: Mailbox
) -> None:
    sent_before = []
    for fatal in count(1):
        Destination.unscoped.rows().update(disable_notice_due=True)
        mailbox.messages.clear()
        if not run_killed_at(fatal):
            break
        sent_before.append(len(mailbox.messages))
        mark_holder_as_killed()
        send_disabled_notices()
        assert send_disabled_notices() == 0
        # Between the mail server's confirmation and the record of it nobody can know.
        assert len(mailbox.messages) == 1 + sent_before[-1]
        assert len({message["Message-ID"] for message in mailbox.messages}) == 1
    *before_the_mail, last = sent_before
    assert (set(before_the_mail), last) == ({0}, 1)


def test_kill_around_the_mail_repeats_it_with_the_same_id(
    disabled_destination: Destination, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    for after in (False, True):
        run_while_sending(monkeypatch, raise_killed_error, after=after)
        with pytest.raises(KilledError):
            send_disabled_notices()
        assert len(mailbox.messages) == after
        mark_holder_as_killed()
    assert send_disabled_notices() == 1
    assert [message["Message-ID"] for message in mailbox.messages] == [mailbox.last()["Message-ID"]] * 2


def test_holder_on_another_machine_keeps_its_lease_for_five_minutes(
    disabled_destination: Destination, mailbox: Mailbox
) -> None:
    rows = Destination.objects.owned_by(disabled_destination.owner)
    rows.acquire(dt.timedelta(minutes=5), clock=timezone.now())
    rows.update(holder="elsewhere:1:1")
    assert send_disabled_notices() == 0
    rows.update(held_until=timezone.now())
    assert send_disabled_notices() == 1


def test_four_processes_at_once_send_one(disabled_destination: Destination, mailbox: Mailbox, tmp_path: Path) -> None:
    environment = {"EMAIL_URL": mailbox.url}
    runs = [start_fork(run_command, tmp_path / "log", environment, "deliver_reminders") for _ in range(4)]
    for run in runs:
        run.join(120)
    assert [run.exitcode for run in runs] == [0] * 4, (tmp_path / "log").read_text()
    assert len(mailbox.messages) == 1


def test_other_threads_skip_a_mail_that_is_being_sent(
    disabled_destination: Destination, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def in_thread(_: int) -> int:
        try:
            return send_disabled_notices()
        finally:
            connection.close()

    def in_threads() -> None:
        with ThreadPoolExecutor(2) as pool:
            others.extend(pool.map(in_thread, range(2)))

    others: list[int] = []
    run_while_sending(monkeypatch, in_threads)
    assert send_disabled_notices() == 1
    assert others == [0, 0]
    assert len(mailbox.messages) == 1


@pytest.mark.parametrize("error", [OSError("refused"), ValueError("not a header"), UnicodeError("not a domain")])
def test_failed_mail_does_not_delay_others(
    disabled_destination: Destination,
    mallory: User,
    mailbox: Mailbox,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
) -> None:
    make_disabled_destination(mallory, "hers")

    def fail() -> None:
        raise error

    run_while_sending(monkeypatch, fail)
    tasks.send_disabled_mails()
    [record] = [record for record in caplog.records if record.name == "notifications.channels.endpoint"]
    assert bool(record.exc_info) is not isinstance(error, OSError)
    assert len(mailbox.messages) == 1
    end_delay()
    assert send_disabled_notices() == 1
    assert {message["To"] for message in mailbox.messages} == {"alice@example.org", "mallory@example.org"}


@pytest.mark.usefixtures("disabled_destination")
def test_due_scan_does_not_wait_for_the_mail_server(monkeypatch: pytest.MonkeyPatch, mailbox: Mailbox) -> None:
    """The mails have a task of their own, so that a slow mail server delays no reminder."""
    enqueued: list[str] = []
    monkeypatch.setattr(tasks.send_disabled_mails, "apply_async", lambda **options: enqueued.append("mails"))
    tasks.due_scan()
    assert (enqueued, mailbox.messages) == (["mails"], [])
    assert last_heartbeat("due_scan") is not None


def test_refused_mail_is_retried_until_accepted(
    disabled_destination: Destination, mailbox: Mailbox, caplog: pytest.LogCaptureFixture
) -> None:
    mailbox.refuse = "451 later"
    for _ in range(2):
        assert send_disabled_notices() == 0
        end_delay()
    assert "the mail about a disabled destination was not taken: SMTPDataError: 451" in caplog.messages
    mailbox.refuse = ""
    assert [send_disabled_notices(), send_disabled_notices()] == [1, 0]
    assert len(mailbox.messages) == 1


def test_delay_after_refusals_grows(clock: time_machine.Traveller, alice: User, mailbox: Mailbox) -> None:
    row = make_disabled_destination(alice, "hook")
    mailbox.refuse = "550 no such mailbox"
    delays = []
    for _ in range(14):
        now = timezone.now()
        assert [send_disabled_notices(), send_disabled_notices()] == [0, 0]
        row.refresh_from_db()
        assert row.held_until
        delays.append((row.held_until - now) // dt.timedelta(minutes=1))
        clock.move_to(row.held_until)
    assert delays == [1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600, 600]


def test_disabling_is_visible_even_if_the_mail_server_fails(
    disabled_destination: Destination, alice: User, mailbox: Mailbox
) -> None:
    before = User.objects.get(pk=alice.pk).revision
    mailbox.refuse = "451 later"
    assert send_disabled_notices() == 0
    disabled_destination.refresh_from_db()
    assert (disabled_destination.revision, User.objects.get(pk=alice.pk).revision) == (before + 1, before + 1)
    assert disabled_destination.disable_notice_due


def test_run_that_finds_the_mail_claimed_changes_nothing(disabled_destination: Destination, alice: User) -> None:
    Destination.objects.owned_by(alice).acquire(dt.timedelta(minutes=5), clock=timezone.now())
    before = User.objects.get(pk=alice.pk).revision
    assert send_disabled_notices() == 0
    assert User.objects.get(pk=alice.pk).revision == before


def test_disabling_again_during_the_mail_sends_another_mail(
    disabled_destination: Destination, alice: User, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def on_and_off() -> None:
        client_of(alice).ok("put", f"{PATH}/{disabled_destination.pk}", {"enabled": True})
        # Without the mail that a failure sends on commit: the first one is still being sent.
        monkeypatch.setattr("notifications.channels.endpoint.send_disabled_notices", lambda: 0)
        later = timezone.now() + dt.timedelta(hours=1)
        with transaction.atomic():
            channels()["webhook"].record_outcome(str(disabled_destination.pk), GONE, owner=alice, now=later)

    run_while_sending(monkeypatch, on_and_off)
    assert send_disabled_notices() == 1
    assert send_disabled_notices() == 1
    assert len({message["Message-ID"] for message in mailbox.messages}) == 2


@pytest.mark.parametrize(("method", "body"), [("put", {"enabled": True}), ("delete", None)])
def test_no_mail_if_enabled_or_removed_right_before(
    disabled_destination: Destination,
    alice: User,
    mailbox: Mailbox,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    body: Any,
) -> None:
    acquire = DestinationQuerySet.acquire

    def acquire_late(rows: DestinationQuerySet, *args: Any, **options: Any) -> Any:
        claim = acquire(rows, *args, **options)
        client_of(alice).ok(method, f"{PATH}/{disabled_destination.pk}", body)
        return claim

    monkeypatch.setattr(DestinationQuerySet, "acquire", acquire_late)
    assert send_disabled_notices() == 0
    assert mailbox.messages == []


def test_account_deleted_while_the_mail_is_sent(
    disabled_destination: Destination, alice: User, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_while_sending(monkeypatch, lambda: User.objects.filter(pk=alice.pk).delete())
    assert send_disabled_notices() == 1
    assert send_disabled_notices() == 0
