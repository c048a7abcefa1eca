"""Memberships, custom values and important dates of people, replaced as sets: a constant number of statements, however
many people. And what a template takes as its value."""

import datetime as dt
import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Protocol
from uuid import UUID

from django.db.models import TextField, Value

from accounts.models import User
from contacts_project.kernel.api.columns import JsonText
from contacts_project.kernel.api.fields import check_text
from contacts_project.kernel.api.ids import IdHex
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.errors import UNKNOWN_ID, FieldError
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
# A change of these moves the reminder; a new title alone must not send it again.
_MOVING = frozenset(DATE_FIELDS) - {"type", "title"}
_TOGETHER = 100
_GROUP, _VALUE = "group", "value"

Groups = Iterable[tuple[Person, Iterable[Group]]]
Values = Iterable[tuple[Person, Iterable[Mapping[str, Any]]]]
Stored = Mapping[tuple[UUID, UUID], tuple[UUID, Any]]
"""Rows by person and group or template: the id of each, and its value."""


def replace_rows(write: AccountWrite, *, groups: Groups, values: Values, stored: Collection[UUID]) -> None:
    """Make the groups those of each person, and `{template, value}` its values, None standing for no value.

    `stored` are the people that may have some already. What is of a group or template in the trash stays for its
    restore. Raises FieldError.
    """
    members = {person.pk: {group.pk for group in of} for person, of in groups}
    target = {
        person.pk: {entry["template"].pk: entry["value"] for entry in entries if entry["value"] is not None}
        for person, entries in values
    }
    rows = _stored(write, [key for key in stored if key in members or key in target])
    _replace_groups(write, members, {pair: row for pair, row in rows[_GROUP].items() if pair[0] in members})
    _replace_values(write, target, {pair: row for pair, row in rows[_VALUE].items() if pair[0] in target})


def _stored(write: AccountWrite, person_ids: list[UUID]) -> dict[str, dict[tuple[UUID, UUID], tuple[UUID, Any]]]:
    """What people have of groups and templates that are active, in one statement."""
    found: dict[str, dict[tuple[UUID, UUID], tuple[UUID, Any]]] = {_GROUP: {}, _VALUE: {}}
    for kind, key, person, of, value in _ROWS.rows(owner_id=write.owner_id, person_ids=person_ids):
        found[kind][UUID(person), UUID(of)] = (UUID(key), json.loads(value))
    return found


def _rows_of(owner_id: UUID, person_ids: Collection[UUID]) -> Any:
    groups = Membership.objects.owned_by(owner_id).filter(person__in=person_ids, group__deleted_at=None)
    values = CustomFieldValue.objects.owned_by(owner_id).filter(person__in=person_ids, template__deleted_at=None)
    keys, null = (IdHex("pk"), IdHex("person_id")), _text("null")
    return groups.values_list(_text(_GROUP), *keys, IdHex("group_id"), null).union(
        values.values_list(_text(_VALUE), *keys, IdHex("template_id"), JsonText("value")), all=True
    )


def _text(value: str) -> Value:
    return Value(value, output_field=TextField())


_ROWS = CompiledQuery(_rows_of)
_DATES = CompiledQuery(
    lambda owner_id, person_ids: ImportantDate.objects.owned_by(owner_id).active().filter(person__in=person_ids)
)


def _replace_groups(write: AccountWrite, target: Mapping[UUID, set[UUID]], stored: Stored) -> None:
    stale = [key for (person_id, group_id), (key, _) in stored.items() if group_id not in target[person_id]]
    if stale:
        Membership.objects.owned_by(write.owner_id).filter(pk__in=stale).delete()
    pairs = [(person_id, key) for person_id, keys in target.items() for key in sorted(keys)]
    new = [pair for pair in pairs if pair not in stored]
    if new:
        check_active(write, Group, {key for _, key in new}, "groupIds")
        Membership.objects.bulk_create(
            Membership(owner_id=write.owner_id, person_id=person_id, group_id=key) for person_id, key in new
        )


def _replace_values(write: AccountWrite, target: Mapping[UUID, Mapping[UUID, Any]], stored: Stored) -> None:
    for values in target.values():
        _check_values(write, values)
    stale = [key for (person_id, template_id), (key, _) in stored.items() if template_id not in target[person_id]]
    new: list[CustomFieldValue] = []
    changed: list[CustomFieldValue] = []
    for person_id, template_id, value in _flat(target):
        row = CustomFieldValue(owner_id=write.owner_id, person_id=person_id, template_id=template_id, value=value)
        found = stored.get((person_id, template_id))
        if found is None:
            new.append(row)
        elif found[1] != value or type(found[1]) is not type(value):
            row.pk, row.updated_at = found[0], write.now
            changed.append(row)
    if stale:
        CustomFieldValue.objects.owned_by(write.owner_id).filter(pk__in=stale).delete()
    if new:
        CustomFieldValue.objects.bulk_create(new)
    if changed:
        rows = CustomFieldValue.objects.owned_by(write.owner_id)
        rows.bulk_update(changed, ["value", "updated_at"], batch_size=_TOGETHER)
    if words := [*new, *changed]:
        index_values(write.owner_id, words)


def _flat(target: Mapping[UUID, Mapping[UUID, Any]]) -> Iterator[tuple[UUID, UUID, Any]]:
    for person_id, values in target.items():
        for template_id, value in values.items():
            yield person_id, template_id, value


def _check_values(write: AccountWrite, target: Mapping[UUID, Any]) -> None:
    """Raise where a template was deleted, or lost the option, since the body was read."""
    if write.is_fresh or not target:
        return
    templates = CustomFieldTemplate.objects.owned_by(write.owner_id).active().in_bulk(target)
    for key, value in target.items():
        if key not in templates:
            raise FieldError("customFieldValues", UNKNOWN_ID)
        try:
            read_value(templates[key], value)
        except ValueRefusedError as error:
            raise FieldError("customFieldValues", str(error)) from None


def check_active(write: AccountWrite, model: Any, keys: Collection[UUID], field: str) -> None:
    """Raise FieldError where a row that the body refers to was deleted since the body was read."""
    if write.is_fresh:
        return
    if model.objects.owned_by(write.owner_id).active().filter(pk__in=keys).count() < len(keys):
        raise FieldError(field, UNKNOWN_ID)


def replace_dates(
    *,
    owner: User,
    people: Collection[tuple[Person, list[dict[str, Any]]]],
    stored: Collection[UUID],
    calendar: Callable[[], schedule.Calendar],
    now: dt.datetime,
) -> None:
    """Make the entries the dates of each person, inside the write of the people; those not listed go to the trash.

    An entry is the date with its `id`, else that of its type, else the one that says the same, else the only one left
    of its title. `stored` are the people that may have dates; `calendar` is called where a reminder moves. A constant
    number of statements, however many. Raises FieldError with `importantDates.<index>.<field>`, PlanLimitError.
    """
    present: dict[UUID, dict[UUID, ImportantDate]] = defaultdict(dict)
    if known := [person.pk for person, _ in people if person.pk in stored]:
        for row in _DATES.instances(owner_id=owner.pk, person_ids=known):
            present[row.person_id][row.pk] = row
    pairs: list[tuple[ImportantDate, dict[str, Any]]] = []
    for person, entries in people:
        is_new = person.pk not in stored
        pairs += zip(_rows_for(person, present[person.pk], entries, is_new=is_new), entries, strict=True)
        _check_types(entries)
    kept = {row.pk for row, _ in pairs}
    if left := [key for rows in present.values() for key in rows if key not in kept]:
        ImportantDate.objects.owned_by(owner).filter(pk__in=left).update(
            deleted_at=now, updated_at=now, **schedule.NO_REMINDER
        )
    # Two dates may swap their types: those that change theirs give it up first.
    if moved := [row.pk for row, entry in pairs if row.type and row.type != entry.get("type")]:
        ImportantDate.objects.owned_by(owner).filter(pk__in=moved).update(type=None)
    reminding = [set_date(row, entry, calendar, now) for row, entry in pairs]
    _save_dates(owner, [row for row, _ in pairs])
    # Counted once all are written: one that is switched off makes room for another.
    if any(reminding):
        check_plan(owner, "reminders", 0)


def _save_dates(owner: User, rows: Iterable[ImportantDate]) -> None:
    new: list[ImportantDate] = []
    old: list[ImportantDate] = []
    for row in rows:
        (new if row._state.adding else old).append(row)
    columns = [*DATE_FIELDS, *schedule.DATE_COLUMNS, "updated_at"]
    if new:
        ImportantDate.objects.bulk_create(new)
    if len(old) == 1:  # without the CASE that several need
        old[0].save(update_fields=columns)
    elif old:
        ImportantDate.objects.owned_by(owner).bulk_update(old, columns)


def _rows_for(
    person: Person, present: dict[UUID, ImportantDate], entries: list[dict[str, Any]], *, is_new: bool
) -> list[ImportantDate]:
    """For each entry the stored date that it is, or a new one; of a new person, with the id that the entry brings."""
    left = dict(present)
    for row in left.values():
        row.person = person  # with its owner: not to be read for each
    found: list[ImportantDate | None] = [None] * len(entries)
    for index, entry in enumerate(entries):
        if (key := entry.get("id")) is not None and is_new:
            found[index] = ImportantDate(id=key, owner_id=person.owner_id, person=person)
        elif key is not None:
            if key not in left:
                raise FieldError(f"importantDates.{index}.id", "There is no such record.")
            found[index] = left.pop(key)
    for says in (_SAYS_ALL, _SAYS_WHAT):
        for index, entry in enumerate(entries):
            if found[index] is None:
                meant = [entry.get(name) for name in says]
                same = [key for key, row in left.items() if [getattr(row, name) for name in says] == meant]
                if len(same) == 1:
                    found[index] = left.pop(same[0])
    return [row or ImportantDate(owner_id=person.owner_id, person=person) for row in found]


# What makes an entry without an id the same date: all that it says, else its type (once a person) or its title.
_SAYS_ALL, _SAYS_WHAT = ("type", "title", "date"), ("type", "title")


def _check_types(entries: list[dict[str, Any]]) -> None:
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        if entry.get("type") in seen:
            raise FieldError(f"importantDates.{index}.type", f"Only one date of type {entry['type']}.")
        if entry.get("type"):
            seen.add(entry["type"])


def set_date(
    row: ImportantDate, data: Mapping[str, Any], calendar: Callable[[], schedule.Calendar], now: dt.datetime
) -> bool:
    """Set all that a date says, and its next reminder where that moves; returns whether it begins to remind."""
    was_reminding = not row._state.adding and row.reminder_enabled
    before = {field: getattr(row, field) for field in _MOVING}
    for field in DATE_FIELDS:
        setattr(row, field, data.get(field))
    row.extra_lead_days = row.extra_lead_days or []
    if row._state.adding or before != {field: getattr(row, field) for field in _MOVING}:
        schedule.plan_date(row, calendar(), now)
    row.updated_at = now
    return row.reminder_enabled and not was_reminding


MAX_VALUE_LENGTH = 2000

# What a double holds exactly, and what both databases give back as it went in.
_LARGEST = 2**53
_NUMERAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?\Z", re.ASCII)
_WORDS = {"true": True, "false": False}

CustomValue = str | int | float | bool


class ValueRefusedError(ValueError):
    """The value does not fit the template; the text says why, for people."""


class Typed(Protocol):
    """A template, as far as values go."""

    type: str
    options: Any


def read_value(template: Typed, value: Any) -> CustomValue | None:
    """The value as it is stored: the JSON type of NUMBER and BOOLEAN, else text. None for null or an empty text.

    NUMBER and BOOLEAN take their JSON type, or a text that spells it. Raises ValueRefusedError, and the
    ValidationError of check_text for control characters.
    """
    if isinstance(value, str):
        value = check_text(value)
        if len(value) > MAX_VALUE_LENGTH:
            raise ValueRefusedError(f"At most {MAX_VALUE_LENGTH} characters, this has {len(value)}.")
    if value is None or value == "":
        return None
    return _READERS[TemplateType(template.type)](template, value)


def _read_text(template: Typed, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueRefusedError("This must be a text.")
    return value


def _read_number(template: Typed, value: Any) -> int | float:
    if isinstance(value, str) and _NUMERAL.match(value):
        value = float(value) if re.search(r"[.eE]", value) else int(value[:40])
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueRefusedError("This must be a number.")
    if not -_LARGEST <= value <= _LARGEST:
        raise ValueRefusedError(f"This must be between {-_LARGEST} and {_LARGEST}.")
    return int(value) if value == int(value) else value


def _read_boolean(template: Typed, value: Any) -> bool:
    if isinstance(value, str):
        value = _WORDS.get(value.lower())
    if not isinstance(value, bool):
        raise ValueRefusedError("This must be true or false.")
    return value


def _read_option(template: Typed, value: Any) -> str:
    if not isinstance(value, str) or value not in template.options:
        raise ValueRefusedError("This must be one of the field's options.")
    return value


_READERS = {
    TemplateType.TEXT: _read_text,
    TemplateType.NUMBER: _read_number,
    TemplateType.BOOLEAN: _read_boolean,
    TemplateType.SELECT: _read_option,
}
