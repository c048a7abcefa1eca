"""Deliveries whose host has as much of this process as it may have: they wait for a call to it to end."""

import heapq
import threading
from uuid import UUID

from contacts_project.kernel.outbound.hosts import HOST_CALLS


class HostBacklog:
    """Ids of deliveries by host, in the order in which they were planned.

    Only in memory: their rows are due, and handed out again two leases later, should this process forget them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, list[UUID]] = {}

    def put(self, host: str, delivery_id: UUID) -> None:
        with self._lock:
            heapq.heappush(self._waiting.setdefault(host, []), delivery_id)

    def take(self) -> UUID | None:
        """The first of a host that has room."""
        with self._lock:
            host = next((host for host in self._waiting if HOST_CALLS.has_room(host)), None)
            if host is None:
                return None
            delivery_id = heapq.heappop(self._waiting[host])
            if not self._waiting[host]:
                del self._waiting[host]
            return delivery_id


BACKLOG = HostBacklog()
