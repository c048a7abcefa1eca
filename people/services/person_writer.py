"""The one way in which a person's content is written: columns, lists, and the rows that hang on the person."""

import datetime as dt
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import UNKNOWN_ID, FieldError
from contacts_project.kernel.ownership.writing import AccountWrite
from people import field_table
from people.dates import schedule
from people.fields.cards import forget_lines
from people.fields.custom_values import ValueRefusedError, read_value
from people.fields.entries import settle
from people.geocoding import note_addresses
from people.lookup import keys_of, replace_keys
from people.models import CustomFieldTemplate, CustomFieldValue, Group, Membership, Person
from people.names import COLUMNS as NAME_COLUMNS
from people.names import NameParts, search_key, sort_key
from people.services.important_dates import replace_dates
from people.services.plan import check_plan

# The photo is a file as well and has a service of its own.
SCALARS = frozenset(field.column for field in field_table.SCALARS if field.name != "photo") | {"card_lines"}
_CONTACT = frozenset(field.column for field in field_table.SCALARS if field.plans_contact)


class PersonWriter:
    """Puts people inside an open write of their account, with as few statements as the change needs.

    What the body refers to was looked up before the account was locked: it is looked up again only where somebody
    else has written since (`write.is_fresh`).
    """

    def __init__(self, owner: User, write: AccountWrite, now: dt.datetime) -> None:
        self.owner, self.write, self.now = owner, write, now

    @cached_property
    def clock(self) -> schedule.Calendar:
        return schedule.calendar_in(self.owner) if self.write.is_fresh else schedule.calendar_of(self.owner)

    def put(self, person: Person, data: Mapping[str, Any]) -> None:
        """Write what `data` names, replacing sets as a whole; a person that is not stored yet is inserted.

        `data`: values by column, documents as lists of entries, `groups` as rows, `custom_field_values` as
        `{template, value}`, `important_dates` as replace_dates takes them. Raises FieldError, PlanLimitError.
        """
        is_new = person._state.adding
        keys = set() if is_new else keys_of(person)
        changed = self._set_columns(person, data, was_reminding=not is_new and person.contact_reminder_enabled)
        # Only what changed: the scan of due reminders moves columns of its own meanwhile.
        person.owner = self.owner
        person.save(update_fields=None if is_new else changed)
        replace_keys(person, keys)
        if "groups" in data:
            self._set_groups(person, data["groups"], is_new=is_new)
        if "custom_field_values" in data:
            self._set_values(person, data["custom_field_values"], is_new=is_new)
        if "important_dates" in data:
            replace_dates(person=person, entries=data["important_dates"], is_new=is_new, clock=self.clock, now=self.now)

    def _set_columns(self, person: Person, data: Mapping[str, Any], *, was_reminding: bool) -> set[str]:
        """Set what `data` names and what follows from it; returns the columns that were set."""
        scalars, documents = data.keys() & SCALARS, data.keys() & set(Person.DOCUMENTS)
        for column in scalars:
            setattr(person, column, data[column])
        for field in documents:
            setattr(person, field, settle(field, data[field], getattr(person, field)))
            forget_lines(person, field)
        if data.get("addresses"):
            note_addresses(person.owner_id, [person])
        set_name_keys(person)
        if kind := data.get("relationship_to_user"):
            self._check_active(type(kind), {kind.pk}, "relationshipToUserId")
        changed = {*scalars, *documents, "card_lines", "sort_key", "search_key", "updated_at"}
        if scalars & _CONTACT:
            self._plan_contact(person, was_reminding)
            changed |= {*_CONTACT, *schedule.CONTACT_COLUMNS}
        return changed

    def _plan_contact(self, person: Person, was_reminding: bool) -> None:
        if person.contact_reminder_enabled:
            for column, default in field_table.REMINDER_DEFAULTS.items():
                setattr(person, column, getattr(person, column) or default)
            if not was_reminding:
                check_plan(self.owner, "reminders")
        schedule.plan_contact(person, self.clock, self.now)

    def _set_groups(self, person: Person, groups: Iterable[Group], *, is_new: bool) -> None:
        """Memberships of groups in the trash stay for their restore."""
        wanted = {group.pk for group in groups}
        rows = Membership.objects.owned_by(self.owner).filter(person=person, group__deleted_at=None)
        present: set[UUID] = set() if is_new else set(rows.values_list("group_id", flat=True))
        if stale := present - wanted:
            Membership.objects.owned_by(self.owner).filter(person=person, group__in=stale).delete()
        if new := wanted - present:
            self._check_active(Group, new, "groupIds")
            Membership.objects.bulk_create(
                Membership(owner=self.owner, person=person, group_id=key) for key in sorted(new)
            )

    def _set_values(self, person: Person, entries: Iterable[Mapping[str, Any]], *, is_new: bool) -> None:
        """None stands for no value. Those of templates in the trash stay for their restore."""
        wanted = {entry["template"].pk: entry["value"] for entry in entries if entry["value"] is not None}
        self._check_values(wanted)
        rows = CustomFieldValue.objects.owned_by(self.owner).filter(person=person, template__deleted_at=None)
        present = {} if is_new else {row.template_id: row for row in rows}
        if stale := [row.pk for key, row in present.items() if key not in wanted]:
            CustomFieldValue.objects.owned_by(self.owner).filter(pk__in=stale).delete()
        if new := wanted.keys() - present.keys():
            CustomFieldValue.objects.bulk_create(
                CustomFieldValue(owner=self.owner, person=person, template_id=key, value=value)
                for key, value in wanted.items()
                if key in new
            )
        for key, row in present.items():
            value = wanted.get(key)
            if value is not None and (row.value != value or type(row.value) is not type(value)):
                row.value = value
                row.save(update_fields=["value", "updated_at"])

    def _check_values(self, wanted: Mapping[UUID, Any]) -> None:
        """Raise where a template was deleted, or lost the option, since the body was read."""
        if self.write.is_fresh or not wanted:
            return
        templates = CustomFieldTemplate.objects.owned_by(self.owner).active().in_bulk(wanted)
        for key, value in wanted.items():
            if key not in templates:
                raise FieldError("customFieldValues", UNKNOWN_ID)
            try:
                read_value(templates[key], value)
            except ValueRefusedError as error:
                raise FieldError("customFieldValues", str(error)) from None

    def _check_active(self, model: Any, keys: Iterable[UUID], field: str) -> None:
        """Raise where a row that the body refers to was deleted since the body was read."""
        if self.write.is_fresh:
            return
        wanted = set(keys)
        if model.objects.owned_by(self.owner).active().filter(pk__in=wanted).count() < len(wanted):
            raise FieldError(field, UNKNOWN_ID)


def set_name_keys(person: Person) -> None:
    """Compute the columns by which a person is sorted and searched."""
    parts = NameParts(*(getattr(person, column) for column in NAME_COLUMNS))
    person.sort_key, person.search_key = sort_key(parts), search_key(parts)
