"""Real workers are killed in the middle of a push: nothing is duplicated or lost on either side."""

from collections import Counter
from collections.abc import Iterator
from threading import Event

import pytest

from accounts.models import User
from carddav.models import JournalEntry, JournalState, Run, RunState
from people.models import Person
from tests.carddav.conftest import card
from tests.carddav.faults import alter_cards, hold_reply, hold_request, method, rename_on_create
from tests.carddav.proxy import Fault, Proxy, fault_proxy
from tests.carddav.servers import DavServer
from tests.carddav.sync.server_synced_account import ServerSyncedAccount
from tests.workers import Workers

pytestmark = pytest.mark.django_db(transaction=True)

CONCURRENT_PUTS = 2  # Context.parallel: the PUTs that are under way when the worker is killed


@pytest.fixture
def synced(alice: User, radicale_server: DavServer) -> Iterator[ServerSyncedAccount]:
    """An account with four contacts on both sides, edited here, and eight that are not on the server yet."""
    with fault_proxy(radicale_server.port) as proxy:
        # With sync_enabled, further runs would start automatically.
        synced = ServerSyncedAccount(alice, radicale_server, proxy, sync_enabled=False, auto_export_new=True)
        for number in range(4):
            synced.put(f"{number}.vcf", card(str(number), f"Known{number}"))
        synced.sync()
        for number in range(4):
            synced.edit(synced.person(f"Known{number}"), organization=f"Firm{number}")
        for number in range(8):
            synced.create(name=f"New{number}", organization=f"Office{number}")
        proxy.clear_requests()
        yield synced


def kill_at(synced: ServerSyncedAccount, workers: Workers, fault: Fault, held: Event, *, puts: int) -> None:
    """Start a worker, and kill it when `fault` holds one of its PUTs and the other concurrent ones have been sent."""
    held.clear()
    synced.proxy.add(fault)
    worker = workers.start()
    workers.wait_until(lambda: held.is_set() and synced.proxy.count("PUT") == puts, seconds=60)
    workers.kill(worker)
    synced.proxy.clear_faults()


def names(synced: ServerSyncedAccount) -> Counter[str]:
    return Counter(Person.objects.owned_by(synced.owner).active().values_list("name", flat=True))


def test_push_continues_after_killed_workers(synced: ServerSyncedAccount, workers: Workers) -> None:
    held, until, puts = Event(), synced.proxy.stopped, method("PUT")
    assert synced.api.call("POST", "/api/carddav/sync").status_code == 200
    run = Run.objects.owned_by(synced.owner).get(state=RunState.QUEUED)

    # The second two: both are on the server, but that was not recorded.
    kill_at(synced, workers, hold_reply(held, until, when=puts, skip=3, times=1), held, puts=2 * CONCURRENT_PUTS)
    unknown = JournalEntry.objects.owned_by(synced.owner).filter(state=JournalState.PREPARED)
    assert unknown.count() == CONCURRENT_PUTS
    synced.put("0.vcf", synced.text("0.vcf").replace("END:VCARD", "NOTE:Written there\r\nEND:VCARD"))
    synced.put("other.vcf", card("other", "Other"))

    # The last two of twelve: one of them never reached the server.
    kill_at(synced, workers, hold_request(held, until, when=puts, skip=7, times=1), held, puts=12)
    assert unknown.count() == CONCURRENT_PUTS

    workers.start()  # the broker gives it the task of the dead worker
    workers.wait_until(
        lambda: Run.objects.owned_by(synced.owner).exclude(state=RunState.ENDED).count() == 0, seconds=60
    )
    run.refresh_from_db()
    assert (run.code, run.error_messages) == ("", [])
    assert synced.proxy.count("PUT") == 12 + 1

    expected = {f"Known{n}": f"Firm{n}" for n in range(4)} | {f"New{n}": f"Office{n}" for n in range(8)}
    assert names(synced) == Counter([*expected, "Other"])
    assert synced.count_remote_cards() == len(expected) + 1
    for name, organization in expected.items():
        text = synced.card_of(synced.person(name))
        assert f"FN:{name}" in text
        assert f"ORG:{organization}" in text
    assert synced.person("Known0").notes == "Written there"
    assert "NOTE:Written there" in synced.card_of(synced.person("Known0"))
    assert not JournalEntry.objects.owned_by(synced.owner).exists()
    synced.assert_in_sync()


@pytest.mark.parametrize("spoiled", [[alter_cards("NOTE", "REV")], [alter_cards(), rename_on_create()]])
def test_new_cards_with_changed_uids_are_recognized(
    alice: User, server: DavServer, proxy: Proxy, workers: Workers, spoiled: list[Fault]
) -> None:
    """Two people with equal contents, on a server that changes the UIDs of new cards. The cards are matched by href
    or content, so that neither people nor cards are duplicated."""
    synced = ServerSyncedAccount(alice, server, proxy, sync_enabled=False, auto_export_new=True)
    synced.sync()
    for _ in range(2):
        synced.create(name="Ada", organization="Office", notes="A note")
    proxy.clear_requests()
    assert synced.api.call("POST", "/api/carddav/sync").status_code == 200
    run = Run.objects.owned_by(alice).get(state=RunState.QUEUED)
    held, until, puts = Event(), proxy.stopped, method("PUT")
    for fault in spoiled:
        proxy.add(fault)
    at_once = 1 if server.name == "xandikos" else 2
    kill_at(synced, workers, hold_reply(held, until, when=puts, times=1), held, puts=at_once)
    assert JournalEntry.objects.owned_by(alice).filter(state=JournalState.PREPARED).count() == at_once
    for fault in spoiled:
        proxy.add(fault)
    workers.start()
    workers.wait_until(lambda: not Run.objects.owned_by(alice).exclude(state=RunState.ENDED).exists(), seconds=60)
    run.refresh_from_db()
    assert (run.code, run.error_messages) == ("", [])
    assert names(synced) == Counter({"Ada": 2})
    assert synced.count_remote_cards() == 2
    assert {person.notes for person in Person.objects.owned_by(alice)} == {"A note"}
    synced.assert_in_sync()
