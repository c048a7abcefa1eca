"""A connection is asked whether it still works only if it has not begun a request for a moment.

With CONN_HEALTH_CHECKS, Django sends `SELECT 1` before the first statement of each request, since the server may have
been restarted since the last one. That is one exchange more for each request.

A server that ends a connection says so: its socket then has something to read, which it never has between two requests.
So looking at the socket, without an exchange, finds connections that were ended within that moment, too. What no look
finds is a connection that ends while a request uses it: that request fails with 503, and Django opens another after an
error. Reads are not repeated: of many statements it would not be known which had been answered.
"""

import select
import time
from typing import Any

from django.core.signals import request_started
from django.db import DEFAULT_DB_ALIAS, connections

_TRUSTED_SECONDS = 1.0
_ATTRIBUTE = "request_began_at"


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


def check_idle_connections_only() -> None:
    """Leave out the checks of connections that are in frequent use."""
    request_started.connect(trust_recent_use, dispatch_uid="health_checks")
