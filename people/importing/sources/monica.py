"""Monica 4: the JSON export of an account, and its SQL export in the same shape (docs/imports.md cites both)."""

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from accounts.models import User
from contacts_project.kernel.api.json import parse_id
from contacts_project.kernel.errors import FieldError
from people.field_table import OTHER
from people.importing.sources.columns import day_reader
from people.importing.sources.documents import (
    flag_of,
    moment_of,
    number_of,
    object_of,
    objects_of,
    read_document,
    text_of,
)
from people.importing.sources.drafts import DAY_FIELDS, Draft, RecordResult
from people.importing.sources.monica_tables import open_tables
from people.importing.sources.monica_types import type_of
from people.importing.sources.records import Meeting, Tie, TypeName
from people.importing.sources.tables import MAX_ROWS
from people.vcard.values import decode_data_uri
from people.vocabularies import InteractionKind, Unit

Record = dict[str, Any]
#: Kinds of an account's or contact's records that people have no place for.
_HOMELESS = {"debt": "debts", "task": "tasks", "document": "documents"}
_UNITS = {"day": Unit.DAYS, "week": Unit.WEEKS, "month": Unit.MONTHS, "year": Unit.YEARS}
_MAX_DAYS = 99


def lists_of(record: Record) -> dict[str, list[Any]]:
    """What hangs on a record of the export, by type."""
    return {
        text_of(part, "type"): part["values"]
        for part in objects_of(record, "data")
        if isinstance(part.get("values"), list)
    }


class Monica:
    """An account. Its contacts are known by their UUIDs."""

    what = "Contact"

    def __init__(self, owner: User, account: Record, now: dt.datetime) -> None:
        lists = lists_of(account)
        instance = object_of(account, "instance")
        self.now = now
        self.days = day_reader(owner, None, (), now.year)
        self.contacts = [contact for contact in lists.get("contact", ()) if isinstance(contact, dict)]
        self.names = {text_of(contact, "uuid"): _name_of(contact) for contact in self.contacts}
        self.field_types = {
            text_of(kind, "uuid"): object_of(kind, "properties") for kind in objects_of(instance, "contact_field_types")
        }
        self.photos = _by_uuid(lists.get("photo", ()))
        self.decoded: dict[str, bytes | None] = {}
        self.activities = _by_uuid(lists.get("activity", ()))
        self.pairs = [object_of(row, "properties") for row in lists.get("relationship", ()) if isinstance(row, dict)]
        self.account, self.lists = account, lists

    def people(self) -> Iterator[RecordResult]:
        for index, contact in enumerate(self.contacts):
            if index >= MAX_ROWS:
                error = f"the file has more than {MAX_ROWS:,} contacts: the rest was not read"
                yield RecordResult(index=index, name="", error=error)
                return
            draft = Draft(self.days)
            key = text_of(contact, "uuid")
            draft.uid = f"urn:uuid:{key}" if parse_id(key) else None
            self._fill(draft, contact)
            yield draft.result(index, what="contact", key=key)

    def types(self) -> Sequence[TypeName]:
        inverses = self._inverses()
        return [type_of(name, inverses.get(name, "")) for name in inverses]

    def ties(self) -> Iterator[Tie]:
        """Of the two contacts of a row, `of_contact` is what the type says of `contact_is`: so Monica shows it."""
        inverses = self._inverses()
        for row in self.pairs:
            name = text_of(row, "type")
            kind = type_of(name, inverses.get(name, "")) if name else None
            yield Tie(key=text_of(row, "of_contact"), related=text_of(row, "contact_is"), type=kind)

    def meetings(self) -> Iterator[Meeting]:
        together: dict[str, list[str]] = defaultdict(list)
        for contact in self.contacts:
            key, lists = text_of(contact, "uuid"), lists_of(contact)
            for activity in lists.get("activity", ()):
                if isinstance(activity, str):
                    together[activity].append(key)
            for kind, read in _MEETINGS.items():
                for row in lists.get(kind, ()):
                    if isinstance(row, dict) and (meeting := read(key, row)):
                        yield meeting
        for uuid, keys in together.items():
            row = self.activities.get(uuid, {})
            if at := moment_of(text_of(row, "happened_at")):
                title, notes = text_of(row, "summary"), text_of(row, "description")
                yield Meeting(keys=tuple(keys), kind=InteractionKind.MEETING, at=at, title=title, notes=notes)

    def leftovers(self) -> Sequence[tuple[str, str]]:
        left: list[tuple[str, str]] = []
        journal = object_of(self.account, "properties").get("journal_entries")
        for name, rows in (("journal entries", journal), ("documents", self.lists.get("document"))):
            if isinstance(rows, list) and rows:
                left.append((name, f"{len(rows)} of them have no place here and were left out"))
        return left

    def _inverses(self) -> dict[str, str]:
        """By type the one of the way back: each relationship stands there twice, once from either end."""
        kinds = {(text_of(row, "contact_is"), text_of(row, "of_contact")): text_of(row, "type") for row in self.pairs}
        return {kind: kinds.get((there, here), "") for (here, there), kind in kinds.items() if kind}

    def _fill(self, draft: Draft, contact: Record) -> None:
        said = object_of(contact, "properties")
        for name, column in _TEXTS.items():
            draft.say(column, text_of(said, name))
        draft.add_custom("Food preferences", text_of(said, "food_preferences"))
        draft.add_custom("Met at", text_of(said, "first_met_where"))
        draft.add_custom("How you met", text_of(said, "first_met_additional_info"))
        draft.day("last_contact", text_of(said, "last_talked_to")[:10])
        for tag in said.get("tags") or () if isinstance(said.get("tags"), list) else ():
            draft.group(tag if isinstance(tag, str) else "")
        if through := self.names.get(text_of(said, "first_met_through")):
            draft.related("met through", through)
        self._days(draft, said)
        self._keep_in_touch(draft, text_of(said, "stay_in_touch_frequency"))
        if flag_of(said, "is_starred"):
            draft.warn("its star has no place here and was left out")
        draft.photo = self._photo(text_of(object_of(said, "avatar"), "avatar_photo"))
        self._hanging(draft, lists_of(contact))

    def _photo(self, uuid: str) -> bytes | None:
        """Decoded once, however many contacts name it."""
        if uuid not in self.decoded:
            data = text_of(self.photos.get(uuid, {}), "dataUrl")
            self.decoded[uuid] = decode_data_uri(data.removeprefix("data:")) if data else None
        return self.decoded[uuid]

    def _days(self, draft: Draft, said: Record) -> None:
        birth, death, met = (object_of(said, name) for name in ("birthdate", "deceased_date", "first_met_date"))
        if flag_of(birth, "is_age_based"):
            draft.warn("its birthday is only guessed from an age and was left out")
        elif day := _day(birth):
            draft.date(day, kind="BIRTHDAY")
        if (day := _day(death)) and not day.startswith("--") and "deathday" in DAY_FIELDS:
            draft.day(DAY_FIELDS["deathday"], day)
        elif day:
            draft.date(day, kind="MEMORIAL")
        elif flag_of(said, "is_dead"):
            draft.add_custom("Deceased", "yes")
        if day := _day(met):
            draft.date(day, title="First met")

    def _keep_in_touch(self, draft: Draft, days: str) -> None:
        if not (days.isascii() and days.isdigit() and len(days) < 6 and int(days)):
            return
        number, unit = (int(days), Unit.DAYS) if int(days) <= _MAX_DAYS else (round(int(days) / 30), Unit.MONTHS)
        if number <= _MAX_DAYS:
            draft.columns |= {
                "contact_reminder_enabled": True,
                "contact_reminder_interval": number,
                "contact_reminder_interval_unit": unit,
            }

    def _hanging(self, draft: Draft, lists: Mapping[str, list[Any]]) -> None:
        for row in _properties(lists, "contact_field"):
            self._field(draft, row)
        for row in _properties(lists, "address"):
            _address(draft, row)
        for row in _properties(lists, "pet"):
            category = text_of(row, "category")
            draft.add_custom("Pet", " ".join(filter(None, (text_of(row, "name"), category and f"({category})"))))
        for row in _properties(lists, "life_event"):
            draft.date(text_of(row, "happened_at")[:10], title=text_of(row, "name") or "Life event")
            draft.say("notes", text_of(row, "note"))
        for row in _properties(lists, "reminder"):
            # Those that cannot be deleted are Monica's own, of birthdays.
            if text_of(row, "delible") != "0" and row.get("delible") is not False:
                draft.date(text_of(row, "initial_date")[:10], title=text_of(row, "title") or "Reminder")
                draft.warn("a reminder became an important date without a reminder")
        for kind, words in _HOMELESS.items():
            if lists.get(kind):
                draft.warn(f"{len(lists[kind])} {words} have no place here and were left out")

    def _field(self, draft: Draft, row: Record) -> None:
        kind = self.field_types.get(text_of(row, "type"), {})
        name, data = text_of(kind, "name"), text_of(row, "data")
        if text_of(kind, "type") == "email":
            draft.add("emails", OTHER, email=data)
        elif text_of(kind, "type") == "phone":
            draft.add("phone_numbers", OTHER, number=data)
        elif data.lower().startswith(("http://", "https://")):
            draft.add("urls", name.lower(), url=data)
        elif name:
            draft.add("im_handles", name.lower(), protocol=name.lower(), handle=data)
        else:
            draft.add_custom("Contact field", data)


_TEXTS = {
    "first_name": "name",
    "middle_name": "middle_name",
    "last_name": "surname",
    "nickname": "nickname",
    "description": "notes",
    "gender": "gender",
    "job": "job_title",
    "company": "organization",
}
_PLACE = {
    "street": "streetLine1",
    "city": "locality",
    "province": "region",
    "postal_code": "postalCode",
    "country": "country",
}


def _name_of(contact: Record) -> str:
    said = object_of(contact, "properties")
    return " ".join(filter(None, (text_of(said, "first_name"), text_of(said, "last_name"))))


def _by_uuid(rows: Sequence[Any]) -> dict[str, Record]:
    return {text_of(row, "uuid"): object_of(row, "properties") for row in rows if isinstance(row, dict)}


def _properties(lists: Mapping[str, list[Any]], kind: str) -> Iterator[Record]:
    return (object_of(row, "properties") for row in lists.get(kind, ()) if isinstance(row, dict))


def _day(special: Record) -> str:
    """The day of a special date, `--12-24` where its year is unknown; empty without one."""
    day = text_of(special, "date")[:10]
    return f"--{day[5:]}" if day and flag_of(special, "is_year_unknown") else day


def _address(draft: Draft, row: Record) -> None:
    kind = text_of(row, "name").lower() or OTHER
    draft.address(kind, {key: text_of(row, name) for name, key in _PLACE.items()})
    latitude = number_of(text_of(row, "latitude"), 90)
    longitude = number_of(text_of(row, "longitude"), 180)
    if latitude is not None and longitude is not None:
        draft.add("locations", kind, latitude=latitude, longitude=longitude, label=None)


def _call(key: str, row: Record) -> Meeting | None:
    said = object_of(row, "properties")
    at = moment_of(text_of(said, "called_at"))
    title = "They called" if flag_of(said, "contact_called") else ""
    notes = text_of(said, "content")
    return Meeting(keys=(key,), kind=InteractionKind.CALL, at=at, title=title, notes=notes) if at else None


def _note(key: str, row: Record) -> Meeting | None:
    at = moment_of(text_of(row, "created_at"))
    notes = text_of(object_of(row, "properties"), "body")
    return Meeting(keys=(key,), kind=InteractionKind.NOTE, at=at, notes=notes) if at and notes else None


def _conversation(key: str, row: Record) -> Meeting | None:
    said = object_of(row, "properties")
    at = moment_of(text_of(said, "happened_at"))
    lines = []
    for message in objects_of(said, "messages"):
        words = object_of(message, "properties") or message
        lines.append(f"{'→' if flag_of(words, 'written_by_me') else '←'} {text_of(words, 'content')}")
    return Meeting(keys=(key,), kind=InteractionKind.MESSAGE, at=at, notes="\n".join(lines)) if at else None


def _gift(key: str, row: Record) -> Meeting | None:
    said = object_of(row, "properties")
    at = moment_of(text_of(said, "date")) or moment_of(text_of(row, "created_at"))
    told = (text_of(said, name) for name in ("status", "comment", "url", "amount"))
    notes = "\n".join(filter(None, told))
    title = text_of(said, "name")
    return Meeting(keys=(key,), kind=InteractionKind.GIFT, at=at, title=title, notes=notes) if at else None


_MEETINGS: dict[str, Callable[[str, Record], Meeting | None]] = {
    "call": _call,
    "note": _note,
    "conversation": _conversation,
    "gift": _gift,
}


def open_monica(owner: User, file: BinaryIO, now: dt.datetime) -> Monica:
    """Either export: JSON begins with a brace. Raises FieldError."""
    file.seek(0)
    is_json = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    account = object_of(read_document(file, "Monica"), "account") if is_json else open_tables(file)
    if not lists_of(account):
        raise FieldError("file", "There is no account of Monica in this file.")
    return Monica(owner, account, now)
