"""Checks suspicious rows again while the account is locked.

Two statements outside a transaction read two states of the database: a write between them can look like a broken row.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from uuid import UUID

from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock


def still_broken(
    suspects: Iterable[tuple[UUID, object]], find_broken: Callable[[UUID, list[object]], Iterable[object]]
) -> Iterator[object]:
    """Yield what `find_broken(owner_id, keys)` returns for the suspects, as (owner, key), under each account's lock."""
    by_owner: dict[UUID, list[object]] = defaultdict(list)
    for owner_id, key in suspects:
        by_owner[owner_id].append(key)
    for owner_id, keys in by_owner.items():
        try:
            with account_lock(owner_id):
                broken = list(find_broken(owner_id, keys))
        except AccountGoneError:
            continue
        # After the lock is released: the consumer may take any time.
        yield from broken
