"""Files of comma-separated values, whatever separates them: rows of cells, one at a time.

A row that is damaged is told of and costs no other: a quote that never closes would take all lines behind it.
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

#: A file of more rows than this is no address book; what follows is not read.
MAX_ROWS = 20_000
MAX_COLUMNS = 1_000
# A row that takes more than this has a quote that is not closed; of all such rows, this much is read anew.
_MAX_ROW_LINES = 1_000
_MAX_ROW_SIZE = 1_000_000
_MAX_REREAD = 20_000_000
_UNCLOSED = "a quote in it is not closed"
_SAMPLE_ROWS = 200
_DELIMITERS = ",;\t|"
_SNIFFED_LINES = 30
_SNIFFED_CHARACTERS = 4_096
# Excel's own first line, which names the separator and is no row.
_SEPARATOR_LINE = re.compile(r'"?sep=([,;\t|])"?\s*', re.IGNORECASE)
_PHONE = re.compile(r"[+(]?[0-9][0-9 ()./-]{5,30}")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of data; `error` where nothing can be read of it."""

    cells: Sequence[str]
    warnings: tuple[str, ...] = ()
    error: str = ""


@dataclass(slots=True)
class Table:
    """A file, open. `names` are its columns: those of its first row, or numbers where that is data already."""

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
        """Those of data that hold something; at most MAX_ROWS, and then one that says so."""
        rows = _rows(islice(read_lines(self.file, self.codec), self.preamble, None), self.delimiter)
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
    """The table in a file. `header`: columns that its header has for certain; what stands above that is left out.

    Raises FieldError where there is none.
    """
    codec = detect_encoding(file)
    if not is_text(file, codec):
        raise FieldError("file", "This is no text. Save a spreadsheet as CSV first.")
    lines = list(islice(read_lines(file, codec), _SAMPLE_ROWS))
    told = _SEPARATOR_LINE.fullmatch(lines[0]) if lines else None
    preamble = _find_header(lines, header) if header else bool(told)
    delimiter = told[1] if told else _detect_delimiter(lines[preamble:])
    first = next((row for row in _rows(iter(lines[preamble:]), delimiter) if any(map(str.strip, row.cells))), None)
    if first is None:
        raise FieldError("file", "There is no row of columns in this file.")
    if len(first.cells) > MAX_COLUMNS:
        raise FieldError("file", f"This file has more than {MAX_COLUMNS} columns.")
    is_data = any(_is_data(cell.strip()) for cell in first.cells)
    names = _numbered_names(len(first.cells)) if is_data else [" ".join(cell.split()) for cell in first.cells]
    table = Table(file, codec, delimiter, names, preamble)
    table.sample = list(islice(table.rows(), _SAMPLE_ROWS))
    return table


def _numbered_names(count: int) -> list[str]:
    return [str(number + 1) for number in range(count)]


def _is_data(cell: str) -> bool:
    return is_email(cell) or _PHONE.fullmatch(cell) is not None


def _find_header(lines: Sequence[str], header: Sequence[str]) -> int:
    """The place of the line that names these columns."""
    for place, line in enumerate(lines):
        if all(name in line for name in header):
            return place
    raise FieldError("file", f"This file has no line with the columns {', '.join(header)}.")


def _detect_delimiter(lines: Sequence[str]) -> str:
    """What separates the cells: as the library finds it, unless another splits the header into more."""
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
    """Lines that can be put back; `taken` are those of the row under way.

    `size`: characters of that row. `spare`: how many characters may yet be put back.
    """

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._returned: deque[str] = deque()
        self.taken: list[str] = []
        self.size = 0
        self.spare = _MAX_REREAD

    def begin(self) -> None:
        """A new row."""
        self.taken, self.size = [], 0

    def __iter__(self) -> "_RereadableLines":
        return self

    def __next__(self) -> str:
        if len(self.taken) >= _MAX_ROW_LINES or self.size >= _MAX_ROW_SIZE:
            raise csv.Error("this row is too long")
        line = self._returned.popleft() if self._returned else next(self._lines)
        self.taken.append(line)
        self.size += len(line)
        return line

    def put_back(self) -> str:
        """All but the first of the row; returns that."""
        first, *others = self.taken
        self._returned.extendleft(reversed(others))
        self.spare -= self.size
        return first


def _rows(lines: Iterator[str], delimiter: str) -> Iterator[Row]:
    """The rows; once damaged ones have taken much reading, each line of the rest is one, its quotes as letters."""
    source = _RereadableLines(lines)
    # Behind a separator and a blank a quote is one all the same.
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
        # In a row that is whole, quotes come in pairs.
        if sum(line.count('"') for line in source.taken) % 2 and any('"' in line for line in source.taken):
            yield _repair_row(source, delimiter) if len(source.taken) > 1 else Row(cells)
        else:
            yield Row(cells)
    source.begin()
    for line in source:
        yield _parse_without_quotes(line, delimiter)
        source.begin()


def _repair_row(source: _RereadableLines, delimiter: str) -> Row:
    """The first line of a damaged row by itself, its quotes as letters; the others are read anew."""
    return replace(_parse_without_quotes(source.put_back(), delimiter), warnings=(_UNCLOSED,))


def _parse_without_quotes(line: str, delimiter: str) -> Row:
    try:
        cells = next(csv.reader([line], delimiter=delimiter, quoting=csv.QUOTE_NONE))
    except csv.Error:
        return Row((), error=f"a cell has more than {csv.field_size_limit():,} characters")
    warnings = (_UNCLOSED,) if line.count('"') % 2 else ()
    return Row([cell.strip().strip('"') for cell in cells], warnings)
