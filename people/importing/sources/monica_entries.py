"""What Monica's records say in words: entries of a person's notes, and interactions.

A record that has no field here becomes an entry of the notes, which begins with as much of its day as is known.
"""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from contacts_project.kernel.texts import Text, define_text
from people.importing.sources.documents import get_flag, get_object, get_objects, get_text, parse_datetime
from people.vocabularies import InteractionKind

Record = dict[str, Any]
Words = str | Text

_REMINDER = define_text("entry_reminder", "Reminder: %(title)s")
_REMINDER_OFF = define_text("entry_reminder_off", "Reminder, switched off: %(title)s")
_LIFE_EVENT = define_text("noun_life_event", "Life event")
_YOU_OWE = define_text("entry_you_owe", "You owe: %(amount)s")
_OWES_YOU = define_text("entry_owes_you", "Owes you: %(amount)s")
_SETTLED = define_text("entry_settled", "settled")
_TASK = define_text("entry_task", "Task: %(title)s")
_TASK_DONE = define_text("entry_task_done", "Task, done: %(title)s")
_PET = define_text("entry_pet", "Pet: %(name)s")
_DOCUMENT = define_text("entry_document", "Document: %(name)s")
_JOB = define_text("entry_job", "Job: %(name)s")
_GIFT_IDEA = define_text("entry_gift_idea", "Gift idea: %(name)s")
_GIFT_GIVEN = define_text("gift_given", "Given")
_GIFT_RECEIVED = define_text("gift_received", "Received")
_GIFT_FOR = define_text("gift_for", "For %(name)s")
_BORN_ABOUT = define_text("entry_born_about", "Born about %(year)d")
_DIED_ABOUT = define_text("entry_died_about", "Died about %(year)d")
_MET_ABOUT = define_text("entry_met_about", "First met about %(year)d")
_FEELINGS = define_text("entry_feelings", "Feelings: %(feelings)s")
_KIND = define_text("entry_kind", "Kind: %(kind)s")
_THEY_CALLED = define_text("they_called", "They called")

#: Names of types and of other records that many records may refer to are cut, so that a hostile file cannot multiply
#: a long one.
MAX_SHARED = 200

_ABOUT = {"birthdate": _BORN_ABOUT, "deceased_date": _DIED_ABOUT, "first_met_date": _MET_ABOUT}


@dataclass(frozen=True, slots=True)
class NoteEntry:
    """An entry of a person's notes. `day` is as much of its day as is known, `at` when it was written in Monica."""

    text: str
    day: str = ""
    at: dt.datetime | None = None

    def __str__(self) -> str:
        return f"{self.day}: {self.text}" if self.day else self.text


@dataclass(frozen=True, slots=True)
class Names:
    """Names of what records refer to, by its id."""

    field_types: Mapping[str, Record]
    life_event_types: Mapping[str, Record]
    activity_types: Mapping[str, Record]
    contacts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Event:
    """A record that is an interaction; `at` is None if the file does not say when it was."""

    kind: InteractionKind
    at: dt.datetime | None
    title: Words
    lines: tuple[Words, ...]

    def to_entry(self) -> NoteEntry:
        return NoteEntry(_join(": ", self.title, _join("\n", *self.lines)), at=self.at)


def created_at(row: Record) -> str:
    return get_text(row, "created_at") or get_text(get_object(row, "properties"), "created_at")


def type_name(types: Mapping[str, Record], key: str) -> str:
    """The name of a type: its own, else its key in words (`new_job`). Also of a type that the record itself names."""
    found = types.get(key)
    if found is None:
        return "" if key.isdigit() or len(key) == 36 else humanize(key)
    keys = (get_text(found, name) for name in ("default_life_event_type_key", "translation_key"))
    return get_text(found, "name")[:MAX_SHARED] or humanize(next(filter(None, keys), ""))


def humanize(key: str) -> str:
    return key.replace("_", " ").strip().capitalize()[:MAX_SHARED]


def certain_day(row: Record) -> str:
    """As much of the day of a life event as is known: `2012`, `2012-03` or `2012-03-04`.

    The JSON export of some versions does not say that month or day are unknown. Monica then writes 1 January, or the
    first of the month: `has_day` decides.
    """
    day = get_text(row, "happened_at")[:10]
    if get_flag(row, "happened_at_month_unknown"):
        return day[:4]
    return day[:7] if get_flag(row, "happened_at_day_unknown") else day


def has_day(row: Record) -> bool:
    """Whether the day of a life event is certain. 1 January of an export without the flags may be the year alone."""
    is_certain = "happened_at_day_unknown" in row or get_text(row, "happened_at")[5:10] != "01-01"
    return is_certain and len(certain_day(row)) == len("2012-03-04")


def life_event_title(row: Record, names: Names) -> str:
    return get_text(row, "name") or type_name(names.life_event_types, get_text(row, "type")) or str(_LIFE_EVENT)


def life_event(row: Record, names: Names, *, is_dated: bool) -> NoteEntry | None:
    """The entry of a life event; None if its important date (`is_dated`) says everything."""
    kind = type_name(names.life_event_types, get_text(row, "type"))
    title = life_event_title(row, names)
    details = _join("\n", get_text(row, "note"), _structured(row.get("specific_information")))
    if is_dated and not details and kind in {"", title}:
        return None
    head = f"{title} ({kind})" if kind not in {"", title} else title
    return NoteEntry(_join("\n", head, details), certain_day(row))


def reminder(row: Record, *, is_dated: bool) -> NoteEntry | None:
    """The entry of a reminder; None if its important date (`is_dated`) says everything."""
    description, frequency = get_text(row, "description"), get_text(row, "frequency_type")
    is_off = get_flag(row, "inactive")
    # A date without a reminder has no interval, and 120 weeks are none of ours.
    rule = _join(" × ", get_text(row, "frequency_number"), frequency)
    if frequency == "one_time" or (is_dated and not is_off):
        rule = ""
    if is_dated and not description and not rule:
        return None
    title = _join(" ", get_text(row, "title"), rule and f"({rule})")
    head = (_REMINDER_OFF if is_off else _REMINDER).format(title=title)
    return NoteEntry(_join("\n", head, description), get_text(row, "initial_date")[:10])


def _debt(row: Record, names: Names) -> NoteEntry:
    head = (_YOU_OWE if get_text(row, "in_debt") == "yes" or get_flag(row, "in_debt") else _OWES_YOU).format(
        amount=_amount(row)
    )
    is_settled = get_text(row, "status") not in {"", "inprogress"}
    return NoteEntry(_join("\n", _join(", ", head, _SETTLED if is_settled else ""), get_text(row, "reason")))


def _task(row: Record, names: Names) -> NoteEntry:
    done = get_text(row, "completed_at")[:10]
    is_done = bool(done) or get_flag(row, "completed")
    head = (_TASK_DONE if is_done else _TASK).format(title=get_text(row, "title"))
    return NoteEntry(_join("\n", _join(" ", head, done and f"({done})"), get_text(row, "description")))


def _pet(row: Record, names: Names) -> NoteEntry:
    kind = get_text(row, "category")
    return NoteEntry(str(_PET.format(name=_join(" ", get_text(row, "name"), kind and f"({kind})"))))


def _document(row: Record, names: Names) -> NoteEntry:
    kind = get_text(row, "mime_type")[:MAX_SHARED]
    name = _join(" ", get_text(row, "original_filename")[:MAX_SHARED], kind and f"({kind})")
    return NoteEntry(str(_DOCUMENT.format(name=name)))


def _occupation(row: Record, names: Names) -> NoteEntry:
    shared = (get_text(row, name)[:MAX_SHARED] for name in ("company", "website"))
    name = _join(", ", get_text(row, "title"), *shared)
    years = "–".join(get_text(row, name)[:10] for name in ("start_date", "end_date")).strip()
    pay = _join(" / ", get_text(row, "salary"), get_text(row, "salary_unit"))
    head = _join(" ", _JOB.format(name=name), f"({years})" if years != "–" else "")
    return NoteEntry(_join("\n", head, get_text(row, "description"), pay))


def _gift_idea(row: Record, names: Names) -> NoteEntry:
    head = _GIFT_IDEA.format(name=get_text(row, "name"))
    return NoteEntry(_join("\n", head, *_gift_lines(row, names)), get_text(row, "date")[:10])


#: By type of record, the entry of each record; its day is when it was written, unless it has its own.
_ENTRIES: Mapping[str, Callable[[Record, Names], NoteEntry]] = {
    "debt": _debt,
    "task": _task,
    "pet": _pet,
    "document": _document,
    "occupation": _occupation,
    "gift": _gift_idea,
}
#: The types of records that belong to a person and arrive. All others are named with their number.
CONTACT_KINDS = frozenset(
    {
        *_ENTRIES,
        *("activity", "address", "call", "contact_field", "conversation", "life_event", "note", "photo", "reminder"),
    }
)


def is_idea(row: Record) -> bool:
    """Whether a gift is an idea only: nothing has happened between the two people."""
    return get_text(get_object(row, "properties"), "status") == "idea"


def entries_of(lists: Mapping[str, list[Any]], names: Names) -> Iterator[NoteEntry]:
    """Yield the entries of the records that always become entries. Documents are records here, not their ids."""
    for kind, build in _ENTRIES.items():
        for row in lists.get(kind, ()):
            if isinstance(row, dict) and (kind != "gift" or is_idea(row)):
                entry, written = build(get_object(row, "properties"), names), created_at(row)
                yield NoteEntry(entry.text, entry.day or written[:10], parse_datetime(written))


def about(name: str, special: Record) -> NoteEntry | None:
    """The entry of a special date that Monica guesses from an age: only its year says something."""
    year = get_text(special, "date")[:4]
    if get_flag(special, "is_year_unknown") or not (year.isascii() and year.isdigit()):
        return None
    return NoteEntry(str(_ABOUT[name].format(year=int(year))))


def _call(row: Record, names: Names) -> Event:
    title = _THEY_CALLED if get_flag(row, "contact_called") else ""
    lines = (get_text(row, "content"), _feelings(row))
    return Event(InteractionKind.CALL, parse_datetime(get_text(row, "called_at")), title, lines)


def _note(row: Record, names: Names) -> Event:
    is_favourite = get_flag(row, "is_favorite") or get_flag(row, "is_favorited")
    return Event(InteractionKind.NOTE, None, "★" if is_favourite else "", (get_text(row, "body"),))


def _conversation(row: Record, names: Names) -> Event:
    day, lines = get_text(row, "happened_at"), []
    for message in get_objects(row, "messages"):
        words = get_object(message, "properties") or message
        written = get_text(words, "written_at")[:10]
        arrow = "→" if get_flag(words, "written_by_me") else "←"
        lines.append(_join(" ", "" if written == day[:10] else written, arrow, get_text(words, "content")))
    channel = names.field_types.get(get_text(row, "contact_field_type"), {})
    return Event(InteractionKind.MESSAGE, parse_datetime(day), get_text(channel, "name")[:MAX_SHARED], tuple(lines))


def _gift(row: Record, names: Names) -> Event:
    status: Words = get_text(row, "status")
    status = {"offered": _GIFT_GIVEN, "given": _GIFT_GIVEN, "received": _GIFT_RECEIVED}.get(str(status), status)
    lines = (status, *_gift_lines(row, names))
    return Event(InteractionKind.GIFT, parse_datetime(get_text(row, "date")), get_text(row, "name"), lines)


def _gift_lines(row: Record, names: Names) -> tuple[Words, ...]:
    recipient = names.contacts.get(get_text(row, "recipient"), "")
    is_for = _GIFT_FOR.format(name=recipient) if recipient else ""
    return is_for, get_text(row, "comment"), get_text(row, "url"), _amount(row)


def activity(row: Record, names: Names) -> Event:
    properties = get_object(row, "properties")
    kind = type_name(names.activity_types, get_text(properties, "type"))
    lines = (
        get_text(properties, "description"),
        _KIND.format(kind=kind) if kind else "",
        _feelings(properties),
    )
    at = parse_datetime(get_text(properties, "happened_at")) or parse_datetime(created_at(row))
    return Event(InteractionKind.MEETING, at, get_text(properties, "summary"), lines)


_EVENTS: Mapping[str, Callable[[Record, Names], Event]] = {
    "call": _call,
    "note": _note,
    "conversation": _conversation,
    "gift": _gift,
}


def events_of(lists: Mapping[str, list[Any]], names: Names) -> Iterator[Event]:
    """Yield the interactions with one person, without activities, which several people share."""
    for kind, build in _EVENTS.items():
        for row in lists.get(kind, ()):
            if not isinstance(row, dict) or (kind == "gift" and is_idea(row)):
                continue
            event = build(get_object(row, "properties"), names)
            at = event.at or parse_datetime(created_at(row))
            if event.kind != InteractionKind.NOTE or any(event.lines):
                yield Event(event.kind, at, event.title, event.lines)


def _feelings(row: Record) -> Words:
    feelings = row.get("emotions")
    named = [
        get_text(feeling, "name") if isinstance(feeling, dict) else str(feeling)
        for feeling in (feelings if isinstance(feelings, list) else ())
        if isinstance(feeling, dict | str)
    ]
    return _FEELINGS.format(feelings=", ".join(filter(None, named))) if any(named) else ""


def _amount(row: Record) -> str:
    currency = row.get("currency")
    name = get_text(currency, "iso") if isinstance(currency, dict) else get_text(row, "currency")
    return _join(" ", get_text(row, "amount"), name[:MAX_SHARED])


def _structured(value: object) -> str:
    return value.strip() if isinstance(value, str) and value.strip() not in {"[]", "{}", "null"} else ""


def _join(between: str, *words: Words) -> str:
    return between.join(filter(None, map(str, words)))
