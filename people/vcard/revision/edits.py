"""A line that says another entry now: only the part of its value that was edited changes.

Parameters, group, spelling, and the components and times that no field shows stay as they are.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date

from people.vcard import values
from people.vcard.builder import LineBuilder, quoted_handle, text_of
from people.vcard.card import CardDate, Entry
from people.vcard.content_lines import ContentLine
from people.vcard.readers.contact import X_PROTOCOLS, street_parts

Edit = Callable[[ContentLine, Entry, Entry, LineBuilder], ContentLine | None]

_TEL_URI = re.compile(r"([0-9+().-]{1,60})(?: ext\. ([0-9]{1,20}))?", re.ASCII)
_DATE = re.compile(r"\s*(--[0-9]{2}-?[0-9]{2}|[0-9]{4}-?[0-9]{2}-?[0-9]{2})", re.ASCII)


def edited_entry(line: ContentLine, was: Entry, now: Entry, builder: LineBuilder) -> ContentLine | None:
    """The line with the value of `now`; None where it has no way to say that. Types and labels are left alone."""
    if all(now.get(key) == value for key, value in was.items() if key != "type"):
        return line
    edit = _EDITS.get(line.name)
    return edit(line, was, now, builder) if edit else None


def edited_date(line: ContentLine, now: CardDate, builder: LineBuilder) -> ContentLine | None:
    """The line with the day of `now` in the form that its own has; a time behind it stays."""
    if line.name == "X-ANDROID-CUSTOM":
        kind, _, *rest = values.split(line.value, ";")
        params, value = LineBuilder("4.0").date(now.date, year_unknown=now.year_unknown)
        return line.with_value(";".join((kind, value, *rest)))
    found = _DATE.match(line.value)
    if not found:
        return None
    old, time = found.group(1), line.value[found.end() :]
    dash = "-" if "-" in old.lstrip("-") else ""
    if now.year_unknown and old.startswith("--"):
        return line.with_value(f"--{now.date:%m}{dash}{now.date:%d}{time}")
    if now.year_unknown or old.startswith("--"):
        params, value = builder.date(now.date, year_unknown=now.year_unknown)
        return line.with_params((*line.without_params("X-APPLE-OMIT-YEAR").params, *params)).with_value(value)
    return line.without_params("X-APPLE-OMIT-YEAR").with_value(f"{_iso(now.date, dash)}{time}")


def _iso(day: date, dash: str) -> str:
    return f"{day:%Y}{dash}{day:%m}{dash}{day:%d}"


def _telephone(line: ContentLine, was: Entry, now: Entry, builder: LineBuilder) -> ContentLine:
    number = text_of(now, "number" if "number" in now else "value")
    if line.value[:4].lower() != "tel:":
        return line.with_value(values.escape(number))
    if found := _TEL_URI.fullmatch(number):
        extension = f";ext={found.group(2)}" if found.group(2) else ""
        return line.with_value(f"{line.value[:4]}{found.group(1)}{extension}")
    return line.without_params("VALUE").with_value(values.escape(number))


def _email(line: ContentLine, was: Entry, now: Entry, builder: LineBuilder) -> ContentLine:
    address = text_of(now, "email" if "email" in now else "value")
    scheme = line.value[:7] if line.value[:7].lower() == "mailto:" else ""
    return line.with_value(scheme + values.escape(address))


def _url(line: ContentLine, was: Entry, now: Entry, builder: LineBuilder) -> ContentLine:
    return line.with_value(values.escape_uri(text_of(now, "url" if "url" in now else "value")))


def _messenger(line: ContentLine, was: Entry, now: Entry, builder: LineBuilder) -> ContentLine | None:
    """IMPP with a scheme of the same service; X-AIM and the like say their service by their name."""
    if was.get("protocol") != now.get("protocol"):
        return None
    if line.name != "IMPP":
        return line.with_value(values.escape(text_of(now, "handle")))
    scheme, colon, _ = line.value.partition(":")
    return line.with_value(f"{scheme}:{quoted_handle(now)}" if colon else values.escape(text_of(now, "handle")))


def _location(line: ContentLine, was: Entry, now: Entry, builder: LineBuilder) -> ContentLine:
    if was.get("label") != now.get("label"):
        label = text_of(now, "label")
        kept = line.without_params("X-LABEL").params
        line = line.with_params((*kept, ("X-LABEL", (label,))) if label else kept)
    is_uri = line.value.strip()[:4].lower() == "geo:"
    return line.with_value(LineBuilder("4.0" if is_uri else "3.0").coordinates(now))


def _address(line: ContentLine, was: Entry, now: Entry, builder: LineBuilder) -> ContentLine:
    pieces = values.split(line.value, ";")
    pieces += [""] * (7 - len(pieces))
    for place, key in ((3, "locality"), (4, "region"), (5, "postalCode"), (6, "country")):
        if was.get(key) != now.get(key):
            pieces[place] = values.escape(text_of(now, key))
    if any(was.get(key) != now.get(key) for key in ("streetLine1", "streetLine2")):
        pieces[:3] = _street(pieces, was, now)
    return line.with_value(";".join(pieces))


def _street(pieces: list[str], was: Entry, now: Entry) -> list[str]:
    """PO box, extended address, street. What the second line says of the former two stays where it is."""
    street, extended, box = street_parts(pieces)
    first, second = text_of(now, "streetLine1"), text_of(now, "streetLine2")
    if not street:
        part = extended or box
        is_same = was.get("streetLine2") == now.get("streetLine2")
        if part and is_same:
            joined = values.escape("\n".join([first, *part[1:]]))
            return [pieces[0], joined, pieces[2]] if extended else [joined, pieces[1], pieces[2]]
        return ["", "", values.escape("\n".join(filter(None, (first, second))) if first else f"\n{second}")]
    if was.get("streetLine2") == now.get("streetLine2"):
        return [pieces[0], pieces[1], values.escape("\n".join([first, *street[1:]]))]
    behind = ", ".join(filter(None, (*extended, *box)))
    if behind and (second == behind or second.endswith(f", {behind}")):
        second = second[: -len(behind)].removesuffix(", ")
    else:
        pieces = ["", ""]
    return [pieces[0], pieces[1], values.escape(f"{first}\n{second}" if second else first)]


def _custom_field(line: ContentLine, was: Entry, now: Entry, builder: LineBuilder) -> ContentLine:
    return line.with_value(builder.entry("custom_fields", now)[0].value)


_EDITS: Mapping[str, Edit] = {
    "TEL": _telephone,
    "EMAIL": _email,
    "URL": _url,
    "IMPP": _messenger,
    **dict.fromkeys(X_PROTOCOLS, _messenger),
    "GEO": _location,
    "ADR": _address,
    "X-CUSTOM-FIELD": _custom_field,
}
