"""How much of something the account's plan still allows."""

from accounts.transfer.run import ImportRun
from people.services.plan_limits import count_of


class PlanAllowance:
    """Counted once a batch with the account locked, then drawn on record by record."""

    def __init__(self, run: ImportRun, kind: str) -> None:
        self.run, self.kind = run, kind
        limit = run.owner.plan_limit(kind)
        self.left = None if limit is None else limit - count_of(run.owner, kind)
        if self.left is not None and run.dry:
            self.left -= run.drawn[kind]  # by earlier batches, of which nothing was written that could be counted
        self.message = f"Your plan allows {limit} {kind}."

    def take(self) -> bool:
        """Take one, if the plan allows it."""
        if self.left is None:
            return True
        if self.left <= 0:
            return False
        self.left -= 1
        self.run.drawn[self.kind] += 1
        return True
