"""A connection is asked whether it still works only if it has not begun a request for a moment.

With CONN_HEALTH_CHECKS, Django sends `SELECT 1` before the first statement of each request, since the server may have
been restarted since the last one. That is one exchange more for each request, of 75 calls of functions. A connection
that breaks between two requests that follow each other at once fails the second, with 503; Django opens another after
an error.
"""

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
    if now - vars(database).get(_ATTRIBUTE, -_TRUSTED_SECONDS) < _TRUSTED_SECONDS:
        database.health_check_done = True
    setattr(database, _ATTRIBUTE, now)


def check_idle_connections_only() -> None:
    """Leave out the checks of connections that are in frequent use."""
    request_started.connect(trust_recent_use, dispatch_uid="health_checks")
