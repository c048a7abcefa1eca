"""Households as a CSV file for letters in series."""

import csv
import io
import re
from collections.abc import Iterable

from people.letters.households import Household

_MAX_LINES = 8
_COLUMNS = ("name", *(f"line{number}" for number in range(1, _MAX_LINES + 1)))
# With the mark Excel reads UTF-8.
_BYTE_ORDER_MARK = "\ufeff"
# Where a spreadsheet may see a formula (OWASP, CSV injection): a sign at the beginning of a cell, or behind what the
# spreadsheet of another country takes for a separator; full-width and small signs as well, which Japanese and Chinese
# ones take for those of ASCII. Blanks and quotes before the sign may be dropped.
_SIGNS = r"=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b"
_FORMULA = re.compile(rf'^(?=[\t\r\n])|(^|[;,|\t\r\n])(?=[ "\u00a0\u3000]*[{_SIGNS}])')


def households_csv(households: Iterable[Household]) -> bytes:
    """The file, in UTF-8 with a mark. What is beyond the last column is in it, after commas."""
    file = io.StringIO(newline="")
    file.write(_BYTE_ORDER_MARK)
    writer = csv.writer(file, quoting=csv.QUOTE_ALL)
    writer.writerow(_COLUMNS)
    for household in households:
        lines = household.lines
        if len(lines) > _MAX_LINES:
            lines = [*lines[: _MAX_LINES - 1], ", ".join(lines[_MAX_LINES - 1 :])]
        cells = [household.name, *lines, *[""] * (_MAX_LINES - len(lines))]
        writer.writerow([_guard(cell) for cell in cells])
    return file.getvalue().encode()


def _guard(cell: str) -> str:
    """The cell with an apostrophe wherever a formula could begin."""
    return _FORMULA.sub(r"\1'", cell)
