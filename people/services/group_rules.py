"""The rules of groups: what is written to people who join a group, and to all members when the owner asks for it.

A rule is a contact reminder, lead days, or both (Group). Among the rules of all groups that a person is in, the
shortest interval and the longest lead days hold. A person's own setting stays: a contact reminder that the owner has
set, and lead days that a date has. Nothing is taken away when somebody leaves a group or a rule changes.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol
from uuid import UUID

from django.db.models import Q

from accounts.models import User
from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.ownership.account_lock import AccountWrite
from people.dates import schedule
from people.models import Group, ImportantDate, Membership, Person
from people.services.plan_limits import check_plan, remaining_in_plan
from people.vocabularies import Unit

RULED_COLUMNS = ("contact_reminder_enabled", "contact_reminder_interval", "contact_reminder_interval_unit")
"""The columns of a person that a rule sets; `contact_reminder_from` says which group's rule it was."""
COLUMNS_TO_READ = ("deleted_at", "revision", "contact_reminder_from_id", *schedule.CONTACT_FIELDS)
"""What `write_rules` needs of a person."""
# By the average length of a month in the Gregorian calendar, in 1/4800 of a day: whole numbers for all units.
_LENGTHS: Mapping[str, int] = {Unit.DAYS: 4_800, Unit.WEEKS: 33_600, Unit.MONTHS: 146_097, Unit.YEARS: 1_753_164}
_RULE_COLUMNS = ("contact_interval", "contact_interval_unit", "lead_days")


class _Writer(Protocol):
    """The part of PersonWriter that rules use. Its module imports this one."""

    owner: User
    write: AccountWrite
    now: dt.datetime

    @property
    def calendar(self) -> schedule.Calendar: ...

    def edit(self, *people: Person) -> None: ...

    def set_by_rule(self, person: Person, values: JsonMapping, group_id: UUID) -> None: ...

    def is_set_by_owner(self, person: Person) -> bool: ...


class _Rule(NamedTuple):
    """The rule of one group."""

    group_id: UUID
    interval: int | None
    unit: str | None
    lead_days: int | None

    @property
    def length(self) -> int:
        """Of the interval, comparable between units."""
        return (self.interval or 0) * _LENGTHS[self.unit or Unit.DAYS]


class RulesWritten(NamedTuple):
    """What `write_rules` has changed: the ids of people (not flushed), and by person the lead days of dates by their id
    (saved)."""

    people: Collection[UUID] = ()
    dates: Mapping[UUID, Mapping[UUID, int]] = {}


def write_rules(
    writer: _Writer, joined: Collection[tuple[Person, UUID]], *, refuse_beyond_plan: bool = False
) -> RulesWritten:
    """Write the rules of groups that people have joined, as pairs of a person and the id of a group.

    Must be called after the memberships, and the dates of the same request, were written. The caller flushes `writer`.
    People must have COLUMNS_TO_READ loaded. Beyond the plan's limit a person gets no reminder, or PlanLimitError is
    raised before anything is written. The number of statements is constant, but for batches of dates.
    """
    owner_id = writer.owner.pk
    rules = _find_rules(owner_id, {key for _, key in joined})
    ruled = [(person, rules[key]) for person, key in joined if key in rules]
    if not ruled:
        return RulesWritten()
    people = {person.pk: person for person, _ in ruled}
    of_people = _rules_of(owner_id, people)
    reminded = {person.pk: person for person, rule in ruled if rule.interval and _is_open(writer, person)}
    if refuse_beyond_plan and (new := sum(not person.contact_reminder_enabled for person in reminded.values())):
        check_plan(writer.owner, "reminders", new)
    changed = _remind(writer, reminded.values(), of_people)
    dated = {person.pk for person, rule in ruled if rule.lead_days is not None}
    dates: dict[UUID, dict[UUID, int]] = defaultdict(dict)
    for row, days in _set_lead_days(writer, dated, of_people).items():
        dates[row.person_id][row.pk] = days
    changed |= dates.keys()
    writer.edit(*(people[key] for key in changed))
    return RulesWritten(changed, dates)


def has_rule(path: str = "") -> Q:
    """The condition for a group to have a rule. `path` leads to the group, such as `group__`."""
    return Q(**{f"{path}contact_interval__isnull": False}) | Q(**{f"{path}lead_days__isnull": False})


def takes_lead_days(entry: JsonMapping) -> bool:
    """Whether a new date with these values takes the lead days of its person's groups: it reminds and has none."""
    return bool(entry.get("reminder_enabled")) and entry.get("reminder_lead_days") is None


def longest_lead_days(owner_id: UUID, person_ids: Collection[UUID]) -> Mapping[UUID, int]:
    """The lead days by the rules of the groups of these people, for those who have any: a new date without its own
    takes them."""
    return {
        key: days for key, rules in _rules_of(owner_id, person_ids).items() if (days := _longest(rules)) is not None
    }


def take_back_lead_days(writer: _Writer, person: Person, written: Mapping[str, int]) -> None:
    """Undo what rules have written to dates of a person: null again, where nobody has changed them since.

    `written`: the lead days by the id of the date, as in RulesWritten.
    """
    keys = [UUID(key) for key in written]
    rows = ImportantDate.objects.owned_by(writer.owner).active().filter(person=person, pk__in=keys) if keys else ()
    _save_lead_days(writer, {row: None for row in rows if row.reminder_lead_days == written[str(row.pk)]})


def drop_removed_source(person: Person) -> None:
    """Before a former value is stored again: the group that it refers to may have been removed since."""
    source = person.contact_reminder_from_id
    if source and not Group.objects.owned_by(person.owner_id).filter(pk=source).exists():
        person.contact_reminder_from_id = None


def _rules_of(owner_id: UUID, person_ids: Collection[UUID]) -> Mapping[UUID, list[_Rule]]:
    """The rules of the active groups of these people, by person."""
    # Memberships first, and by themselves: joined with the groups, PostgreSQL may read all members of a group with a
    # rule, as long as it has no statistics.
    pairs = Membership.objects.owned_by(owner_id).filter(person__in=person_ids).values_list("person_id", "group_id")
    groups_of: dict[UUID, list[UUID]] = defaultdict(list)
    for person_id, group_id in pairs:
        groups_of[person_id].append(group_id)
    rules = _find_rules(owner_id, {group for ids in groups_of.values() for group in ids})
    found = {key: [rules[group] for group in sorted(ids) if group in rules] for key, ids in groups_of.items()}
    return {key: rules_of for key, rules_of in found.items() if rules_of}


def _find_rules(owner_id: UUID, group_ids: Collection[UUID]) -> dict[UUID, _Rule]:
    """The rules of those of these groups that are active and have one."""
    if not group_ids:
        return {}
    rows = Group.objects.owned_by(owner_id).active().filter(has_rule(), pk__in=group_ids)
    return {key: _Rule(key, *rest) for key, *rest in rows.values_list("pk", *_RULE_COLUMNS)}


def _is_open(writer: _Writer, person: Person) -> bool:
    """Whether a rule may set the person's contact reminder: it is off, or came from a rule."""
    is_free = not person.contact_reminder_enabled or person.contact_reminder_from_id is not None
    return is_free and not writer.is_set_by_owner(person)


def _remind(writer: _Writer, people: Iterable[Person], rules: Mapping[UUID, Sequence[_Rule]]) -> set[UUID]:
    """Set the contact reminders of these people, as many as the plan allows; returns the ids of those that changed."""
    left = remaining_in_plan(writer.owner, "reminders")
    changed = set()
    for person in people:
        # Of equal intervals the one that the person has already stays.
        former = person.contact_reminder_from_id
        by_length = ((rule.length, rule.group_id != former, rule.group_id, rule) for rule in rules[person.pk])
        rule = min(item for item in by_length if item[0])[-1]
        wanted = (True, rule.interval, rule.unit)
        if (*(getattr(person, column) for column in RULED_COLUMNS), former) == (*wanted, rule.group_id):
            continue
        if not person.contact_reminder_enabled and left is not None:
            if left <= 0:
                continue
            left -= 1
        writer.set_by_rule(person, dict(zip(RULED_COLUMNS, wanted, strict=True)), rule.group_id)
        changed.add(person.pk)
    return changed


def _set_lead_days(
    writer: _Writer, person_ids: Collection[UUID], rules: Mapping[UUID, Sequence[_Rule]]
) -> Mapping[ImportantDate, int]:
    """Give the dates that have a reminder and no lead days of their own the longest ones of these rules."""
    if not person_ids:
        return {}
    rows = ImportantDate.objects.owned_by(writer.owner).active().filter(person__in=person_ids)
    open_rows = rows.filter(reminder_enabled=True, reminder_lead_days=None).order_by("id")
    written = {row: days for row in open_rows if (days := _longest(rules[row.person_id])) is not None}
    _save_lead_days(writer, written)
    return written


def _save_lead_days(writer: _Writer, days: Mapping[ImportantDate, int | None]) -> None:
    for row, lead_days in days.items():
        row.reminder_lead_days, row.updated_at = lead_days, writer.now
        schedule.schedule_date(row, writer.calendar, writer.now)
    if days:
        columns = ["reminder_lead_days", *schedule.DATE_COLUMNS, "updated_at"]
        ImportantDate.objects.owned_by(writer.owner).bulk_update(days, columns)


def _longest(rules: Iterable[_Rule]) -> int | None:
    return max((rule.lead_days for rule in rules if rule.lead_days is not None), default=None)
