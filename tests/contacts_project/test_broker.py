"""The embedded broker: its store, the kombu transport, and real Celery workers that are killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from kombu import Connection, Queue

from contacts_project.kernel.broker import Store, broker_url, new_delivery_tag
from tests.contacts_project.broker_settings import CELERY_SETTINGS, WORKER_ARGUMENTS

TASKS = 60
CLAIM_AND_WAIT = """
import sys, time
from pathlib import Path
from contacts_project.kernel.broker import Store
print(Store(Path(sys.argv[1])).claim("q"), flush=True)
time.sleep(60)
"""


@pytest.fixture
def file(tmp_path: Path) -> Any:
    return tmp_path / "dir" / "broker file.sqlite3"


def test_messages_are_claimed_once_and_in_order(file: Any) -> None:
    store = Store(file)
    for number in range(3):
        store.put("q", f"tag{number}", str(number))
    assert [store.claim("q"), store.claim("q")] == ["0", "1"]
    assert store.size("q") == 1
    store.release("tag0")
    assert [store.claim("q"), store.claim("q"), store.claim("q")] == ["0", "2", None]
    assert store.claim("other") is None


def test_acknowledged_message_never_comes_back(file: Any) -> None:
    store = Store(file)
    store.put("q", "tag", "body")
    assert store.claim("q") == "body"
    store.delete("tag")
    store.release("tag")
    assert store.claim("q") is None


def test_only_claims_of_dead_processes_are_released(file: Any) -> None:
    """A claimed message becomes free only when the process that claimed it is dead, even as a zombie."""
    Store(file).put("q", "tag", "body")
    child = subprocess.Popen([sys.executable, "-c", CLAIM_AND_WAIT, str(file)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "body\n"
        store = Store(file)
        assert store.release_dead_claims() == 0
        assert store.claim("q") is None
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert store.release_dead_claims() == 1
        assert store.claim("q") == "body"
    finally:
        child.kill()
        child.wait()
        if child.stdout:
            child.stdout.close()


def test_process_with_a_reused_pid_is_not_the_owner(file: Any) -> None:
    store = Store(file)
    store.put("q", "tag", "body")
    store.claim("q")
    with store._open() as db:
        db.execute("UPDATE message SET owner = ?", (f"{os.getpid()}:1",))
    assert store.release_dead_claims() == 1


def test_kombu_consumer_acknowledges_rejects_and_requeues(file: Any) -> None:
    with Connection(broker_url(file)) as connection:
        queue = connection.SimpleQueue("things")
        for number in range(4):
            queue.put({"number": number})
        first, second, third = (queue.get(timeout=60) for _ in range(3))
        assert first.payload == {"number": 0}
        first.ack()
        second.reject()
        third.requeue()
        assert queue.get(timeout=60).payload == {"number": 2}
        queue.close()
    # A message that was taken and not acknowledged is free again, at its old position.
    with Connection(broker_url(file)) as connection:
        queue = connection.SimpleQueue("things", no_ack=True)
        assert [queue.get(timeout=60).payload["number"] for _ in range(2)] == [2, 3]
        assert queue.qsize() == 0
        queue.close()
    store = Store(file)
    assert store.claim("things") is None
    assert store.release_dead_claims() == 0


def test_purge_deletes_unclaimed_messages(file: Any) -> None:
    store = Store(file)
    for _ in range(3):
        store.put("q", new_delivery_tag(), "x")
    with Connection(broker_url(file)) as connection:
        assert Queue("q")(connection.channel()).purge() == 3


class Workers:
    """Starts and kills Celery workers on one broker file."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "broker.sqlite3"
        self.done = folder / "done"
        self.done.touch()
        self.log = folder / "worker.log"
        self.running: list[subprocess.Popen] = []
        self.app = Celery(broker=broker_url(self.file), set_as_current=False)
        self.app.conf.update(CELERY_SETTINGS)

    def send(self, name: Any, *args: Any) -> None:
        self.app.send_task(f"tests.contacts_project.broker_app.{name}", args=args)

    def start(self) -> subprocess.Popen:
        command = [sys.executable, "-m", "celery", "-A", "tests.contacts_project.broker_app", "worker"]
        environment = {**os.environ, "BROKER_FILE": str(self.file), "DONE_FILE": str(self.done)}
        environment.pop(
            "DJANGO_SETTINGS_MODULE", None
        )  # else Celery loads the service, of which these tasks need nothing
        with self.log.open("a") as log:
            worker = subprocess.Popen(
                [*command, *WORKER_ARGUMENTS, "--concurrency=4"], env=environment, stdout=log, stderr=log
            )
        self.running.append(worker)
        return worker

    def numbers(self) -> list[int]:
        return [int(line) for line in self.done.read_text().split()]

    def wait_until(self, is_true: Any, seconds: Any = 180) -> None:
        end = time.monotonic() + seconds
        while not is_true():
            if time.monotonic() > end:
                pytest.fail(f"not in time; the worker said:\n{self.log.read_text()[-3000:]}")
            time.sleep(0.02)

    def stop(self) -> None:
        for worker in self.running:
            worker.kill()
            worker.wait()


@pytest.fixture
def workers(tmp_path: Path) -> Any:
    workers = Workers(tmp_path)
    yield workers
    workers.stop()


def test_killed_worker_loses_no_task(workers: Workers) -> None:
    """Tasks wait while no worker runs; the tasks of a killed worker are done by the next."""
    for number in range(TASKS):
        workers.send("append", number, 0.02 if number < TASKS // 3 else 0.2)
    workers.send("fail_once", TASKS)
    worker = workers.start()
    workers.wait_until(lambda: len(workers.numbers()) >= TASKS // 3)
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()
    assert len(workers.numbers()) < TASKS
    workers.start()
    workers.wait_until(lambda: set(workers.numbers()) == set(range(TASKS + 1)))
    # Only the tasks that were running when the worker died may have been done twice.
    assert len(workers.numbers()) - (TASKS + 1) <= 4
    store = Store(workers.file)
    workers.wait_until(lambda: store.size("celery") == 0)


def test_two_workers_share_the_tasks(workers: Workers) -> None:
    workers.start()
    workers.start()
    for number in range(TASKS):
        workers.send("append", number)
    workers.wait_until(lambda: len(workers.numbers()) >= TASKS)
    time.sleep(0.3)
    assert sorted(workers.numbers()) == list(range(TASKS))
