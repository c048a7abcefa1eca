"""Creates and updates people: their columns, the columns derived from those, and the rows beside them.

Every caller that writes people uses PersonWriter: the API, imports, CardDAV sync, merging and the import of an account.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.utils.functional import cached_property

from accounts.models import User
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.ownership.account_lock import AccountWrite, account_write
from contacts_project.kernel.ownership.client_ids import claim_ids
from people import field_table
from people.cards.card_lines import more_of, name_keys
from people.cards.converter import remove_lines
from people.cards.related_names import replace_related_names
from people.dates import schedule
from people.entries import ENTRY_KEYS, identify_entries
from people.extensions import EXTENSIONS
from people.geocoding import enqueue_addresses
from people.lookup import KEY_COLUMNS, Keys, keys_of, keys_of_change, replace_keys
from people.models import Person, RelationshipType
from people.models.person import NOT_KNOWN
from people.names import KEYED_COLUMNS
from people.services.group_rules import RULED_COLUMNS, write_rules
from people.services.person_rows import check_active, replace_dates, replace_groups_and_values
from people.services.plan_limits import check_plan
from people.signals import announce_change

# A photo is also a file and has its own service (people.services.photos).
_SCALAR_COLUMNS = frozenset(field.column for field in field_table.SCALARS if field.name != "photo") | {"card_lines"}
_CONTACT_SCHEDULE_COLUMNS = frozenset(field.column for field in field_table.SCALARS if field.schedules_contact)
_LAST_CONTACT_COLUMNS = frozenset({"last_contact", "contact_before", "interacted_on"})
_ATTRIBUTES = tuple(field.attname for field in Person._meta.concrete_fields)
# Up to this many people are saved one by one, each with the columns that it changed.
_MAX_SINGLE_SAVES = 2


def create_person(*, owner: User, data: JsonMapping, now: dt.datetime) -> Person:
    """Insert a person with everything in `data`. Raises PlanLimitError, FieldError, IdTakenError.

    `data` is that of PersonWriter.put. It may contain an `id`, and one in each date: ids that the client has generated.
    """
    dates = data.get("important_dates", ())
    client_ids = [entry["id"] for entry in (data, *dates) if entry.get("id")]
    with account_write(owner) as write:
        claim_ids(client_ids)
        person = Person(id=data.get("id") or new_id(), owner=owner, created_at=now)
        PersonWriter(owner, write, now).put(person, data)
    return person


def update_person(*, owner: User, person: Person, data: JsonMapping, now: dt.datetime) -> Person:
    """Write the fields in `data`, each set as a whole; other fields stay. Raises FieldError, MissingError.

    `person` must be an active row that was read after `owner`.
    """
    with account_write(owner) as write:
        if not write.is_fresh:
            # Another request has written since `owner` was read: the person may have changed or be in the trash.
            person = Person.objects.find_active(owner, person.pk)
        PersonWriter(owner, write, now).put(person, data)
    return person


class PersonWriter:
    """Writes people inside an open `account_write`, with as few statements as the change needs.

    `put` writes one person, `put_many` many in a constant number of statements. A caller that sets columns itself calls
    `edit` before and `flush` after. Each of these also updates the name keys, the look-up keys, the geocoder's
    queue and the next contact reminder, and announces the change on commit.

    Rows that a request body refers to were read before the lock was taken. They are read again only if another request
    has written to the account since (`write.is_fresh` is false).
    """

    def __init__(self, owner: User, write: AccountWrite, now: dt.datetime) -> None:
        self.owner, self.write, self.now = owner, write, now
        self._changes: dict[Any, _Change] = {}
        # The ids of people whose contact reminder was set in this write, by a rule of a group or by the owner.
        self._ruled: set[UUID] = set()
        self._decided: set[UUID] = set()

    # Django's cached_property: that of functools holds one lock for all writers up to Python 3.11, and this may query.
    @cached_property
    def calendar(self) -> schedule.Calendar:
        return schedule.calendar_under_lock(self.owner, is_fresh=self.write.is_fresh)

    def put(self, person: Person, data: JsonMapping) -> None:
        """Write the fields in `data`, each set as a whole; inserts the person if it is not stored yet.

        `data` has scalar values by column, multi-value fields as lists of entries, `groups` as Group rows,
        `custom_field_values` as `{template, value}`, `important_dates` as in replace_dates, and for a new person the
        fields of the extensions. Raises FieldError, PlanLimitError (people and reminders).
        """
        self.put_many([(person, data)])

    def put_many(self, people: Iterable[tuple[Person, JsonMapping]]) -> None:
        """As `put`, for many people with their own data each. An error in one of them fails all."""
        pairs = [(person, dict(data)) for person, data in people]
        created = [pair for pair in pairs if pair[0]._state.adding]
        if created:
            check_plan(self.owner, "people", len(created))
        for person, data in created:
            if data.get("important_dates"):
                person.next_date_until = NOT_KNOWN  # as the trigger of its dates will, which then changes no row
            for extension in EXTENSIONS:
                extension.check_create(self.owner.pk, data)
        self._set_columns(pairs)
        stored = {person.pk for person, _ in pairs} - {person.pk for person, _ in created}
        # The rows of other tables refer to the person, so it is written first.
        self.flush()
        groups, values = _select(pairs, "groups"), _select(pairs, "custom_field_values")
        joined = replace_groups_and_values(self.write, groups=groups, values=values, stored=stored)
        if dates := _select(pairs, "important_dates"):
            replace_dates(owner=self.owner, people=dates, stored=stored, calendar=lambda: self.calendar, now=self.now)
        if self.write.is_fresh:
            ruled = {group.pk for _, rows in groups for group in rows if group.has_rule}
            joined = [(person, group_id) for person, group_id in joined if group_id in ruled]
        # After the dates: of a request, the owner's own settings hold.
        if joined and write_rules(self, joined).people:
            self.flush()
        for person, data in created:
            for extension in EXTENSIONS:
                extension.after_create(person, data)

    def edit(self, *people: Person) -> None:
        """Record the current columns of people that the caller is about to change.

        Assign new lists to the multi-value columns: a list that is modified in place does not count as a change.
        """
        for person in people:
            person.owner = self.owner  # saves a query for each person that reads its owner
            self._changes.setdefault(person.pk, _Change(person))

    def set_by_rule(self, person: Person, values: JsonMapping, group_id: UUID) -> None:
        """Set the contact reminder of a person by the rule of a group; `flush` writes it."""
        self.edit(person)
        for column, value in values.items():
            setattr(person, column, value)
        person.contact_reminder_from_id = group_id
        self._ruled.add(person.pk)

    def is_set_by_owner(self, person: Person) -> bool:
        """Whether this write has changed the contact reminder of a stored person otherwise than by a rule."""
        return person.pk in self._decided

    def flush(self) -> None:
        """Write the edited people and everything derived from their columns, and announce the change on commit.

        Plan limits are not checked: callers of `edit` do that.
        """
        changes, self._changes = list(self._changes.values()), {}
        for change in changes:
            change.detect_columns()
        if to_geocode := [change for change in changes if change.needs_geocoding]:
            is_geocoding = self.owner.geocoding_enabled if self.write.is_fresh else None  # None: looked up
            enqueue_addresses(self.owner.pk, [change.person for change in to_geocode], is_geocoding=is_geocoding)
            for change in to_geocode:
                change.columns.add("addresses")
        for change in changes:
            self._derive_columns(change.person, change.columns)
        self._save(changes)
        if keyed := [change for change in changes if not change.columns.isdisjoint(KEY_COLUMNS)]:
            replace_keys(self.owner.pk, [(change.person.pk, *change.lookup_keys()) for change in keyed])
        if with_cards := [change for change in changes if "card_lines" in change.columns]:
            replace_related_names(
                self.owner.pk,
                [
                    (change.person.pk, change.before.get("card_lines", ()), change.person.card_lines)
                    for change in with_cards
                ],
            )
        if self.write.is_mirrored:
            announce_change(self.owner.pk, [change.person.pk for change in changes if not change.person.is_deleted])

    def _set_columns(self, pairs: Iterable[tuple[Person, JsonMapping]]) -> None:
        """Set the person's own columns. The sets in other tables are written after the person."""
        new_reminders = 0
        for person, data in pairs:
            was_reminding = person.contact_reminder_enabled and not person._state.adding
            self.edit(person)
            for column in data.keys() & _SCALAR_COLUMNS:
                setattr(person, column, data[column])
            for field in data.keys() & set(Person.LIST_COLUMNS):
                # Clients send the whole person back: most lists are unchanged and need no matching of entries.
                if _is_unchanged(data[field], getattr(person, field), ENTRY_KEYS[field]):
                    continue
                setattr(person, field, identify_entries(field, data[field], getattr(person, field)))
                if person.card_lines:
                    remove_lines(person, field)
            if relationship_type := data.get("relationship_to_user"):
                check_active(self.write, RelationshipType, {relationship_type.pk}, "relationshipToUserId")
            new_reminders += person.contact_reminder_enabled and not was_reminding
        if new_reminders:
            check_plan(self.owner, "reminders", new_reminders)

    def _derive_columns(self, person: Person, columns: set[str]) -> None:
        """Compute the columns that depend on the changed `columns`, and add their names to the set."""
        if not columns.isdisjoint((*KEYED_COLUMNS, "card_lines")):
            set_name_keys(person)
            columns |= {"sort_key", "search_key"}
        if "card_lines" in columns:
            more = more_of(person.card_lines)
            if more != person.more:
                person.more = more
                columns.add("more")
        if "last_contact" in columns:
            # Set by the user or a card. What interactions set arrives in `interacted_on`.
            person.contact_before = person.last_contact
        if not columns.isdisjoint(_LAST_CONTACT_COLUMNS):
            days = (person.contact_before, person.interacted_on)
            person.last_contact = max((day for day in days if day), default=None)
            columns |= {"last_contact", "contact_before"}
        if not columns.isdisjoint(RULED_COLUMNS) and person.pk not in self._ruled:
            self._take_over_reminder(person, columns)
        if columns & {*_CONTACT_SCHEDULE_COLUMNS, "deleted_at"}:
            schedule.fill_contact_defaults(person)
            if person.contact_reminder_enabled and not person.is_deleted:
                schedule.schedule_contact(person, self.calendar, self.now)
            else:
                person.contact_due_at = person.contact_due_on = None
            columns |= {*_CONTACT_SCHEDULE_COLUMNS, *schedule.CONTACT_COLUMNS}
        # Not before the lock: writes follow one another in this order.
        person.updated_at = max(self.now, self.write.now)
        columns.add("updated_at")

    def _take_over_reminder(self, person: Person, columns: set[str]) -> None:
        """A contact reminder that changes, but not by the rule of a group, is the person's own from now on.

        A caller that sets `contact_reminder_from` as well, such as an undo, has decided itself.
        """
        if "contact_reminder_from_id" in columns:
            return
        self._decided.add(person.pk)
        if person.contact_reminder_from_id is not None:
            person.contact_reminder_from_id = None
            columns.add("contact_reminder_from_id")

    def _save(self, changes: Iterable["_Change"]) -> None:
        """Insert new people; of stored ones write only the changed columns.

        Other columns may be newer in the database: the scan of due reminders updates them without raising the account's
        revision, so that such a person is not read again.
        """
        new = [change.person for change in changes if change.is_new]
        stored = [change for change in changes if not change.is_new]
        if new:
            Person.objects.bulk_create(new)
        if len(stored) <= _MAX_SINGLE_SAVES:
            for change in stored:
                Person.objects.bulk_update([change.person], change.columns)
            return
        columns = set().union(*(change.columns for change in stored))
        people = [change.person for change in stored]
        Person.objects.bulk_update(people, sorted(columns))


class _Change:
    """An edited person with its columns before the edit (empty for a new person).

    `columns` are the names of the columns to write: those that changed, and those derived from them.
    """

    def __init__(self, person: Person) -> None:
        self.person, self.is_new = person, person._state.adding
        # From __dict__, because an attribute access would load deferred columns, one query each.
        loaded = person.__dict__
        self.before: dict[str, Any] = (
            {} if self.is_new else {name: loaded[name] for name in _ATTRIBUTES if name in loaded}
        )
        self.columns: set[str] = set()

    def detect_columns(self) -> None:
        """Set `columns` to those whose value has changed; all columns of a new person."""
        after = self.person.__dict__
        changed = {name for name, value in self.before.items() if after[name] != value}
        self.columns = set(_ATTRIBUTES) if self.is_new else changed

    def lookup_keys(self) -> tuple[Keys, Keys]:
        """The look-up keys before and after the edit, as far as they may differ."""
        if not self.before:
            return set(), keys_of(self.person.__dict__)
        return keys_of_change(self.before, self.person.__dict__, self.columns)

    @property
    def needs_geocoding(self) -> bool:
        """Whether an address may be missing in the geocoder's queue."""
        if "deleted_at" in self.columns:
            # New, or restored: addresses that only deleted people have are dropped from the queue.
            return self.is_new or not self.person.is_deleted
        return "addresses" in self.columns and any(entry["geocodeStatus"] is None for entry in self.person.addresses)


def _select(pairs: Iterable[tuple[Person, JsonMapping]], field: str) -> list[tuple[Person, Any]]:
    """The people whose data contains `field`, each with its value."""
    return [(person, data[field]) for person, data in pairs if field in data]


def _is_unchanged(entries: Sequence[JsonMapping], stored: Sequence[JsonMapping], keys: Iterable[str]) -> bool:
    """Whether the submitted entries are the stored ones, in order. `keys` that an entry omits are null."""
    nulls = dict.fromkeys(keys)
    return len(entries) == len(stored) and all(
        {**old, **nulls, **entry} == old for entry, old in zip(entries, stored, strict=True)
    )


def set_name_keys(person: Person) -> None:
    """Compute the columns by which people are sorted and searched by name."""
    person.sort_key, person.search_key = name_keys(person)
