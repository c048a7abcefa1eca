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
            # Earlier batches of a dry run wrote no rows that count_of could count.
            self.left -= run.allowance_used[kind]
        self.message = f"Your plan allows {limit} {kind}."

    def take(self) -> bool:
        """Take one, if the plan allows it."""
        if self.left is None:
            return True
        if self.left <= 0:
            return False
        self.left -= 1
        self.run.allowance_used[self.kind] += 1
        return True
