"""Connections whose clients read nothing at this moment: cut off after a while, and sooner when room is short."""

import time
from typing import Protocol

from contacts_project.server.spool import Spool

# How long nothing was read where room is short, or where others of the same caller wait.
SHORT_SECONDS = 3


class Stalled(Protocol):
    """A connection that waits for its client to read; `caller` is who asked for what it does not read."""

    caller: object

    def cut(self) -> None:
        """Close it at once, with what it has not sent."""


# Since when each waits; who has waited for longest comes first. Only the event loop touches it.
stalled: dict[Stalled, float] = {}


def make_room() -> None:
    """Cut off who has read nothing for longest, once bodies and answers take half of the room that there is."""
    longest = next(iter(stalled.items()), None)
    if longest and Spool.taken > Spool.ROOM // 2 and longest[1] <= time.monotonic() - SHORT_SECONDS:
        longest[0].cut()


def close_stalled_connection(caller: object) -> None:
    """Cut off that connection of the caller whose client has read nothing for longest, and for longer than a moment."""
    longest = next((found for found in stalled.items() if found[0].caller == caller), None)
    if longest and longest[1] <= time.monotonic() - SHORT_SECONDS:
        longest[0].cut()
