"""`python -m contacts_project.processes.background`: a Celery worker with threads, the scheduler among them.

Celery's own `worker --beat` runs the scheduler as a process, which survives a kill -9 of the worker and may miss a
SIGTERM while it starts. As a thread it ends with the worker.
Long tasks have threads of their own, so that no reminder waits for a sync.
"""

import argparse
import logging
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from celery import bootsteps
from celery.concurrency.thread import TaskPool
from kombu.utils.imports import symbol_by_name

from contacts_project.processes.child import exit_with_parent, set_up_django

THREADS, LONG_THREADS = 4, 2
# Tasks of these queues may take minutes.
LONG_QUEUES = {"sync", "chores"}
# Messages per thread that the worker fetches in advance: syncs that wait for a thread count against it, and must not
# keep reminders in the broker.
_PREFETCH_PER_THREAD = 250
log = logging.getLogger(__name__)


class QueuePool(TaskPool):
    """Two thread pools: one for urgent tasks (reminders, mails), one for those of LONG_QUEUES."""

    executor: ThreadPoolExecutor

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.urgent: ThreadPoolExecutor = self.executor
        self.long = ThreadPoolExecutor(LONG_THREADS, "long")

    def on_apply(self, target: Any, args: Any = None, kwargs: Any = None, *more: Any, **options: Any) -> Any:
        """Submit a task to the pool of its queue. `args[2]` is the task's request.

        Celery calls this from one thread only, so that `executor` may be switched for each call.
        """
        queue = args[2]["delivery_info"]["routing_key"]
        self.executor = self.long if queue in LONG_QUEUES else self.urgent
        return super().on_apply(target, args, kwargs, *more, **options)

    def on_stop(self) -> None:
        self.long.shutdown()
        self.executor = self.urgent  # the one that Celery's on_stop shuts down
        super().on_stop()


class SchedulerThread(bootsteps.StartStopStep):
    """Runs Celery's beat scheduler beside the worker. If it fails, the worker stops, and the supervisor restarts it."""

    requires = ("celery.worker.components:Pool",)

    def __init__(self, worker: Any, **kwargs: Any) -> None:
        super().__init__(worker, **kwargs)
        self.stopping = threading.Event()
        self.thread: threading.Thread | None = None

    def start(self, worker: Any) -> None:
        self.thread = threading.Thread(target=self._run, args=(worker.app,), name="scheduler", daemon=True)
        self.thread.start()

    def stop(self, worker: Any) -> None:
        self.stopping.set()
        if self.thread:
            self.thread.join(5)

    def _run(self, app: Any) -> None:
        try:
            scheduler = symbol_by_name(app.conf.beat_scheduler)(app=app)
            while not self.stopping.wait(max(0, scheduler.tick())):
                if scheduler.should_sync():
                    scheduler._do_sync()  # Celery's own loop calls it too
            scheduler.close()
        except Exception:
            log.exception("The scheduler failed")
            os.kill(os.getpid(), signal.SIGTERM)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m contacts_project.processes.background", description=__doc__)
    parser.add_argument("--parent", type=int, help="a pipe that ends with the process that started this one")
    options = parser.parse_args()
    if options.parent is not None:
        exit_with_parent(options.parent)
    set_up_django()
    from contacts_project.celery import app  # noqa: PLC0415 - needs Django set up

    app.steps["worker"].add(SchedulerThread)
    worker = app.Worker(
        pool_cls=QueuePool,
        concurrency=THREADS,
        prefetch_multiplier=_PREFETCH_PER_THREAD,
        loglevel="WARNING",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    return int(worker.exitcode or 0)


if __name__ == "__main__":
    sys.exit(main())
