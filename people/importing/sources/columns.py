"""Fills a draft from the cells of a row, by the target of each column."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from accounts.models import User
from accounts.vocabularies import DateFormat
from contacts_project.kernel.api.fields import is_email
from people import field_table
from people.field_table import Kind
from people.importing.sources.days import DayReader, is_month_first
from people.importing.sources.drafts import DAY_FIELDS, TEXT_FIELDS, Draft
from people.importing.sources.tables import Row, Table
from people.importing.sources.targets import ENTRIES, IGNORE, Target

_SEPARATOR = re.compile(r"\s*(?::::|[;,|\n])\s*")
_PERSON_ONLY_FIELDS = {field.name: field for field in field_table.SCALARS if not field.card and not field.read_only}
_FLAG_WORDS = {
    **dict.fromkeys(("true", "yes", "y", "1", "x", "on", "ja", "oui", "si", "sí", "はい"), True),
    **dict.fromkeys(("false", "no", "n", "0", "off", "nein", "non", "nei", "いいえ"), False),
}


def build_day_reader(owner: User, table: Table | None, date_columns: Iterable[int], this_year: int) -> DayReader:
    """Build the reader of a file's dates.

    The dates of the file decide whether the month comes first. Where they are ambiguous, the date format of the account
    decides.
    """
    rows = table.sample if table else ()
    found = is_month_first(row.cells[index] for row in rows for index in date_columns if len(row.cells) > index)
    from_settings = owner.date_format == DateFormat.MDY or (
        owner.date_format == DateFormat.YMD and owner.language == "en"
    )
    return DayReader(from_settings if found is None else found, this_year)


def filled_cells(draft: Draft, row: Row, column_count: int) -> Iterator[tuple[int, str]]:
    """Yield the index and the text of each cell that is not blank. Cells beyond the last column become warnings."""
    for index, cell in enumerate(row.cells):
        if cell.strip() and index < column_count:
            yield index, cell
        elif cell.strip():
            draft.warn(f"“{cell.strip()[:60]}” stands beyond the last column and was left out")


def fill(draft: Draft, row: Row, names: Sequence[str], targets: Sequence[Target]) -> None:
    """Set the fields of a draft from the cells of a row. Cells without a target become warnings."""
    addresses: dict[str, dict[str, str]] = {}
    for index, cell in filled_cells(draft, row, len(targets)):
        if not targets[index].field:
            draft.warn(f"the column “{names[index][:60]}” was left out")
        elif targets[index].field != IGNORE:
            _set_target(draft, targets[index], cell, addresses)
    for kind, parts in addresses.items():
        draft.add_address(kind, parts)


def _set_target(draft: Draft, target: Target, cell: str, addresses: dict[str, dict[str, str]]) -> None:
    name = target.field
    if name in TEXT_FIELDS:
        draft.set_text(TEXT_FIELDS[name], cell)
    elif name in DAY_FIELDS:
        draft.set_day(DAY_FIELDS[name], cell)
    elif name == "birthday":
        draft.add_date(cell, kind="BIRTHDAY")
    elif name == "group":
        for part in _SEPARATOR.split(cell):
            draft.add_group(part)
    elif name in ENTRIES:
        _add_entry(draft, target, cell, addresses)
    else:
        set_person_column(draft, name, cell)


def _add_entry(draft: Draft, target: Target, cell: str, addresses: dict[str, dict[str, str]]) -> None:
    name, key = ENTRIES[target.field]
    if name != "addresses":
        for value in split_cell(target.field, cell):
            draft.add_entry(name, target.kind, **{key: value})
        return
    # The cells of one address are in several columns, so it is added when the row is complete.
    parts = addresses.setdefault(target.kind, {})
    if key == "streetLine1" and key in parts:
        key = "streetLine2"
    if existing := parts.get(key):
        cell = f"{existing}, {cell.strip()}"
    parts[key] = cell


def split_cell(field: str, cell: str) -> list[str]:
    """Split a cell into values: at `:::` always, at other separators only if all parts are e-mail addresses."""
    if ":::" in cell:
        return [part.strip() for part in cell.split(":::")]
    parts = [part for part in _SEPARATOR.split(cell.strip()) if part]
    if field == "email" and len(parts) > 1 and all(map(is_email, parts)):
        return parts
    return [cell]


def set_person_column(draft: Draft, name: str, cell: str) -> None:
    """Set a field that no card has, such as a contact reminder, by its name in JSON."""
    field = _PERSON_ONLY_FIELDS[name]
    value = _parse_value(field, draft.clean(cell))
    if value is None:
        draft.warn(f"“{cell.strip()[:40]}” is no value of {name} and was left out")
    else:
        draft.columns[field.column] = value


def _parse_value(field: field_table.PersonField, text: str) -> Any:
    if field.kind is Kind.FLAG:
        return _FLAG_WORDS.get(text.casefold())
    if field.kind is Kind.INTEGER:
        is_number = text.isascii() and text.isdigit() and len(text) < 5
        return int(text) if is_number and 1 <= int(text) <= field.limit else None
    return text.upper() if text.upper() in field.choices else None
