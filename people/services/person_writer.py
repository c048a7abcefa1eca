"""The one way in which people are written: their columns, what follows from those, and the rows that hang on them."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from accounts.models import User
from contacts_project.kernel.api.ids import new_id
from contacts_project.kernel.ownership.account_lock import AccountWrite, account_write
from contacts_project.kernel.ownership.client_ids import claim_ids
from people import field_table
from people.dates import schedule
from people.entries import SHAPES, identify_entries
from people.extensions import EXTENSIONS
from people.fields.cards import remove_lines
from people.fields.more import more_of
from people.geocoding import note_addresses
from people.lookup import KEY_COLUMNS, Keys, keys_of, replace_keys
from people.models import Person, RelationshipType
from people.names import KEYED_COLUMNS, keys_of_names
from people.related.rows import replace_related_names
from people.services.person_rows import check_active, replace_dates, replace_rows
from people.services.plan_limits import check_plan
from people.signals import announce_change

# The photo is a file as well and has a service of its own.
_SCALARS = frozenset(field.column for field in field_table.SCALARS if field.name != "photo") | {"card_lines"}
_PLANS_CONTACT = frozenset(field.column for field in field_table.SCALARS if field.plans_contact)
_MAKE_LAST_CONTACT = frozenset({"last_contact", "contact_before", "interacted_on"})
_ATTRIBUTES = tuple(field.attname for field in Person._meta.concrete_fields)
# More rows are written together, each column as one CASE; few cost less one by one.
_FEW = 2
_TOGETHER = 50


def create_person(*, owner: User, data: Mapping[str, Any], now: dt.datetime) -> Person:
    """Insert a person with all that its data names. Raises PlanLimitError, FieldError, IdTakenError.

    `data` is as PersonWriter.put takes it. `id`, its own and of its dates: what the client has made.
    """
    dates = data.get("important_dates", ())
    claimed = [entry["id"] for entry in (data, *dates) if entry.get("id")]
    with account_write(owner) as write:
        claim_ids(claimed)
        person = Person(id=data.get("id") or new_id(), owner=owner, created_at=now)
        PersonWriter(owner, write, now).put(person, data)
    return person


def update_person(*, owner: User, person: Person, data: Mapping[str, Any], now: dt.datetime) -> Person:
    """Write what `data` names, replacing sets as a whole; the rest stays. Raises FieldError, MissingError.

    `person` is an active row that was read after `owner`: it is read again only where somebody has written since.
    """
    with account_write(owner) as write:
        if not write.is_fresh:
            person = Person.objects.owned_by(owner).active().find(person.pk)
        PersonWriter(owner, write, now).put(person, data)
    return person


class _Change:
    """A person under change, and its columns as they were: none where it is not stored yet."""

    def __init__(self, person: Person) -> None:
        self.person, self.is_new = person, person._state.adding
        known = person.__dict__
        self.before: dict[str, Any] = (
            {} if self.is_new else {name: known[name] for name in _ATTRIBUTES if name in known}
        )

    def columns(self) -> set[str]:
        """Those that have another value by now; all of a new person."""
        now = self.person.__dict__
        return set(_ATTRIBUTES) if self.is_new else {name for name, value in self.before.items() if now[name] != value}

    def keys(self) -> tuple[Keys, Keys]:
        """The look-up keys before, and now."""
        return keys_of(self.before) if self.before else set(), keys_of(self.person.__dict__)


class PersonWriter:
    """Writes people inside an open write of their account, with as few statements as the change needs.

    `put` writes one, `bulk` many in a number of statements that does not rise with them. Who sets columns itself says
    so before with `edit`, and has them written with `flush`. Each way does the keys of names, the look-up keys, the
    geocoder's list, the next contact reminder and the news on commit.

    What a body refers to was looked up before the account was locked: it is looked up again only where somebody else
    has written since (`write.is_fresh`).
    """

    def __init__(self, owner: User, write: AccountWrite, now: dt.datetime) -> None:
        self.owner, self.write, self.now = owner, write, now
        self._changes: dict[Any, _Change] = {}

    @cached_property
    def calendar(self) -> schedule.Calendar:
        return schedule.calendar_from_user(self.owner) if self.write.is_fresh else schedule.load_calendar(self.owner)

    def put(self, person: Person, data: Mapping[str, Any]) -> None:
        """Write what `data` names, replacing sets as a whole; a person that is not stored yet is inserted.

        `data`: values by column, documents as lists of entries, `groups` as rows, `custom_field_values` as
        `{template, value}`, `important_dates` as replace_dates takes them; of a new person what extensions take.
        Raises FieldError, PlanLimitError (people and reminders).
        """
        self.bulk([(person, data)])

    def bulk(self, people: Iterable[tuple[Person, Mapping[str, Any]]]) -> None:
        """The same for many, each with data of its own; it raises for one of them as for all."""
        pairs = [(person, dict(data)) for person, data in people]
        created = [pair for pair in pairs if pair[0]._state.adding]
        if created:
            check_plan(self.owner, "people", len(created))
        for _, data in created:
            for extension in EXTENSIONS:
                extension.check_create(data)
        self._set_columns(pairs)
        stored = {person.pk for person, _ in pairs} - {person.pk for person, _ in created}
        self.flush()
        groups, values = _named(pairs, "groups"), _named(pairs, "custom_field_values")
        replace_rows(self.write, groups=groups, values=values, stored=stored)
        if dates := _named(pairs, "important_dates"):
            replace_dates(owner=self.owner, people=dates, stored=stored, calendar=lambda: self.calendar, now=self.now)
        for person, data in created:
            for extension in EXTENSIONS:
                extension.created(person, data)

    def edit(self, *people: Person) -> None:
        """The caller is about to set columns of these people; lists are not changed in place but set anew."""
        for person in people:
            person.owner = self.owner  # not to be read for each
            self._changes.setdefault(person.pk, _Change(person))

    def flush(self) -> None:
        """Write the people under change, with all that follows from their columns, and tell of them on commit.

        Nothing is checked: who uses `edit` has counted what the plan allows.
        """
        changes, self._changes = list(self._changes.values()), {}
        columns = {change.person.pk: change.columns() for change in changes}
        if placed := [change.person for change in changes if _is_to_be_placed(change, columns[change.person.pk])]:
            is_geocoding = self.owner.geocoding_enabled if self.write.is_fresh else None
            note_addresses(self.owner.pk, placed, is_geocoding=is_geocoding)
            for person in placed:
                columns[person.pk].add("addresses")
        for change in changes:
            self._complete(change.person, columns[change.person.pk])
        self._save(changes, columns)
        if keyed := [change for change in changes if not columns[change.person.pk].isdisjoint(KEY_COLUMNS)]:
            replace_keys(self.owner.pk, [(change.person.pk, *change.keys()) for change in keyed])
        if carded := [change for change in changes if "card_lines" in columns[change.person.pk]]:
            replace_related_names(
                self.owner.pk,
                [(one.person.pk, one.before.get("card_lines", ()), one.person.card_lines) for one in carded],
            )
        if self.write.is_mirrored:
            announce_change(self.owner.pk, [change.person.pk for change in changes if not change.person.is_deleted])

    def _set_columns(self, pairs: Iterable[tuple[Person, Mapping[str, Any]]]) -> None:
        reminding = 0
        for person, data in pairs:
            was_reminding = person.contact_reminder_enabled and not person._state.adding
            self.edit(person)
            for column in data.keys() & _SCALARS:
                setattr(person, column, data[column])
            for field in data.keys() & set(Person.DOCUMENTS):
                if _says_the_same(data[field], getattr(person, field), SHAPES[field]):
                    continue  # as clients send most lists back
                setattr(person, field, identify_entries(field, data[field], getattr(person, field)))
                if person.card_lines:
                    remove_lines(person, field)
            if kind := data.get("relationship_to_user"):
                check_active(self.write, RelationshipType, {kind.pk}, "relationshipToUserId")
            reminding += person.contact_reminder_enabled and not was_reminding
        if reminding:
            check_plan(self.owner, "reminders", reminding)

    def _complete(self, person: Person, columns: set[str]) -> None:
        """Set the columns that follow from those that changed, and add them to these."""
        if not columns.isdisjoint(KEYED_COLUMNS):
            set_name_keys(person)
            columns |= {"sort_key", "search_key"}
        if "card_lines" in columns:
            more = more_of(person.card_lines)
            if more != person.more:
                person.more = more
                columns.add("more")
        if "last_contact" in columns:  # typed, or out of a card
            person.contact_before = person.last_contact
        if not columns.isdisjoint(_MAKE_LAST_CONTACT):
            days = (person.contact_before, person.interacted_on)
            person.last_contact = max((day for day in days if day), default=None)
            columns |= {"last_contact", "contact_before"}
        if columns & {*_PLANS_CONTACT, "deleted_at"}:
            schedule.fill_contact_defaults(person)
            if person.contact_reminder_enabled and not person.is_deleted:
                schedule.plan_contact(person, self.calendar, self.now)
            else:
                person.contact_due_at = person.contact_due_on = None
            columns |= {*_PLANS_CONTACT, *schedule.CONTACT_COLUMNS}
        person.updated_at = self.now
        columns.add("updated_at")

    def _save(self, changes: list[_Change], columns: Mapping[Any, set[str]]) -> None:
        """Only the columns that changed: the scan of due reminders moves columns of its own beside them."""
        new: list[Person] = []
        stored: list[Person] = []
        for change in changes:
            (new if change.is_new else stored).append(change.person)
        if new:
            Person.objects.bulk_create(new)
        if len(stored) <= _FEW:
            for person in stored:
                person.save(update_fields=columns[person.pk])
            return
        changed = set().union(*(columns[person.pk] for person in stored))
        Person.objects.owned_by(self.owner).bulk_update(stored, sorted(changed), batch_size=_TOGETHER)


def _says_the_same(
    entries: Sequence[Mapping[str, Any]], stored: Sequence[Mapping[str, Any]], keys: Iterable[str]
) -> bool:
    """Whether a list is the stored one: which entry is which need not be asked. What an entry leaves out is null."""
    nothing = dict.fromkeys(keys)
    return len(entries) == len(stored) and all(
        {**old, **nothing, **entry} == old for entry, old in zip(entries, stored, strict=True)
    )


def _is_to_be_placed(change: _Change, columns: set[str]) -> bool:
    """Whether an address is new to the geocoder's list; out of the trash it may be no longer in there."""
    if "deleted_at" in columns:
        return change.is_new or not change.person.is_deleted
    return "addresses" in columns and any(entry["geocodeStatus"] is None for entry in change.person.addresses)


def _named(pairs: Iterable[tuple[Person, Mapping[str, Any]]], name: str) -> list[tuple[Person, Any]]:
    return [(person, data[name]) for person, data in pairs if name in data]


def set_name_keys(person: Person) -> None:
    """Compute the columns by which a person is sorted and searched."""
    person.sort_key, person.search_key = keys_of_names(person)
