"""Fills a draft from the cells of a row, by the target of each column."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from contacts_project.kernel.texts import define_text
from people import field_table
from people.field_table import FieldKind
from people.importing.sources.cells import find_error, find_lost_number, find_nothing, read_values
from people.importing.sources.days import DayReader
from people.importing.sources.drafts import DAY_FIELDS, FLAG_FIELDS, TEXT_FIELDS, Draft
from people.importing.sources.tables import Row
from people.importing.sources.target import BIRTHDAY_PARTS, IGNORE, Target
from people.importing.sources.targets import ENTRIES

_BEYOND = define_text("beyond_last_column", "“%(value)s” stands beyond the last column and was left out")
_NO_VALUE = define_text("not_a_value_of_field", "“%(value)s” is no value of %(field)s and was left out")

_NO_BIRTHDAY = define_text("birthday_incomplete", "the birthday has no day and month, and was left out: %(value)s")

# What Outlook writes if nobody chose a gender, in the languages of the service.
_UNSPECIFIED_GENDERS = {
    *("unspecified", "keine angabe", "nicht angegeben", "non spécifié", "sin especificar", "no especificado"),
    *("ikke angitt", "uspesifisert", "指定なし", "未指定"),
}
_SEPARATOR = re.compile(r":::|[;,|\n]")
# There are people whose name is Null or None, and notes that say no more than a dash.
_MAY_BE_NULL = frozenset(
    ("displayNameOverride", "notes", IGNORE, *(field.name for field in field_table.SCALARS if field.searched))
)
# Those that are set by the word in a cell: fields that no card has, and flags.
_WORD_FIELDS = {
    field.name: field
    for field in field_table.SCALARS
    if (not field.card or field.kind is FieldKind.FLAG) and not field.read_only
}
_FLAG_WORDS = {
    **dict.fromkeys(("true", "yes", "y", "1", "x", "on", "ja", "oui", "si", "sí", "はい"), True),
    **dict.fromkeys(("false", "no", "n", "0", "off", "nein", "non", "nei", "いいえ"), False),
}


def filled_cells(draft: Draft, row: Row, column_count: int) -> Iterator[tuple[int, str]]:
    """Yield the index and the text of each cell that has a value. Cells without, or beyond the last column, become
    warnings."""
    for index, cell in enumerate(row.cells):
        if error := find_error(cell):
            draft.warn(error)
        elif cell.strip() and index < column_count:
            yield index, cell
        elif cell.strip():
            draft.warn(_BEYOND.format(value=cell.strip()[:60]))


@dataclass(slots=True)
class _OpenParts:
    """What several columns of a row make together, until the row is complete: addresses by their type, a birthday."""

    addresses: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    birthday: dict[str, str] = field(default_factory=dict)


def fill(
    draft: Draft,
    row: Row,
    targets: Sequence[Target],
    *,
    day_readers: Mapping[int, DayReader],
    leave_out: Callable[[Draft, int, str], None],
) -> None:
    """Set the fields of a draft from the cells of a row. `leave_out` gets the number and the cell of other columns.

    `day_readers` are those of the columns with dates.
    """
    open_parts = _OpenParts()
    file_days = draft.days
    for index, cell in filled_cells(draft, row, len(targets)):
        draft.days = day_readers.get(index, file_days)
        if not targets[index].field:
            leave_out(draft, index, cell)
        elif targets[index].field not in _MAY_BE_NULL and (nothing := find_nothing(cell)):
            draft.warn(nothing)
        elif targets[index].field != IGNORE:
            _set_target(draft, targets[index], cell, open_parts)
    draft.days = file_days
    for kind, parts in open_parts.addresses.items():
        draft.add_address(kind, parts)
    if open_parts.birthday:
        _add_birthday(draft, open_parts.birthday)


def _set_target(draft: Draft, target: Target, cell: str, open_parts: _OpenParts) -> None:
    name = target.field
    if name == "displayNameOverride":
        draft.full_name = draft.clean(cell)  # if it is the name that is displayed anyway, nothing is stored
    elif name == "gender" and cell.strip().casefold() in _UNSPECIFIED_GENDERS:
        return
    elif name in TEXT_FIELDS:
        draft.set_text(TEXT_FIELDS[name], cell)
    elif name in DAY_FIELDS:
        draft.set_day(DAY_FIELDS[name], cell)
    elif name == "birthday" and target.kind in BIRTHDAY_PARTS:
        open_parts.birthday[target.kind] = draft.clean(cell)
    elif name == "birthday":
        draft.add_date(cell, kind="BIRTHDAY")
    elif name == "group":
        for part in _SEPARATOR.split(cell):
            draft.add_group(part)
    elif name in ENTRIES:
        _add_entry(draft, target, cell, open_parts.addresses)
    else:
        set_person_column(draft, name, cell)


def _add_birthday(draft: Draft, parts: Mapping[str, str]) -> None:
    """Add a birthday whose year, month and day are in columns of their own. The year may be missing, or 0."""
    year, month, day = (parts.get(name, "") for name in BIRTHDAY_PARTS)
    if not month and not day:
        draft.warn(_NO_BIRTHDAY.format(value=year[:40]))
    else:
        month = f"{month:0>2}" if month.isdigit() else month
        # A month in words is read as in `29 February 1984`.
        text = f"{(year.strip('0') and year) or '-'}-{month}-{day:0>2}" if month.isdigit() else f"{day} {month} {year}"
        draft.add_date(text, kind="BIRTHDAY")


def _add_entry(draft: Draft, target: Target, cell: str, addresses: dict[str, dict[str, str]]) -> None:
    name, key = ENTRIES[target.field]
    if name != "addresses":
        for value in read_values(draft, target.field, cell):
            draft.add_entry(name, target.kind, **{key: value})
        return
    if target.field == "address.postalCode" and (remark := find_lost_number(cell)):
        draft.warn(remark)
        return
    parts = addresses[target.kind]
    if key == "streetLine1" and key in parts:
        key = "streetLine2"
    if existing := parts.get(key):
        cell = f"{existing}, {cell.strip()}"
    parts[key] = cell


def set_person_column(draft: Draft, name: str, cell: str) -> None:
    """Set a field that no card has, such as a contact reminder, or a flag, by its name in JSON."""
    field = _WORD_FIELDS[name]
    value = _parse_value(field, draft.clean(cell))
    if value is None:
        draft.warn(_NO_VALUE.format(value=cell.strip()[:40], field=name))
    elif name in FLAG_FIELDS:
        draft.set_flag(FLAG_FIELDS[name], value)
    else:
        draft.columns[field.column] = value


def _parse_value(field: field_table.PersonField, text: str) -> Any:
    if field.kind is FieldKind.FLAG:
        return _FLAG_WORDS.get(text.casefold())
    if field.kind is FieldKind.INTEGER:
        is_number = text.isascii() and text.isdigit() and len(text) < 5
        return int(text) if is_number and 1 <= int(text) <= field.limit else None
    return text.upper() if text.upper() in field.choices else None
