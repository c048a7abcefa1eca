"""What looks broken outside a transaction is looked at once more while nobody writes to the account.

Two statements see two moments: a write between them looks like a broken row.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from uuid import UUID

from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock


def still_broken(
    found: Iterable[tuple[UUID, object]], look: Callable[[UUID, list[object]], Iterable[object]]
) -> Iterator[object]:
    """Of what was found, by owner and key, that which `look(owner_id, keys)` finds again under the account's lock."""
    by_owner: dict[UUID, list[object]] = defaultdict(list)
    for owner_id, key in found:
        by_owner[owner_id].append(key)
    for owner_id, keys in by_owner.items():
        try:
            with account_lock(owner_id):
                again = list(look(owner_id, keys))
        except AccountGoneError:
            continue
        yield from again
