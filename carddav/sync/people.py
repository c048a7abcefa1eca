"""The local side of contacts: people as field maps, and field maps written to people."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from uuid import UUID

from accounts.models import User
from carddav.sync.entries import KINDS
from carddav.sync.fields import LISTS, SCALARS, Fields, card_date, local_fields
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.ownership.account_lock import AccountWrite
from people.entries import match_entries
from people.fields.cards import SCALARS as COLUMNS
from people.fields.cards import card_of, put_card
from people.fields.unmapped_lines import with_unmapped_lines
from people.importing.card_groups import GroupPlan
from people.models import ImportantDate, Membership, Person
from people.models.group import group_key
from people.photos.files import delete_files, name_photo
from people.services.person_rows import DATE_FIELDS
from people.services.person_writer import PersonWriter
from people.vcard import Card

# What is read of each contact that a run looks at.
_PEOPLE = CompiledQuery(lambda owner_id, person_ids: Person.objects.owned_by(owner_id).filter(pk__in=person_ids))
_DATES = CompiledQuery(
    lambda owner_id, person_ids: (
        ImportantDate.objects.owned_by(owner_id).active().filter(person__in=person_ids).order_by("id")
    )
)
_GROUPS = CompiledQuery(
    lambda owner_id, person_ids: (
        Membership.objects.owned_by(owner_id)
        .filter(person__in=person_ids, group__deleted_at=None)
        .order_by("id")
        .values_list("person_id", "group__name")
    )
)
_COLUMN_OF: Mapping[str, str] = {attribute: column for column, attribute in COLUMNS.items()}
_MAX_ENTRIES = 100
# So many people are read together: each number of ids is a statement of its own.
_BATCH = 50


@dataclass(slots=True)
class LocalSide:
    """A person with all that a card can say of it. `card` has no picture; its token is in `fields`."""

    person: Person
    card: Card
    fields: Fields
    dates: list[ImportantDate] = field(default_factory=list)

    def full_name(self, form: str) -> str:
        """FN in the format of the connection (open points, section 10)."""
        return full_name_of(self.card, form)


def full_name_of(card: Card, form: str) -> str:
    """FN of a card: displayNameOverride before all."""
    return card.display_name or card.format_name(form) or card.name


def load_sides(owner: User, person_ids: Collection[UUID]) -> dict[UUID, LocalSide]:
    """People, in the trash or not, in three queries for fifty."""
    keys = list(person_ids)
    sides: dict[UUID, LocalSide] = {}
    for start in range(0, len(keys), _BATCH):
        sides |= _load_batch(owner, keys[start : start + _BATCH])
    return sides


def _load_batch(owner: User, keys: list[UUID]) -> dict[UUID, LocalSide]:
    people: list[Person] = _PEOPLE.instances(owner_id=owner.pk, person_ids=keys)
    dates: dict[UUID, list[ImportantDate]] = defaultdict(list)
    for row in _DATES.instances(owner_id=owner.pk, person_ids=keys):
        dates[row.person_id].append(row)
    groups: dict[UUID, list[str]] = defaultdict(list)
    for person_id, name in _GROUPS.values(owner_id=owner.pk, person_ids=keys):
        groups[person_id].append(name)
    return {person.pk: _side(person, dates[person.pk], groups[person.pk]) for person in people}


def _side(person: Person, dates: list[ImportantDate], groups: list[str]) -> LocalSide:
    card = card_of(person, dates, groups)
    return LocalSide(person, card, local_fields(card, person.photo), dates)


def write_fields(
    owner: User, write: AccountWrite, side: LocalSide, target: Fields, changed: set[str], jpeg: bytes | None
) -> LocalSide:
    """Write the `changed` fields of `target` to the person, as edits of what is there; returns what it says then.

    Ids, reminders, relationships and everything that no card can hold stay. `jpeg` is the picture in its stored form.
    """
    person = side.person
    data: dict[str, Any] = {}
    for name in changed:
        if name in SCALARS:
            data[_COLUMN_OF[SCALARS[name]]] = _column(name, target[name])
        elif name in LISTS:
            data[LISTS[name]] = target[name][:_MAX_ENTRIES]
    if "importantDates" in changed:
        data["important_dates"] = _date_entries(side.dates, target["importantDates"])
    if "groups" in changed:
        data["groups"] = _groups(owner, target["groups"])
    PersonWriter(owner, write, write.now).put(person, data)
    if "photo" in changed:
        _set_photo(owner, person, jpeg)
    return load_sides(owner, [person.pk])[person.pk]


def take_unmapped_lines(owner: User, write: AccountWrite, side: LocalSide, card: Card) -> None:
    """Let the lines that no field holds be those of the server's card: whom it relates to whom, and `more`."""
    lines = with_unmapped_lines(side.person, card)
    if lines is not None:
        writer = PersonWriter(owner, write, write.now)
        writer.edit(side.person)
        side.person.card_lines = lines
        writer.flush()


def create_from_cards(owner: User, write: AccountWrite, cards: Sequence[tuple[Card, bytes | None]]) -> list[LocalSide]:
    """Insert the people whom cards are about, each with its picture in the stored form, in a few statements for all.

    The plan's limit of people was looked at by the caller; groups are made as far as the plan goes.
    """
    writer, plan = PersonWriter(owner, write, write.now), GroupPlan(owner)
    plan.load(name for card, _ in cards for name in card.categories)
    sides, dates = [], []
    for card, jpeg in cards:
        photo = name_photo(owner_id=owner.pk, jpeg=jpeg) if jpeg else None
        person = Person(owner=owner, created_at=write.now, photo=photo)
        days = [
            ImportantDate(
                owner=owner,
                person=person,
                created_at=write.now,
                type=day.type,
                title=day.title,
                date=day.date,
                year_unknown=day.year_unknown,
            )
            for day in card.important_dates
        ]
        writer.edit(person)
        put_card(person, card, days)
        groups = [plan.groups[group_key(name)].name for name in card.categories if plan.allows(name)]
        sides.append(_side(person, days, groups))
        dates += days
    writer.flush()
    ImportantDate.objects.bulk_create(dates)
    plan.write((side.person, side.card.categories) for side in sides)
    return sides


def _column(name: str, value: Any) -> Any:
    return date.fromisoformat(value) if name in {"anniversary", "deathday"} and value else value


def _groups(owner: User, names: list[str]) -> list[Any]:
    """The groups of these names; new ones are made as far as the plan goes."""
    plan = GroupPlan(owner)
    plan.load(names)
    return list({group.pk: group for group in (plan.make(name) for name in names if plan.allows(name))}.values())


def _date_entries(rows: list[ImportantDate], target: list[Any]) -> list[dict[str, Any]]:
    """The dates as PersonWriter takes them: each that is there already keeps its id and its reminder."""
    there = [
        {"type": row.type, "title": row.title, "date": row.date.isoformat(), "yearUnknown": row.year_unknown}
        for row in rows
    ]
    kind = KINDS["importantDates"]
    found = match_entries(
        target, there, keys=(lambda entry: tuple(sorted(entry.items(), key=str)), kind.value), kind=kind.kind
    )
    entries = []
    for entry, place in zip(target, found, strict=True):
        day = card_date(entry)
        kept = {} if place is None else {name: getattr(rows[place], name) for name in DATE_FIELDS}
        said = {"type": day.type, "title": day.title, "date": day.date, "year_unknown": day.year_unknown}
        known = {} if place is None else {"id": rows[place].pk}
        entries.append({"reminder_enabled": False, **kept, **said, **known})
    return entries


def _set_photo(owner: User, person: Person, jpeg: bytes | None) -> None:
    name = name_photo(owner_id=owner.pk, jpeg=jpeg) if jpeg else None
    if name != person.photo:
        delete_files([person.photo])
        person.photo = name
        person.save(update_fields=["photo"])
