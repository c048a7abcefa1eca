"""How much of something the account's plan still has room for."""

from accounts.models import User
from people.services.plan import count_of


class Room:
    """Counted once inside the account's turn, then drawn on record by record."""

    def __init__(self, owner: User, kind: str) -> None:
        limit = owner.plan_limit(kind)
        self.left = None if limit is None else limit - count_of(owner, kind)
        self.message = f"Your plan allows {limit} {kind}."

    def has(self, number: int) -> bool:
        return self.left is None or number <= self.left

    def take(self, number: int = 1) -> bool:
        """Take that much, if it is there; nothing otherwise."""
        if self.left is None:
            return True
        if number > self.left:
            return False
        self.left -= number
        return True
