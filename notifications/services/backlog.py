"""Deliveries whose host or account is at its limit of concurrent calls, until one of those calls ends."""

import heapq
import threading
from uuid import UUID

from contacts_project.kernel.outbound.exchanges import EXCHANGES, HOST_CALLS


class Backlog:
    """Delivery ids by host or account. Ids are UUIDv7, so that the heap gives them back in the order of planning.

    No thread waits here, so this is no FairSemaphore (docs/fairness.md). Kept in memory only: if the process dies, the
    rows are still due, and the scan enqueues them after two leases.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str | UUID, list[UUID]] = {}
        # Whose turn comes next is first. Slow accounts that wait for a place of slow deliveries stand apart, since
        # there may be thousands of them; all others that have no room are as many as there are calls under way.
        self._order: dict[str | UUID, None] = {}
        self._held_up: dict[str | UUID, None] = {}
        self._ids: set[UUID] = set()

    def put(self, key: str | UUID, delivery_id: UUID) -> None:
        """Add a delivery, unless it waits already: the scan enqueues it again when its time in the queue is over."""
        with self._lock:
            if delivery_id not in self._ids:
                self._ids.add(delivery_id)
                heapq.heappush(self._waiting.setdefault(key, []), delivery_id)
                if key not in self._held_up:
                    self._order.setdefault(key)

    def take(self) -> UUID | None:
        """Remove and return the oldest delivery of the next host or account below its limit; None if there is none."""
        with self._lock:
            key = self._take_key()
            if key is None:
                return None
            waiting = self._waiting[key]
            delivery_id = heapq.heappop(waiting)
            self._ids.discard(delivery_id)
            if waiting:
                # To the end of the order: hosts and accounts take turns.
                self._order[key] = None
            else:
                del self._waiting[key]
            return delivery_id

    def _take_key(self) -> str | UUID | None:
        """Remove and return the key whose turn it is, from the slow accounts as long as a place of theirs is free."""
        if not EXCHANGES.slow_places.is_full():
            key = next((key for key in self._held_up if _has_place(key)), None)
            if key is not None:
                del self._held_up[key]
                return key
        held_up = []
        found = None
        for key in self._order:
            if _has_place(key):
                found = key
                break
            if isinstance(key, UUID) and EXCHANGES.is_held_up(key):
                held_up.append(key)
        for key in held_up:
            del self._order[key]
            self._held_up[key] = None
        if found is not None:
            del self._order[found]
        return found


def _has_place(key: str | UUID) -> bool:
    return EXCHANGES.has_place(key) if isinstance(key, UUID) else HOST_CALLS.has_place(key)


BACKLOG = Backlog()
