"""Reads a contact of Monica's export into the draft of a card."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.texts import define_text
from people.field_table import OTHER
from people.importing.sources import monica_entries as entries
from people.importing.sources.documents import get_flag, get_object, get_objects, get_text, parse_datetime, parse_number
from people.importing.sources.drafts import RecordDraft
from people.importing.sources.monica_entries import MAX_SHARED, Names, NoteEntry
from people.vcard.limits import TEXT_LIMITS
from people.vcard.values import decode_data_uri
from people.vocabularies import ReminderType, Unit

_GUESSED = define_text("birthday_guessed", "its birthday is only guessed from an age: the year is in the notes")
_NO_PLACE = define_text("no_place_here", "%(count)s %(things)s have no place here and were left out")
_ARCHIVED = define_text("archived_is_quiet", "it is archived in Monica: it is quiet here")
_FOOD = define_text("custom_food_preferences", "Food preferences")
_MET_AT = define_text("custom_met_at", "Met at")
_HOW_MET = define_text("custom_how_met", "How you met")
_DECEASED = define_text("custom_deceased", "Deceased")
_YES = define_text("word_yes", "yes")
_FIRST_MET = define_text("date_first_met", "First met")
_REMINDER = define_text("date_reminder", "Reminder")
_NOTES = define_text("noun_notes", "notes")

Record = dict[str, Any]
_MAX_INTERVAL = 99
_MAX_TITLE, _MAX_CUSTOM = 100, 1_000
_UNITS = {"day": Unit.DAYS, "week": Unit.WEEKS, "month": Unit.MONTHS, "year": Unit.YEARS}
_YEARLY = {
    "reminder_enabled": True,
    "reminder_type": ReminderType.RECURRING,
    "reminder_interval": 1,
    "reminder_interval_unit": Unit.YEARS,
}
_NO_REMINDER = {"reminder_enabled": False}
_CUSTOM_PROPERTIES = {
    "food_preferences": _FOOD,
    "first_met_where": _MET_AT,
    "first_met_additional_info": _HOW_MET,
}
_TEXT_PROPERTIES = {
    "first_name": "name",
    "middle_name": "middle_name",
    "last_name": "surname",
    "nickname": "nickname",
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


def group_by_type(record: Record) -> dict[str, list[Any]]:
    """The lists of records that belong to a record of the export, by type."""
    found: dict[str, list[Any]] = defaultdict(list)
    for part in get_objects(record, "data"):
        if isinstance(part.get("values"), list):
            found[get_text(part, "type")] += part["values"]
    return dict(found)


def avatar_of(contact: Record) -> str:
    """The UUID of the photo that is the avatar; empty without one."""
    return get_text(get_object(get_object(contact, "properties"), "avatar"), "avatar_photo")


class ContactReader:
    """Fills the drafts of contacts. The records that a contact names are found by their UUIDs."""

    def __init__(
        self,
        *,
        names: Names,
        genders: Mapping[str, Record],
        photos: Mapping[str, Record],
        documents: Mapping[str, Record],
        activities: Mapping[str, Record],
    ) -> None:
        self.names, self.genders, self.photos = names, genders, photos
        self.documents, self.activities = documents, activities
        self.decoded: dict[str, bytes | None] = {}
        #: The activities without a day that somebody has in the notes already.
        self.undated = set[str]()

    def fill(self, draft: RecordDraft, contact: Record) -> list[NoteEntry]:
        """Fill the draft. Returns the entries of the notes that had no room there."""
        properties, lists = get_object(contact, "properties"), group_by_type(contact)
        for name, column in _TEXT_PROPERTIES.items():
            draft.set_text(column, get_text(properties, name))
        draft.set_text("gender", self._gender_of(properties))
        if not (get_text(properties, "job") or get_text(properties, "company")):
            current = (row for row in _properties(lists, "occupation") if get_flag(row, "currently_works_here"))
            job = next(current, {})
            draft.set_text("job_title", get_text(job, "title"))
            draft.set_text("organization", get_text(job, "company"))
        notes = [*self._add_customs(draft, properties)]
        draft.set_day("last_contact", get_text(properties, "last_talked_to")[:10])
        for tag in properties.get("tags") or () if isinstance(properties.get("tags"), list) else ():
            draft.add_group(tag if isinstance(tag, str) else "")
        if through := self.names.contacts.get(get_text(properties, "first_met_through")):
            draft.add_related_person("met through", through)
        self._set_contact_reminder(draft, get_text(properties, "stay_in_touch_frequency"))
        if get_flag(properties, "is_starred"):
            draft.set_flag("favourite")
        if properties.get("is_active") is not None and not get_flag(properties, "is_active"):
            draft.columns["quiet"] = True
            draft.warn(_ARCHIVED)
        draft.photo = self._decode_photo(avatar_of(contact))
        for row in _properties(lists, "contact_field"):
            notes += self._add_contact_field(draft, row)
        for row in _properties(lists, "address"):
            notes += _add_address(draft, row)
        notes += [*self._add_days(draft, properties, lists), *self._add_life_events(draft, lists)]
        named = dict.fromkeys(key for key in lists.get("document", ()) if isinstance(key, str))
        documents = [row for row in lists.get("document", ()) if isinstance(row, dict)]
        documents += [self.documents[key] for key in named if key in self.documents]
        notes += entries.entries_of({**lists, "document": documents}, self.names)
        notes += (event.to_entry() for event in entries.events_of(lists, self.names) if event.at is None)
        notes += self._undated_activities(lists)
        return self._add_notes(draft, contact, notes)

    def _add_customs(self, draft: RecordDraft, properties: Record) -> Iterator[NoteEntry]:
        """Add the texts that become custom fields. Yields those that are too long for one."""
        for name, key in _CUSTOM_PROPERTIES.items():
            text = get_text(properties, name)
            if len(text) > _MAX_CUSTOM:
                yield NoteEntry(f"{key}: {text}")
            else:
                draft.add_custom(str(key), text)

    def _undated_activities(self, lists: Mapping[str, list[Any]]) -> Iterator[NoteEntry]:
        """Yield the activities without a day. Only the first of those who took part gets a long text whole."""
        for key in dict.fromkeys(key for key in lists.get("activity", ()) if isinstance(key, str)):
            if key in self.activities and not (event := entries.activity(self.activities[key], self.names)).at:
                text = event.to_entry().text
                yield NoteEntry(text[:MAX_SHARED] if key in self.undated else text)
                self.undated.add(key)

    def _add_notes(self, draft: RecordDraft, contact: Record, notes: list[NoteEntry]) -> list[NoteEntry]:
        """Set the notes to the description and the entries in the order of their days. Returns what had no room."""
        limit = TEXT_LIMITS["notes"]
        text = draft.clean(get_text(get_object(contact, "properties"), "description"))
        written = parse_datetime(entries.created_at(contact)) or parse_datetime(get_text(contact, "updated_at"))
        text, rest = text[:limit], text[limit:]
        overflow = [NoteEntry(rest, at=written)] if rest else []
        parts, size = [text] if text else [], len(text)
        for entry in sorted(notes, key=lambda entry: entry.day):
            words = draft.clean(str(entry))
            if not words:
                continue
            if size + len(words) + 2 <= limit:
                parts.append(words)
                size += len(words) + 2
            else:
                overflow.append(NoteEntry(words, at=entry.at or written))
        draft.set_text("notes", "\n\n".join(parts))
        if lost := sum(entry.at is None for entry in overflow):
            draft.warn(_NO_PLACE.format(count=lost, things=_NOTES))
        return overflow

    def _gender_of(self, properties: Record) -> str:
        """The gender: in some versions of the export its letter, in others the UUID of a gender with letter or name."""
        value = get_text(properties, "gender")
        found = self.genders.get(value)
        if found is None:
            return "" if parse_id(value) else value
        return get_text(found, "type") or get_text(found, "name")[:MAX_SHARED]

    def _decode_photo(self, uuid: str) -> bytes | None:
        """Decode a photo; cached, because many contacts may refer to the same photo."""
        if uuid not in self.decoded:
            data = get_text(self.photos.get(uuid, {}), "dataUrl")
            self.decoded[uuid] = decode_data_uri(data.removeprefix("data:")) if data else None
        return self.decoded[uuid]

    def _add_days(self, draft: RecordDraft, properties: Record, lists: Mapping[str, list[Any]]) -> Iterator[NoteEntry]:
        """Add the special dates and the reminders. Yields what they say beside their days."""
        special = {name: get_object(properties, name) for name in ("birthdate", "deceased_date", "first_met_date")}
        days = {
            name: "" if get_flag(row, "is_age_based") else _format_special_date(row) for name, row in special.items()
        }
        # Monica creates the reminders of these days itself; they cannot be deleted.
        reminders = [*_properties(lists, "reminder")]
        own = [row for row in reminders if _is_indelible(row)]
        nested = (get_object(properties, name) for name in ("deceased_reminder", "first_met_reminder"))
        own += (get_object(reminder, "properties") for reminder in nested)
        # One that is switched off says something, too; none at all says nothing.
        own.sort(key=lambda row: not get_flag(row, "inactive"))
        reminding = {get_text(row, "initial_date")[5:10]: not get_flag(row, "inactive") for row in own}
        columns = {
            name: (_YEARLY if reminding[day[-5:]] else _NO_REMINDER) if day and day[-5:] in reminding else None
            for name, day in days.items()
        }
        for name, row in special.items():
            if get_flag(row, "is_age_based") and (entry := entries.about(name, row)):
                yield entry
        if get_flag(special["birthdate"], "is_age_based"):
            draft.warn(_GUESSED)
        elif day := days["birthdate"]:
            draft.add_date(day, kind="BIRTHDAY", reminder=columns["birthdate"])
        if day := days["first_met_date"]:
            draft.add_date(day, title=str(_FIRST_MET), reminder=columns["first_met_date"])
        _add_death(draft, properties, days["deceased_date"], columns["deceased_date"])
        kept = {day[-5:] for day in days.values()}
        for row in reminders:
            if not _is_indelible(row) or get_text(row, "initial_date")[5:10] not in kept:
                yield from _add_reminder(draft, row)

    def _add_life_events(self, draft: RecordDraft, lists: Mapping[str, list[Any]]) -> Iterator[NoteEntry]:
        for row in lists.get("life_event", ()):
            if not isinstance(row, dict):
                continue
            properties, written = get_object(row, "properties"), parse_datetime(entries.created_at(row))
            title = entries.life_event_title(properties, self.names)
            is_dated = entries.has_day(properties) and _add_titled_date(draft, entries.certain_day(properties), title)
            if entry := entries.life_event(properties, self.names, is_dated=is_dated):
                yield NoteEntry(entry.text, entry.day, written)

    def _set_contact_reminder(self, draft: RecordDraft, days: str) -> None:
        if not (days.isascii() and days.isdigit() and len(days) < 6 and int(days)):
            return
        number, unit = (int(days), Unit.DAYS) if int(days) <= _MAX_INTERVAL else (round(int(days) / 30), Unit.MONTHS)
        if number <= _MAX_INTERVAL:
            draft.columns |= {
                "contact_reminder_enabled": True,
                "contact_reminder_interval": number,
                "contact_reminder_interval_unit": unit,
            }

    def _add_contact_field(self, draft: RecordDraft, row: Record) -> Iterator[NoteEntry]:
        """Add a contact field. The user may have made its type, with a protocol such as `tel:` or `https://t.me/`.

        Yields it as an entry of the notes if its field is full.
        """
        kind = self.names.field_types.get(get_text(row, "type"), {})
        name, data = get_text(kind, "name")[:MAX_SHARED], get_text(row, "data")
        protocol = get_text(kind, "protocol")[:MAX_SHARED].lower()
        field, values = "im_handles", {"protocol": name.lower(), "handle": data}
        if get_text(kind, "type") == "email" or protocol.startswith("mailto:"):
            field, values = "emails", {"email": data}
        elif get_text(kind, "type") == "phone" or protocol.startswith(("tel:", "sms:")):
            field, values = "phone_numbers", {"number": data}
        elif data.lower().startswith(("http://", "https://")):
            field, values = "urls", {"url": data}
        elif not name:
            field, values = "custom_fields", {"key": "Contact field", "value": data}
        if not draft.has_room(field):
            yield NoteEntry(f"{name}: {data}" if name else data)
        elif field == "custom_fields":
            draft.add_custom(values["key"], data)
        else:
            draft.add_entry(field, name.lower() if field in {"urls", "im_handles"} else OTHER, **values)


def _is_indelible(row: Record) -> bool:
    return get_text(row, "delible") == "0" or row.get("delible") is False


def _add_death(draft: RecordDraft, properties: Record, day: str, reminder: Mapping[str, Any] | None) -> None:
    """Set the day of death. Without a year, or with a reminder, it is an important date as well."""
    has_field = bool(day) and not day.startswith("--")
    if has_field:
        draft.set_day("deathday", day)
    if day and (reminder == _YEARLY or not has_field):
        draft.add_date(day, kind="MEMORIAL", reminder=reminder)
    elif not day and get_flag(properties, "is_dead"):
        draft.add_custom(str(_DECEASED), str(_YES))


def _add_titled_date(draft: RecordDraft, day: str, title: str, reminder: Mapping[str, Any] | None = None) -> bool:
    """Whether the day is an important date now, with the whole title."""
    try:
        dt.date.fromisoformat(day)
    except ValueError:
        return False
    if not draft.has_room_for_dates:
        return False
    return draft.add_date(day, title=title, reminder=reminder) and len(title) <= _MAX_TITLE


def _add_reminder(draft: RecordDraft, row: Record) -> Iterator[NoteEntry]:
    """Add a reminder as an important date. Yields what the date does not say."""
    title = get_text(row, "title") or str(_REMINDER)
    columns = _reminder_columns(row)
    is_dated = columns is not None and _add_titled_date(draft, get_text(row, "initial_date")[:10], title, columns)
    if entry := entries.reminder(row, is_dated=is_dated):
        yield NoteEntry(entry.text, entry.day, parse_datetime(get_text(row, "created_at")))


def _reminder_columns(row: Record) -> Mapping[str, Any] | None:
    """The columns of the reminder; None if it comes at an interval that a date cannot have."""
    is_on, frequency = not get_flag(row, "inactive"), get_text(row, "frequency_type")
    if frequency == "one_time":
        return {"reminder_enabled": is_on, "reminder_type": ReminderType.ONCE}
    number = get_text(row, "frequency_number") or "1"
    unit = _UNITS.get(frequency)
    if unit is None or not (number.isascii() and number.isdigit() and 1 <= int(number[:5]) <= _MAX_INTERVAL):
        return None
    columns = {
        "reminder_type": ReminderType.RECURRING,
        "reminder_interval": int(number),
        "reminder_interval_unit": unit,
    }
    return {"reminder_enabled": True, **columns} if is_on else {"reminder_enabled": False}


def _properties(lists: Mapping[str, list[Any]], kind: str) -> Iterator[Record]:
    return (get_object(row, "properties") for row in lists.get(kind, ()) if isinstance(row, dict))


def _format_special_date(special: Record) -> str:
    """The text of a special date, `--12-24` if its year is unknown; empty without a date."""
    day = get_text(special, "date")[:10]
    return f"--{day[5:]}" if day and get_flag(special, "is_year_unknown") else day


def _add_address(draft: RecordDraft, row: Record) -> Iterator[NoteEntry]:
    """Add an address with its place. Yields it as an entry of the notes if the field is full."""
    kind = get_text(row, "name").lower() or OTHER
    parts = {key: get_text(row, name) for name, key in _ADDRESS_KEYS.items()}
    if not draft.has_room("addresses"):
        yield NoteEntry(", ".join(filter(None, (kind, *parts.values()))))
        return
    draft.add_address(kind, parts)
    latitude = parse_number(get_text(row, "latitude"), 90)
    longitude = parse_number(get_text(row, "longitude"), 180)
    if latitude is not None and longitude is not None:
        draft.add_entry("locations", kind, latitude=latitude, longitude=longitude, label=None)
