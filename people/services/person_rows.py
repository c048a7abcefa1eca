"""Memberships and custom values of people, replaced as sets: a constant number of statements, however many people."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from django.db.models import TextField, Value

from contacts_project.kernel.api.columns import JsonText
from contacts_project.kernel.api.ids import IdKey
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.errors import UNKNOWN_ID, FieldError
from contacts_project.kernel.ownership.account_lock import AccountWrite
from people.models import CustomFieldTemplate, CustomFieldValue, Group, Membership, Person
from people.services.custom_values import ValueRefusedError, read_value
from people.word_index import index_values

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
    keys, null = (IdKey("pk"), IdKey("person_id")), _text("null")
    return groups.values_list(_text(_GROUP), *keys, IdKey("group_id"), null).union(
        values.values_list(_text(_VALUE), *keys, IdKey("template_id"), JsonText("value")), all=True
    )


def _text(value: str) -> Value:
    return Value(value, output_field=TextField())


_ROWS = CompiledQuery(_rows_of)


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
