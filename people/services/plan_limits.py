"""Limits of plans. They are checked under the account lock, so that concurrent requests cannot exceed them together."""

from collections.abc import Callable

from accounts.models import User
from contacts_project.kernel.errors import PlanLimitError
from contacts_project.kernel.texts import Text, define_text
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

_ALLOWED = {
    "people": define_text(
        "plan_people",
        "Your plan allows %(limit)s person.",
        plural="Your plan allows %(limit)s people.",
        number="limit",
    ),
    "groups": define_text(
        "plan_groups", "Your plan allows %(limit)s group.", plural="Your plan allows %(limit)s groups.", number="limit"
    ),
    "reminders": define_text(
        "plan_reminders",
        "Your plan allows %(limit)s reminder.",
        plural="Your plan allows %(limit)s reminders.",
        number="limit",
    ),
    "templates": define_text(
        "plan_templates",
        "Your plan allows %(limit)s template.",
        plural="Your plan allows %(limit)s templates.",
        number="limit",
    ),
}


def count_of(owner: User, kind: str) -> int:
    """The number of records of `kind` (people, groups, reminders, templates) that the plan limits."""
    return _COUNTS[kind](owner)


def remaining_in_plan(owner: User, kind: str) -> int | None:
    """How many more records of `kind` the account's plan allows; None without a limit.

    Must be called inside `account_write`, before the insert.
    """
    limit = owner.plan_limit(kind)
    return None if limit is None else limit - count_of(owner, kind)


def check_plan(owner: User, kind: str, adding: int = 1) -> None:
    """Raise PlanLimitError if `adding` more of `kind` exceeds the plan.

    Must be called inside `account_write`, before the insert.
    """
    remaining = remaining_in_plan(owner, kind)
    if remaining is not None and adding > remaining:
        raise limit_error(owner, kind)


def describe_limit(owner: User, kind: str) -> Text:
    """Why a record of `kind` is refused: how many the account's plan allows."""
    return _ALLOWED[kind].format(limit=owner.plan_limit(kind))


def limit_error(owner: User, kind: str) -> PlanLimitError:
    return PlanLimitError(describe_limit(owner, kind))
