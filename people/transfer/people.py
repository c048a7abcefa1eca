"""The section of people, each with its groups, custom values, dates and photo."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from accounts.models import User
from accounts.transfer.run import NO_ID, ImportRecord, TransferRun
from accounts.transfer.sections import Section, times_of
from contacts_project.kernel.ids import new_id, parse_id
from contacts_project.kernel.json import JsonMapping, JsonObject
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.texts import Text, define_text
from people.dates import schedule
from people.entries import identify_entries
from people.extensions import EXTENSIONS
from people.field_table import DATE_KEYS
from people.fields.custom_values import InvalidCustomValueError, parse_custom_value
from people.models import CustomFieldValue, ImportantDate, Membership, Person
from people.services.person_writer import PersonWriter
from people.transfer.people_export import export_people
from people.transfer.person_record import PersonRecordSerializer
from people.transfer.pictures import photo_messages, prepare_photo, save_photo
from people.transfer.plan_allowance import PlanAllowance
from people.word_index import index_values

_CONTACT_REMINDER_OFF = define_text(
    "contact_reminder_off", "%(name)s: the contact reminder is switched off: %(reason)s"
)
_DATE_REMINDER_OFF = define_text("date_reminder_off", "%(name)s: the reminder of %(date)s is switched off: %(reason)s")
_VALUE_REFUSED = define_text("custom_value_refused", "%(name)s: %(reason)s")

_NESTED = {
    "groupIds",
    "customFieldValues",
    "importantDates",
    "relationshipToUserId",
    "contactReminderFromId",
    "photo",
    "photo_refused",
    "card_lines",
}


class PeopleSection(Section):
    """An existing person is found only by id: two people may have the same name."""

    name, order = "people", 50
    models = (Person, ImportantDate, Membership, CustomFieldValue)

    def export(self, owner: User) -> Iterator[JsonObject]:
        return export_people(owner)

    def serializer(self) -> PersonRecordSerializer:
        return PersonRecordSerializer()

    def prepare(self, run: TransferRun, records: list[ImportRecord]) -> None:
        found = run.find_existing(Person, records).found
        for record in records:
            if record.source_id not in found:
                prepare_photo(run, record)

    def write(self, run: TransferRun, records: list[ImportRecord]) -> None:
        _Batch(run, records).write()


class _Batch:
    """Writes a batch of people in a constant number of statements."""

    def __init__(self, run: TransferRun, records: list[ImportRecord]) -> None:
        self.run, self.records = run, records
        self.calendar = schedule.load_calendar(run.owner)
        self.ids = run.find_existing(Person, records)
        dates = (date for record in records for date in record.data.get("importantDates", []))
        date_ids = {key for date in dates if (key := parse_id(date["id"]))}
        self.new_date_ids = run.resolve_ids(ImportantDate, date_ids).new
        self.people, self.reminders = PlanAllowance(run, "people"), PlanAllowance(run, "reminders")
        self.rows: dict[type[Any], list[Any]] = defaultdict(list)

    def write(self) -> None:
        for record in self.records:
            if found := self.ids.found.get(record.source_id):
                self.run.skipped(record, found)
            # People in the trash do not count against the plan.
            elif record.data.get("deleted_at") or self.people.take():
                self._add_person(record)
            else:
                self.run.failed(record, self.people.message)
        if not self.run.dry:
            self._insert()

    def _insert(self) -> None:
        with account_write(self.run.owner) as write:
            writer = PersonWriter(self.run.owner, write, self.run.now)
            writer.edit(*self.rows[Person])
            writer.flush()
            for model in (ImportantDate, Membership, CustomFieldValue):
                self.run.insert(model, self.rows[model])
            index_values(self.run.owner.pk, self.rows[CustomFieldValue])
        for person in self.rows[Person]:
            kind = person.relationship_to_user
            if kind and kind.is_deleted and not person.is_deleted:
                for extension in EXTENSIONS:  # restores the relationship type from the trash
                    extension.after_restore(person, self.run.now)

    def _add_person(self, record: ImportRecord) -> None:
        person = self._build_person(record)
        dates = list(self._build_dates(person, record))
        person.card_lines = _card_lines(record.data, person, dates)
        omissions = self._limit_contact_reminder(person)
        self.rows[Person].append(person)
        for date in dates:
            omissions += self._limit_reminder(person, date)
            self.rows[ImportantDate].append(date)
        group_ids = {self.run.find("groups", source) for source in record.data.get("groupIds", [])} - {None}
        self.rows[Membership] += [
            Membership(owner=self.run.owner, person=person, group_id=group_id) for group_id in sorted(group_ids)
        ]
        values, refused = self._build_values(person, record)
        self.rows[CustomFieldValue] += values
        self.run.imported(record, person.pk, self._missing_references(record))
        record.remarks = refused
        record.omissions = [*photo_messages(record), *omissions]

    def _limit_contact_reminder(self, person: Person) -> list[Text]:
        """Switch the reminder off if the plan allows no more; returns messages for the receipt."""
        if not person.contact_reminder_enabled or person.is_deleted:
            return []
        if not self.reminders.take():
            person.contact_reminder_enabled, person.contact_reminder_from_id = False, None
            return [_CONTACT_REMINDER_OFF.format(name=person.name, reason=self.reminders.message)]
        return []

    def _limit_reminder(self, person: Person, date: ImportantDate) -> list[Text]:
        if date.is_deleted:
            return []
        omissions = []
        if date.reminder_enabled and not person.is_deleted and not self.reminders.take():
            for key in DATE_KEYS:
                if key.reminds:
                    setattr(date, key.column, key.empty)
            text = _DATE_REMINDER_OFF.format(
                name=person.name, date=date.type or date.title, reason=self.reminders.message
            )
            omissions.append(text)
        schedule.plan_date(date, self.calendar, self.run.now)
        return omissions

    def _missing_references(self, record: ImportRecord) -> Text | None:
        data = record.data
        return self.run.describe_missing(
            relationshipToUserId=("relationshipTypes", [data.get("relationshipToUserId")]),
            groupIds=("groups", data.get("groupIds", [])),
            customFieldValues=(
                "customFieldTemplates",
                [entry["templateId"] for entry in data.get("customFieldValues", [])],
            ),
        )

    def _build_person(self, record: ImportRecord) -> Person:
        data, run = record.data, self.run
        columns = {key: value for key, value in data.items() if key not in _NESTED and key not in Person.LIST_COLUMNS}
        if "contact_before" in columns:  # the import of interactions then updates last_contact
            columns["last_contact"] = columns["contact_before"]
        columns |= times_of(data, run.now)
        person = Person(pk=self.ids.new[record.source_id], owner=run.owner, **columns)
        for field in Person.LIST_COLUMNS:
            setattr(person, field, identify_entries(field, data.get(field, []), []))
        person.relationship_to_user = run.find("relationshipTypes", data.get("relationshipToUserId"))
        # The rule of a group was written before: an import of an account restores what it has led to.
        person.contact_reminder_from_id = run.find("groups", data.get("contactReminderFromId"))
        person.photo = save_photo(run, data.get("photo"))
        schedule.fill_contact_defaults(person)
        return person

    def _build_dates(self, person: Person, record: ImportRecord) -> Iterator[ImportantDate]:
        for data in record.data.get("importantDates", []):
            columns = {key: value for key, value in data.items() if key != "id"} | times_of(data, self.run.now)
            # If two dates have the same id, only the first one gets it.
            key = self.new_date_ids.pop(parse_id(data["id"]) or NO_ID, None) or new_id()
            yield ImportantDate(pk=key, owner=self.run.owner, person=person, **columns)

    def _build_values(self, person: Person, record: ImportRecord) -> tuple[list[CustomFieldValue], list[Text]]:
        """The valid values, and an error message for each of the others."""
        values: dict[UUID, CustomFieldValue] = {}
        refused = []
        for entry in record.data.get("customFieldValues", []):
            template = self.run.find("customFieldTemplates", entry["templateId"])
            if template is None:
                continue
            try:
                value = parse_custom_value(template, entry["value"])
            except InvalidCustomValueError as error:
                refused.append(_VALUE_REFUSED.format(name=template.name, reason=error.text))
                continue
            if value is not None:
                values[template.pk] = CustomFieldValue(
                    owner=self.run.owner, person=person, template_id=template.pk, value=value
                )
        return list(values.values()), refused


def _card_lines(data: JsonMapping, person: Person, dates: list[ImportantDate]) -> list[JsonObject]:
    """The lines of the person's card, with the ids of the new entries and dates."""
    ids = {old["id"]: str(row.pk) for old, row in zip(data.get("importantDates", []), dates, strict=True)}
    for field in Person.LIST_COLUMNS:
        pairs = zip(data.get(field, []), getattr(person, field), strict=True)
        ids |= {old["id"]: entry["id"] for old, entry in pairs if "id" in old}
    return [
        {**line, "id": ids[line["id"]]} if line.get("id") in ids else {key: line[key] for key in line if key != "id"}
        for line in data.get("card_lines", [])
    ]
