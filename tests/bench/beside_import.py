"""How late reminders are while somebody imports 5,000 people: `python -m tests.bench "beside an import"`.

The bound is 5 s after the minute in which they are due. A round takes two minutes.
"""

import datetime as dt
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from aiosmtpd.controller import Controller

from tests.bench.figures import Figure, SharedData
from tests.bench.instance import Instance, import_document, served, sign_up
from tests.loopback import closed_port

ROUNDS, REMINDERS, PEOPLE = 3, 20, 5_000


class Arrivals:
    """A mail server that records when each mail arrived."""

    def __init__(self) -> None:
        self.times: list[float] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        self.times.append(time.time())
        return "250 OK"


@contextmanager
def mail_server() -> Iterator[Arrivals]:
    arrivals = Arrivals()
    controller = Controller(arrivals, hostname="127.0.0.1", port=closed_port())
    controller.start()
    os.environ["EMAIL_URL"] = f"smtp://127.0.0.1:{controller.port}"
    try:
        yield arrivals
    finally:
        del os.environ["EMAIL_URL"]
        controller.stop()


def reminders_beside_an_import(shared: SharedData) -> list[Figure]:
    with mail_server() as arrivals, served(shared.database) as instance:
        importing = replace(instance)
        sign_up(instance, "reminded@example.org")
        instance.client().ask("PUT", "/api/user/reminder-hour", {"hour": 0})
        alone = measure_round(instance, arrivals, lambda: None)
        beside: list[float] = []
        durations: list[float] = []
        for number in range(ROUNDS):
            beside += measure_round(instance, arrivals, partial(run_import, importing, number, durations))
    texts = [f"{name}: {format_worst_delay(delays)}" for name, delays in (("alone", alone), ("beside", beside))]
    note = f"{', '.join(texts)}; imports took {max(durations):.0f} s at most"
    return [Figure("reminders beside an import of 5,000 people", ROUNDS * REMINDERS, note=note)]


def format_worst_delay(delays: list[float]) -> str:
    return f"{sorted(delays)[len(delays) // 2]:.1f} s in the middle, {max(delays):.1f} s at most"


def run_import(instance: Instance, number: int, durations: list[float]) -> None:
    started = time.monotonic()
    instance.client().json("POST", "/api/user/import", import_document(number * PEOPLE, PEOPLE))
    durations.append(time.monotonic() - started)


def measure_round(instance: Instance, arrivals: Arrivals, work: Any) -> list[float]:
    """Make reminders due in the next minute and run `work` meanwhile; returns how late each reminder arrived."""
    _wait_for_second(10)
    arrivals.times.clear()
    client = instance.client()
    today = dt.datetime.now(dt.UTC).date()
    for number in range(REMINDERS):
        date = {"type": "BIRTHDAY", "date": today.replace(year=1990).isoformat(), "reminderEnabled": True}
        client.ask("POST", "/api/people", {"name": f"Due {number}", "importantDates": [date]})
    _wait_for_second(56)
    minute = (time.time() // 60 + 1) * 60
    thread = threading.Thread(target=work)
    thread.start()
    while len(arrivals.times) < REMINDERS and time.time() < minute + 50:
        time.sleep(0.1)
    thread.join()
    assert len(arrivals.times) == REMINDERS, len(arrivals.times)
    return [came - minute for came in arrivals.times]


def _wait_for_second(second: int) -> None:
    time.sleep((second - time.time()) % 60)


BENCHES = [("reminders beside an import", reminders_beside_an_import)]
