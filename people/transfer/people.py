"""People in the document, each with its groups, values, dates and photo."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any
from uuid import UUID

from rest_framework import serializers

from accounts.models import User
from accounts.transfer.importing import ImportRun, Item
from accounts.transfer.sections import Section
from accounts.transfer.times import times_of
from contacts_project.kernel.api.errors import validation_body
from contacts_project.kernel.api.ids import new_id, parse_id
from people import schedule
from people.custom_values import ValueRefusedError, read_value
from people.documents import settle
from people.geocoding.copying import note_addresses
from people.lookup import refresh_lookup
from people.models import CustomFieldValue, ImportantDate, Membership, Person
from people.services.people import announce_change, set_name_keys
from people.transfer.people_out import export_people
from people.transfer.person_shape import PersonShape
from people.transfer.pictures import stored
from people.transfer.room import Room

_BATCH = 500
_NESTED = {"groupIds", "customFieldValues", "importantDates", "relationshipToUserId", "photo", "card_lines"}
_CONTACT_DEFAULTS = {"contact_reminder_interval": 1, "contact_reminder_interval_unit": "MONTHS"}


class PeopleSection(Section):
    """Found again by id alone: two people of one name are two people."""

    name, order = "people", 50
    models = (Person, ImportantDate, Membership, CustomFieldValue)

    def export(self, owner: User) -> Iterator[dict[str, Any]]:
        return export_people(owner)

    def shape(self) -> PersonShape:
        return PersonShape()

    def write(self, run: ImportRun, items: list[Item]) -> None:
        writer = _Writer(run)
        remaining = iter(items)
        while batch := list(islice(remaining, _BATCH)):
            writer.write(batch)


class _Writer:
    """Writes people in batches, each in a handful of statements."""

    def __init__(self, run: ImportRun) -> None:
        self.run = run
        self.clock = schedule.calendar_of(run.owner)
        self.free_dates: set[UUID] = set()
        self.people, self.reminders = Room(run.owner, "people"), Room(run.owner, "reminders")

    def write(self, items: list[Item]) -> None:
        known = self.run.known(Person, items)
        self._place_dates(items)
        rows: dict[type[Any], list[Any]] = defaultdict(list)
        for item in items:
            if found := known.get(item.source_id):
                self.run.skipped(item, found)
            elif self._fits(item):
                self._add(item, rows)
        note_addresses(self.run.owner, rows[Person])
        for model in (Person, ImportantDate, Membership, CustomFieldValue):
            model._default_manager.bulk_create(rows[model], batch_size=_BATCH)
        refresh_lookup(self.run.owner.pk, rows[Person])
        announce_change(self.run.owner.pk, [person.pk for person in rows[Person] if not person.is_deleted])

    def _place_dates(self, items: list[Item]) -> None:
        dates = (date for item in items for date in item.data.get("importantDates", []))
        sources = {key for date in dates if (key := parse_id(date["id"]))}
        self.free_dates |= sources - self.run.place(ImportantDate, list(sources)).keys()

    def _fits(self, item: Item) -> bool:
        """Whether the plan has room; deleted records need none."""
        if item.data.get("deleted_at"):
            return True
        reminders = sum(
            date["reminder_enabled"] and not date.get("deleted_at") for date in item.data.get("importantDates", [])
        ) + bool(item.data.get("contact_reminder_enabled"))
        if not self.people.has(1):
            self.run.failed(item, self.people.message)
        elif not self.reminders.take(reminders):
            self.run.failed(item, self.reminders.message)
        else:
            return self.people.take()
        return False

    def _add(self, item: Item, rows: dict[type[Any], list[Any]]) -> None:
        person = self._person(item)
        dates = list(self._dates(person, item))
        person.card_lines = _lines(item.data, person, dates)
        rows[Person].append(person)
        rows[ImportantDate] += dates
        rows[Membership] += self._memberships(person, item)
        values, refused = self._values(person, item)
        rows[CustomFieldValue] += values
        self.run.imported(item, person)
        item.reason = "; ".join(filter(None, [self._lost(item), *refused]))

    def _lost(self, item: Item) -> str:
        data = item.data
        return self.run.lost(
            relationshipToUserId=("relationshipTypes", [data.get("relationshipToUserId")]),
            groupIds=("groups", data.get("groupIds", [])),
            customFieldValues=(
                "customFieldTemplates",
                [entry["templateId"] for entry in data.get("customFieldValues", [])],
            ),
        )

    def _person(self, item: Item) -> Person:
        data, run = item.data, self.run
        columns = {key: value for key, value in data.items() if key not in _NESTED and key not in Person.DOCUMENTS}
        columns |= times_of(data, run.now)
        person = Person(pk=run.new_id(item.source_id), owner=run.owner, **columns)
        for field in Person.DOCUMENTS:
            setattr(person, field, settle(field, data.get(field, []), []))
        person.relationship_to_user = run.find("relationshipTypes", data.get("relationshipToUserId"))
        person.photo = stored(run, data.get("photo"))
        if person.contact_reminder_enabled:
            for column, default in _CONTACT_DEFAULTS.items():
                setattr(person, column, getattr(person, column) or default)
        set_name_keys(person)
        person.revision = 1
        if not person.is_deleted:
            schedule.plan_contact(person, self.clock, run.now)
        return person

    def _dates(self, person: Person, item: Item) -> Iterator[ImportantDate]:
        for data in item.data.get("importantDates", []):
            columns = {key: value for key, value in data.items() if key != "id"} | times_of(data, self.run.now)
            date = ImportantDate(pk=self._date_id(data["id"]), owner=self.run.owner, person=person, **columns)
            if not date.is_deleted:
                schedule.plan_date(date, self.clock, self.run.now)
            yield date

    def _date_id(self, text: str) -> UUID:
        """The date's derived id, for the first date that claims it."""
        source = parse_id(text)
        if source is None or source not in self.free_dates:
            return new_id()
        self.free_dates.remove(source)
        return self.run.new_id(source)

    def _memberships(self, person: Person, item: Item) -> Iterator[Membership]:
        found = {self.run.find("groups", source) for source in item.data.get("groupIds", [])} - {None}
        for group in sorted(found, key=lambda group: group.pk):
            yield Membership(owner=self.run.owner, person=person, group=group)

    def _values(self, person: Person, item: Item) -> tuple[list[CustomFieldValue], list[str]]:
        """The values that fit their fields, and what is wrong with the others."""
        values: dict[UUID, CustomFieldValue] = {}
        refused = []
        for entry in item.data.get("customFieldValues", []):
            template = self.run.find("customFieldTemplates", entry["templateId"])
            if template is None:
                continue
            try:
                value = read_value(template, entry["value"])
            except serializers.ValidationError as error:
                refused.append(f"{template.name}: {validation_body(error.detail)['error']}")
                continue
            except ValueRefusedError as error:
                refused.append(f"{template.name}: {error}")
                continue
            if value is not None:
                values[template.pk] = CustomFieldValue(
                    owner=self.run.owner, person=person, template=template, value=value
                )
        return list(values.values()), refused


def _lines(data: Mapping[str, Any], person: Person, dates: list[ImportantDate]) -> list[dict[str, Any]]:
    """The lines of the person's card, with the ids that entries and dates have here."""
    ids = {old["id"]: str(row.pk) for old, row in zip(data.get("importantDates", []), dates, strict=True)}
    for field in Person.DOCUMENTS:
        pairs = zip(data.get(field, []), getattr(person, field), strict=True)
        ids |= {old["id"]: entry["id"] for old, entry in pairs if "id" in old}
    return [
        {**line, "id": ids[line["id"]]} if line.get("id") in ids else {key: line[key] for key in line if key != "id"}
        for line in data.get("card_lines", [])
    ]
