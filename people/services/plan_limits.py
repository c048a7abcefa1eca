"""Limits of plans. They are checked under the account lock, so that concurrent requests cannot exceed them together."""

from collections.abc import Callable

from accounts.models import User
from contacts_project.kernel.errors import PlanLimitError
from people import counts
from people.models import CustomFieldTemplate, Group, ImportantDate, Person


def count_reminders(owner: User) -> int:
    """The number of active dates with a reminder and of people with a contact reminder."""
    dates = ImportantDate.objects.owned_by(owner).active().filter(reminder_enabled=True, person__deleted_at=None)
    people = Person.objects.owned_by(owner).active().filter(contact_reminder_enabled=True)
    return int(dates.count() + people.count())


def reminders_in_plan(owner: User) -> int:
    """The number of reminders if the account's plan limits them, else 0."""
    return 0 if owner.plan_limit("reminders") is None else count_reminders(owner)


_COUNTS: dict[str, Callable[[User], int]] = {
    "people": lambda owner: counts.count_of(owner.pk, counts.PEOPLE),
    "groups": lambda owner: Group.objects.owned_by(owner).active().count(),
    "reminders": count_reminders,
    "templates": lambda owner: CustomFieldTemplate.objects.owned_by(owner).active().count(),
}

_SINGULARS = {"people": "person", "groups": "group", "reminders": "reminder", "templates": "template"}


def count_of(owner: User, kind: str) -> int:
    """The number of records of `kind` (people, groups, reminders, templates) that the plan limits."""
    return _COUNTS[kind](owner)


def check_plan(owner: User, kind: str, adding: int = 1) -> None:
    """Raise PlanLimitError if `adding` more of `kind` exceeds the plan.

    Must be called inside `account_write`, before the insert.
    """
    limit = owner.plan_limit(kind)
    if limit is not None and count_of(owner, kind) + adding > limit:
        raise limit_error(owner, kind)


def describe_limit(owner: User, kind: str) -> str:
    """Why a record of `kind` is refused, as a part of a sentence: your plan allows 10 groups."""
    limit = owner.plan_limit(kind)
    return f"your plan allows {limit} {_SINGULARS[kind] if limit == 1 else kind}"


def limit_error(owner: User, kind: str) -> PlanLimitError:
    return PlanLimitError(f"{describe_limit(owner, kind).capitalize()}.")
