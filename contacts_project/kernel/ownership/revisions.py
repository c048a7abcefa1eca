"""Which write changed a row last: the number by which clients ask what is new.

Every row that the change feed tells of (`FeedModel`) carries the revision of the account's write that changed it. It is
given by the model's save and the queryset's writes themselves, so that no service has to remember it and no statement
is added. Since the writes of an account stand in line (`account_write`), revisions become visible in order: who has
read up to one has missed nothing below it.
"""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from contacts_project.kernel.ownership.account_lock import current_write


class NoOpenWriteError(Exception):
    """A row of the feed is written outside account_write(owner), or by a queryset that names no owner."""


def stamp(model: type[Any], owner_id: UUID | None) -> dict[str, Any]:
    """What a write to rows of `owner_id` adds to their columns. Raises NoOpenWriteError."""
    write = current_write(owner_id) if owner_id else None
    return {"revision": write.revision} if write else refuse(model)


def refuse(model: type[Any]) -> dict[str, Any]:
    """Nothing is to be written to the model here."""
    raise NoOpenWriteError(
        f"{model.__name__} is told of by the change feed: write it in account_write(owner), and by "
        "objects.owned_by(owner); columns that no client sees are named in QUIET_COLUMNS."
    )


def only_owner(rows: Iterable[Any]) -> UUID | None:
    """Whose rows they all are; None where they are of several accounts, or none."""
    owners = {row.owner_id for row in rows}
    return owners.pop() if len(owners) == 1 else None
