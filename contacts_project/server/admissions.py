"""Limits on what one caller and one address may have in the server at once."""

from collections import Counter

from contacts_project.server.refusals import RefusedError

# A credential may be made up, and accounts are made in a row: without this limit, each would have a turn of its own.
CALLERS_PER_ADDRESS = 10


class Admissions:
    """Counts requests, or open streams, by caller and address. All methods are called on one event loop.

    An address may have ten times `max_per_caller`. Of each of its callers at most `max_per_caller` count, so that one
    who sends a thousand does not use it up.
    """

    def __init__(self, max_per_caller: int) -> None:
        self.max_per_caller = max_per_caller
        self.by_caller: Counter[tuple[str, object]] = Counter()
        self.by_address: Counter[str] = Counter()

    def admit(self, caller: object, address: str) -> None:
        """Count one. Raises RefusedError (429) where the address has too many; an empty address is not limited."""
        if address and self.by_caller[address, caller] < self.max_per_caller:
            if self.by_address[address] >= CALLERS_PER_ADDRESS * self.max_per_caller:
                raise RefusedError(429)
            self.by_address[address] += 1
        self.by_caller[address, caller] += 1

    def dismiss(self, caller: object, address: str) -> None:
        """What `admit` has counted has ended."""
        self.by_caller[address, caller] -= 1
        if address and self.by_caller[address, caller] < self.max_per_caller:
            self.by_address[address] -= 1
        # Counters keep zeros: keys of callers that are gone would pile up.
        if not self.by_caller[address, caller]:
            del self.by_caller[address, caller]
        if not self.by_address[address]:
            del self.by_address[address]
