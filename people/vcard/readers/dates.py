"""Readers of dates: BDAY, ANNIVERSARY and its X- forms, DEATHDATE, X-ABDATE with a label, X-ANDROID-CUSTOM."""

from collections.abc import Iterator

from contacts_project.kernel.texts import Text, define_text
from people.vcard import values
from people.vcard.card import CardDate
from people.vcard.content_lines import ContentLine
from people.vcard.limits import date_text, field_text
from people.vcard.readers.context import Context, FieldValue, Reader, single_line_text

_NO_DATE = define_text("card_date_unreadable", "%(field)s: “%(value)s” is no date; the line is kept as it is")

_AMBIGUOUS = define_text(
    "card_date_ambiguous", "%(field)s: “%(value)s” may be %(first)s or %(second)s; the line is kept as it is"
)

_DATE_TYPES = {
    "anniversary": "ANNIVERSARY",
    "birthday": "BIRTHDAY",
    "nameday": "NAMEDAY",
    "memorial": "MEMORIAL",
}


def _read_date(line: ContentLine, context: Context, kind: str | None, title: str | None) -> Iterator[FieldValue]:
    parsed = values.parse_any_date(values.text(line), line.first_param("X-APPLE-OMIT-YEAR"))
    if parsed is None:
        what = title or date_text(kind)
        if not _tell_ambiguous(values.text(line), what, context):
            context.warnings.append(_NO_DATE.format(field=what, value=single_line_text(line)[:40]))
        return
    yield "important_dates", CardDate(date=parsed[0], type=kind, title=title, year_unknown=parsed[1])


def _tell_ambiguous(value: str, what: Text | str, context: Context) -> bool:
    """Whether day and month of the date may be swapped. Then the two days are in a remark, and neither is taken."""
    readings = values.date_readings(value)
    if len(readings) < 2:
        return False
    first, second = (f"{day:--%m-%d}" if unknown else day.isoformat() for day, unknown in readings)
    context.warnings.append(_AMBIGUOUS.format(field=what, value=value.strip()[:40], first=first, second=second))
    return True


def _read_birthday(line: ContentLine, context: Context) -> Iterator[FieldValue]:
    yield from _read_date(line, context, "BIRTHDAY", context.label(line))


def _read_anniversary(line: ContentLine, context: Context) -> Iterator[FieldValue]:
    """The field `anniversary` needs a year; a date without one becomes an important date."""
    parsed = values.parse_any_date(values.text(line), line.first_param("X-APPLE-OMIT-YEAR"))
    if parsed and not parsed[1]:
        yield "anniversary", parsed[0]
    else:
        yield from _read_date(line, context, "ANNIVERSARY", None)


def _read_labelled_date(line: ContentLine, context: Context) -> Iterator[FieldValue]:
    """X-ABDATE: X-TYPE (ours) or a predefined label of Apple gives the type; any other label becomes the title."""
    label = context.label(line)
    kind = (line.first_param("X-TYPE") or "").strip().upper()
    if kind not in _DATE_TYPES.values():
        kind = _DATE_TYPES.get(label or "", "")
    title = None if kind and (label or "").lower() in {"", kind.lower()} else label
    yield from _read_date(line, context, kind or None, title if kind else title or "Other")


def _full_date_reader(name: str) -> Reader:
    """A reader of a date with a year. A less exact value, such as a DEATHDATE of "circa 1800", sets no field."""

    def read(line: ContentLine, context: Context) -> Iterator[FieldValue]:
        parsed = values.parse_any_date(values.text(line), line.first_param("X-APPLE-OMIT-YEAR"))
        if parsed and not parsed[1]:
            yield name, parsed[0]
        else:
            _tell_ambiguous(values.text(line), field_text(name), context)

    return read


_ANDROID_ITEM = "vnd.android.cursor.item/"
_ANDROID_EVENTS = {"1": "ANNIVERSARY", "3": "BIRTHDAY"}


def _read_android_row(line: ContentLine, context: Context) -> Iterator[FieldValue]:
    """X-ANDROID-CUSTOM: kind, value, type, label, ... Nicknames and events have a field; other kinds are only kept."""
    kind, value, number, label, *_ = [*values.parse_components(values.structured(line.value)), "", "", ""]
    if kind == f"{_ANDROID_ITEM}nickname" and value:
        yield "nickname", values.single_line(value)
    elif kind == f"{_ANDROID_ITEM}contact_event":
        event = _ANDROID_EVENTS.get(number)
        parsed = values.parse_any_date(value)
        if parsed is None:
            _tell_ambiguous(value, date_text(event), context)
            return
        title = None if event else values.single_line(label) or "Other"
        yield "important_dates", CardDate(date=parsed[0], type=event, title=title, year_unknown=parsed[1])


READERS: dict[str, Reader] = {
    "BDAY": _read_birthday,
    "ANNIVERSARY": _read_anniversary,
    "X-ANNIVERSARY": _read_anniversary,
    "X-MS-ANNIVERSARY": _read_anniversary,
    "X-EVOLUTION-ANNIVERSARY": _read_anniversary,
    "X-KADDRESSBOOK-X-ANNIVERSARY": _read_anniversary,
    "X-ABDATE": _read_labelled_date,
    "DEATHDATE": _full_date_reader("deathday"),
    "X-DEATHDATE": _full_date_reader("deathday"),
    "X-LAST-CONTACT": _full_date_reader("last_contact"),
    "X-ANDROID-CUSTOM": _read_android_row,
}
