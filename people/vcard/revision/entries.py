"""Entries of multi-value fields and dates: edited where they stand, gone with what hung on them, or new."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from people.vcard import values
from people.vcard.card import LISTS, CardDate, Entry
from people.vcard.content_lines import ContentLine
from people.vcard.labels import SILENT_TYPES, type_words, write_label
from people.vcard.limits import Limits
from people.vcard.readers import Context, read_line
from people.vcard.revision.edits import edited_date, edited_entry
from people.vcard.revision.state import Revision

FIELDS = (*LISTS, "important_dates")
# Parameters that are made with the value.
_MADE = frozenset({"TYPE", "VALUE", "ENCODING", "X-SERVICE-TYPE", "X-LABEL", "X-TYPE", "X-APPLE-OMIT-YEAR"})


def revise_entries(revision: Revision, left: Mapping[str, list[Any]]) -> None:
    """`left` has the entries by field; what no line says of them becomes new lines."""
    gone: list[tuple[int, str]] = []
    for place, kept in enumerate(revision.now.lines):
        field = next((field for field in kept.fields if field in left), None)
        was, now = revision.said.lines[place].entry, kept.entry
        if field is None or was is None or "organization" in kept.fields:
            continue
        if now is None:
            gone.append((place, field))
        else:
            _take(left[field], now)
            if _is_promoted(revision, place, now) or (now != was and not _edit(revision, place, was, now)):
                _rebuild(revision, place, field, now)
    for place, field in gone:  # one that was removed may be there again
        if not _take(left[field], revision.said.lines[place].entry):
            revision.changed[place] = []
    for field in LISTS:
        for entry in left[field]:
            revision.new += revision.builder.entry(field, entry)
    for day in left["important_dates"]:
        revision.new += revision.builder.important_date(day)


def _is_promoted(revision: Revision, place: int, now: Entry | CardDate) -> bool:
    """Whether a second date of a predefined type would be read as the first, since that one is gone."""
    if not isinstance(now, CardDate) or now.type:
        return False
    line = revision.lines[place]
    said = _reading(line, revision.labels.get((line.group or "").lower()))
    kind = said and said["type"]
    return bool(kind) and all(day.type != kind for day in revision.now.important_dates)


def _take(left: list[Any], entry: Any) -> bool:
    if entry not in left:
        return False
    left.remove(entry)
    return True


def _edit(revision: Revision, place: int, was: Entry | CardDate, now: Entry | CardDate) -> bool:
    """Write only what differs; False where the line would not be read as `now` then."""
    line = revision.lines[place]
    edited = _with_value(revision, line, was, now)
    if edited is None:
        return False
    edited, label = _with_kind(revision, edited, was, now)
    before = _reading(line, revision.labels.get((line.group or "").lower()))
    after = _reading(edited, label)
    differs = {key: value for key, value in _facts(now).items() if _facts(was).get(key) != value}
    if not before or after != {**before, **differs}:
        return False
    revision.changed[place] = _labelled(revision, edited, label)
    return True


def _facts(entry: Entry | CardDate) -> Mapping[str, Any]:
    return asdict(entry) if isinstance(entry, CardDate) else entry


def _with_value(
    revision: Revision, line: ContentLine, was: Entry | CardDate, now: Entry | CardDate
) -> ContentLine | None:
    if isinstance(was, CardDate) and isinstance(now, CardDate):
        is_same = (was.date, was.year_unknown) == (now.date, now.year_unknown)
        return line if is_same else edited_date(line, now, revision.builder)
    if isinstance(was, CardDate) or isinstance(now, CardDate):
        return None
    return edited_entry(line, was, now, revision.builder)


def _with_kind(
    revision: Revision, line: ContentLine, was: Entry | CardDate, now: Entry | CardDate
) -> tuple[ContentLine, str | None]:
    """The line with the type of `now`, and the label that it needs for it."""
    label = revision.labels.get((line.group or "").lower())
    if isinstance(now, CardDate) and isinstance(was, CardDate):
        if (was.type, was.title) == (now.type, now.title):
            return line, label
        kept = line.without_params("X-TYPE")
        if now.type and line.name == "X-ABDATE":
            kept = kept.with_params((*kept.params, ("X-TYPE", (now.type,))))
        return kept, now.title
    kind = str(_facts(now).get("type") or "")
    if kind == str(_facts(was).get("type") or ""):
        return line, label
    words, new_label = type_words(kind)
    if label and (new_label or any(word not in SILENT_TYPES for word in line.types)):
        return line, kind
    types = tuple(
        (name, texts if name != "TYPE" else tuple(text for text in texts if _is_silent(text)))
        for name, texts in line.params
    )
    params = tuple((name, texts) for name, texts in types if texts)
    return line.with_params((*params, ("TYPE", revision.builder.words(words))) if words else params), new_label


def _is_silent(text: str) -> bool:
    return all(word.strip().lower() in SILENT_TYPES for word in text.split(","))


def _reading(line: ContentLine, label: str | None) -> Mapping[str, Any] | None:
    """What the line says of an entry or a date by itself."""
    context = Context(labels={line.group.lower() if line.group else "": label} if label else {})
    if label and not line.group:
        line = line.in_group("x")
        context.labels = {"x": label}
    for field, value in read_line(line, context):
        if isinstance(value, CardDate):
            return asdict(value)
        if field in FIELDS and isinstance(value, Mapping):
            return Limits([]).fitted(field, value)[1]
    return None


def _labelled(revision: Revision, line: ContentLine, label: str | None) -> list[ContentLine]:
    """The line with the label that it needs; the label of its group is changed where no other property has it, too."""
    if label == revision.labels.get((line.group or "").lower()):
        return [line]
    place = revision.label_place(line)
    if revision.is_shared(line):
        return revision.builder.labelled(line.in_group(None), label)
    if place is None:
        return revision.builder.labelled(line, label)
    text = revision.lines[place].with_value(values.escape(write_label(label))) if label else None
    revision.changed[place] = [text] if text else []
    return [line]


def _rebuild(revision: Revision, place: int, field: str, now: Entry | CardDate) -> None:
    """A line that cannot say `now` by an edit is written anew, with the parameters that no field shows."""
    old = revision.lines[place]
    is_date = isinstance(now, CardDate)
    first, *label = revision.builder.important_date(now) if is_date else revision.builder.entry(field, now)  # type: ignore[arg-type]  # by its type
    silent = tuple(word for text in old.param("TYPE") for word in text.split(",") if _is_silent(word))
    params = tuple((name, texts) for name, texts in old.params if name not in _MADE and "(" not in name)
    first = first.with_params((*first.params, *((("TYPE", silent),) if silent else ()), *params))
    if old.group and not revision.is_shared(old):
        if (label_place := revision.label_place(old)) is not None:
            revision.changed[label_place] = []
        first, *label = (line.in_group(old.group) for line in (first, *label))
    revision.changed[place] = [first, *label]
