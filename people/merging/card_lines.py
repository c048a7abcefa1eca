"""The lines of cards of a merged person: the primary's, and of the secondary's those that say what went over."""

from collections.abc import Iterable, Mapping
from typing import Any

from people.fields.cards import SCALARS
from people.merging.entries import same_entries
from people.models import Person
from people.names import COLUMNS as NAME_COLUMNS
from people.vcard import KeptLine
from people.vcard.line_merge import missing_lines

Line = Mapping[str, Any]

_NAMES = tuple(column for column in NAME_COLUMNS if column != "nickname")
# Column of each field that a line may say; N and FN say the whole name.
_COLUMNS = {field: (column,) for column, field in SCALARS.items()} | {"n": _NAMES, "fn": _NAMES, "photo": ("photo",)}


def merge_lines(primary: Person, secondary: Person, moved_dates: Iterable[str]) -> list[Line]:
    """Add the secondary's lines to the merged `primary` (not saved); returns those that were added."""
    held = same_entries(primary, secondary) | {key: key for key in moved_dates}
    mine = [_kept(line, line.get("id")) for line in primary.card_lines]
    theirs = [
        _kept(line, held.get(line.get("id", "")))
        for line in secondary.card_lines
        if _went_over(line, primary, secondary)
    ]
    added = [_stored(kept) for kept in missing_lines(mine, theirs)]
    primary.card_lines = [*primary.card_lines, *added]
    return added


def take_back(person: Person, added: Iterable[Line]) -> None:
    """Remove the added lines that are still there (not saved)."""
    lines = list(person.card_lines)
    for line in added:
        if line in lines:
            lines.remove(line)
    person.card_lines = lines


def _went_over(line: Line, primary: Person, secondary: Person) -> bool:
    """Whether the primary has what the line says of a single-valued field; of groups it has all."""
    columns = [column for field in line.get("fields", ()) for column in _COLUMNS.get(field, ())]
    return all(getattr(primary, column) == getattr(secondary, column) for column in columns)


def _kept(line: Line, held: str | None) -> KeptLine:
    return KeptLine(line["line"], tuple(line.get("fields", ())), {"id": held} if held else None)


def _stored(kept: KeptLine) -> Line:
    line: dict[str, Any] = {"line": kept.text}
    if kept.fields:
        line["fields"] = list(kept.fields)
    if isinstance(kept.entry, Mapping):
        line["id"] = kept.entry["id"]
    return line
