"""Twenty hostile accounts of each kind beside twenty honest ones, in a real worker with each broker.

Hostile: webhooks on three host names that hold each call, address books that hold each request, 1,500 messages of
chores. Honest: a reminder, a sync and a mail about the account each. All honest work is done before a hostile server
has ended a call.
"""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from accounts.models import AccountMail, User
from accounts.models.mails import MailKind
from carddav.models import Connection, Run, RunState
from contacts_project.kernel.outbound.exchanges import MAX_EXCHANGES
from notifications.models import Delivery, DeliveryState
from tests.builders import make_user, verify_email
from tests.carddav.builders import make_connection
from tests.loopback import Received, Recorder, Reply, recording_server
from tests.mailbox import Mailbox
from tests.notifications.test_account_exchanges import make_webhooks
from tests.notifications.test_workers import make_due
from tests.workers import Workers, redis_server, workers_in

pytestmark = pytest.mark.django_db(transaction=True)
ACCOUNTS = 20
QUEUES = ",".join(settings.QUEUES)


class Hostile:
    """Servers that hold each request until they are released."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.released = threading.Event()
        self.under_way: Counter[str] = Counter()
        self.most: Counter[str] = Counter()

    def hold(self, request: Received) -> Reply:
        account = request.path.strip("/").split("/")[0]
        with self.lock:
            self.under_way[account] += 1
            self.most[account] = max(self.most[account], self.under_way[account])
        self.released.wait()
        with self.lock:
            self.under_way[account] -= 1
        return Reply(404)


@pytest.fixture
def hostile() -> Iterator[Hostile]:
    found = Hostile()
    yield found
    found.released.set()


def make_hostile(receivers: list[Recorder]) -> list[User]:
    """Accounts whose webhooks and address book are on the hostile hosts, with reminders and a sync that are due."""
    owners = [make_user(f"hostile-{number}@example.org") for number in range(ACCOUNTS)]
    for owner in owners:
        make_webhooks(owner, receivers)
        make_due(owner, 10)
        make_connection(owner, server_url=f"{receivers[0].url}/{owner.pk}/", book_url="", next_sync_at=timezone.now())
    return owners


def make_honest(receiver: Recorder) -> list[User]:
    owners = [verify_email(make_user(f"honest-{number}@example.org")) for number in range(ACCOUNTS)]
    for owner in owners:
        make_webhooks(owner, [receiver])
        make_due(owner, 1)
        make_connection(owner, server_url=f"{receiver.url}/{owner.pk}/", book_url="", next_sync_at=timezone.now())
        AccountMail.objects.create(kind=MailKind.RESET, address=User.objects.fold_email(owner.email))
    return owners


@pytest.mark.split  # the embedded broker beside SQLite, Redis beside PostgreSQL
@pytest.mark.parametrize("broker", ["embedded", "redis"])
def test_hostile_accounts_delay_no_honest_one(broker: str, tmp_path: Path, mailbox: Mailbox, hostile: Hostile) -> None:
    with ExitStack() as stack:
        redis = {"REDIS_URL": stack.enter_context(redis_server())} if broker == "redis" else {}
        slow = [stack.enter_context(recording_server(host=f"127.0.0.{number}")) for number in (1, 2, 3)]
        fast = stack.enter_context(recording_server(host="127.0.0.9"))
        environment = {"EMAIL_URL": mailbox.url, "DELIVERY_LEASE_SECONDS": "3600", **redis}
        workers: Workers = stack.enter_context(workers_in(tmp_path, **environment))
        stack.callback(hostile.released.set)
        for receiver in slow:
            receiver.reply = hostile.hold
        fast.reply = lambda request: Reply(200 if request.headers.get("webhook-id") else 404)
        bad = {str(owner.pk) for owner in make_hostile(slow)}
        good = make_honest(fast)
        workers.enqueue_many("people.tasks.geocode", 1_500)
        for task in ("notifications.tasks.due_scan", "carddav.tasks.sweep", "accounts.tasks.sweep_account_mails"):
            workers.enqueue(task)
        workers.start_background("--queues", QUEUES, program="tests.patient_calls")

        def is_done() -> bool:
            reminders = Delivery.unscoped.filter(owner__in=good, state=DeliveryState.SENT).count()
            syncs = Run.unscoped.filter(owner__in=good, state=RunState.ENDED).count()
            return (reminders, syncs, len(mailbox.messages)) == (ACCOUNTS, ACCOUNTS, ACCOUNTS)

        # What waited for the end of a hostile call would wait in vain.
        workers.wait_until(is_done)
        assert bad & hostile.under_way.keys()
        # Hostile accounts wait for each other, but each has its turn.
        hostile.released.set()
        scanned_at = time.monotonic()

        def all_had_a_turn() -> bool:
            nonlocal scanned_at
            # As the scheduler does: what waited too long in a queue is left to the next scan.
            if time.monotonic() > scanned_at + 20:
                scanned_at = time.monotonic()
                workers.enqueue("notifications.tasks.due_scan")
            # Other paths than those of the accounts, too: the search for an address book asks for /.well-known/carddav.
            return bad <= hostile.most.keys()

        workers.wait_until(all_had_a_turn)
    assert max(hostile.most[account] for account in bad) <= MAX_EXCHANGES, (
        "over all kinds: webhooks on three hosts, and the address book"
    )
    assert set(Connection.unscoped.filter(owner__in=good).values_list("last_error_code", flat=True)) == {"not_carddav"}
