"""Metrics of the process's pool of database connections, if `DATABASE_URL` configures one (`?pool=4..20`)."""

import threading
from typing import Any

from django.db import connection
from django.db.backends.signals import connection_created

from contacts_project.kernel.metrics import Counter

POOL = Counter(
    "contacts_database_pool_total",
    "Connections that requests and tasks asked their process's pool for: asked, waited, and refused after waiting.",
    ("event",),
)
# By the names of psycopg_pool's statistics.
_EVENTS = {"requests_num": "asked", "requests_queued": "waited", "requests_errors": "refused"}
_lock = threading.Lock()
_counted: dict[str, int] = {}


def count_pool(**kwargs: object) -> None:
    """Receiver of connection_created: add what the pool has counted since the last call.

    A refused request opens no connection, so it is counted with the next connection.
    """
    pool: Any = getattr(connection, "pool", None)
    if pool is None:
        return
    stats = pool.get_stats()
    # psycopg_pool returns totals, and several threads may open connections at once.
    with _lock:
        for name, event in _EVENTS.items():
            number = stats.get(name, 0)
            if new := number - _counted.get(name, 0):
                POOL.count(event, number=new)
                _counted[name] = number


def watch_pool() -> None:
    """Update the metrics with each connection that is taken from the pool."""
    connection_created.connect(count_pool, dispatch_uid="database_pool")
