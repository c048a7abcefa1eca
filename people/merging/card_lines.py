"""The vCard lines of a merged person: the primary's, plus the secondary's lines whose values the primary took over."""

from collections.abc import Iterable, Mapping
from typing import Any

from people.fields.cards import SCALARS
from people.models import Person
from people.names import COLUMNS as NAME_COLUMNS
from people.vcard import KeptLine
from people.vcard.line_merge import missing_lines

Line = Mapping[str, Any]

_NAMES = tuple(column for column in NAME_COLUMNS if column != "nickname")
# Columns by the field that a line is mapped to; N and FN hold the whole name.
_COLUMNS = {field: (column,) for column, field in SCALARS.items()} | {"n": _NAMES, "fn": _NAMES, "photo": ("photo",)}


def merge_lines(primary: Person, secondary: Person, entry_ids: Mapping[str, str]) -> list[Line]:
    """Add the secondary's lines to the merged `primary` (not saved); returns the lines that were added.

    A line of the secondary names an entry or a date by id; `entry_ids` are the ids of these in the merged person.
    """
    primary_lines = [_kept_line(line, line.get("id")) for line in primary.card_lines]
    secondary_lines = [
        _kept_line(line, entry_ids.get(line.get("id", "")))
        for line in secondary.card_lines
        if _is_taken_over(line, primary, secondary)
    ]
    added = [_stored_line(kept) for kept in missing_lines(primary_lines, secondary_lines)]
    primary.card_lines = [*primary.card_lines, *added]
    return added


def revert(person: Person, added: Iterable[Line]) -> None:
    """Remove the added lines that are still there (not saved)."""
    lines = list(person.card_lines)
    for line in added:
        # One at a time: a card may hold the same line twice, and the merge added only one of them.
        if line in lines:
            lines.remove(line)
    person.card_lines = lines


def _is_taken_over(line: Line, primary: Person, secondary: Person) -> bool:
    """Whether the merged primary has the line's values; a line without single-valued fields always counts."""
    columns = [column for field in line.get("fields", ()) for column in _COLUMNS.get(field, ())]
    return all(getattr(primary, column) == getattr(secondary, column) for column in columns)


def _kept_line(line: Line, entry_id: str | None) -> KeptLine:
    return KeptLine(line["line"], tuple(line.get("fields", ())), {"id": entry_id} if entry_id else None)


def _stored_line(kept: KeptLine) -> Line:
    line: dict[str, Any] = {"line": kept.text}
    if kept.fields:
        line["fields"] = list(kept.fields)
    if isinstance(kept.entry, Mapping):
        line["id"] = kept.entry["id"]
    return line
