"""The number of further records that the account's plan allows."""

from accounts.transfer.run import TransferRun
from people.services.plan_limits import count_of, describe_limit


class PlanAllowance:
    """Counts the existing records once per batch under the account lock, then decreases for each imported record."""

    def __init__(self, run: TransferRun, kind: str) -> None:
        self.run, self.kind = run, kind
        limit = run.owner.plan_limit(kind)
        self.left = None if limit is None else limit - count_of(run.owner, kind)
        if self.left is not None and run.dry:
            # Earlier batches of a dry run wrote no rows that count_of could count.
            self.left -= run.allowance_used[kind]
        self.message = describe_limit(run.owner, kind)

    def take(self) -> bool:
        """Use one; returns False if the plan allows no more."""
        if self.left is None:
            return True
        if self.left <= 0:
            return False
        self.left -= 1
        self.run.allowance_used[self.kind] += 1
        return True
