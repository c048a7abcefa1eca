"""The rows of people in other tables: groups, custom field values and important dates, each replaced as a set.

The number of statements is constant, however many people are written at once.
"""

import datetime as dt
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.database.compiled_queries import Rows, query_by_ids
from contacts_project.kernel.database.expressions import IdHex, JsonText, text_value
from contacts_project.kernel.errors import NO_SUCH_RECORD, FieldError
from contacts_project.kernel.json import JsonMapping, JsonObject
from contacts_project.kernel.ownership.account_lock import AccountWrite
from contacts_project.kernel.texts import define_text
from people.dates import schedule
from people.field_table import DATE_COLUMNS, DATE_KEYS
from people.lookup import index_values
from people.models import (
    CustomFieldTemplate,
    CustomFieldValue,
    Group,
    ImportantDate,
    Membership,
    Person,
    RelationshipType,
)
from people.services.custom_fields import InvalidCustomValueError, parse_custom_value
from people.services.group_rules import longest_lead_days, takes_lead_days
from people.services.plan_limits import check_plan

ONE_DATE_OF_TYPE = define_text("one_date_of_type", "Only one date of type %(type)s.")
_EMPTY = {key.column: key.empty for key in DATE_KEYS}
_RESCHEDULING_COLUMNS = frozenset(key.column for key in DATE_KEYS if key.reschedules)
_GROUP, _VALUE = "group", "value"
# Entries without an id are matched by the first of these that leaves one candidate.
_MATCH_ORDER = (("type", "title", "date"), ("type", "title"))


class _StoredRow(NamedTuple):
    """A membership, or a custom value with its value."""

    id: UUID
    value: Any


_StoredRows = Mapping[tuple[UUID, UUID], _StoredRow]
"""By the ids of the person and of the group or template."""


def replace_groups_and_values(
    write: AccountWrite,
    *,
    groups: Iterable[tuple[Person, Iterable[Group]]],
    values: Iterable[tuple[Person, Iterable[JsonMapping]]],
    stored: Collection[UUID],
) -> list[tuple[Person, UUID]]:
    """Set the groups of people, and their custom values as entries of `{template, value}`, where None is no value.

    `stored` are the ids of those people that may have rows already. Rows whose group or template is in the trash are
    kept, because restoring it brings them back. Returns who has joined which group, for its rule
    (people.services.group_rules). Raises FieldError.
    """
    pairs = [(person, {group.pk for group in its_groups}) for person, its_groups in groups]
    people, group_ids = {person.pk: person for person, _ in pairs}, {person.pk: ids for person, ids in pairs}
    new_values = {
        person.pk: {entry["template"].pk: entry["value"] for entry in entries if entry["value"] is not None}
        for person, entries in values
    }
    rows = _load_rows(write, [key for key in stored if key in group_ids or key in new_values])
    new = _replace_groups(write, group_ids, {key: row for key, row in rows[_GROUP].items() if key[0] in group_ids})
    _replace_values(write, new_values, {key: row for key, row in rows[_VALUE].items() if key[0] in new_values})
    return [(people[person_id], group_id) for person_id, group_id in new]


def _load_rows(write: AccountWrite, person_ids: list[UUID]) -> dict[str, dict[tuple[UUID, UUID], _StoredRow]]:
    """The memberships in active groups and the values of active templates, in one statement."""
    rows: dict[str, dict[tuple[UUID, UUID], _StoredRow]] = {_GROUP: {}, _VALUE: {}}
    found = _groups_and_values.rows(owner_id=write.owner_id, person_ids=person_ids)
    for kind, row_id, person_id, other_id, value in found:
        rows[kind][UUID(person_id), UUID(other_id)] = _StoredRow(UUID(row_id), json.loads(value))
    return rows


@query_by_ids
def _groups_and_values(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    groups = Membership.objects.owned_by(owner_id).filter(person__in=person_ids, group__deleted_at=None)
    values = CustomFieldValue.objects.owned_by(owner_id).filter(person__in=person_ids, template__deleted_at=None)
    keys = (IdHex("pk"), IdHex("person_id"))
    return groups.values_list(text_value(_GROUP), *keys, IdHex("group_id"), text_value("null")).union(
        values.values_list(text_value(_VALUE), *keys, IdHex("template_id"), JsonText("value")), all=True
    )


def _replace_groups(
    write: AccountWrite, target: Mapping[UUID, set[UUID]], stored: _StoredRows
) -> list[tuple[UUID, UUID]]:
    """Set the groups of people; returns the new memberships, each as the ids of its person and its group."""
    stale = [row.id for (person_id, group_id), row in stored.items() if group_id not in target[person_id]]
    if stale:
        Membership.objects.owned_by(write.owner_id).filter(pk__in=stale).delete()
    pairs = [(person_id, group_id) for person_id, group_ids in target.items() for group_id in sorted(group_ids)]
    new = [pair for pair in pairs if pair not in stored]
    if new:
        check_active(write, Group, {group_id for _, group_id in new}, "groupIds")
        Membership.objects.bulk_create(
            Membership(owner_id=write.owner_id, person_id=person_id, group_id=group_id) for person_id, group_id in new
        )
    return new


def _replace_values(write: AccountWrite, target: Mapping[UUID, Mapping[UUID, object]], stored: _StoredRows) -> None:
    stale = [row.id for (person_id, template_id), row in stored.items() if template_id not in target[person_id]]
    new: list[CustomFieldValue] = []
    changed: list[CustomFieldValue] = []
    for person_id, values in target.items():
        _check_values(write, values)
        for template_id, value in values.items():
            row = CustomFieldValue(owner_id=write.owner_id, person_id=person_id, template_id=template_id, value=value)
            old = stored.get((person_id, template_id))
            if old is None:
                new.append(row)
            # The types as well, because in Python True == 1 == 1.0.
            elif old.value != value or type(old.value) is not type(value):
                row.pk, row.updated_at = old.id, write.now
                changed.append(row)
    if stale:
        CustomFieldValue.objects.owned_by(write.owner_id).filter(pk__in=stale).delete()
    if new:
        CustomFieldValue.objects.bulk_create(new)
    if changed:
        CustomFieldValue.objects.bulk_update(changed, ["value", "updated_at"])
    if new or changed:
        index_values(write.owner_id, [*new, *changed])


def _check_values(write: AccountWrite, values: Mapping[UUID, object]) -> None:
    """Raise FieldError if a template was deleted, or lost the chosen option, since the body was read."""
    if write.is_fresh or not values:
        return
    templates = CustomFieldTemplate.objects.owned_by(write.owner_id).active().in_bulk(values)
    for template_id, value in values.items():
        if template_id not in templates:
            raise FieldError("customFieldValues", NO_SUCH_RECORD)
        try:
            parse_custom_value(templates[template_id], value)
        except InvalidCustomValueError as error:
            raise FieldError("customFieldValues", error.text) from None


def check_active(
    write: AccountWrite,
    model: type[Group] | type[CustomFieldTemplate] | type[RelationshipType],
    ids: Collection[UUID],
    field: str,
) -> None:
    """Raise FieldError if a row that the body refers to was deleted since the body was read."""
    if write.is_fresh:
        return
    if model.objects.owned_by(write.owner_id).active().filter(pk__in=ids).count() < len(ids):
        raise FieldError(field, NO_SUCH_RECORD)


@query_by_ids
def _active_dates(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    return ImportantDate.objects.owned_by(owner_id).active().filter(person__in=person_ids)


def replace_dates(
    *,
    owner: User,
    people: Collection[tuple[Person, list[JsonObject]]],
    stored: Collection[UUID],
    calendar: Callable[[], schedule.Calendar],
    now: dt.datetime,
) -> None:
    """Set the important dates of people; dates that are not listed go to the trash.

    `_match_dates` decides which stored date an entry updates. `stored` are the ids of those people that may have dates;
    `calendar` is called only if a reminder changes. Must be called inside `account_write`. Raises FieldError for
    `importantDates.<index>.<field>`, PlanLimitError.
    """
    present: dict[UUID, dict[UUID, ImportantDate]] = defaultdict(dict)
    if person_ids := [person.pk for person, _ in people if person.pk in stored]:
        for row in _active_dates.instances(owner_id=owner.pk, person_ids=person_ids):
            present[row.person_id][row.pk] = row
    pairs: list[tuple[ImportantDate, dict[str, Any]]] = []
    for person, entries in people:
        rows = _match_dates(person, present[person.pk], entries, is_new=person.pk not in stored)
        pairs += zip(rows, entries, strict=True)
        _check_types_differ(entries)
    pairs = _fill_lead_days(owner.pk, pairs)
    kept = {row.pk for row, _ in pairs}
    if removed := [key for rows_by_id in present.values() for key in rows_by_id if key not in kept]:
        dates = ImportantDate.objects.owned_by(owner).filter(pk__in=removed)
        dates.update(deleted_at=now, updated_at=now, **schedule.NO_REMINDER)
    # A type is unique per person, and two dates may swap theirs: clear the types that change before any is set.
    if retyped := [row.pk for row, entry in pairs if row.type and row.type != entry.get("type")]:
        ImportantDate.objects.owned_by(owner).filter(pk__in=retyped).update(type=None)
    changes = [set_date_fields(row, entry, calendar, now) for row, entry in pairs]
    _save_dates(owner, [row for row, _ in pairs])
    # Counted after all rows are written: a reminder that is switched off makes room for another one.
    if any(change.starts_reminding for change in changes):
        check_plan(owner, "reminders", 0)


def _fill_lead_days(
    owner_id: UUID, pairs: Sequence[tuple[ImportantDate, JsonObject]]
) -> list[tuple[ImportantDate, JsonObject]]:
    """Give new dates without lead days of their own those of the groups of their people."""
    open_people = {row.person_id for row, entry in pairs if row._state.adding and takes_lead_days(entry)}
    days = longest_lead_days(owner_id, open_people) if open_people else {}
    return [
        (row, {**entry, "reminder_lead_days": days[row.person_id]})
        if row._state.adding and row.person_id in days and takes_lead_days(entry)
        else (row, entry)
        for row, entry in pairs
    ]


def _save_dates(owner: User, rows: Iterable[ImportantDate]) -> None:
    new: list[ImportantDate] = []
    old: list[ImportantDate] = []
    for row in rows:
        (new if row._state.adding else old).append(row)
    columns = [*DATE_COLUMNS, *schedule.DATE_COLUMNS, "updated_at"]
    if new:
        ImportantDate.objects.bulk_create(new)
    if old:
        ImportantDate.objects.bulk_update(old, columns)


def _match_dates(
    person: Person, present: Mapping[UUID, ImportantDate], entries: list[JsonObject], *, is_new: bool
) -> list[ImportantDate]:
    """For each entry the stored date that it updates, or a new row.

    That is the date with its `id`; without one, the only unmatched date with the same type, title and day, else the
    only one with the same type and title. The dates of a new person take the ids of their entries.
    """
    unmatched = dict(present)
    for row in unmatched.values():
        row.person = person  # saves a query for each date that reads its person or the owner
    matched: list[ImportantDate | None] = [None] * len(entries)
    for index, entry in enumerate(entries):
        if (key := entry.get("id")) is None:
            continue
        if is_new:
            matched[index] = ImportantDate(id=key, owner_id=person.owner_id, person=person)
        elif key in unmatched:
            matched[index] = unmatched.pop(key)
        else:
            raise FieldError(f"importantDates.{index}.id", NO_SUCH_RECORD)
    for fields in _MATCH_ORDER:
        for index, entry in enumerate(entries):
            if matched[index] is None:
                entry_values = [entry.get(field) for field in fields]
                candidates = [
                    key for key, row in unmatched.items() if [getattr(row, field) for field in fields] == entry_values
                ]
                if len(candidates) == 1:
                    matched[index] = unmatched.pop(candidates[0])
    return [row or ImportantDate(owner_id=person.owner_id, person=person) for row in matched]


def _check_types_differ(entries: list[JsonObject]) -> None:
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        if entry.get("type") in seen:
            raise FieldError(f"importantDates.{index}.type", ONE_DATE_OF_TYPE.format(type=entry["type"]))
        if entry.get("type"):
            seen.add(entry["type"])


class DateChange(NamedTuple):
    """What setting the fields of a date did to its reminders."""

    is_rescheduled: bool
    """Whether its next reminder was computed again."""
    starts_reminding: bool
    """Whether its reminder was switched on, which counts against the plan."""


def set_date_fields(
    row: ImportantDate, data: JsonMapping, calendar: Callable[[], schedule.Calendar], now: dt.datetime
) -> DateChange:
    """Set all fields of a date (missing ones are empty), and its next reminder if the change moves it."""
    was_reminding = not row._state.adding and row.reminder_enabled
    before = {field: getattr(row, field) for field in _RESCHEDULING_COLUMNS}
    for column, empty in _EMPTY.items():
        value = data.get(column)
        setattr(row, column, copy(empty) if value is None else value)
    is_rescheduled = row._state.adding or before != {field: getattr(row, field) for field in _RESCHEDULING_COLUMNS}
    if is_rescheduled:
        schedule.schedule_date(row, calendar(), now)
    row.updated_at = now
    return DateChange(is_rescheduled, starts_reminding=row.reminder_enabled and not was_reminding)
