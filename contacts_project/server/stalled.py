"""Connections whose clients read nothing at this moment: cut off after a while, and sooner when room is short."""

import time
from typing import Protocol

from contacts_project.server.spool import Spool

# How long nothing was read where room is short.
SHORT_SECONDS = 3


class Stalled(Protocol):
    """A connection that waits for its client to read."""

    def cut(self) -> None:
        """Close it at once, with what it has not sent."""


# Since when each waits; who has waited for longest comes first. Only the event loop touches it.
stalled: dict[Stalled, float] = {}


def make_room() -> None:
    """Cut off who has read nothing for longest, once bodies and answers take half of the room that there is."""
    longest = next(iter(stalled.items()), None)
    if longest and Spool.taken > Spool.ROOM // 2 and longest[1] <= time.monotonic() - SHORT_SECONDS:
        longest[0].cut()
