"""The section of people, each with its groups, custom values, dates and photo.

They are exported in batches.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeVar
from uuid import UUID

from rest_framework import serializers

from accounts.models import User
from accounts.transfer.run import NO_ID, ImportRecord, TransferRun
from accounts.transfer.sections import Section, TimestampsSerializer, times_of
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import StrictCharField, StrictDateField
from contacts_project.kernel.ids import new_id, parse_id
from contacts_project.kernel.json import JsonMapping, JsonObject
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.text_forms import InvalidTextError, check_text
from contacts_project.kernel.texts import Text, define_text
from people import field_table
from people.api.person_entries import ImportantDateSerializer
from people.api.person_serializer import PersonSerializer, person_fields
from people.cards.converter import LINE_FIELDS
from people.dates import schedule
from people.entries import identify_entries
from people.extensions import EXTENSIONS
from people.field_table import DATE_KEYS
from people.lookup import index_values
from people.models import CustomFieldValue, ImportantDate, Membership, Person
from people.services.custom_fields import InvalidCustomValueError, parse_custom_value
from people.services.me_person import mark_me
from people.services.person_writer import PersonWriter
from people.transfer.account import MePerson
from people.transfer.pictures import PictureField, encode_photo, photo_messages, prepare_photo, save_photo
from people.transfer.sections import PlanAllowance
from people.vcard.content_lines import MAX_LINES
from people.vcard.limits import MAX_LINES_SIZE

_NOT_LINES = define_text("not_card_lines", "This must be a list of at most %(limit)s lines.")
_NOT_A_LINE = define_text("not_a_card_line", "The line of an entry must be one line of text.")
_NOT_LINE_FIELDS = define_text("not_line_fields", "The fields of a line are some of %(choices)s.")
_NOT_A_LINE_ID = define_text("not_a_line_id", "The id of a line must be a text.")
_ONE_OF_EACH_TYPE = define_text("one_date_of_each_type", "Only one date of each type.")
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
_BATCH_SIZE = 500
# relationshipToUserId is formatted as text, and the photo is exported as its content; both are added below.
_SCALARS = [
    field
    for field in field_table.SCALARS
    if field.kind is not field_table.FieldKind.REFERENCE and field.name != "photo"
]
_COLUMNS = {
    **{field.name: field.column for field in _SCALARS},
    "lastContactTyped": "contact_before",
    "cardLines": "card_lines",
    **{field.name: field.column for field in field_table.LISTS},
    "createdAt": "created_at",
    "deletedAt": "deleted_at",
}
_DATE_COLUMNS = {
    **{key.name: key.column for key in DATE_KEYS},
    "createdAt": "created_at",
    "deletedAt": "deleted_at",
}
Record = TypeVar("Record")


class ImportantDateRecordSerializer(ImportantDateSerializer):
    """An important date, in the trash or not."""

    def get_fields(self) -> dict[str, "serializers.Field[Any, Any, Any, Any]"]:
        fields = {key: field for key, field in super().get_fields().items() if not field.read_only}
        return {"id": StrictCharField(max_length=36), **fields, **TimestampsSerializer().get_fields()}


class CustomFieldValueRecordSerializer(serializers.Serializer[Any]):
    templateId = StrictCharField(max_length=36)
    value = serializers.JSONField()


class CardLinesField(serializers.Field[list[dict[str, Any]], Any, Any, Any]):
    """Person.card_lines. One field validates the whole list, because nested serializers are slow for many lines."""

    def to_internal_value(self, data: object) -> list[JsonObject]:
        if not isinstance(data, list) or len(data) > MAX_LINES:
            raise InvalidError(_NOT_LINES.format(limit=MAX_LINES))
        return [self._validate_line(entry) for entry in data]

    def _validate_line(self, data: object) -> JsonObject:
        entry = data if isinstance(data, dict) else {}
        line = entry.get("line")
        if not isinstance(line, str) or len(line) > MAX_LINES_SIZE or "\n" in line or "\r" in line:
            raise InvalidError(_NOT_A_LINE)
        try:
            check_text(line)
        except InvalidTextError as error:
            raise InvalidError(error.text) from None
        fields, entry_id = entry.get("fields", []), entry.get("id")
        if not isinstance(fields, list) or not LINE_FIELDS.issuperset(fields):
            raise InvalidError(_NOT_LINE_FIELDS.format(choices=sorted(LINE_FIELDS)))
        if not isinstance(entry_id, str | None):
            raise InvalidError(_NOT_A_LINE_ID)
        return {"line": line, **({"fields": fields} if fields else {}), **({"id": entry_id} if entry_id else {})}

    def to_representation(self, value: Any) -> Any:
        return value


def _list_field(child: "serializers.Field[Any, Any, Any, Any]", most: int) -> Any:
    return serializers.ListField(child=child, required=False, max_length=most)


class PersonRecordSerializer(PersonSerializer):
    """A person, in the trash or not."""

    def get_fields(self) -> dict[str, "serializers.Field[Any, Any, Any, Any]"]:
        """The writable fields of the API without those of other apps, and fields that only the document has.

        References to other records are read as plain ids, and resolved after those records were imported.
        """
        return {
            **{name: field for name, field in person_fields().items() if not field.read_only},
            "relationshipToUserId": StrictCharField(max_length=36, required=False, allow_null=True),
            "contactReminderFromId": StrictCharField(max_length=36, required=False, allow_null=True),
            "groupIds": _list_field(StrictCharField(max_length=36), 20_000),
            "customFieldValues": _list_field(CustomFieldValueRecordSerializer(), 1_000),
            "importantDates": _list_field(ImportantDateRecordSerializer(), 1_000),
            "uid": StrictCharField(max_length=255, required=False, allow_null=True),
            "lastContactTyped": StrictDateField(required=False, allow_null=True, source="contact_before"),
            "cardLines": CardLinesField(required=False, source="card_lines"),
            "photo": PictureField(),
            **TimestampsSerializer().get_fields(),
        }

    def validate_importantDates(self, dates: list[JsonObject]) -> list[JsonObject]:  # noqa: N802 - by DRF's rule
        types = [date["type"] for date in dates if date.get("type") and not date.get("deleted_at")]
        if len(types) != len(set(types)):
            raise InvalidError(_ONE_OF_EACH_TYPE)
        return dates


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
            me = self.ids.new.get(self.run.single(MePerson).source_id or NO_ID)
            if any(person.pk == me for person in self.rows[Person]):
                mark_me(self.run.owner.pk, me)
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
        schedule.schedule_date(date, self.calendar, self.run.now)
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


def export_people(owner: User) -> Iterator[JsonObject]:
    """All people, including those in the trash, in the order of their creation."""
    people = iter(Person.objects.owned_by(owner).order_by("pk").iterator(chunk_size=_BATCH_SIZE))
    while batch := list(islice(people, _BATCH_SIZE)):
        ids = [person.pk for person in batch]
        groups = _load_groups(owner, ids)
        values = _load_values(owner, ids)
        dates = _load_dates(owner, ids)
        for person in batch:
            yield {
                "id": str(person.pk),
                **_read_columns(person, _COLUMNS),
                "relationshipToUserId": person.relationship_to_user_id and str(person.relationship_to_user_id),
                "contactReminderFromId": person.contact_reminder_from_id and str(person.contact_reminder_from_id),
                "photo": encode_photo(person.photo),
                "groupIds": groups[person.pk],
                "customFieldValues": values[person.pk],
                "importantDates": dates[person.pk],
            }


def _read_columns(row: object, columns: dict[str, str]) -> JsonObject:
    return {key: getattr(row, column) for key, column in columns.items()}


def _load_groups(owner: User, ids: list[UUID]) -> dict[UUID, list[str]]:
    rows = Membership.objects.owned_by(owner).filter(person_id__gte=ids[0], person_id__lte=ids[-1])
    return _group_by_person((row.person_id, str(row.group_id)) for row in rows.order_by("group_id"))


def _load_values(owner: User, ids: list[UUID]) -> dict[UUID, list[JsonObject]]:
    rows = CustomFieldValue.objects.owned_by(owner).filter(person_id__gte=ids[0], person_id__lte=ids[-1])
    return _group_by_person(
        (row.person_id, {"templateId": str(row.template_id), "value": row.value})
        for row in rows.order_by("template_id")
    )


def _load_dates(owner: User, ids: list[UUID]) -> dict[UUID, list[JsonObject]]:
    rows = ImportantDate.objects.owned_by(owner).filter(person_id__gte=ids[0], person_id__lte=ids[-1])
    return _group_by_person(
        (row.person_id, {"id": str(row.pk), **_read_columns(row, _DATE_COLUMNS)}) for row in rows.order_by("pk")
    )


def _group_by_person(pairs: Iterator[tuple[UUID, Record]]) -> dict[UUID, list[Record]]:
    """The records by person; an empty list for people without any."""
    found: dict[UUID, list[Record]] = defaultdict(list)
    for person_id, record in pairs:
        found[person_id].append(record)
    return found
