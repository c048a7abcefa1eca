"""The event stream of a run that a real worker executes, with readers that connect and disconnect."""

from threading import Event
from typing import Any
from unittest.mock import patch

import orjson
import pytest
from asgiref.sync import async_to_sync, sync_to_async

from accounts.models import User
from carddav.api.sync import progress
from carddav.models import Run, RunState
from people.models import Person
from tests.carddav.conftest import card
from tests.carddav.faults import reports
from tests.carddav.proxy import Fault, Proxy, Request
from tests.carddav.servers import DavServer
from tests.carddav.sync.server_synced_account import ServerSyncedAccount
from tests.workers import Workers

pytestmark = pytest.mark.django_db(transaction=True)


def read_stream(run: Run, *, until: str) -> tuple[str, Any]:
    """Read the run's stream up to its first event of this phase or name, then disconnect."""

    async def here(function: Any, *args: Any) -> Any:
        return await sync_to_async(function)(*args)

    async def read_events() -> tuple[str, Any]:
        stream = progress(run.owner_id, run.pk, "en")
        try:
            async for piece in stream:
                name, data = piece.decode().strip().split("\ndata: ")
                event = name.removeprefix("event: "), orjson.loads(data)
                if until in {event[0], event[1].get("phase")}:
                    return event
        finally:
            await stream.aclose()
        raise AssertionError(until)

    with patch("carddav.api.sync.in_thread", here):
        found: tuple[str, Any] = async_to_sync(read_events)()
    return found


@pytest.mark.parametrize("server", ["radicale"], indirect=True)
def test_run_continues_when_its_reader_disconnects(
    alice: User, server: DavServer, proxy: Proxy, workers: Workers
) -> None:
    synced = ServerSyncedAccount(alice, server, proxy, sync_enabled=False)
    for number in range(3):
        synced.put(f"{number}.vcf", card(str(number), f"P{number}"))
    left = Event()

    def hold(request: Request) -> None:
        left.wait(60)

    proxy.add(Fault(before=hold, when=reports("sync-collection"), times=1))
    workers.start()
    assert synced.api.call("POST", "/api/carddav/sync").status_code == 200
    run = Run.objects.owned_by(alice).get()
    assert read_stream(run, until="listing")[0] == "progress"
    left.set()
    workers.wait_until(lambda: Run.objects.owned_by(alice).filter(state=RunState.ENDED).exists(), seconds=60)
    name, data = read_stream(run, until="complete")  # a late reader gets the same
    assert (name, data["imported"], data["errors"]) == ("complete", 3, 0)
    assert Person.objects.owned_by(alice).count() == 3
    proxy.clear_faults()
    synced.assert_in_sync()
