"""Reads CSV files with any delimiter, row by row.

A damaged row costs no other row: without repair, a quote that is never closed would swallow all lines behind it.
"""

import csv
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import BinaryIO

from contacts_project.kernel.api.fields import is_email
from contacts_project.kernel.errors import FieldError
from people.importing.sources.encodings import detect_encoding, display_encoding, is_text, read_lines

#: Rows beyond this are not read: no address book is that long.
MAX_ROWS = 20_000
MAX_COLUMNS = 1_000
# A longer row has a quote that is not closed. The lines behind that quote are read again, up to _MAX_REREAD characters
# per file: otherwise a file with a quote in each line would be read up to a thousand times.
_MAX_ROW_LINES = 1_000
_MAX_ROW_SIZE = 1_000_000
_MAX_REREAD = 20_000_000
_UNCLOSED_QUOTE = "a quote in it is not closed"
_SAMPLE_ROWS = 200
_DELIMITERS = ",;\t|"
_SNIFFED_LINES = 30
_SNIFFED_CHARACTERS = 4_096
# The first line that Excel writes to name the delimiter. It is no row.
_SEPARATOR_LINE = re.compile(r'"?sep=([,;\t|])"?\s*', re.IGNORECASE)
PHONE_PATTERN = re.compile(r"[+(]?[0-9][0-9 ()./-]{5,30}")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of data. `error` is set if it cannot be read."""

    cells: Sequence[str]
    warnings: tuple[str, ...] = ()
    error: str = ""


@dataclass(slots=True)
class Table:
    """An open CSV file. `names` are the column names: the cells of the header, or numbers if there is no header."""

    file: BinaryIO
    codec: str
    delimiter: str
    names: list[str]
    preamble: int = 0
    sample: list[Row] = field(default_factory=list)

    @property
    def encoding(self) -> str:
        return display_encoding(self.codec)

    def rows(self) -> Iterator[Row]:
        """Yield the rows of data that are not empty: at most MAX_ROWS, then one with an error if there are more."""
        rows = _parse_rows(islice(read_lines(self.file, self.codec), self.preamble, None), self.delimiter)
        filled = (row for row in rows if row.error or any(cell.strip() for cell in row.cells))
        if self.has_header:
            next(filled, None)
        for number, row in enumerate(filled):
            if number >= MAX_ROWS:
                yield Row((), error=f"the file has more than {MAX_ROWS:,} rows: the rest was not read")
                return
            yield (
                row if len(row.cells) <= MAX_COLUMNS else Row((), error=f"the row has more than {MAX_COLUMNS:,} cells")
            )

    @property
    def has_header(self) -> bool:
        return self.names != _numbered_names(len(self.names))


def open_table(file: BinaryIO, *, header: Sequence[str] = ()) -> Table:
    """Open a CSV file. `header` are columns that its header must have; lines above the header are skipped.

    Raises FieldError if the file is no table.
    """
    codec = detect_encoding(file)
    if not is_text(file, codec):
        raise FieldError("file", "This is no text. Save a spreadsheet as CSV first.")
    lines = list(islice(read_lines(file, codec), _SAMPLE_ROWS))
    separator_line = _SEPARATOR_LINE.fullmatch(lines[0]) if lines else None
    preamble = _find_header(lines, header) if header else bool(separator_line)
    delimiter = separator_line[1] if separator_line else _detect_delimiter(lines[preamble:])
    first = next(
        (row for row in _parse_rows(iter(lines[preamble:]), delimiter) if any(map(str.strip, row.cells))), None
    )
    if first is None:
        raise FieldError("file", "There is no row of columns in this file.")
    if len(first.cells) > MAX_COLUMNS:
        raise FieldError("file", f"This file has more than {MAX_COLUMNS} columns.")
    # A header does not contain e-mail addresses or phone numbers.
    is_data = any(is_email(cell.strip()) or PHONE_PATTERN.fullmatch(cell.strip()) for cell in first.cells)
    names = _numbered_names(len(first.cells)) if is_data else [" ".join(cell.split()) for cell in first.cells]
    table = Table(file, codec, delimiter, names, preamble)
    table.sample = list(islice(table.rows(), _SAMPLE_ROWS))
    return table


def _numbered_names(count: int) -> list[str]:
    return [str(number + 1) for number in range(count)]


def _find_header(lines: Sequence[str], header: Sequence[str]) -> int:
    """The index of the line that contains these column names."""
    for index, line in enumerate(lines):
        if all(name in line for name in header):
            return index
    raise FieldError("file", f"This file has no line with the columns {', '.join(header)}.")


def _detect_delimiter(lines: Sequence[str]) -> str:
    """The delimiter that csv.Sniffer finds, unless another one splits the header into more cells."""
    text = "".join(lines[:_SNIFFED_LINES])[:_SNIFFED_CHARACTERS]
    header = next((line for line in lines if line.strip()), "")
    try:
        widths = (
            {mark: len(next(csv.reader([header], delimiter=mark, skipinitialspace=True))) for mark in _DELIMITERS}
            if header
            else {}
        )
    except csv.Error:
        limit = f"{csv.field_size_limit():,}"
        raise FieldError("file", f"The first line of this file has a cell of more than {limit} characters.") from None
    widest = max(_DELIMITERS, key=lambda mark: widths.get(mark, 0))
    try:
        found = csv.Sniffer().sniff(text, _DELIMITERS).delimiter
    except csv.Error:
        return widest
    return found if found in widths and widths[found] == widths[widest] else widest


class _RereadableLines:
    """An iterator of lines that can put lines back. `taken` are the lines of the current row.

    `size` is how many characters the current row has, `spare` how many may still be put back. `has_ended`: the current
    row needs another line, because a quote is open, but the file has ended.
    """

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._returned: deque[str] = deque()
        self.taken: list[str] = []
        self.size = 0
        self.has_ended = False
        self.spare = _MAX_REREAD

    def begin(self) -> None:
        """Start a new row."""
        self.taken, self.size, self.has_ended = [], 0, False

    def __iter__(self) -> "_RereadableLines":
        return self

    def __next__(self) -> str:
        if len(self.taken) >= _MAX_ROW_LINES or self.size >= _MAX_ROW_SIZE:
            raise csv.Error("this row is too long")
        line = self._returned.popleft() if self._returned else next(self._lines, None)
        if line is None:
            self.has_ended = bool(self.taken)
            raise StopIteration
        self.taken.append(line)
        self.size += len(line)
        return line

    def put_back(self) -> str:
        """Put back all lines of the current row but the first, and return the first."""
        first, *others = self.taken
        self._returned.extendleft(reversed(others))
        self.spare -= self.size
        return first


def _parse_rows(lines: Iterator[str], delimiter: str) -> Iterator[Row]:
    """Yield the rows. After too many re-read characters, each remaining line is one row and its quotes are literal."""
    source = _RereadableLines(lines)
    # skipinitialspace, because a quote behind a delimiter and a blank still opens a quoted cell.
    reader = csv.reader(source, delimiter=delimiter, skipinitialspace=True)
    while source.spare > 0:
        source.begin()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            yield _repair_row(source, delimiter)
            continue
        # An odd number of quotes means that one is not closed. In a single line it stands inside a cell, as in 6" pipe.
        has_odd_quote = len(source.taken) > 1 and sum(line.count('"') for line in source.taken) % 2 == 1
        if source.has_ended or has_odd_quote:
            yield _repair_row(source, delimiter)
        else:
            yield Row(cells)
    source.begin()
    for line in source:
        yield _parse_without_quotes(line, delimiter)
        source.begin()


def _repair_row(source: _RereadableLines, delimiter: str) -> Row:
    """Parse the first line of a damaged row alone, with literal quotes; the other lines are read again."""
    return replace(_parse_without_quotes(source.put_back(), delimiter), warnings=(_UNCLOSED_QUOTE,))


def _parse_without_quotes(line: str, delimiter: str) -> Row:
    try:
        cells = next(csv.reader([line], delimiter=delimiter, quoting=csv.QUOTE_NONE))
    except csv.Error:
        return Row((), error=f"a cell has more than {csv.field_size_limit():,} characters")
    warnings = (_UNCLOSED_QUOTE,) if line.count('"') % 2 else ()
    return Row([cell.strip().strip('"') for cell in cells], warnings)
