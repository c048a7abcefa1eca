"""People read as cards and field maps, and written from them."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils.functional import cached_property

from accounts.models import User
from contacts_project.kernel.database.compiled_queries import Rows, compiled_query
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import AccountWrite
from people.cards.card_lines import with_unmapped_lines
from people.cards.converter import card_of, put_card
from people.contents.fields import LISTS, SCALARS, Fields, card_date, column_value, local_fields
from people.contents.groups import CategoryGroups
from people.dates import schedule
from people.entries import date_entry, pair_entries
from people.field_table import CARD_DATE_KEYS, DATE_KEYS, MAX_ENTRIES
from people.models import ImportantDate, Membership, Person
from people.models.groups import group_key
from people.photos.files import confirm_upload, delete_files, read_photo
from people.services.group_rules import write_rules
from people.services.person_writer import PersonWriter
from people.services.reminders import ArrivingReminders
from people.vcard import Card, write_card


@compiled_query
def people_of_contacts(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    return Person.objects.owned_by(owner_id).filter(pk__in=person_ids)


@compiled_query
def dates_of_contacts(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    return ImportantDate.objects.owned_by(owner_id).active().filter(person__in=person_ids).order_by("id")


@compiled_query
def groups_of_contacts(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    return (
        Membership.objects.owned_by(owner_id)
        .filter(person__in=person_ids, group__deleted_at=None)
        .order_by("id")
        .values_list("person_id", "group_id", "group__name")
    )


# The number of ids is part of the SQL text, so batches of one size let the compiled statement be reused.
_BATCH_SIZE = 50
_FETCH_SIZE = 500
# The fields that are rows of other tables.
_IN_ROWS = frozenset({"importantDates", "groups"})


@dataclass
class LocalContact:
    """A person and everything that a card can hold. `card` has no picture: `photo` is the name of its file.

    `groups` are the ids and the names of the groups of a person that was read."""

    person: Person
    card: Card
    photo: str | None
    dates: list[ImportantDate] = field(default_factory=list)
    groups: list[tuple[UUID, str]] = field(default_factory=list)

    # Django's, since that of functools holds one lock for all instances up to Python 3.11.
    @cached_property
    def fields(self) -> Fields:
        """The field map, with the token of the photo."""
        return local_fields(self.card, self.photo)

    def full_name(self, name_format: str) -> str:
        """FN in the connection's name format."""
        return format_full_name(self.card, name_format)


def format_full_name(card: Card, name_format: str) -> str:
    """FN of a card: displayNameOverride if there is one, else the name in `name_format`."""
    return card.display_name or card.format_name(name_format) or card.name


def load_local_contacts(owner: User, person_ids: Collection[UUID]) -> dict[UUID, LocalContact]:
    """People, deleted or not, with their dates and groups."""
    keys = list(person_ids)
    contacts: dict[UUID, LocalContact] = {}
    for start in range(0, len(keys), _BATCH_SIZE):
        batch = keys[start : start + _BATCH_SIZE]
        contacts |= local_contacts_of(owner, people_of_contacts.instances(owner_id=owner.pk, person_ids=batch))
    return contacts


def load_local_contact(owner: User, person_id: UUID) -> LocalContact:
    """One person. Raises KeyError if there is none."""
    return load_local_contacts(owner, [person_id])[person_id]


def local_contacts_of(owner: User, people: Sequence[Person]) -> dict[UUID, LocalContact]:
    """People who have been read, with their dates and groups."""
    dates: dict[UUID, list[ImportantDate]] = defaultdict(list)
    groups: dict[UUID, list[tuple[UUID, str]]] = defaultdict(list)
    for start in range(0, len(people), _BATCH_SIZE):
        keys = [person.pk for person in people[start : start + _BATCH_SIZE]]
        for row in dates_of_contacts.instances(owner_id=owner.pk, person_ids=keys):
            dates[row.person_id].append(row)
        for person_id, group_id, name in groups_of_contacts.values(owner_id=owner.pk, person_ids=keys):
            groups[person_id].append((group_id, name))
    return {person.pk: build_contact(person, dates[person.pk], groups[person.pk]) for person in people}


def build_contact(person: Person, dates: list[ImportantDate], groups: list[tuple[UUID, str]]) -> LocalContact:
    card = card_of(person, dates, [name for _, name in groups])
    return LocalContact(person, card, person.photo, dates, groups)


def export_cards(*, owner: User, version: str, person_ids: Collection[UUID] | None = None) -> Iterator[bytes]:
    """Yield the card of each active person, or of those with these ids, in name order. `version`: of vCard.

    Photos are read one at a time.
    """
    of_person = Q() if person_ids is None else Q(person__in=person_ids)
    dates: dict[UUID, list[ImportantDate]] = defaultdict(list)
    for row in ImportantDate.objects.owned_by(owner).active().filter(of_person).order_by("id").iterator(_FETCH_SIZE):
        dates[row.person_id].append(row)
    groups: dict[UUID, list[str]] = defaultdict(list)
    memberships = Membership.objects.owned_by(owner).filter(of_person, group__deleted_at=None).order_by("id")
    for person_id, name in memberships.values_list("person_id", "group__name"):
        groups[person_id].append(name)
    people = Person.objects.owned_by(owner).active()
    if person_ids is not None:
        people = people.filter(pk__in=person_ids)
    # Computed columns, which no card contains.
    for person in people.in_name_order().defer("sort_key", "search_key").iterator(_FETCH_SIZE):
        photo = read_photo(person.photo) if person.photo else None
        card = card_of(person, dates.get(person.pk, ()), groups.get(person.pk, ()), photo)
        revised = person.updated_at.astimezone(dt.UTC).strftime("%Y%m%dT%H%M%SZ")
        yield write_card(card, version, revised=revised).encode("utf-8", "replace")


def write_fields(
    owner: User,
    write: AccountWrite,
    contact: LocalContact,
    target: Fields,
    changed: set[str],
    jpeg: bytes | None,
    reminders: ArrivingReminders | None = None,
) -> LocalContact:
    """Write the `changed` fields of `target` to the person and return the person as it is then. Must be called inside
    the write.

    Rows are edited, not replaced, so that ids, reminders, relationships and everything else that a card cannot hold
    stay. `jpeg` is the new photo in its stored form; `reminders` decides about dates that arrive, by default as the
    account's profile says.
    """
    person = contact.person
    data: dict[str, Any] = {}
    for name in changed:
        if name in SCALARS:
            data[SCALARS[name].column] = column_value(SCALARS[name], target[name])
        elif name in LISTS:
            data[LISTS[name].column] = target[name][:MAX_ENTRIES]
    if "importantDates" in changed:
        decided = reminders or ArrivingReminders(owner)
        data["important_dates"] = _date_entries(contact.dates, target["importantDates"], decided)
    if "groups" in changed:
        # Missing groups are created as far as the plan allows.
        groups = CategoryGroups(owner)
        groups.load(target["groups"])
        data["groups"] = list(
            {group.pk: group for group in map(groups.make, filter(groups.reserve, target["groups"]))}.values()
        )
    PersonWriter(owner, write, write.now).put(person, data)
    if "photo" in changed:
        _set_photo(owner, person, jpeg)
    if changed.isdisjoint(_IN_ROWS):
        # What was written are columns of this instance.
        return build_contact(person, contact.dates, contact.groups)
    return load_local_contact(owner, person.pk)


def copy_unmapped_lines(owner: User, write: AccountWrite, contact: LocalContact, card: Card) -> None:
    """Copy the lines of the server's card that no field holds (relations between people, social profiles, `more`) to
    the person."""
    lines = with_unmapped_lines(contact.person, card)
    if lines is not None:
        writer = PersonWriter(owner, write, write.now)
        writer.edit(contact.person)
        contact.person.card_lines = lines
        writer.flush()


def create_from_cards(
    owner: User,
    write: AccountWrite,
    cards: Sequence[tuple[Card, bytes | None]],
    reminders: ArrivingReminders | None = None,
) -> list[LocalContact]:
    """Insert a person for each card, with the photo in its stored form, in a constant number of statements.

    The caller has checked the plan's limit of people. Groups are created as far as the plan allows, and their rules are
    written to the people.
    """
    writer, category_groups = PersonWriter(owner, write, write.now), CategoryGroups(owner)
    category_groups.load(name for card, _ in cards for name in card.categories)
    reminders = reminders or ArrivingReminders(owner)
    contacts, dates = [], []
    for card, jpeg in cards:
        photo = confirm_upload(owner_id=owner.pk, jpeg=jpeg) if jpeg else None
        person = Person(owner=owner, created_at=write.now, photo=photo)
        days = [
            ImportantDate(
                owner=owner,
                person=person,
                created_at=write.now,
                **{key.column: getattr(day, key.column) for key in CARD_DATE_KEYS},
                **reminders.columns_of(day.type),
            )
            for day in card.important_dates
        ]
        for row in days:
            if row.reminder_enabled:
                schedule.schedule_date(row, writer.calendar, write.now)
        writer.edit(person)
        put_card(person, card, days)
        groups = [category_groups.groups[group_key(name)] for name in card.categories if category_groups.reserve(name)]
        contacts.append(build_contact(person, days, [(group.pk, group.name) for group in groups]))
        dates += days
    writer.flush()
    ImportantDate.objects.bulk_create(dates)
    members = [(contact.person, contact.card.categories) for contact in contacts]
    category_groups.write(members)
    joined = [(person, group.pk) for person, group in category_groups.resolve(members) if group.has_rule]
    if write_rules(writer, joined).people:
        writer.flush()
    return contacts


def _date_entries(
    rows: list[ImportantDate], target: list[JsonObject], reminders: ArrivingReminders
) -> list[JsonObject]:
    """The dates in PersonWriter's form. A date that matches an existing row keeps that row's id and reminder, so that a
    remote edit does not reset it; `reminders` decides about the others."""
    positions = pair_entries("important_dates", target, [date_entry(row) for row in rows], edits=True)
    entries = []
    for entry, position in zip(target, positions, strict=True):
        day = card_date(entry)
        row = None if position is None else rows[position]
        kept = {key.column: getattr(row, key.column) for key in DATE_KEYS} if row else reminders.columns_of(day.type)
        values = {key.column: getattr(day, key.column) for key in CARD_DATE_KEYS}
        entries.append({**kept, **values, **({"id": row.pk} if row else {})})
    return entries


def _set_photo(owner: User, person: Person, jpeg: bytes | None) -> None:
    name = confirm_upload(owner_id=owner.pk, jpeg=jpeg) if jpeg else None
    if name != person.photo:
        delete_files([person.photo])
        person.photo = name
        person.save(update_fields=["photo"])
