"""`make soak`, or python -m tests.soak [--db sqlite|postgresql] [--seconds N] [--seed N].

Exit status 1 if anything is lost, sent twice without a fault that explains it, or reported by the doctor, or if a
history of a share fails.
"""

import argparse
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import orjson

from tests.bench.instance import Instance, sign_up
from tests.carddav.servers import PASSWORD, DavServer, radicale
from tests.loopback import Recorder, recording_server
from tests.mailbox import Mailbox, smtp_server
from tests.soak.histories import run_histories
from tests.soak.load import Caller, Importer, Log, Reminder, Syncer, Writer, run_load
from tests.soak.stack import DOWN_SECONDS, Stack, run_stack

KILL_EVERY, DRAIN_SECONDS, RECORDING_SECONDS, WRITERS = 30.0, 240, 5, 3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", choices=["sqlite", "postgresql"])
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--logs", type=Path, help="a folder in which the logs of all processes are kept")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that context managers stop all processes
    databases = [options.db] if options.db else ["postgresql", "sqlite"]
    codes = [soak(database, options.seconds, options.seed, options.logs) for database in databases]
    return max(*codes, *[run_histories(database, options.seconds) for database in databases])


def soak(database: str, seconds: int, seed: int, logs: Path | None) -> int:
    with tempfile.TemporaryDirectory(prefix="soak-", ignore_cleanup_errors=True) as name, smtp_server() as mailbox:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "dav").mkdir()
        with (
            radicale(folder / "dav") as server,
            recording_server() as receiver,
            run_stack(folder, database, mailbox.url) as stack,
        ):
            try:
                return Soak(stack, server, receiver, mailbox, seed).run(database, seconds)
            finally:
                if logs:
                    shutil.copytree(folder, logs / database, ignore=_all_but_logs, dirs_exist_ok=True)


def _all_but_logs(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not name.endswith(".log")]


class Soak:
    """One run: sets up accounts, applies load and faults, then checks the result."""

    def __init__(self, stack: Stack, server: DavServer, receiver: Recorder, mailbox: Mailbox, seed: int) -> None:
        self.stack, self.server, self.receiver, self.mailbox = stack, server, receiver, mailbox
        self.log, self.random, self.seed = Log(), random.Random(seed), seed
        self.callers: dict[str, Caller] = {}
        self.book = ""
        self.repeated_webhooks = self.repeated_mails = 0

    def run(self, database: str, seconds: int) -> int:
        print(f"\n### {database}, {seconds} s, seed {self.seed}; disk: {self.stack.disk or 'not mounted, not filled'}")
        stopping = threading.Event()
        threads = run_load(self._prepare(), stopping)
        self._inject_faults(seconds)
        stopping.set()
        for thread in threads:
            thread.join(120)
        self._drain()
        problems = [
            *self._missing_records(),
            *self._reminder_problems(),
            *self._card_problems(),
            *self._doctor_problems(),
            *self.log.failures,
        ]
        self._print_report(problems)
        return 1 if problems else 0

    def _prepare(self) -> list[Any]:
        steppers: list[Any] = []
        for name in ("busy", "reminded", "mirrored", "importing"):
            self.callers[name] = Caller(self.stack.port, self._sign_up(f"{name}@example.org"), self.log)
        busy, reminded, mirrored, importing = self.callers.values()
        self._call(reminded, "PUT", "/api/user/reminder-hour", {"hour": 0})
        hook = {"type": "WEBHOOK", "label": "hook", "url": f"{self.receiver.url}/hook"}
        self._call(reminded, "POST", "/api/notifications/endpoints", hook)
        path = self.server.make_book("user")
        connection = {"serverUrl": self.server.url.rstrip("/") + path, "username": "user", "password": PASSWORD}
        self._call(
            mirrored, "POST", "/api/carddav/connection", {**connection, "importMode": "auto", "autoSyncInterval": 60}
        )
        self.book = path
        for number in range(WRITERS):
            caller = Caller(self.stack.port, busy.bearer, self.log)
            steppers.append(Writer(caller, self.seed * 100 + number))
        return [*steppers, Reminder(reminded), Syncer(mirrored, self.server, path), Importer(importing)]

    def _sign_up(self, email: str) -> str:
        instance = Instance(self.stack.running["web-1"], self.stack.port)  # type: ignore[arg-type]  # bytes, unread
        for _ in range(300):
            try:
                sign_up(instance, email)
            except OSError:  # the web process is not ready yet
                time.sleep(1)
            else:
                return instance.bearer
        raise AssertionError((self.stack.folder / "web-1.log").read_text()[-2000:])

    def _call(self, caller: Caller, *request: Any) -> None:
        assert caller.call("set up", *request) is not None, self.log.failures

    def _inject_faults(self, seconds: int) -> None:
        """Kill a worker every 30 s, and let Redis, PostgreSQL and the disk fail once each."""
        started, every = time.monotonic(), min(KILL_EVERY, seconds / 6)
        once: list[tuple[float, Any]] = []
        if self.stack.database:
            once = [(0.3, lambda: self.stack.restart("redis", DOWN_SECONDS)), (0.5, self.stack.crash_database)]
        if self.stack.disk:
            once.append((0.7, lambda: self.stack.fill_disk(min(15, seconds / 12))))
        next_kill = every
        while (passed := time.monotonic() - started) < seconds:
            if once and passed > once[0][0] * seconds:
                once.pop(0)[1]()
            if passed > next_kill:
                next_kill += every
                self.stack.restart(self.random.choice(["worker-1", "worker-2"]))
            self.stack.revive()
            time.sleep(0.3)

    def _drain(self) -> None:
        """Wait until the next scans and syncs have finished the remaining work."""
        end = time.monotonic() + DRAIN_SECONDS
        while time.monotonic() < end:
            self.stack.revive()
            webhooks, mails = self._received(), self._mailed()
            if all(webhooks[key] and mails[name] for key, name in self.log.reminded.items()):
                break
            time.sleep(1)
        for _ in range(3):
            time.sleep(5)
            self.stack.manage("sync_carddav")

    def _received(self) -> Counter[str]:
        return Counter(orjson.loads(one.body)["data"].get("personId", "") for one in list(self.receiver.received))

    def _mailed(self) -> Counter[str]:
        return Counter(str(mail["Subject"]).rpartition(" ")[2] for mail in list(self.mailbox.messages))

    def _missing_records(self) -> list[str]:
        """The acknowledged records that are missing or differ from what was acknowledged."""
        found = []
        people = {name: self._people(name) for name in self.callers}
        stored = {key: person for rows in people.values() for key, person in rows.items()}
        for key, expected in self.log.people.items():
            allowed = [expected, *self.log.unanswered.get(key, [])]
            if not any(_matches(stored.get(key), one) for one in allowed):
                found.append(f"person {key}: {allowed} were acknowledged or tried, {stored.get(key)} is there")
        relationships = self._get("/api/relationships")["relationships"]
        lost = self.log.relationships - {row["id"] for row in relationships}
        found += [f"relationship {key} is missing" for key in lost]
        for key, name in self.log.photos.items():
            if (stored.get(key) or {}).get("photo") != name or not self._get(f"/api/photos/{key}"):
                found.append(f"photo {name} of {key} is missing")
        return found

    def _get(self, path: str, name: str = "busy") -> Any:
        """Read as this account, with retries, because the server closes a connection that is idle for minutes."""
        for _ in range(10):
            if (found := self.callers[name].call("look", "GET", path)) is not None:
                return found
        raise AssertionError((path, self.log.outcomes, self.log.failures))

    def _people(self, name: str) -> dict[str, Any]:
        rows = self._get("/api/people?includeAll=true", name)["people"]
        return {row["id"]: {"nickname": row.get("nickname"), "photo": row.get("photo")} for row in rows}

    def _reminder_problems(self) -> list[str]:
        """Lost reminders, and webhooks that came twice without a fault that kept their delivery from being recorded."""
        found, webhooks, mails = [], self._received(), self._mailed()
        for key, name in self.log.reminded.items():
            found += [
                f"no {what} for {name}"
                for what, number in (("webhook", webhooks[key]), ("mail", mails[name]))
                if not number
            ]
        self.repeated_webhooks = sum(number - 1 for number in webhooks.values() if number > 1)
        self.repeated_mails = sum(mails[name] - 1 for name in self.log.reminded.values() if mails[name] > 1)
        answered: dict[str, list[float]] = {}
        offset = time.time() - time.monotonic()
        for one in self.receiver.received:
            answered.setdefault(one.headers["webhook-id"], []).append((one.answered_at or one.received_at) + offset)
        for key, times in answered.items():
            found += [f"webhook {key} came again without a fault" for at in times[:-1] if not self._has_failed_at(at)]
        return found

    def _has_failed_at(self, at: float) -> bool:
        return any(began - RECORDING_SECONDS <= at <= ended for _, began, ended in self.stack.faults)

    def _card_problems(self) -> list[str]:
        """The contacts that are not exactly once on each side."""
        rows = self._get("/api/people?includeAll=true", "mirrored")["people"]
        here = Counter(row["name"] for row in rows)
        _, body = self.server.call("GET", self.book, "user")
        on_server = Counter(line[3:].strip() for line in body.decode().splitlines() if line.startswith("FN:"))
        names = sorted(self.log.cards)
        numbers = {name: (here[name], on_server[name]) for name in names}
        return [f"{name}: {numbers[name]} here and there, not one each" for name in names if numbers[name] != (1, 1)]

    def _doctor_problems(self) -> list[str]:
        done = self.stack.manage("doctor", "--deep")
        wrong = [line for line in done.stdout.splitlines() if line.startswith("ERROR")]
        return wrong or ([done.stderr[-500:]] if done.returncode else [])

    def _print_report(self, problems: list[str]) -> None:
        for (what, how), number in sorted(self.log.outcomes.items()):
            print(f"{what:10} {how:14} {number:6}")
        print(
            "faults:",
            dict(Counter(what for what, _, _ in self.stack.faults)),
            "ended alone:",
            Counter(self.stack.ended_alone),
        )
        acknowledged = {
            name: len(getattr(self.log, name)) for name in ("people", "relationships", "photos", "cards", "reminded")
        }
        print("acknowledged:", acknowledged)
        print(
            f"webhooks {len(self.receiver.received)}, {self.repeated_webhooks} again; mails again {self.repeated_mails}"
        )
        print(f"problems: {len(problems)}")
        for problem in problems[:40]:
            print("  ", problem)


def _matches(person: Any, expected: Any) -> bool:
    if expected is None or person is None:
        return expected is None and person is None
    return all(person[name] == value for name, value in expected.items())


if __name__ == "__main__":
    sys.exit(main())
