"""Connections to PostgreSQL.

**Prepared statements.** It takes four times longer to plan a small statement than to run it, so a connection keeps the
plans of repeated ones.

**Health checks.** With CONN_HEALTH_CHECKS, Django sends `SELECT 1` before the first statement of each request, since
the server may have been restarted since the last one: one exchange more for each request. So a connection is asked only
if it has not begun a request for a moment. A server that ends a connection says so: its socket then has something to
read, which it never has between two requests. So looking at the socket, without an exchange, finds connections that
were ended within that moment, too. What no look finds is a connection that ends while a request uses it: that request
fails with 503, and Django opens another after an error. Reads are not repeated: of many statements it would not be
known which had been answered.

**The pool** of a process, if `DATABASE_URL` configures one (`?pool=4..20`), is counted in the metrics.
"""

import functools
import re
import select
import threading
import time
from typing import Any, NamedTuple

from django.core.signals import request_started
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from contacts_project.kernel.metrics import Counter

REMEDY = "Create one with: createdb --encoding UTF8 --template template0 NAME"
# A statement with more parameters is sent with its values in the text. The protocol allows 65,535 parameters, and the
# plan of a long INSERT takes much memory, though the same length is seldom repeated.
MAX_BOUND_PARAMETERS = 300
# Matches a list of two or more values. A kept plan for any list in any account reads all rows of an account, if the
# average account is small, so these statements are planned each time for their values.
_ID_LIST = re.compile(r" IN \(%(?:\(\w+\))?s, ")
# For so long after a request began on a connection it is not asked whether it still works.
_TRUSTED_SECONDS = 1.0
_ATTRIBUTE = "request_began_at"


class _Driver(NamedTuple):
    """What replaces Django's and psycopg's defaults on a connection."""

    cursor: type[Any]
    server_side_cursor: type[Any]
    integer_dumpers: tuple[tuple[type, type[Any]], ...]


@functools.cache
def _load_driver() -> _Driver:
    """Define the cursor that lets psycopg prepare repeated statements. Called for PostgreSQL only."""
    # Imported here, because psycopg would cost each process of an instance on SQLite 60 ms and 9 MB.
    from django.db.backends.postgresql import base  # noqa: PLC0415
    from psycopg import ClientCursor  # noqa: PLC0415
    from psycopg.types import numeric  # noqa: PLC0415

    class PreparingCursor(base.ServerBindingCursor):  # type: ignore[misc, name-defined] # not in the stubs
        """Sends parameters beside the statement, so that its plan can be kept, unless the plan should not be."""

        def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
            if not params or (len(params) <= MAX_BOUND_PARAMETERS and not _ID_LIST.search(str(query))):
                return super().execute(query, params, **options)
            # With a threshold psycopg would keep each such text, to count how often it is repeated.
            threshold = self.connection.prepare_threshold
            self.connection.prepare_threshold = None
            try:
                return super().execute(ClientCursor(self.connection).mogrify(query, params), **options)
            finally:
                self.connection.prepare_threshold = threshold

    # Integers are sent as text, so the server refuses a number that is too large. psycopg's binary dumpers cut off what
    # does not fit in the type, and the server stored the rest: 4,464 for 70,000.
    integer_dumpers = (
        (numeric.Int2, numeric.Int2Dumper),
        (numeric.Int4, numeric.Int4Dumper),
        (numeric.Int8, numeric.Int8Dumper),
    )
    # Queries with .iterator() bind on the client, since their lists may be longer than the protocol allows.
    return _Driver(PreparingCursor, base.ServerSideCursor, integer_dumpers)  # type: ignore[attr-defined] # as above


def _configure_connection(*, connection: BaseDatabaseWrapper, **kwargs: object) -> None:
    """Receiver of connection_created: keep the plans of repeated statements.

    The setting `prepare_threshold` of the connection decides after how many executions.
    """
    if connection.vendor == "postgresql":
        driver = _load_driver()
        psycopg_connection = connection.connection
        psycopg_connection.cursor_factory = driver.cursor
        psycopg_connection.server_cursor_factory = driver.server_side_cursor
        for kind, dumper in driver.integer_dumpers:
            psycopg_connection.adapters.register_dumper(kind, dumper)


def trust_recent_use(**kwargs: object) -> None:
    """Receiver of request_started, after that of Django, which asks for a check of this thread's connection."""
    database: Any = connections[DEFAULT_DB_ALIAS]
    now = time.monotonic()
    if now - vars(database).get(_ATTRIBUTE, -_TRUSTED_SECONDS) < _TRUSTED_SECONDS and not _may_have_ended(database):
        database.health_check_done = True
    setattr(database, _ATTRIBUTE, now)


def _may_have_ended(database: Any) -> bool:
    """Whether the server has sent something unasked: that it ends the connection, or rarely a notice."""
    if database.vendor != "postgresql" or database.connection is None:
        return False
    if database.connection.closed:
        return True
    poll = select.poll()  # select() cannot look at a file whose number is above 1,023
    poll.register(database.connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))


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


def connect_receivers() -> None:
    """Let all this happen to every connection that is opened from now on."""
    connection_created.connect(_configure_connection, dispatch_uid="prepared_statements")
    connection_created.connect(count_pool, dispatch_uid="database_pool")
    request_started.connect(trust_recent_use, dispatch_uid="health_checks")


def wrong_encoding(connection: BaseDatabaseWrapper) -> str:
    """The encoding of the database if it is not UTF-8, else an empty text.

    A database that was created in a C or Latin-1 locale cannot store every name.
    """
    if connection.vendor != "postgresql":
        return ""
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_encoding")
        encoding = str(cursor.fetchone()[0])
    return "" if encoding == "UTF8" else encoding
