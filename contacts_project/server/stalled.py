"""Connections whose clients do not read: closed after a timeout, and earlier if the space for responses is short."""

import time
from typing import Protocol

from contacts_project.server.spool import Space

# A connection may be closed early after this time without a read.
STALLED_SECONDS = 3


class StalledConnection(Protocol):
    """A connection that waits for its client to read the response; `caller` made the request."""

    caller: object

    def abort(self) -> None:
        """Close it at once and discard what has not been sent."""


# When each connection stopped, the oldest first. Needs no lock: only the event loop uses it.
stalled_connections: dict[StalledConnection, float] = {}


def free_space(windows: Space) -> None:
    """Close the connection that has stalled for longest, if the beginnings of responses take more than half of it."""
    oldest = next(iter(stalled_connections.items()), None)
    if oldest and windows.used > windows.total // 2 and oldest[1] <= time.monotonic() - STALLED_SECONDS:
        oldest[0].abort()


def close_stalled_connection(caller: object) -> None:
    """Close the caller's connection that has stalled for longest, if that is at least STALLED_SECONDS."""
    oldest = next((found for found in stalled_connections.items() if found[0].caller == caller), None)
    if oldest and oldest[1] <= time.monotonic() - STALLED_SECONDS:
        oldest[0].abort()
