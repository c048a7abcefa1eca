"""Edits the value of a line whose entry was edited.

Only the edited part changes. Parameters, group, spelling, and components or times that no field shows stay as they are.
"""

import re
from collections.abc import Callable, Mapping

from people.vcard import values
from people.vcard.builder import LineBuilder, entry_text, quote_handle
from people.vcard.card import CardDate, Entry
from people.vcard.content_lines import ContentLine
from people.vcard.readers.contact import PROTOCOL_BY_X_PROPERTY, street_parts

#: Parameters of a property that say its value again: RFC 6350, 6.3.1 and 5.8, RFC 8605, Evolution.
COPY_PARAMS: Mapping[str, tuple[str, ...]] = {"ADR": ("LABEL", "GEO", "TZ", "CC"), "TEL": ("X-EVOLUTION-E164",)}

Editor = Callable[[ContentLine, Entry, Entry, LineBuilder], ContentLine | None]

# A number as the reader of TEL shows a tel: URI.
_TEL_URI = re.compile(r"([0-9+().-]{1,60})(?: ext\. ([0-9]{1,20}))?", re.ASCII)
_DATE = re.compile(r"\s*(--[0-9]{2}-?[0-9]{2}|[0-9]{4}-?[0-9]{2}-?[0-9]{2})", re.ASCII)


def edit_entry(line: ContentLine, old: Entry, new: Entry, builder: LineBuilder) -> ContentLine | None:
    """The line with the value of `new`; None if its property cannot contain it. Type and label do not change."""
    if all(new.get(key) == value for key, value in old.items() if key != "type"):
        return line
    edit = _EDITORS.get(line.name)
    return edit(line.without_params(*COPY_PARAMS.get(line.name, ())), old, new, builder) if edit else None


def edit_date(line: ContentLine, new: CardDate, builder: LineBuilder) -> ContentLine | None:
    """The line with the date of `new`, in the format of the old date. A time after it stays.

    A date in a spelling that no version allows is replaced as a whole. None if the line contains no date.
    """
    if line.name == "X-ANDROID-CUSTOM":
        kind, _, *rest = values.split(values.structured(line.value), ";")
        params, value = LineBuilder("4.0").date_value(new.date, year_unknown=new.year_unknown)
        return line.with_value(";".join((kind, value, *rest)))
    found = _DATE.match(line.value)
    if not found:
        if not values.date_readings(values.text(line)):
            return None
        params, value = builder.date_value(new.date, year_unknown=new.year_unknown)
        return line.with_params((*line.without_params("X-APPLE-OMIT-YEAR").params, *params)).with_value(value)
    old, time = found.group(1), line.value[found.end() :]
    # Keep the basic or the extended format.
    dash = "-" if "-" in old.lstrip("-") else ""
    if new.year_unknown and old.startswith("--"):
        return line.with_value(f"--{new.date:%m}{dash}{new.date:%d}{time}")
    if new.year_unknown or old.startswith("--"):
        params, value = builder.date_value(new.date, year_unknown=new.year_unknown)
        return line.with_params((*line.without_params("X-APPLE-OMIT-YEAR").params, *params)).with_value(value)
    iso_date = f"{new.date:%Y}{dash}{new.date:%m}{dash}{new.date:%d}"
    return line.without_params("X-APPLE-OMIT-YEAR").with_value(f"{iso_date}{time}")


def _edit_tel(line: ContentLine, old: Entry, new: Entry, builder: LineBuilder) -> ContentLine:
    number = entry_text(new, "number" if "number" in new else "value")
    if line.value[:4].lower() != "tel:":
        return line.with_value(values.escape(number))
    if found := _TEL_URI.fullmatch(number):
        extension = f";ext={found.group(2)}" if found.group(2) else ""
        return line.with_value(f"{line.value[:4]}{found.group(1)}{extension}")
    return line.without_params("VALUE").with_value(values.escape(number))


def _edit_email(line: ContentLine, old: Entry, new: Entry, builder: LineBuilder) -> ContentLine:
    address = entry_text(new, "email" if "email" in new else "value")
    scheme = line.value[:7] if line.value[:7].lower() == "mailto:" else ""
    return line.with_value(scheme + values.escape(address))


def _edit_url(line: ContentLine, old: Entry, new: Entry, builder: LineBuilder) -> ContentLine:
    return line.with_value(values.escape_uri(entry_text(new, "url" if "url" in new else "value")))


def _edit_messenger(line: ContentLine, old: Entry, new: Entry, builder: LineBuilder) -> ContentLine | None:
    """Edit the handle. A change of the protocol needs a new line: it is the scheme of IMPP or the name of X-AIM."""
    if old.get("protocol") != new.get("protocol"):
        return None
    if line.name != "IMPP":
        return line.with_value(values.escape(entry_text(new, "handle")))
    scheme, colon, _ = line.value.partition(":")
    return line.with_value(f"{scheme}:{quote_handle(new)}" if colon else values.escape(entry_text(new, "handle")))


def _edit_geo(line: ContentLine, old: Entry, new: Entry, builder: LineBuilder) -> ContentLine:
    if old.get("label") != new.get("label"):
        label = entry_text(new, "label")
        kept = line.without_params("X-LABEL").params
        line = line.with_params((*kept, ("X-LABEL", (label,))) if label else kept)
    is_uri = line.value.strip()[:4].lower() == "geo:"
    return line.with_value(LineBuilder("4.0" if is_uri else "3.0").geo_value(new))


def _edit_address(line: ContentLine, old: Entry, new: Entry, builder: LineBuilder) -> ContentLine:
    pieces = values.split(line.value, ";")
    pieces += [""] * (7 - len(pieces))
    for index, key in ((3, "locality"), (4, "region"), (5, "postalCode"), (6, "country")):
        if old.get(key) != new.get(key):
            pieces[index] = values.escape(entry_text(new, key))
    if any(old.get(key) != new.get(key) for key in ("streetLine1", "streetLine2")):
        pieces[:3] = _edit_street(pieces, old, new)
    # What stands behind the country says the address again: Google as one text, RFC 9554 in smaller parts.
    return line.with_value(";".join(pieces[:7]))


def _edit_street(pieces: list[str], old: Entry, new: Entry) -> list[str]:
    """The components PO box, extended address and street.

    `streetLine2` shows the former two after the street; while it still ends with them, they stay in their components.
    """
    street, extended, box = street_parts(pieces)
    first, second = entry_text(new, "streetLine1"), entry_text(new, "streetLine2")
    if not street:
        part = extended or box
        is_same = old.get("streetLine2") == new.get("streetLine2")
        if part and is_same:
            joined = values.escape("\n".join([first, *part[1:]]))
            return [pieces[0], joined, pieces[2]] if extended else [joined, pieces[1], pieces[2]]
        return ["", "", values.escape("\n".join(filter(None, (first, second))) if first else f"\n{second}")]
    if old.get("streetLine2") == new.get("streetLine2"):
        return [pieces[0], pieces[1], values.escape("\n".join([first, *street[1:]]))]
    suffix = ", ".join(filter(None, (*extended, *box)))
    if suffix and (second == suffix or second.endswith(f", {suffix}")):
        second = second[: -len(suffix)].removesuffix(", ")
    else:
        # The user has edited the shown PO box or extended address. The whole text goes into the street.
        pieces = ["", ""]
    return [pieces[0], pieces[1], values.escape(f"{first}\n{second}" if second else first)]


def _edit_custom_field(line: ContentLine, old: Entry, new: Entry, builder: LineBuilder) -> ContentLine:
    return line.with_value(builder.entry_lines("custom_fields", new)[0].value)


_EDITORS: Mapping[str, Editor] = {
    "TEL": _edit_tel,
    "EMAIL": _edit_email,
    "URL": _edit_url,
    "IMPP": _edit_messenger,
    **dict.fromkeys(PROTOCOL_BY_X_PROPERTY, _edit_messenger),
    "GEO": _edit_geo,
    "ADR": _edit_address,
    "X-CUSTOM-FIELD": _edit_custom_field,
}
