"""The groups and custom field values of people, each replaced as a set.

The number of statements is constant, however many people are written at once.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple
from uuid import UUID

from contacts_project.kernel.database.compiled_queries import Rows, query_by_ids
from contacts_project.kernel.database.expressions import IdHex, JsonText, text_value
from contacts_project.kernel.errors import NO_SUCH_RECORD, FieldError
from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.ownership.account_lock import AccountWrite
from people.fields.custom_values import InvalidCustomValueError, parse_custom_value
from people.lookup import index_values
from people.models import CustomFieldTemplate, CustomFieldValue, Group, Membership, Person, RelationshipType

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
