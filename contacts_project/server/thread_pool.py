"""The threads of a web process, which can be ended together with their database connections."""

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import TypeAlias

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

Finish: TypeAlias = Callable[[BaseException | None], None]
"""Called in the thread after the task, with what it raised."""
_Task: TypeAlias = tuple[Callable[[], None], Finish]


class DatabaseThreadPool:
    """Threads that each may open a database connection, which another thread closes after they have ended.

    A task gets the thread that was idle last, so that one client after another is served by the same connection. Its
    pages and prepared statements are in memory; SQLite's other connections read what it has written once more. Python's
    own pool takes threads in turns, and starts new ones while others are about to be idle.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._threads: list[threading.Thread] = []
        self._queues: list[SimpleQueue[_Task | None]] = []
        # Of the threads that have nothing to do, the last one last. Lists are thread-safe.
        self._idle: list[SimpleQueue[_Task | None]] = []
        self._databases: list[BaseDatabaseWrapper] = []

    def submit(self, task: Callable[[], None], finish: Finish) -> None:
        """Run the task in an idle thread, or in a new one: whoever calls this limits their number."""
        try:
            tasks = self._idle.pop()
        except IndexError:
            tasks = self._start_thread()
        tasks.put((task, finish))

    def end(self) -> None:
        """Wait for the tasks, end the threads and close their connections."""
        for tasks in self._queues:
            tasks.put(None)
        for thread in self._threads:
            thread.join()
        for database in self._databases:
            database.close()

    def _start_thread(self) -> "SimpleQueue[_Task | None]":
        tasks: SimpleQueue[_Task | None] = SimpleQueue()
        number = len(self._threads)
        # Daemons, so that a process whose pool was not ended can end.
        thread = threading.Thread(target=self._work, args=(tasks,), name=f"{self._name}_{number}", daemon=True)
        self._threads.append(thread)
        self._queues.append(tasks)
        thread.start()
        return tasks

    def _work(self, tasks: "SimpleQueue[_Task | None]") -> None:
        self._share_connection()
        while (item := tasks.get()) is not None:
            task, finish = item
            error: BaseException | None = None
            try:
                task()
            except BaseException as raised:  # noqa: BLE001 - of whatever kind, who waits for the task gets it
                error = raised
            # First: who is told that the task has finished may have the next one.
            self._idle.append(tasks)
            finish(error)
            # Nothing of a request is kept by an idle thread.
            del item, task, finish, error

    def _share_connection(self) -> None:
        """In a new thread: let another thread close its connection, which is opened later."""
        database = connections[DEFAULT_DB_ALIAS]
        database.inc_thread_sharing()
        self._databases.append(database)
