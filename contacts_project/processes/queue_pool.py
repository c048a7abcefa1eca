"""The threads of a worker: each queue has its own, so that no queue can use up those of another.

A thread that waits for another server (`external_wait`) gives its place back meanwhile, so that the tasks of accounts
with slow servers do not hold up the others. docs/fairness.md lists the numbers.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ParamSpec, TypeVar

from celery.concurrency.base import apply_target
from celery.concurrency.thread import ApplyResult, TaskPool  # type: ignore[attr-defined]
from django.db import DEFAULT_DB_ALIAS, connections

from contacts_project.kernel.external_waits import release_thread
from contacts_project.kernel.fair_semaphore import FairSemaphore, SemaphoreLimits


@dataclass(frozen=True)
class QueueThreads:
    """Tasks of a queue that may run at a time, and how many more may wait for other servers meanwhile."""

    running: int
    waiting: int = 0


THREADS = {
    "scan": QueueThreads(2),
    "sharing": QueueThreads(2),
    "mail": QueueThreads(2),
    "reminders": QueueThreads(4, waiting=48),
    "sync": QueueThreads(2, waiting=24),
    "chores": QueueThreads(2),
}
# Of the threads that wait, so many keep their connection to PostgreSQL, which has a hundred of them for all processes.
MAX_IDLE_CONNECTIONS = 8
_SCALED_QUEUES = ("reminders", "sync")
# Messages that a worker fetches in advance from each queue: one for each thread that a queue may have.
WINDOW = max(threads.running + threads.waiting for threads in THREADS.values())


def use_threads(running: int) -> None:
    """Let `running` tasks of reminders, and of sync, run at a time. Before the pool is made."""
    for name in _SCALED_QUEUES:
        THREADS[name] = replace(THREADS[name], running=running)


def close_idle_connection() -> None:
    """Close this thread's connection to PostgreSQL. The next statement opens another."""
    database = connections[DEFAULT_DB_ALIAS]
    # No transaction is open across the network; a test may have opened one.
    if database.vendor == "postgresql" and not database.in_atomic_block:
        database.close()


P = ParamSpec("P")
T = TypeVar("T")


class QueueExecutor(ThreadPoolExecutor):
    """The threads of a queue. A task takes a place to start, and gives it back while it waits for another server.

    No thread waits for a place to run, but the task itself, so that is no FairSemaphore (docs/fairness.md).
    """

    def __init__(self, name: str, threads: QueueThreads) -> None:
        super().__init__(threads.running + threads.waiting, name)
        self._lock = threading.Lock()
        self._free = threads.running
        self._waits = FairSemaphore[None](SemaphoreLimits(key="process", total=threads.waiting))
        self._pending: deque[tuple[Future[Any], Callable[[], Any]]] = deque()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        with self._lock:
            self._pending.append((future, lambda: fn(*args, **kwargs)))
        self._change_free(0)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Forget what has not begun: its messages are not acknowledged, and another worker gets them."""
        with self._lock:
            self._pending.clear()
        super().shutdown(wait, cancel_futures=cancel_futures)

    def _change_free(self, change: int) -> None:
        """Give places back, and start pending tasks, the oldest first, while there are free ones."""
        with self._lock:
            self._free += change
            while self._pending and self._free > 0:
                self._free -= 1
                super().submit(self._run, *self._pending.popleft())

    def _run(self, future: "Future[Any]", work: Callable[[], Any]) -> None:
        token = release_thread.set(self._external_wait)
        try:
            if future.set_running_or_notify_cancel():
                future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - as ThreadPoolExecutor: the caller gets it
            future.set_exception(error)
        finally:
            release_thread.reset(token)
            self._change_free(1)

    @contextmanager
    def _external_wait(self) -> Iterator[None]:
        if not self._waits.try_acquire(None):
            yield  # as many wait as may: this one keeps its place
            return
        if self._waits.held(None) > MAX_IDLE_CONNECTIONS:
            close_idle_connection()
        self._change_free(1)
        try:
            yield
        finally:
            # It continues at once, even where its place was given away: the number may be negative for a while.
            self._change_free(-1)
            self._waits.release(None)


class QueuePool(TaskPool):
    """Celery's pool of threads, with an executor for each queue."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.executors = {name: QueueExecutor(name, threads) for name, threads in THREADS.items()}

    def on_apply(
        self,
        target: Callable[..., Any],
        args: Sequence[Any] | None = None,
        kwargs: dict[str, Any] | None = None,
        callback: Callable[..., Any] | None = None,
        accept_callback: Callable[..., Any] | None = None,
        **options: Any,
    ) -> ApplyResult:
        """Submit a task to the executor of its queue. `args[2]` is the task's request."""
        queue = args[2]["delivery_info"]["routing_key"] if args else ""
        executor = self.executors.get(queue, self.executors["chores"])
        return ApplyResult(executor.submit(apply_target, target, args, kwargs, callback, accept_callback))

    def on_stop(self) -> None:
        for executor in self.executors.values():
            executor.shutdown(wait=False)
        for executor in self.executors.values():
            executor.shutdown()
        super().on_stop()
