"""Deliveries whose host is at its limit of concurrent calls from this process, until one of those calls ends."""

import heapq
import threading
from uuid import UUID

from contacts_project.kernel.outbound.hosts import HOST_CALLS


class HostBacklog:
    """Delivery ids by host. Ids are UUIDv7, so that the heap gives them back in the order of planning.

    Kept in memory only: if the process dies, the rows are still due, and the scan enqueues them after two leases.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, list[UUID]] = {}

    def put(self, host: str, delivery_id: UUID) -> None:
        with self._lock:
            heapq.heappush(self._waiting.setdefault(host, []), delivery_id)

    def take(self) -> UUID | None:
        """Remove and return the oldest delivery of a host that is below its limit; None if there is none."""
        with self._lock:
            host = next((host for host in self._waiting if HOST_CALLS.has_room(host)), None)
            if host is None:
                return None
            delivery_id = heapq.heappop(self._waiting[host])
            if not self._waiting[host]:
                del self._waiting[host]
            return delivery_id


BACKLOG = HostBacklog()
