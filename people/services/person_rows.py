"""Memberships and custom values of people, replaced as sets: a constant number of statements, however many people."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

from contacts_project.kernel.errors import UNKNOWN_ID, FieldError
from contacts_project.kernel.ownership.writing import AccountWrite
from people.fields.custom_values import ValueRefusedError, read_value
from people.models import CustomFieldTemplate, CustomFieldValue, Group, Membership, Person

_TOGETHER = 100


def replace_groups(
    write: AccountWrite, people: Iterable[tuple[Person, Iterable[Group]]], stored: Collection[UUID]
) -> None:
    """Make the groups those of each person; `stored` are the people that may be in some already.

    Memberships of groups in the trash stay for their restore.
    """
    wanted = {person.pk: {group.pk for group in groups} for person, groups in people}
    if not wanted:
        return
    present: dict[UUID, set[UUID]] = defaultdict(set)
    stale = []
    if known := [key for key in wanted if key in stored]:
        rows = Membership.objects.owned_by(write.owner_id).filter(person__in=known, group__deleted_at=None)
        for key, person_id, group_id in rows.values_list("pk", "person_id", "group_id"):
            present[person_id].add(group_id)
            if group_id not in wanted[person_id]:
                stale.append(key)
    if stale:
        Membership.objects.owned_by(write.owner_id).filter(pk__in=stale).delete()
    new = [(person_id, key) for person_id, keys in wanted.items() for key in sorted(keys - present[person_id])]
    if new:
        check_active(write, Group, {key for _, key in new}, "groupIds")
        Membership.objects.bulk_create(
            Membership(owner_id=write.owner_id, person_id=person_id, group_id=key) for person_id, key in new
        )


def replace_values(
    write: AccountWrite, people: Iterable[tuple[Person, Iterable[Mapping[str, Any]]]], stored: Collection[UUID]
) -> None:
    """Make `{template, value}` the values of each person, None standing for no value; `stored` as in replace_groups.

    Those of templates in the trash stay for their restore.
    """
    wanted = {
        person.pk: {entry["template"].pk: entry["value"] for entry in entries if entry["value"] is not None}
        for person, entries in people
    }
    for values in wanted.values():
        _check_values(write, values)
    stale, changed = [], []
    new = {(person_id, key): value for person_id, values in wanted.items() for key, value in values.items()}
    if known := [key for key in wanted if key in stored]:
        for row in CustomFieldValue.objects.owned_by(write.owner_id).filter(
            person__in=known, template__deleted_at=None
        ):
            value = new.pop((row.person_id, row.template_id), None)
            if value is None:
                stale.append(row.pk)
            elif row.value != value or type(row.value) is not type(value):
                row.value, row.updated_at = value, write.now
                changed.append(row)
    if stale:
        CustomFieldValue.objects.owned_by(write.owner_id).filter(pk__in=stale).delete()
    if new:
        CustomFieldValue.objects.bulk_create(
            CustomFieldValue(owner_id=write.owner_id, person_id=person_id, template_id=key, value=value)
            for (person_id, key), value in new.items()
        )
    if changed:
        rows = CustomFieldValue.objects.owned_by(write.owner_id)
        rows.bulk_update(changed, ["value", "updated_at"], batch_size=_TOGETHER)


def _check_values(write: AccountWrite, wanted: Mapping[UUID, Any]) -> None:
    """Raise where a template was deleted, or lost the option, since the body was read."""
    if write.is_fresh or not wanted:
        return
    templates = CustomFieldTemplate.objects.owned_by(write.owner_id).active().in_bulk(wanted)
    for key, value in wanted.items():
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
