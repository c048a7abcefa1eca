"""Nametag's JSON export, as its documentation describes it (docs/imports.md)."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from accounts.models import User
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.texts import Text, define_text
from people import field_table
from people.entries import ENTRY_KEYS
from people.extensions import RelationshipTypeSpec
from people.importing.receipts import PERSON, TOO_MANY_RECORDS
from people.importing.sources.columns import set_person_column
from people.importing.sources.days import DateColumns
from people.importing.sources.documents import (
    get_flag,
    get_object,
    get_objects,
    get_text,
    parse_datetime,
    parse_number,
    read_document,
)
from people.importing.sources.drafts import DAY_FIELDS, TEXT_FIELDS, RecordDraft, RecordResult
from people.importing.sources.records import (
    JOURNAL_ENTRIES,
    LEFT_OUT,
    InteractionRecord,
    RelationshipRecord,
    build_custom_type,
)
from people.importing.sources.tables import MAX_ROWS
from people.vocabularies import DateType, InteractionKind, ReminderType, Unit

_NO_PEOPLE = define_text("no_nametag_people", "There are no people of Nametag in this file.")

_ENDPOINTS = define_text("noun_notification_endpoints", "notification endpoints")
_LABELS = define_text("noun_conditional_labels", "conditional labels of relationship types")
_SUBSCRIPTIONS = define_text("noun_push_subscriptions", "push subscriptions")
_NAME_NOBODY = define_text("entries_without_people", "%(count)s of them name nobody and were left out")
_WITHOUT_SECRETS = define_text(
    "endpoints_without_secrets", "%(count)s of them were left out: they come without their secrets"
)

_PHOTO_MISSING = define_text("photo_not_in_export", "its photo is a file that the export does not hold")

Record = dict[str, Any]
_LIST_FIELDS = {field.name: field.card for field in field_table.LISTS if field.name not in {"addresses", "locations"}}
_REMINDER_FIELDS = ("contactReminderInterval", "contactReminderIntervalUnit")
_UNKNOWN_YEAR = "1604"
_MAX_INTERVAL = 99


class Nametag:
    """The export of an account. The keys of its people are their ids."""

    record_noun = PERSON

    def __init__(self, owner: User, document: Record, now: dt.datetime) -> None:
        self.document = document
        self.days = DateColumns(owner, now.year).reader()
        self.kinds = {get_text(kind, "id"): kind for kind in get_objects(document, "relationshipTypes")}
        self.by_name = {get_text(kind, "name"): kind for kind in self.kinds.values()}
        self.templates = {
            get_text(row, "slug"): get_text(row, "name") for row in get_objects(document, "customFieldTemplates")
        }

    def count(self) -> int:
        return min(sum(1 for _ in get_objects(self.document, "people")), MAX_ROWS + 1)

    def people(self) -> Iterator[RecordResult]:
        for index, person in enumerate(get_objects(self.document, "people")):
            if index >= MAX_ROWS:
                error = TOO_MANY_RECORDS.format(limit=MAX_ROWS)
                yield RecordResult(index=index, name="", error=error)
                return
            draft = RecordDraft(self.days)
            key = get_text(person, "id")
            # With a UID a second import finds the same people, even if their names have changed.
            draft.uid = get_text(person, "uid")[:200] or (f"nametag:{key}" if key and len(key) <= 100 else None)
            self._fill_draft(draft, person)
            yield draft.build_result(index, key=key)

    def relationship_types(self) -> Sequence[RelationshipTypeSpec]:
        """The listed types, and types that only people refer to."""
        types_by_name = dict(self.by_name)
        for person in get_objects(self.document, "people"):
            rows = [get_object(row, "relationshipType") for row in get_objects(person, "relationships")]
            for kind in (get_object(person, "relationshipToUser"), *rows):
                types_by_name.setdefault(get_text(kind, "name"), kind)
        return [self._build_type(kind) for name, kind in types_by_name.items() if name]

    def relationships(self) -> Iterator[RelationshipRecord]:
        for person in get_objects(self.document, "people"):
            for row in get_objects(person, "relationships"):
                kind = get_object(row, "relationshipType")
                yield RelationshipRecord(
                    key=get_text(person, "id"),
                    related=get_text(row, "relatedPersonId"),
                    type=self._build_type(kind) if get_text(kind, "name") else None,
                    notes=get_text(row, "notes"),
                )

    def interactions(self) -> Iterator[InteractionRecord]:
        for entry in get_objects(self.document, "journalEntries"):
            keys = entry.get("peopleIds")
            participants = tuple(key for key in keys if isinstance(key, str)) if isinstance(keys, list) else ()
            at = parse_datetime(get_text(entry, "date"))
            if participants and at:
                title, notes = get_text(entry, "title"), get_text(entry, "body")
                yield InteractionRecord(keys=participants, kind=InteractionKind.NOTE, at=at, title=title, notes=notes)

    def not_imported(self) -> Sequence[tuple[Text, Text]]:
        entries = get_objects(self.document, "journalEntries")
        counts = (
            (JOURNAL_ENTRIES, _NAME_NOBODY, sum(not entry.get("peopleIds") for entry in entries)),
            (_ENDPOINTS, _WITHOUT_SECRETS, sum(1 for _ in get_objects(self.document, "notificationEndpoints"))),
            (_LABELS, LEFT_OUT, sum(len(list(get_objects(kind, "variants"))) for kind in self.kinds.values())),
            (_SUBSCRIPTIONS, LEFT_OUT, sum(1 for _ in get_objects(self.document, "pushSubscriptions"))),
        )
        return [(name, remark.format(count=count)) for name, remark, count in counts if count]

    def _build_type(self, kind: JsonMapping) -> RelationshipTypeSpec:
        """Build the type with its inverse from the list of types, because a relationship only names its type."""
        full_type = self.by_name.get(get_text(kind, "name"), kind)
        inverse = self.kinds.get(get_text(full_type, "inverseId"), {})
        return build_custom_type(
            get_text(full_type, "name"),
            get_text(full_type, "label"),
            get_text(inverse, "name"),
            get_text(inverse, "label"),
        )

    def _fill_draft(self, draft: RecordDraft, person: Record) -> None:
        for name, column in TEXT_FIELDS.items():
            draft.set_text(column, get_text(person, name))
        for name, column in DAY_FIELDS.items():
            draft.set_day(column, get_text(person, name)[:10])
        for group in person["groups"] if isinstance(person.get("groups"), list) else ():
            draft.add_group(group if isinstance(group, str) else "")
        for row in get_objects(person, "importantDates"):
            _add_date(draft, row)
        self._add_entries(draft, person)
        if get_flag(person, "contactReminderEnabled"):
            draft.columns["contact_reminder_enabled"] = True
            for name in _REMINDER_FIELDS:
                if value := get_text(person, name):
                    set_person_column(draft, name, value)
        if kind := get_text(get_object(person, "relationshipToUser"), "name"):
            draft.to_user = self._build_type({"name": kind, **get_object(person, "relationshipToUser")}).name
        if get_text(person, "photo"):
            draft.warn(_PHOTO_MISSING)

    def _add_entries(self, draft: RecordDraft, person: Record) -> None:
        for name, card in _LIST_FIELDS.items():
            for row in get_objects(person, name):
                values: dict[str, Any] = {key: get_text(row, key) for key in ENTRY_KEYS[card] if key != "type"}
                if card == "im_handles":
                    values["protocol"] = values["protocol"] or "other"
                if card == "custom_fields":
                    draft.add_custom(values["key"], values["value"])
                else:
                    draft.add_entry(card, get_text(row, "type"), **values)
        for row in get_objects(person, "addresses"):
            draft.add_address(
                get_text(row, "type"), {key: get_text(row, key) for key in ENTRY_KEYS["addresses"] if key != "type"}
            )
        for row in get_objects(person, "locations"):
            at = parse_number(get_text(row, "latitude"), 90), parse_number(get_text(row, "longitude"), 180)
            if None not in at:
                label = get_text(row, "label") or None
                draft.add_entry("locations", get_text(row, "type"), latitude=at[0], longitude=at[1], label=label)
        for row in get_objects(person, "customFieldValues"):
            slug = get_text(row, "slug")
            draft.add_custom(self.templates.get(slug) or slug, get_text(row, "value"))


def _add_date(draft: RecordDraft, row: Record) -> None:
    """Add an important date. Some versions of the export have only a title: a birthday is recognised by either."""
    day, title = get_text(row, "date")[:10], get_text(row, "title")
    if get_flag(row, "yearUnknown"):
        day = f"{_UNKNOWN_YEAR}{day[4:]}"
    kind = get_text(row, "type").upper()
    if not kind and title.strip().upper() in {DateType.BIRTHDAY, "BIRTHDATE", "GEBURTSTAG"}:
        kind, title = DateType.BIRTHDAY, ""
    date_type = kind if kind in DateType.values else None
    title = title or ("" if date_type else kind.capitalize() or "Date")
    draft.add_date(day, kind=date_type, title=title or None, reminder=_reminder_columns(row))


def _reminder_columns(row: Record) -> Mapping[str, Any] | None:
    """The columns of the reminder of an important date; None if the export says nothing of it."""
    if not isinstance(row.get("reminderEnabled"), bool):
        return None
    if not row["reminderEnabled"]:
        return {"reminder_enabled": False}
    if get_text(row, "reminderType").upper() == ReminderType.ONCE:
        return {"reminder_enabled": True, "reminder_type": ReminderType.ONCE}
    interval, unit = row.get("reminderInterval"), get_text(row, "reminderIntervalUnit").upper()
    if unit not in Unit.values or type(interval) is not int or not 1 <= interval <= _MAX_INTERVAL:
        return field_table.DATE_REMINDER_DEFAULTS
    return {**field_table.DATE_REMINDER_DEFAULTS, "reminder_interval": interval, "reminder_interval_unit": unit}


def open_nametag(owner: User, file: BinaryIO, now: dt.datetime) -> Nametag:
    """Raises FieldError if it is no export of Nametag."""
    document = read_document(file, "Nametag")
    if not isinstance(document.get("people"), list) or "exportDate" not in document:
        raise FieldError("file", _NO_PEOPLE)
    return Nametag(owner, document, now)
