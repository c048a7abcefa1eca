"""`python -m contacts_project.processes.background`: a Celery worker with threads, the scheduler among them.

Celery's own `worker --beat` runs the scheduler as a process, which survives a kill -9 of the worker and may miss a
SIGTERM while it starts. As a thread it ends with the worker. `--queues` starts a worker for these, and no
scheduler.
Each queue has threads of its own (`queue_pool`), so that no reminder waits for a sync.
"""

import argparse
import logging
import os
import signal
import sys
import threading
from typing import Any

from celery import bootsteps
from kombu.utils.imports import symbol_by_name

from contacts_project.processes.child import add_pipes, set_up
from contacts_project.processes.watchdog import watch_interpreter

log = logging.getLogger(__name__)


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
    add_pipes(parser)
    parser.add_argument("--queues", help="these alone, with commas, and no scheduler; default: all, with it")
    parser.add_argument("--threads", type=int, help="tasks of reminders, and of sync, at a time; default 4 and 2")
    options = parser.parse_args()
    set_up(options)
    from contacts_project.celery import app  # noqa: PLC0415 - needs Django set up
    from contacts_project.processes.queue_pool import WINDOW, QueuePool, use_threads  # noqa: PLC0415 - after exit_with_parent

    if options.threads:
        use_threads(options.threads)
    if not options.queues:
        app.steps["worker"].add(SchedulerThread)
    worker = app.Worker(
        pool_cls=QueuePool,
        queues=options.queues,
        concurrency=WINDOW,
        prefetch_multiplier=1,
        loglevel="WARNING",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    watch_interpreter()
    worker.start()
    return int(worker.exitcode or 0)


if __name__ == "__main__":
    sys.exit(main())
