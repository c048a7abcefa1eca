"""Nametag's JSON export, by its documentation (docs/imports.md)."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from accounts.models import User
from contacts_project.kernel.errors import FieldError
from people import field_table
from people.entries import SHAPES
from people.importing.sources.columns import day_reader, put_column
from people.importing.sources.documents import (
    flag_of,
    moment_of,
    number_of,
    object_of,
    objects_of,
    read_document,
    text_of,
)
from people.importing.sources.drafts import DAY_FIELDS, TEXT_FIELDS, Draft, RecordResult
from people.importing.sources.monica_types import made_type
from people.importing.sources.records import Meeting, Tie, TypeName
from people.importing.sources.tables import MAX_ROWS
from people.vocabularies import DateType, InteractionKind

Record = dict[str, Any]
_LISTS = {field.name: field.card for field in field_table.LISTS if field.name not in {"addresses", "locations"}}
_REMINDER = ("contactReminderInterval", "contactReminderIntervalUnit")
_UNKNOWN_YEAR = "1604"


class Nametag:
    """An account. Its people are known by their ids."""

    what = "Person"

    def __init__(self, owner: User, document: Record, now: dt.datetime) -> None:
        self.document = document
        self.days = day_reader(owner, None, (), now.year)
        self.kinds = {text_of(kind, "id"): kind for kind in objects_of(document, "relationshipTypes")}
        self.by_name = {text_of(kind, "name"): kind for kind in self.kinds.values()}
        self.templates = {
            text_of(row, "slug"): text_of(row, "name") for row in objects_of(document, "customFieldTemplates")
        }

    def people(self) -> Iterator[RecordResult]:
        for index, person in enumerate(objects_of(self.document, "people")):
            if index >= MAX_ROWS:
                error = f"the file has more than {MAX_ROWS:,} people: the rest was not read"
                yield RecordResult(index=index, name="", error=error)
                return
            draft = Draft(self.days)
            key = text_of(person, "id")
            draft.uid = text_of(person, "uid")[:200] or (f"nametag:{key}" if key and len(key) <= 100 else None)
            self._fill(draft, person)
            yield draft.result(index, what="person", key=key)

    def types(self) -> Sequence[TypeName]:
        """Those that are listed, and those that people name."""
        named = dict(self.by_name)
        for person in objects_of(self.document, "people"):
            rows = [object_of(row, "relationshipType") for row in objects_of(person, "relationships")]
            for kind in (object_of(person, "relationshipToUser"), *rows):
                named.setdefault(text_of(kind, "name"), kind)
        return [self._type(kind) for name, kind in named.items() if name]

    def ties(self) -> Iterator[Tie]:
        for person in objects_of(self.document, "people"):
            for row in objects_of(person, "relationships"):
                kind = object_of(row, "relationshipType")
                yield Tie(
                    key=text_of(person, "id"),
                    related=text_of(row, "relatedPersonId"),
                    type=self._type(kind) if text_of(kind, "name") else None,
                    notes=text_of(row, "notes"),
                )

    def meetings(self) -> Iterator[Meeting]:
        for entry in objects_of(self.document, "journalEntries"):
            keys = entry.get("peopleIds")
            named = tuple(key for key in keys if isinstance(key, str)) if isinstance(keys, list) else ()
            at = moment_of(text_of(entry, "date"))
            if named and at:
                title, notes = text_of(entry, "title"), text_of(entry, "body")
                yield Meeting(keys=named, kind=InteractionKind.NOTE, at=at, title=title, notes=notes)

    def leftovers(self) -> Sequence[tuple[str, str]]:
        alone = sum(not entry.get("peopleIds") for entry in objects_of(self.document, "journalEntries"))
        left = [("journal entries", f"{alone} of them name nobody and were left out")] if alone else []
        endpoints = sum(1 for _ in objects_of(self.document, "notificationEndpoints"))
        if endpoints:
            left.append(
                ("notification endpoints", f"{endpoints} of them were left out: they come without their secrets")
            )
        labels = sum(len(list(objects_of(kind, "variants"))) for kind in self.kinds.values())
        subscriptions = sum(1 for _ in objects_of(self.document, "pushSubscriptions"))
        for name, count in (
            ("conditional labels of relationship types", labels),
            ("push subscriptions", subscriptions),
        ):
            if count:
                left.append((name, f"{count} of them have no place here and were left out"))
        return left

    def _type(self, kind: Mapping[str, Any]) -> TypeName:
        """With the inverse that the list of types says; a relationship only names its type."""
        whole = self.by_name.get(text_of(kind, "name"), kind)
        inverse = self.kinds.get(text_of(whole, "inverseId"), {})
        return made_type(
            text_of(whole, "name"), text_of(whole, "label"), text_of(inverse, "name"), text_of(inverse, "label")
        )

    def _fill(self, draft: Draft, person: Record) -> None:
        for name, column in TEXT_FIELDS.items():
            draft.say(column, text_of(person, name))
        for name, column in DAY_FIELDS.items():
            draft.day(column, text_of(person, name)[:10])
        for group in person["groups"] if isinstance(person.get("groups"), list) else ():
            draft.group(group if isinstance(group, str) else "")
        for row in objects_of(person, "importantDates"):
            _date(draft, row)
        self._entries(draft, person)
        if flag_of(person, "contactReminderEnabled"):
            draft.columns["contact_reminder_enabled"] = True
            for name in _REMINDER:
                if value := text_of(person, name):
                    put_column(draft, name, value)
        if kind := text_of(object_of(person, "relationshipToUser"), "name"):
            draft.to_user = self._type({"name": kind, **object_of(person, "relationshipToUser")}).name
        if text_of(person, "photo"):
            draft.warn("its photo is a file that the export does not hold")

    def _entries(self, draft: Draft, person: Record) -> None:
        for name, card in _LISTS.items():
            for row in objects_of(person, name):
                values: dict[str, Any] = {key: text_of(row, key) for key in SHAPES[card] if key != "type"}
                if card == "im_handles":
                    values["protocol"] = values["protocol"] or "other"
                if card == "custom_fields":
                    draft.add_custom(values["key"], values["value"])
                else:
                    draft.add(card, text_of(row, "type"), **values)
        for row in objects_of(person, "addresses"):
            draft.address(
                text_of(row, "type"), {key: text_of(row, key) for key in SHAPES["addresses"] if key != "type"}
            )
        for row in objects_of(person, "locations"):
            at = number_of(text_of(row, "latitude"), 90), number_of(text_of(row, "longitude"), 180)
            if None not in at:
                label = text_of(row, "label") or None
                draft.add("locations", text_of(row, "type"), latitude=at[0], longitude=at[1], label=label)
        for row in objects_of(person, "customFieldValues"):
            slug = text_of(row, "slug")
            draft.add_custom(self.templates.get(slug) or slug, text_of(row, "value"))


def _date(draft: Draft, row: Record) -> None:
    """A date of the export has a title; older and newer ones a type as well. Birthdays are told by either."""
    day, title = text_of(row, "date")[:10], text_of(row, "title")
    if flag_of(row, "yearUnknown"):
        day = f"{_UNKNOWN_YEAR}{day[4:]}"
    kind = text_of(row, "type").upper()
    if not kind and title.strip().upper() in {DateType.BIRTHDAY, "BIRTHDATE", "GEBURTSTAG"}:
        kind, title = DateType.BIRTHDAY, ""
    known = kind if kind in DateType.values else None
    draft.date(day, kind=known, title=title or (None if known else kind.capitalize() or "Date"))


def open_nametag(owner: User, file: BinaryIO, now: dt.datetime) -> Nametag:
    """Raises FieldError where it is no export of Nametag."""
    document = read_document(file, "Nametag")
    if not isinstance(document.get("people"), list) or "exportDate" not in document:
        raise FieldError("file", "There are no people of Nametag in this file.")
    return Nametag(owner, document, now)
