"""The plan's limits, counted under the account's lock so that concurrent requests cannot pass them together."""

from collections.abc import Callable

from accounts.models import User
from contacts_project.kernel.errors import PlanLimitError
from people import counts
from people.models import CustomFieldTemplate, Group, ImportantDate, Person


def count_reminders(owner: User) -> int:
    """Active dates with a reminder on active people, and people with a contact reminder (open points, section 11)."""
    dates = ImportantDate.objects.owned_by(owner).active().filter(reminder_enabled=True, person__deleted_at=None)
    people = Person.objects.owned_by(owner).active().filter(contact_reminder_enabled=True)
    return int(dates.count() + people.count())


def reminders_in_plan(owner: User) -> int:
    """How many reminders count against the account's plan; 0 where the plan has no limit of them."""
    return 0 if owner.plan_limit("reminders") is None else count_reminders(owner)


_COUNTS: dict[str, Callable[[User], int]] = {
    "people": lambda owner: counts.count_of(owner.pk, counts.PEOPLE),
    "groups": lambda owner: Group.objects.owned_by(owner).active().count(),
    "reminders": count_reminders,
    "templates": lambda owner: CustomFieldTemplate.objects.owned_by(owner).active().count(),
}


def count_of(owner: User, kind: str) -> int:
    """How many of `kind` (people, groups, reminders, templates) count against the account's plan."""
    return _COUNTS[kind](owner)


def check_plan(owner: User, kind: str, adding: int = 1) -> None:
    """Raise PlanLimitError when `adding` more of `kind` would be too many. Inside account_write, before the insert."""
    limit = owner.plan_limit(kind)
    if limit is not None and count_of(owner, kind) + adding > limit:
        raise PlanLimitError(f"Your plan allows {limit} {kind}.")
