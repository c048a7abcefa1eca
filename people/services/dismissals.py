"""Stores that two people are not duplicates."""

from collections.abc import Iterable
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import NO_SUCH_RECORD, FieldError
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.texts import define_text
from people.models import DuplicateDismissal, Person

_SAME_PERSON = define_text("dismissed_with_itself", "A person cannot be told apart from itself.")


def dismiss_pair(*, owner: User, one_id: UUID, other_id: UUID) -> None:
    """Store that two active people are not duplicates. Repeating it, in either order, changes nothing.

    Raises FieldError if both are the same person, or if one was deleted meanwhile.
    """
    if one_id == other_id:
        raise FieldError("personBId", _SAME_PERSON)
    with account_write(owner):
        active = Person.objects.active_ids(owner, [one_id, other_id])
        for field, key in (("personAId", one_id), ("personBId", other_id)):
            if key not in active:
                raise FieldError(field, NO_SUCH_RECORD)
        add_dismissals(owner.pk, [(one_id, other_id)])


def add_dismissals(owner_id: UUID, pairs: Iterable[tuple[UUID, UUID]]) -> list[UUID]:
    """Insert the missing pairs; returns the ids of the new rows. Must be called inside `account_write`."""
    new = {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
    if not new:
        return []
    rows = DuplicateDismissal.objects.owned_by(owner_id).filter(first__in={first for first, _ in new})
    new -= set(rows.values_list("first_id", "second_id"))
    created = DuplicateDismissal.objects.bulk_create(
        DuplicateDismissal(owner_id=owner_id, first_id=first, second_id=second) for first, second in sorted(new)
    )
    return [row.pk for row in created]
