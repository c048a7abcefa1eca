"""Updates the lines of entries of multi-value fields and of dates: edits, removes or adds them.

Of the value of an edited entry only the edited part changes. Parameters, group, spelling, and components or times that
no field shows stay as they are.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, TypeVar

from contacts_project.kernel.json import JsonMapping
from people.vcard import values
from people.vcard.builder import LineBuilder, entry_text, quote_handle
from people.vcard.card import ENTRY_FIELDS, LIST_FIELDS, CardDate, Entry
from people.vcard.content_lines import ContentLine
from people.vcard.labels import HIDDEN_TYPES, write_label, write_type
from people.vcard.limits import CardLimits
from people.vcard.line_updates.state import LineUpdate
from people.vcard.readers import PROTOCOL_BY_X_PROPERTY, ReaderContext, read_line, street_parts

# Parameters that the builder generates together with the value.
_GENERATED_PARAMS = frozenset({"TYPE", "VALUE", "ENCODING", "X-SERVICE-TYPE", "X-LABEL", "X-TYPE", "X-APPLE-OMIT-YEAR"})
Found = TypeVar("Found")
#: Parameters of a property that say its value again: RFC 6350, 6.3.1 and 5.8, RFC 8605, Evolution.
COPY_PARAMS: Mapping[str, tuple[str, ...]] = {"ADR": ("LABEL", "GEO", "TZ", "CC"), "TEL": ("X-EVOLUTION-E164",)}
Editor = Callable[[ContentLine, Entry, Entry, LineBuilder], ContentLine | None]
# A number as the reader of TEL shows a tel: URI.
_TEL_URI = re.compile(r"([0-9+().-]{1,60})(?: ext\. ([0-9]{1,20}))?", re.ASCII)
_DATE = re.compile(r"\s*(--[0-9]{2}-?[0-9]{2}|[0-9]{4}-?[0-9]{2}-?[0-9]{2})", re.ASCII)


def update_entries(update: LineUpdate, remaining: Mapping[str, list[Any]]) -> None:
    """Update the lines of entries. `remaining` are the entries by field; those without a line get a new one.

    Entries that have a line are removed from `remaining`.
    """
    removed: list[tuple[int, str]] = []
    for index, kept in enumerate(update.target.lines):
        field = next((field for field in kept.fields if field in remaining), None)
        old, new = update.parsed.lines[index].entry, kept.entry
        # A line with the organization holds the department, which update_fields has handled.
        if field is None or old is None or "organization" in kept.fields:
            continue
        if new is None:
            removed.append((index, field))
        else:
            _remove_if_present(remaining[field], new)
            if _becomes_first_of_type(update, index, new) or (new != old and not _edit_line(update, index, old, new)):
                _rebuild_line(update, index, field, new)
    for index, field in removed:
        # An equal entry may have been added again. It takes over the line.
        if not _remove_if_present(remaining[field], update.parsed.lines[index].entry):
            update.replacements[index] = []
    for field in LIST_FIELDS:
        for entry in remaining[field]:
            update.added += update.builder.entry_lines(field, entry)
    for day in remaining["important_dates"]:
        update.added += update.builder.important_date_lines(day)


def _becomes_first_of_type(update: LineUpdate, index: int, new: Entry | CardDate) -> bool:
    """Whether the line would now be read as a date of a predefined type, since the first one of that type is gone."""
    if not isinstance(new, CardDate) or new.type:
        return False
    line = update.lines[index]
    parsed = _read_entry(line, update.label_of(line))
    kind = parsed and parsed["type"]
    return bool(kind) and all(day.type != kind for day in update.target.important_dates)


def _remove_if_present(remaining: list[Found], entry: Found) -> bool:
    if entry not in remaining:
        return False
    remaining.remove(entry)
    return True


def _edit_line(update: LineUpdate, index: int, old: Entry | CardDate, new: Entry | CardDate) -> bool:
    """Edit only what differs. Returns False, without a change, if the edited line would not be read as `new`."""
    line = update.lines[index]
    edited = _edit_value(update, line, old, new)
    if edited is None:
        return False
    edited, label = _edit_type(update, edited, old, new)
    before = _read_entry(line, update.label_of(line))
    after = _read_entry(edited, label)
    changes = {key: value for key, value in _as_mapping(new).items() if _as_mapping(old).get(key) != value}
    if not before or after != {**before, **changes}:
        return False
    update.replacements[index] = _apply_label(update, edited, label)
    return True


def _as_mapping(entry: Entry | CardDate) -> JsonMapping:
    return asdict(entry) if isinstance(entry, CardDate) else entry


def _edit_value(
    update: LineUpdate, line: ContentLine, old: Entry | CardDate, new: Entry | CardDate
) -> ContentLine | None:
    if isinstance(old, CardDate) and isinstance(new, CardDate):
        is_same = (old.date, old.year_unknown) == (new.date, new.year_unknown)
        return line if is_same else edit_date(line, new, update.builder)
    if isinstance(old, CardDate) or isinstance(new, CardDate):
        return None
    return edit_entry(line, old, new, update.builder)


def _edit_type(
    update: LineUpdate, line: ContentLine, old: Entry | CardDate, new: Entry | CardDate
) -> tuple[ContentLine, str | None]:
    """The line with the type of `new`, and the label that this type needs."""
    label = update.label_of(line)
    if isinstance(new, CardDate) and isinstance(old, CardDate):
        if (old.type, old.title) == (new.type, new.title):
            return line, label
        kept = line.without_params("X-TYPE")
        if new.type and line.name == "X-ABDATE":
            kept = kept.with_params((*kept.params, ("X-TYPE", (new.type,))))
        return kept, new.title
    kind = str(_as_mapping(new).get("type") or "")
    if kind == str(_as_mapping(old).get("type") or ""):
        return line, label
    words, new_label = write_type(kind)
    if label and (new_label or any(word not in HIDDEN_TYPES for word in line.types)):
        return line, kind
    types = tuple(
        (name, texts if name != "TYPE" else tuple(text for text in texts if _is_hidden(text)))
        for name, texts in line.params
    )
    params = tuple((name, texts) for name, texts in types if texts)
    return line.with_params((*params, ("TYPE", update.builder.type_values(words))) if words else params), new_label


def _is_hidden(text: str) -> bool:
    return all(word.strip().lower() in HIDDEN_TYPES for word in text.split(","))


def _read_entry(line: ContentLine, label: str | None) -> JsonMapping | None:
    """The entry or date that is read from the line alone."""
    context = ReaderContext(labels={line.group.lower() if line.group else "": label} if label else {})
    # A label is read from an item group only.
    if label and not line.group:
        line = line.in_group("x")
        context.labels = {"x": label}
    for field, value in read_line(line, context):
        if isinstance(value, CardDate):
            return asdict(value)
        if field in ENTRY_FIELDS and isinstance(value, Mapping):
            return CardLimits([]).limit_entry(field, value)[1]
    return None


def _apply_label(update: LineUpdate, line: ContentLine, label: str | None) -> list[ContentLine]:
    """The line with `label`. Changes the label of its item group, or moves the line out of a group that it shares."""
    if label == update.label_of(line):
        return [line]
    index = update.label_index(line)
    if update.is_shared(line):
        return update.builder.with_label(line.in_group(None), label)
    if index is None:
        return update.builder.with_label(line, label)
    text = update.lines[index].with_value(values.escape(write_label(label))) if label else None
    update.replacements[index] = [text] if text else []
    return [line]


def _rebuild_line(update: LineUpdate, index: int, field: str, new: Entry | CardDate) -> None:
    """Build a new line for an entry that cannot be written by an edit, with the old parameters that no field shows."""
    old = update.lines[index]
    is_date = isinstance(new, CardDate)
    first, *label = update.builder.important_date_lines(new) if is_date else update.builder.entry_lines(field, new)  # type: ignore[arg-type]  # by its type
    hidden_types = tuple(word for text in old.param("TYPE") for word in text.split(",") if _is_hidden(word))
    # A name with "(" is Android's form of a label, which belongs to the old type.
    left_out = {*_GENERATED_PARAMS, *COPY_PARAMS.get(old.name, ())}
    params = tuple((name, texts) for name, texts in old.params if name not in left_out and "(" not in name)
    first = first.with_params((*first.params, *((("TYPE", hidden_types),) if hidden_types else ()), *params))
    if old.group and not update.is_shared(old):
        if (label_index := update.label_index(old)) is not None:
            update.replacements[label_index] = []
        first, *label = (line.in_group(old.group) for line in (first, *label))
    update.replacements[index] = [first, *label]


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
