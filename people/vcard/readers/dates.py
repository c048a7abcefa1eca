"""Reads the dates of a card: BDAY, ANNIVERSARY and its X- forms, X-ABDATE with a label, and Android's own rows."""

from collections.abc import Iterator

from people.vcard import values
from people.vcard.card import CardDate
from people.vcard.content_lines import ContentLine
from people.vcard.readers.context import Context, Reader, Statement, single

_DATE_TYPES = {
    "anniversary": "ANNIVERSARY",
    "birthday": "BIRTHDAY",
    "nameday": "NAMEDAY",
    "memorial": "MEMORIAL",
}


def _date(line: ContentLine, context: Context, kind: str | None, title: str | None) -> Iterator[Statement]:
    parsed = values.parse_date(values.text(line), line.first_param("X-APPLE-OMIT-YEAR"))
    if parsed is None:
        what = title or (kind or "date").lower()
        context.warnings.append(f"{what}: “{single(line)[:40]}” is no date; the line is kept as it is")
        return
    yield "important_dates", CardDate(date=parsed[0], type=kind, title=title, year_unknown=parsed[1])


def _birthday(line: ContentLine, context: Context) -> Iterator[Statement]:
    yield from _date(line, context, "BIRTHDAY", context.label(line))


def _anniversary(line: ContentLine, context: Context) -> Iterator[Statement]:
    """A person's `anniversary` is a whole date; one without a year can only be an important date."""
    parsed = values.parse_date(values.text(line), line.first_param("X-APPLE-OMIT-YEAR"))
    if parsed and not parsed[1]:
        yield "anniversary", parsed[0]
    else:
        yield from _date(line, context, "ANNIVERSARY", None)


def _labelled_date(line: ContentLine, context: Context) -> Iterator[Statement]:
    """X-ABDATE: a predefined type by X-TYPE (ours) or by Apple's own label, else the label is the title."""
    label = context.label(line)
    kind = (line.first_param("X-TYPE") or "").strip().upper()
    if kind not in _DATE_TYPES.values():
        kind = _DATE_TYPES.get(label or "", "")
    title = None if kind and (label or "").lower() in {"", kind.lower()} else label
    yield from _date(line, context, kind or None, title if kind else title or "Other")


def _whole_day(name: str) -> Reader:
    """A day with its year; what says less, such as DEATHDATE's "circa 1800", is held by no field."""

    def read(line: ContentLine, context: Context) -> Iterator[Statement]:
        parsed = values.parse_date(values.text(line), line.first_param("X-APPLE-OMIT-YEAR"))
        if parsed and not parsed[1]:
            yield name, parsed[0]

    return read


_ANDROID = "vnd.android.cursor.item/"
_ANDROID_EVENTS = {"1": "ANNIVERSARY", "3": "BIRTHDAY"}


def _android(line: ContentLine, context: Context) -> Iterator[Statement]:
    """Android's own rows: kind, value, type, label ... of which nickname and event are a person's too."""
    kind, value, number, label, *_ = [*values.components(line.value), "", "", ""]
    if kind == f"{_ANDROID}nickname" and value:
        yield "nickname", values.single_line(value)
    elif kind == f"{_ANDROID}contact_event" and (parsed := values.parse_date(value)):
        event = _ANDROID_EVENTS.get(number)
        title = None if event else values.single_line(label) or "Other"
        yield "important_dates", CardDate(date=parsed[0], type=event, title=title, year_unknown=parsed[1])


READERS: dict[str, Reader] = {
    "BDAY": _birthday,
    "ANNIVERSARY": _anniversary,
    "X-ANNIVERSARY": _anniversary,
    "X-MS-ANNIVERSARY": _anniversary,
    "X-EVOLUTION-ANNIVERSARY": _anniversary,
    "X-KADDRESSBOOK-X-ANNIVERSARY": _anniversary,
    "X-ABDATE": _labelled_date,
    "DEATHDATE": _whole_day("deathday"),
    "X-DEATHDATE": _whole_day("deathday"),
    "X-LAST-CONTACT": _whole_day("last_contact"),
    "X-ANDROID-CUSTOM": _android,
}
