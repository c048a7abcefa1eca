"""The entries of a person's page, section by section. They are plain text: the template escapes them."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from django.utils.translation import gettext as _

from accounts.date_formats import day_in_digits, day_in_words
from accounts.models import User
from people.dates import schedule
from people.dates.recurrence import Recurrence, full_years
from people.dates.upcoming import age_in_words, days_until_in_words, event_rule, occasion
from people.mentions import has_ended, topic_of
from people.models import CustomFieldValue, ImportantDate, Interaction, Person
from people.names import display_name
from people.vocabularies import InteractionKind

_MAX_CARD_ENTRIES, _MAX_NOTE_LENGTH = 20, 120
_NON_DIALABLE = re.compile(r"[^0-9*#]")


@dataclass(frozen=True)
class Entry:
    """One line of a section: a label, a text or several `lines`, a link, and a note in small print."""

    label: str
    text: str
    href: str = ""
    note: str = ""
    lines: tuple[str, ...] = field(default=())


def contact_entries(person: Person) -> Iterator[Entry]:
    """Phone numbers, e-mails, web addresses, handles, addresses and places."""
    for phone in person.phone_numbers:
        yield Entry(_label(phone["type"]), phone["number"], _tel_url(phone["number"]))
    for email in person.emails:
        yield Entry(_label(email["type"]), email["email"], f"mailto:{quote(email['email'], safe='@')}")
    for url in person.urls:
        yield Entry(_label(url["type"]), url["url"], url["url"] if _is_web_address(url["url"]) else "")
    for handle in person.im_handles:
        yield Entry(_label(handle["protocol"]), handle["handle"])
    for address in person.addresses:
        yield Entry(_label(address["type"]), "", lines=tuple(_address_lines(address)))
    for place in person.locations:
        position = f"{place['latitude']}, {place['longitude']}"
        yield Entry(_label(place["type"]), place["label"] or position, note=position if place["label"] else "")


def date_entries(person: Person, viewer: User, dates: Iterable[ImportantDate], now: dt.datetime) -> list[Entry]:
    """Important dates, the anniversary and the next contact, in the order of their next occurrences."""
    calendar = schedule.load_calendar(viewer)
    today = calendar.today(now)
    days = [(row.type, row.title, row.date, row.year_unknown, event_rule(row, calendar)) for row in dates]
    if person.anniversary:
        rule = Recurrence(person.anniversary, leap_day=calendar.leap_day)
        days.append(("ANNIVERSARY", None, person.anniversary, False, rule))
    found = []
    for type_, title, day, year_unknown, rule in days:
        upcoming = rule.on_or_after(today)
        is_over = has_ended(topic_of(type_), person.deathday)
        years = None if year_unknown or is_over or upcoming is None else full_years(day, upcoming, calendar.leap_day)
        note = _next_time(upcoming, today, viewer, age_in_words(type_, years)) if upcoming else ""
        digits = day_in_digits(day, viewer, year_unknown=year_unknown)
        found.append((upcoming or dt.date.max, Entry(occasion(type_, title), digits, note=note)))
    if person.contact_due_on:
        note = _next_time(person.contact_due_on, today, viewer, "")
        digits = day_in_digits(person.contact_due_on, viewer)
        found.append((person.contact_due_on, Entry(_("Get in touch"), digits, note=note)))
    return [entry for _day, entry in sorted(found, key=lambda pair: (pair[0], pair[1].label))]


def detail_entries(
    person: Person, viewer: User, shown_name: str, values: Iterable[CustomFieldValue]
) -> Iterator[Entry]:
    """The rest of the name, other details, and custom fields."""
    full_name = display_name(person.name_parts._replace(display_name_override=None), order=viewer.name_order)
    if full_name != shown_name:
        yield Entry(_("Full name"), full_name)
    if person.gender:
        yield Entry(_("Gender"), person.gender)
    if phonetic := " ".join(filter(None, (person.phonetic_name, person.phonetic_surname))):
        yield Entry(_("Spoken"), phonetic)
    if person.deathday:
        yield Entry(_("Died"), day_in_digits(person.deathday, viewer))
    if person.last_contact:
        yield Entry(_("Last contact"), day_in_digits(person.last_contact, viewer))
    for value in values:
        yield Entry(value.template.name, _format_value(value.value))
    for custom in person.custom_fields:
        yield Entry(custom["key"], custom["value"])


def interaction_entries(interactions: Iterable[Interaction], viewer: User) -> list[Entry]:
    """Interactions, each with its day, kind, title and the beginning of its notes."""
    kinds = {
        InteractionKind.CALL: _("Call"),
        InteractionKind.MESSAGE: _("Message"),
        InteractionKind.EMAIL: _("E-mail"),
        InteractionKind.MEETING: _("Meeting"),
        InteractionKind.GIFT: _("Gift"),
        InteractionKind.NOTE: _("Note"),
        InteractionKind.OTHER: _("In touch"),
    }
    calendar = schedule.calendar_from_user(viewer)
    return [
        Entry(
            day_in_digits(calendar.today(row.at), viewer),
            row.title or kinds[InteractionKind(row.kind)],
            note=" · ".join(filter(None, (row.title and kinds[InteractionKind(row.kind)], _shorten(row.notes)))),
        )
        for row in interactions
    ]


def card_entries(person: Person) -> Iterator[Entry]:
    """Properties of the person's vCard for which there is no field."""
    for entry in person.more[:_MAX_CARD_ENTRIES]:
        href = entry["value"] if _is_web_address(entry["value"]) else ""
        yield Entry(entry["label"] or entry["name"], entry["value"], href, note=entry["name"] if entry["label"] else "")


def _shorten(notes: str | None) -> str:
    text = " ".join((notes or "").split())
    return text if len(text) <= _MAX_NOTE_LENGTH else f"{text[:_MAX_NOTE_LENGTH].rstrip()}…"


def _label(type_: str) -> str:
    """The usual types in the active language, others as they were typed."""
    names = {"home": _("Home"), "work": _("Work"), "mobile": _("Mobile"), "other": _("Other")}
    return names.get(type_.lower()) or type_


def _tel_url(number: str) -> str:
    """The tel: URL (RFC 3966) of a number; empty if it has too few digits to be dialled."""
    digits = _NON_DIALABLE.sub("", number)
    prefix = "+" if number.lstrip(" (").startswith("+") else ""
    return f"tel:{prefix}{digits}" if len(digits) >= 3 else ""


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    # Other schemes are not linked: `javascript:` would run as this page.
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def _address_lines(address: dict[str, str | None]) -> Iterator[str]:
    town = " ".join(filter(None, (address["postalCode"], address["locality"])))
    for line in (address["streetLine1"], address["streetLine2"], town, address["region"], address["country"]):
        if line:
            yield line


def _next_time(day: dt.date, today: dt.date, viewer: User, age: str) -> str:
    return " · ".join(filter(None, (day_in_words(day, viewer), days_until_in_words((day - today).days), age)))


def _format_value(value: str | float | bool) -> str:
    if isinstance(value, bool):
        return _("Yes") if value else _("No")
    return str(value)
