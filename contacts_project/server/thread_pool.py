"""The threads of a web process, which can be ended together with their database connections."""

from concurrent.futures import ThreadPoolExecutor

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper


class DatabaseThreadPool(ThreadPoolExecutor):
    """Threads that each may open a database connection, which another thread closes after they have ended."""

    def __init__(self, threads: int, name: str) -> None:
        super().__init__(threads, name, initializer=self._share_connection)
        self._databases: list[BaseDatabaseWrapper] = []

    def end(self) -> None:
        """Wait for the tasks, end the threads and close their connections."""
        self.shutdown()
        for database in self._databases:
            database.close()

    def _share_connection(self) -> None:
        """In a new thread: let another thread close its connection, which is opened later."""
        database = connections[DEFAULT_DB_ALIAS]
        database.inc_thread_sharing()
        self._databases.append(database)
