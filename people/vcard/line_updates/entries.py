"""Updates the lines of entries of multi-value fields and of dates: edits, removes or adds them."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, TypeVar

from contacts_project.kernel.json import JsonMapping
from people.vcard import values
from people.vcard.card import ENTRY_FIELDS, LIST_FIELDS, CardDate, Entry
from people.vcard.content_lines import ContentLine
from people.vcard.labels import HIDDEN_TYPES, write_label, write_type
from people.vcard.limits import Limits
from people.vcard.line_updates.edits import COPY_PARAMS, edit_date, edit_entry
from people.vcard.line_updates.state import LineUpdate
from people.vcard.readers import Context, read_line

# Parameters that the builder generates together with the value.
_GENERATED_PARAMS = frozenset({"TYPE", "VALUE", "ENCODING", "X-SERVICE-TYPE", "X-LABEL", "X-TYPE", "X-APPLE-OMIT-YEAR"})


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


Found = TypeVar("Found")


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
    context = Context(labels={line.group.lower() if line.group else "": label} if label else {})
    # A label is read from an item group only.
    if label and not line.group:
        line = line.in_group("x")
        context.labels = {"x": label}
    for field, value in read_line(line, context):
        if isinstance(value, CardDate):
            return asdict(value)
        if field in ENTRY_FIELDS and isinstance(value, Mapping):
            return Limits([]).limit_entry(field, value)[1]
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
