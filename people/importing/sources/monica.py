"""Monica 4: the JSON export of an account, and the SQL export converted to the same shape (docs/imports.md)."""

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from accounts.models import User
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.texts import Text, define_text
from people.field_table import OTHER
from people.importing.receipts import CONTACT, TOO_MANY_RECORDS
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
from people.importing.sources.drafts import DAY_FIELDS, Draft, RecordResult
from people.importing.sources.monica_tables import open_sql_export
from people.importing.sources.monica_types import map_type
from people.importing.sources.records import (
    JOURNAL_ENTRIES,
    LEFT_OUT,
    InteractionRecord,
    RelationshipRecord,
    RelationshipTypeRecord,
)
from people.importing.sources.tables import MAX_ROWS
from people.vcard.values import decode_data_uri
from people.vocabularies import InteractionKind, Unit

_NO_ACCOUNT = define_text("no_monica_account", "There is no account of Monica in this file.")

_DOCUMENTS = define_text("noun_documents", "documents")

_GUESSED = define_text("birthday_guessed", "its birthday is only guessed from an age and was left out")
_REMINDER = define_text("reminder_became_date", "a reminder became an important date without a reminder")
_NO_PLACE = define_text("no_place_here", "%(count)s %(things)s have no place here and were left out")

Record = dict[str, Any]
#: Types of records that cannot be imported, and what warnings call them.
_UNSUPPORTED_RECORDS = {
    "debt": define_text("noun_debts", "debts"),
    "task": define_text("noun_tasks", "tasks"),
    "document": _DOCUMENTS,
}
_MAX_DAYS = 99


def group_by_type(record: Record) -> dict[str, list[Any]]:
    """The lists of records that belong to a record of the export, by type."""
    return {
        get_text(part, "type"): part["values"]
        for part in get_objects(record, "data")
        if isinstance(part.get("values"), list)
    }


class Monica:
    """The export of an account. The keys of its contacts are their UUIDs."""

    record_noun = CONTACT

    def __init__(self, owner: User, account: Record, now: dt.datetime) -> None:
        lists = group_by_type(account)
        instance = get_object(account, "instance")
        self.now = now
        self.days = DateColumns(owner, now.year).reader()
        self.contacts = [contact for contact in lists.get("contact", ()) if isinstance(contact, dict)]
        self.names = {get_text(contact, "uuid"): _full_name(contact) for contact in self.contacts}
        self.field_types = {
            get_text(kind, "uuid"): get_object(kind, "properties")
            for kind in get_objects(instance, "contact_field_types")
        }
        self.photos = _index_by_uuid(lists.get("photo", ()))
        self.decoded: dict[str, bytes | None] = {}
        self.activities = _index_by_uuid(lists.get("activity", ()))
        self.pairs = [get_object(row, "properties") for row in lists.get("relationship", ()) if isinstance(row, dict)]
        self.account, self.lists = account, lists

    def people(self) -> Iterator[RecordResult]:
        for index, contact in enumerate(self.contacts):
            if index >= MAX_ROWS:
                error = TOO_MANY_RECORDS.format(limit=MAX_ROWS)
                yield RecordResult(index=index, name="", error=error)
                return
            draft = Draft(self.days)
            key = get_text(contact, "uuid")
            # With a UID a second import finds the same people, even if their names have changed.
            draft.uid = f"urn:uuid:{key}" if parse_id(key) else None
            self._fill_draft(draft, contact)
            yield draft.build_result(index, key=key)

    def relationship_types(self) -> Sequence[RelationshipTypeRecord]:
        inverses = self._find_inverses()
        return [map_type(name, inverses.get(name, "")) for name in inverses]

    def relationships(self) -> Iterator[RelationshipRecord]:
        """Yield the relationships. As Monica shows a row, `of_contact` is the `type` of `contact_is`."""
        inverses = self._find_inverses()
        for row in self.pairs:
            name = get_text(row, "type")
            kind = map_type(name, inverses.get(name, "")) if name else None
            yield RelationshipRecord(key=get_text(row, "of_contact"), related=get_text(row, "contact_is"), type=kind)

    def interactions(self) -> Iterator[InteractionRecord]:
        participants: dict[str, list[str]] = defaultdict(list)
        for contact in self.contacts:
            key, lists = get_text(contact, "uuid"), group_by_type(contact)
            for activity in lists.get("activity", ()):
                if isinstance(activity, str):
                    participants[activity].append(key)
            for kind, parse in _INTERACTION_PARSERS.items():
                for row in lists.get(kind, ()):
                    if isinstance(row, dict) and (interaction := parse(key, row)):
                        yield interaction
        for uuid, keys in participants.items():
            row = self.activities.get(uuid, {})
            if at := parse_datetime(get_text(row, "happened_at")):
                title, notes = get_text(row, "summary"), get_text(row, "description")
                yield InteractionRecord(keys=tuple(keys), kind=InteractionKind.MEETING, at=at, title=title, notes=notes)

    def not_imported(self) -> Sequence[tuple[Text, Text]]:
        found: list[tuple[Text, Text]] = []
        journal = get_object(self.account, "properties").get("journal_entries")
        for name, rows in ((JOURNAL_ENTRIES, journal), (_DOCUMENTS, self.lists.get("document"))):
            if isinstance(rows, list) and rows:
                found.append((name, LEFT_OUT.format(count=len(rows))))
        return found

    def _find_inverses(self) -> dict[str, str]:
        """The inverse of each type. The export contains each relationship twice, once from each side."""
        kinds = {
            (get_text(row, "contact_is"), get_text(row, "of_contact")): get_text(row, "type") for row in self.pairs
        }
        return {kind: kinds.get((other, one), "") for (one, other), kind in kinds.items() if kind}

    def _fill_draft(self, draft: Draft, contact: Record) -> None:
        properties = get_object(contact, "properties")
        for name, column in _TEXT_PROPERTIES.items():
            draft.set_text(column, get_text(properties, name))
        draft.add_custom("Food preferences", get_text(properties, "food_preferences"))
        draft.add_custom("Met at", get_text(properties, "first_met_where"))
        draft.add_custom("How you met", get_text(properties, "first_met_additional_info"))
        draft.set_day("last_contact", get_text(properties, "last_talked_to")[:10])
        for tag in properties.get("tags") or () if isinstance(properties.get("tags"), list) else ():
            draft.add_group(tag if isinstance(tag, str) else "")
        if through := self.names.get(get_text(properties, "first_met_through")):
            draft.add_related_person("met through", through)
        self._add_days(draft, properties)
        self._set_contact_reminder(draft, get_text(properties, "stay_in_touch_frequency"))
        if get_flag(properties, "is_starred"):
            draft.set_flag("favourite")
        draft.photo = self._decode_photo(get_text(get_object(properties, "avatar"), "avatar_photo"))
        self._fill_lists(draft, group_by_type(contact))

    def _decode_photo(self, uuid: str) -> bytes | None:
        """Decode a photo; cached, because many contacts may refer to the same photo."""
        if uuid not in self.decoded:
            data = get_text(self.photos.get(uuid, {}), "dataUrl")
            self.decoded[uuid] = decode_data_uri(data.removeprefix("data:")) if data else None
        return self.decoded[uuid]

    def _add_days(self, draft: Draft, properties: Record) -> None:
        birth, death, met = (get_object(properties, name) for name in ("birthdate", "deceased_date", "first_met_date"))
        if get_flag(birth, "is_age_based"):
            draft.warn(_GUESSED)
        elif day := _format_special_date(birth):
            draft.add_date(day, kind="BIRTHDAY")
        if (day := _format_special_date(death)) and not day.startswith("--") and "deathday" in DAY_FIELDS:
            draft.set_day(DAY_FIELDS["deathday"], day)
        elif day:
            draft.add_date(day, kind="MEMORIAL")
        elif get_flag(properties, "is_dead"):
            draft.add_custom("Deceased", "yes")
        if day := _format_special_date(met):
            draft.add_date(day, title="First met")

    def _set_contact_reminder(self, draft: Draft, days: str) -> None:
        if not (days.isascii() and days.isdigit() and len(days) < 6 and int(days)):
            return
        number, unit = (int(days), Unit.DAYS) if int(days) <= _MAX_DAYS else (round(int(days) / 30), Unit.MONTHS)
        if number <= _MAX_DAYS:
            draft.columns |= {
                "contact_reminder_enabled": True,
                "contact_reminder_interval": number,
                "contact_reminder_interval_unit": unit,
            }

    def _fill_lists(self, draft: Draft, lists: Mapping[str, list[Any]]) -> None:
        for row in _properties(lists, "contact_field"):
            self._add_contact_field(draft, row)
        for row in _properties(lists, "address"):
            _add_address(draft, row)
        for row in _properties(lists, "pet"):
            category = get_text(row, "category")
            draft.add_custom("Pet", " ".join(filter(None, (get_text(row, "name"), category and f"({category})"))))
        for row in _properties(lists, "life_event"):
            draft.add_date(get_text(row, "happened_at")[:10], title=get_text(row, "name") or "Life event")
            draft.set_text("notes", get_text(row, "note"))
        for row in _properties(lists, "reminder"):
            # Monica creates reminders of birthdays itself; those cannot be deleted.
            if get_text(row, "delible") != "0" and row.get("delible") is not False:
                draft.add_date(get_text(row, "initial_date")[:10], title=get_text(row, "title") or "Reminder")
                draft.warn(_REMINDER)
        for kind, words in _UNSUPPORTED_RECORDS.items():
            if lists.get(kind):
                draft.warn(_NO_PLACE.format(count=len(lists[kind]), things=words))

    def _add_contact_field(self, draft: Draft, row: Record) -> None:
        kind = self.field_types.get(get_text(row, "type"), {})
        name, data = get_text(kind, "name"), get_text(row, "data")
        if get_text(kind, "type") == "email":
            draft.add_entry("emails", OTHER, email=data)
        elif get_text(kind, "type") == "phone":
            draft.add_entry("phone_numbers", OTHER, number=data)
        elif data.lower().startswith(("http://", "https://")):
            draft.add_entry("urls", name.lower(), url=data)
        elif name:
            draft.add_entry("im_handles", name.lower(), protocol=name.lower(), handle=data)
        else:
            draft.add_custom("Contact field", data)


_TEXT_PROPERTIES = {
    "first_name": "name",
    "middle_name": "middle_name",
    "last_name": "surname",
    "nickname": "nickname",
    "description": "notes",
    "gender": "gender",
    "job": "job_title",
    "company": "organization",
}
_ADDRESS_KEYS = {
    "street": "streetLine1",
    "city": "locality",
    "province": "region",
    "postal_code": "postalCode",
    "country": "country",
}


def _full_name(contact: Record) -> str:
    properties = get_object(contact, "properties")
    return " ".join(filter(None, (get_text(properties, "first_name"), get_text(properties, "last_name"))))


def _index_by_uuid(rows: Sequence[Record]) -> dict[str, Record]:
    return {get_text(row, "uuid"): get_object(row, "properties") for row in rows if isinstance(row, dict)}


def _properties(lists: Mapping[str, list[Any]], kind: str) -> Iterator[Record]:
    return (get_object(row, "properties") for row in lists.get(kind, ()) if isinstance(row, dict))


def _format_special_date(special: Record) -> str:
    """The text of a special date, `--12-24` if its year is unknown; empty without a date."""
    day = get_text(special, "date")[:10]
    return f"--{day[5:]}" if day and get_flag(special, "is_year_unknown") else day


def _add_address(draft: Draft, row: Record) -> None:
    kind = get_text(row, "name").lower() or OTHER
    draft.add_address(kind, {key: get_text(row, name) for name, key in _ADDRESS_KEYS.items()})
    latitude = parse_number(get_text(row, "latitude"), 90)
    longitude = parse_number(get_text(row, "longitude"), 180)
    if latitude is not None and longitude is not None:
        draft.add_entry("locations", kind, latitude=latitude, longitude=longitude, label=None)


def _parse_call(key: str, row: Record) -> InteractionRecord | None:
    properties = get_object(row, "properties")
    at = parse_datetime(get_text(properties, "called_at"))
    title = "They called" if get_flag(properties, "contact_called") else ""
    notes = get_text(properties, "content")
    return InteractionRecord(keys=(key,), kind=InteractionKind.CALL, at=at, title=title, notes=notes) if at else None


def _parse_note(key: str, row: Record) -> InteractionRecord | None:
    at = parse_datetime(get_text(row, "created_at"))
    notes = get_text(get_object(row, "properties"), "body")
    return InteractionRecord(keys=(key,), kind=InteractionKind.NOTE, at=at, notes=notes) if at and notes else None


def _parse_conversation(key: str, row: Record) -> InteractionRecord | None:
    properties = get_object(row, "properties")
    at = parse_datetime(get_text(properties, "happened_at"))
    lines = []
    for message in get_objects(properties, "messages"):
        words = get_object(message, "properties") or message
        lines.append(f"{'→' if get_flag(words, 'written_by_me') else '←'} {get_text(words, 'content')}")
    return InteractionRecord(keys=(key,), kind=InteractionKind.MESSAGE, at=at, notes="\n".join(lines)) if at else None


def _parse_gift(key: str, row: Record) -> InteractionRecord | None:
    properties = get_object(row, "properties")
    at = parse_datetime(get_text(properties, "date")) or parse_datetime(get_text(row, "created_at"))
    details = (get_text(properties, name) for name in ("status", "comment", "url", "amount"))
    notes = "\n".join(filter(None, details))
    title = get_text(properties, "name")
    return InteractionRecord(keys=(key,), kind=InteractionKind.GIFT, at=at, title=title, notes=notes) if at else None


_INTERACTION_PARSERS: dict[str, Callable[[str, Record], InteractionRecord | None]] = {
    "call": _parse_call,
    "note": _parse_note,
    "conversation": _parse_conversation,
    "gift": _parse_gift,
}


def open_monica(owner: User, file: BinaryIO, now: dt.datetime) -> Monica:
    """Open a JSON export, which begins with a brace, or an SQL export. Raises FieldError if it is neither."""
    file.seek(0)
    is_json = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    account = get_object(read_document(file, "Monica"), "account") if is_json else open_sql_export(file)
    if not group_by_type(account):
        raise FieldError("file", _NO_ACCOUNT)
    return Monica(owner, account, now)
