"""Marks and reminders of many people in one write, with a fixed number of statements to find and change them.

Each function takes the ids of the people, None for all active ones, and returns how many were chosen. What would not
be allowed for one of them, such as a reminder beyond the plan, refuses the whole.
"""

import datetime as dt
from collections.abc import Collection, Mapping
from contextlib import nullcontext
from typing import Any
from uuid import UUID

from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce

from accounts.models import User
from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.ownership.account_lock import account_write
from people.counts import deferred_counts
from people.dates import schedule
from people.field_table import DATE_KEYS, DATE_REMINDER_DEFAULTS, REMINDER_DEFAULTS
from people.models import ImportantDate, Membership, Person
from people.models.person import PersonQuerySet
from people.services.people import RECOUNT_THRESHOLD, touch_people
from people.services.plan_limits import check_plan
from people.signals import announce_change

Ids = Collection[UUID] | None


def active_people(owner: User, person_ids: Ids) -> PersonQuerySet:
    """The active people with these ids, or all."""
    people = Person.objects.owned_by(owner).active()
    return people if person_ids is None else people.filter(pk__in=person_ids)


def remove_from_groups(*, owner: User, person_ids: Ids, group_ids: Collection[UUID], now: dt.datetime) -> int:
    """Take people out of all these groups."""
    with account_write(owner):
        chosen = active_people(owner, person_ids)
        rows = Membership.objects.owned_by(owner).filter(group__in=group_ids, person__in=chosen.values("pk"))
        left = sorted(set(rows.values_list("person_id", flat=True)))
        Membership.objects.owned_by(owner).filter(group__in=group_ids, person__in=left).delete()
        touch_people(owner.pk, left, now)
        return chosen.count()


def set_marks(*, owner: User, person_ids: Ids, marks: Mapping[str, bool], now: dt.datetime) -> int:
    """Set `favourite` or `quiet`."""
    with account_write(owner):
        chosen = active_people(owner, person_ids)
        changed = list(chosen.exclude(**marks).values_list("pk", flat=True))
        with deferred_counts(owner.pk) if len(changed) >= RECOUNT_THRESHOLD else nullcontext():
            active_people(owner, changed).update(**marks, updated_at=now)
        announce_change(owner.pk, changed)
        return chosen.count()


def set_contact_reminder(*, owner: User, person_ids: Ids, settings: JsonMapping, now: dt.datetime) -> int:
    """Set `contact_reminder_enabled`, and interval and unit if they are given, as in a change of one person.

    The reminder is then the people's own, not that of a group's rule. Raises PlanLimitError.
    """
    with account_write(owner) as write:
        chosen, is_enabled = active_people(owner, person_ids), settings["contact_reminder_enabled"]
        differs = Q()
        for column, value in settings.items():
            differs |= ~Q(**{column: value})
        changed = list(chosen.filter(differs).values_list("pk", flat=True))
        rows = active_people(owner, changed)
        if is_enabled and (number := rows.filter(contact_reminder_enabled=False).count()):
            check_plan(owner, "reminders", number)
        defaults = {column: Coalesce(F(column), Value(default)) for column, default in REMINDER_DEFAULTS.items()}
        values = {**(defaults if is_enabled else {}), **settings, "contact_reminder_from": None}
        rows.update(**values, updated_at=now)
        people = list(rows.only(*schedule.CONTACT_FIELDS))
        calendar = schedule.calendar_under_lock(owner, is_fresh=write.is_fresh)
        for person in people:
            if is_enabled:
                schedule.schedule_contact(person, calendar, now)
            else:
                person.contact_due_at = person.contact_due_on = None
        rows.bulk_update(people, schedule.CONTACT_COLUMNS)
        announce_change(owner.pk, changed)
        return chosen.count()


_OFF: dict[str, Any] = {key.column: key.empty for key in DATE_KEYS if key.reminds}


def set_date_reminders(
    *, owner: User, person_ids: Ids, type_: str, enabled: bool, lead_days: Mapping[str, int | None], now: dt.datetime
) -> int:
    """Switch the reminders of the important dates of a type on, every year, or off.

    Those that are on keep their rule. `lead_days` has `reminder_lead_days` if they are to be set, too. Raises
    PlanLimitError.
    """
    with account_write(owner) as write:
        chosen = active_people(owner, person_ids)
        dates = ImportantDate.objects.owned_by(owner)
        of_type = dates.active().filter(type=type_, person__in=chosen.values("pk"))
        off, on = of_type.filter(reminder_enabled=False), of_type.filter(reminder_enabled=True)
        steps: list[tuple[Any, dict[str, Any]]] = [(on, _OFF)]
        if enabled:
            if number := off.count():
                check_plan(owner, "reminders", number)
            steps = [(off, {**DATE_REMINDER_DEFAULTS, **lead_days})]
            if lead_days:
                steps.append((on.exclude(**lead_days), dict(lead_days)))
        keys: list[UUID] = []
        for rows, values in [(list(rows.values_list("pk", flat=True)), values) for rows, values in steps]:
            dates.filter(pk__in=rows).update(**values, updated_at=now)
            keys += rows
        changed = list(dates.filter(pk__in=keys))
        calendar = schedule.calendar_under_lock(owner, is_fresh=write.is_fresh)
        for row in changed:
            schedule.schedule_date(row, calendar, now)
        dates.bulk_update(changed, schedule.DATE_COLUMNS)
        touch_people(owner.pk, sorted({row.person_id for row in changed}), now)
        return chosen.count()
