"""The rows beside a person's own: groups, custom field values and important dates, each replaced as a set.

The number of statements is constant, however many people are written at once. At the end: which values a custom field
accepts.
"""

import datetime as dt
import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.api.columns import JsonText, text_value
from contacts_project.kernel.api.fields import check_text
from contacts_project.kernel.api.ids import IdHex
from contacts_project.kernel.database.compiled_queries import CompiledQuery, update_where
from contacts_project.kernel.errors import NO_SUCH_RECORD, FieldError
from contacts_project.kernel.ownership.account_lock import AccountWrite
from people.dates import schedule
from people.models import CustomFieldTemplate, CustomFieldValue, Group, ImportantDate, Membership, Person
from people.services.plan_limits import check_plan
from people.vocabularies import TemplateType
from people.word_index import index_values

DATE_FIELDS = (
    "type",
    "title",
    "date",
    "year_unknown",
    "reminder_enabled",
    "reminder_type",
    "reminder_interval",
    "reminder_interval_unit",
    "reminder_lead_days",
    "extra_lead_days",
)
# A new type or title alone must not plan the reminder again: today's would be sent a second time.
_RESCHEDULING_FIELDS = frozenset(DATE_FIELDS) - {"type", "title"}
_UPDATE_BATCH_SIZE = 100
_GROUP, _VALUE = "group", "value"


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
    values: Iterable[tuple[Person, Iterable[Mapping[str, Any]]]],
    stored: Collection[UUID],
) -> None:
    """Set the groups of people, and their custom values as entries of `{template, value}`, where None is no value.

    `stored` are the ids of those people that may have rows already. Rows whose group or template is in the trash are
    kept, because restoring it brings them back. Raises FieldError.
    """
    group_ids = {person.pk: {group.pk for group in its_groups} for person, its_groups in groups}
    new_values = {
        person.pk: {entry["template"].pk: entry["value"] for entry in entries if entry["value"] is not None}
        for person, entries in values
    }
    rows = _load_rows(write, [key for key in stored if key in group_ids or key in new_values])
    _replace_groups(write, group_ids, {key: row for key, row in rows[_GROUP].items() if key[0] in group_ids})
    _replace_values(write, new_values, {key: row for key, row in rows[_VALUE].items() if key[0] in new_values})


def _load_rows(write: AccountWrite, person_ids: list[UUID]) -> dict[str, dict[tuple[UUID, UUID], _StoredRow]]:
    """The memberships in active groups and the values of active templates, in one statement."""
    rows: dict[str, dict[tuple[UUID, UUID], _StoredRow]] = {_GROUP: {}, _VALUE: {}}
    found = _GROUPS_AND_VALUES.rows(owner_id=write.owner_id, person_ids=person_ids)
    for kind, row_id, person_id, other_id, value in found:
        rows[kind][UUID(person_id), UUID(other_id)] = _StoredRow(UUID(row_id), json.loads(value))
    return rows


def _groups_and_values(owner_id: UUID, person_ids: Collection[UUID]) -> Any:
    groups = Membership.objects.owned_by(owner_id).filter(person__in=person_ids, group__deleted_at=None)
    values = CustomFieldValue.objects.owned_by(owner_id).filter(person__in=person_ids, template__deleted_at=None)
    keys = (IdHex("pk"), IdHex("person_id"))
    return groups.values_list(text_value(_GROUP), *keys, IdHex("group_id"), text_value("null")).union(
        values.values_list(text_value(_VALUE), *keys, IdHex("template_id"), JsonText("value")), all=True
    )


_GROUPS_AND_VALUES = CompiledQuery(_groups_and_values)
_ACTIVE_DATES = CompiledQuery(
    lambda owner_id, person_ids: ImportantDate.objects.owned_by(owner_id).active().filter(person__in=person_ids)
)


def _replace_groups(write: AccountWrite, target: Mapping[UUID, set[UUID]], stored: _StoredRows) -> None:
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


def _replace_values(write: AccountWrite, target: Mapping[UUID, Mapping[UUID, Any]], stored: _StoredRows) -> None:
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
    if len(changed) == 1:  # a plain UPDATE; bulk_update builds a CASE per column
        [row] = changed
        update_where(CustomFieldValue, {"id": row.pk}, {"value": row.value, "updated_at": row.updated_at})
    elif changed:
        rows = CustomFieldValue.objects.owned_by(write.owner_id)
        rows.bulk_update(changed, ["value", "updated_at"], batch_size=_UPDATE_BATCH_SIZE)
    if new or changed:
        index_values(write.owner_id, [*new, *changed])


def _check_values(write: AccountWrite, values: Mapping[UUID, Any]) -> None:
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
            raise FieldError("customFieldValues", str(error)) from None


def check_active(write: AccountWrite, model: Any, ids: Collection[UUID], field: str) -> None:
    """Raise FieldError if a row that the body refers to was deleted since the body was read."""
    if write.is_fresh:
        return
    if model.objects.owned_by(write.owner_id).active().filter(pk__in=ids).count() < len(ids):
        raise FieldError(field, NO_SUCH_RECORD)


def replace_dates(
    *,
    owner: User,
    people: Collection[tuple[Person, list[dict[str, Any]]]],
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
        for row in _ACTIVE_DATES.instances(owner_id=owner.pk, person_ids=person_ids):
            present[row.person_id][row.pk] = row
    pairs: list[tuple[ImportantDate, dict[str, Any]]] = []
    for person, entries in people:
        rows = _match_dates(person, present[person.pk], entries, is_new=person.pk not in stored)
        pairs += zip(rows, entries, strict=True)
        _check_types_differ(entries)
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


def _save_dates(owner: User, rows: Iterable[ImportantDate]) -> None:
    new: list[ImportantDate] = []
    old: list[ImportantDate] = []
    for row in rows:
        (new if row._state.adding else old).append(row)
    columns = [*DATE_FIELDS, *schedule.DATE_COLUMNS, "updated_at"]
    if new:
        ImportantDate.objects.bulk_create(new)
    if len(old) == 1:  # a plain UPDATE; bulk_update builds a CASE per column
        old[0].save(update_fields=columns)
    elif old:
        ImportantDate.objects.owned_by(owner).bulk_update(old, columns)


# Entries without an id are matched by the first of these that leaves one candidate.
_MATCH_ORDER = (("type", "title", "date"), ("type", "title"))


def _match_dates(
    person: Person, present: Mapping[UUID, ImportantDate], entries: list[dict[str, Any]], *, is_new: bool
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
            raise FieldError(f"importantDates.{index}.id", "There is no such record.")
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


def _check_types_differ(entries: list[dict[str, Any]]) -> None:
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        if entry.get("type") in seen:
            raise FieldError(f"importantDates.{index}.type", f"Only one date of type {entry['type']}.")
        if entry.get("type"):
            seen.add(entry["type"])


class DateChange(NamedTuple):
    """What setting the fields of a date did to its reminders."""

    is_replanned: bool
    """Whether its next reminder was computed again."""
    starts_reminding: bool
    """Whether its reminder was switched on, which counts against the plan."""


def set_date_fields(
    row: ImportantDate, data: Mapping[str, Any], calendar: Callable[[], schedule.Calendar], now: dt.datetime
) -> DateChange:
    """Set all fields of a date (missing ones are null), and its next reminder if the change moves it."""
    was_reminding = not row._state.adding and row.reminder_enabled
    before = {field: getattr(row, field) for field in _RESCHEDULING_FIELDS}
    for field in DATE_FIELDS:
        setattr(row, field, data.get(field))
    row.extra_lead_days = row.extra_lead_days or []
    is_replanned = row._state.adding or before != {field: getattr(row, field) for field in _RESCHEDULING_FIELDS}
    if is_replanned:
        schedule.plan_date(row, calendar(), now)
    row.updated_at = now
    return DateChange(is_replanned, starts_reminding=row.reminder_enabled and not was_reminding)


MAX_VALUE_LENGTH = 2000
"""Of a custom field's text, in characters."""

# A double holds integers up to this exactly, so both databases return every number unchanged.
_MAX_NUMBER = 2**53
_NUMBER_PATTERN = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?\Z", re.ASCII)
_BOOLEANS = {"true": True, "false": False}


class InvalidCustomValueError(ValueError):
    """The value does not fit its template. The message is shown to the user."""


class _Template(Protocol):
    """What parsing needs of a CustomFieldTemplate."""

    type: str
    options: Any


def parse_custom_value(template: _Template, value: Any) -> str | int | float | bool | None:
    """The value as it is stored: a number or boolean for NUMBER and BOOLEAN, else a text; None for null or `""`.

    NUMBER and BOOLEAN also accept their value as a text. Raises InvalidCustomValueError, and ValidationError for text
    with control characters.
    """
    if isinstance(value, str):
        value = check_text(value)
        if len(value) > MAX_VALUE_LENGTH:
            raise InvalidCustomValueError(f"At most {MAX_VALUE_LENGTH} characters, this has {len(value)}.")
    if value is None or value == "":
        return None
    return _PARSERS[TemplateType(template.type)](template, value)


def _parse_text(template: _Template, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidCustomValueError("This must be a text.")
    return value


def _parse_number(template: _Template, value: Any) -> int | float:
    if isinstance(value, str) and _NUMBER_PATTERN.match(value):
        # parse_custom_value has limited the length: int() takes quadratic time, and refuses more than 4,300 digits.
        value = float(value) if re.search(r"[.eE]", value) else int(value)
    # A bool is an int in Python.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidCustomValueError("This must be a number.")
    if not -_MAX_NUMBER <= value <= _MAX_NUMBER:
        raise InvalidCustomValueError(f"This must be between {-_MAX_NUMBER} and {_MAX_NUMBER}.")
    return int(value) if value == int(value) else value


def _parse_boolean(template: _Template, value: Any) -> bool:
    if isinstance(value, str):
        value = _BOOLEANS.get(value.lower())
    if not isinstance(value, bool):
        raise InvalidCustomValueError("This must be true or false.")
    return value


def _parse_option(template: _Template, value: Any) -> str:
    if not isinstance(value, str) or value not in template.options:
        raise InvalidCustomValueError("This must be one of the field's options.")
    return value


_PARSERS = {
    TemplateType.TEXT: _parse_text,
    TemplateType.NUMBER: _parse_number,
    TemplateType.BOOLEAN: _parse_boolean,
    TemplateType.SELECT: _parse_option,
}
