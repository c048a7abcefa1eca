"""Households as a CSV file for letters in series."""

import csv
import io
from collections.abc import Iterable

from people.letters.households import Household

_MAX_LINES = 8
_COLUMNS = ("name", *(f"line{number}" for number in range(1, _MAX_LINES + 1)))
# With the mark Excel reads UTF-8.
_BYTE_ORDER_MARK = "\ufeff"
# A spreadsheet takes a cell that begins with one of these for a formula (OWASP, CSV injection).
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def households_csv(households: Iterable[Household]) -> bytes:
    """The file, in UTF-8 with a mark. What is beyond the last column is in it, after commas."""
    file = io.StringIO(newline="")
    file.write(_BYTE_ORDER_MARK)
    writer = csv.writer(file)
    writer.writerow(_COLUMNS)
    for household in households:
        lines = household.lines
        if len(lines) > _MAX_LINES:
            lines = [*lines[: _MAX_LINES - 1], ", ".join(lines[_MAX_LINES - 1 :])]
        cells = [household.name, *lines, *[""] * (_MAX_LINES - len(lines))]
        writer.writerow([_guard(cell) for cell in cells])
    return file.getvalue().encode()


def _guard(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA_STARTS) else cell
