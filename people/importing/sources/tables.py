"""Reads CSV files with any delimiter, row by row.

A damaged row costs no other row: without repair, a quote that is never closed would swallow all lines behind it. A
file that is no table is refused with what it is and where it can be imported.
"""

import csv
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from io import StringIO
from itertools import islice
from typing import BinaryIO

from accounts.vocabularies import DateFormat
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.text_forms import NOT_A_CHOICE, is_email
from contacts_project.kernel.texts import Text, define_text
from people.importing.sources.encodings import Encoding, detect_encoding, fits, is_text, named_codecs, read_lines

_NO_HEADER = define_text("no_header_row", "There is no row of columns in this file.")
_BAD_HEADER = define_text("header_row_unreadable", "The first row of this file cannot be read: %(reason)s.")
_TOO_MANY_COLUMNS = define_text("too_many_columns", "This file has more than %(limit)s columns.")
_COLUMNS_MISSING = define_text("columns_missing", "This file has no line with the columns %(columns)s.")
_TOO_MANY_ROWS = define_text("too_many_rows", "the file has more than %(limit)s rows: the rest was not read")
_TOO_MANY_CELLS = define_text("too_many_cells", "the row has more than %(limit)s cells")
_CELL_TOO_LONG = define_text("cell_too_long", "a cell has more than %(limit)s characters")

_NO_DELIMITER = define_text("not_a_delimiter", "This must be a comma, a semicolon, a tab or a vertical bar (|).")
_UNKNOWN_ENCODING = define_text(
    "unknown_encoding",
    "There is no encoding “%(name)s” for tables. Examples are utf-8, windows-1252 and shift_jis.",
)
_OTHER_ENCODING = define_text(
    "encoding_does_not_fit", "This file is not in the encoding “%(name)s”: name another one, or none to have it found."
)

#: Rows beyond this are not read: no address book is that long.
MAX_ROWS = 20_000
MAX_COLUMNS = 1_000
# A longer row has a quote that is not closed. The lines behind that quote are read again, up to _MAX_REREAD characters
# per file: otherwise a file with a quote in each line would be read up to a thousand times.
_MAX_ROW_LINES = 1_000
_MAX_ROW_SIZE = 1_000_000
_MAX_REREAD = 20_000_000
_UNCLOSED_QUOTE = define_text("unclosed_quote", "a quote in it is not closed")
_SAMPLE_ROWS = 200
_DELIMITERS = ",;\t|"
_DELIMITER_NAMES = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|"}
# Shorter than the longest cell that the csv module reads (131,072).
_SAMPLE_CHARACTERS = 64_000
# The first line that Excel writes to name the delimiter. It is no row.
_SEPARATOR_LINE = re.compile(r'"?sep=([,;\t|])"?\s*', re.IGNORECASE)
# Programs write `="text"` or put an apostrophe in front, so that a spreadsheet keeps a leading zero or a plus sign.
_GUARD = re.compile(r"""="((?:[^"]|"")*+)"|'([=+@\t-].*|[0-9][0-9 ().,/:-]*)""", re.DOTALL)
PHONE_PATTERN = re.compile(r"[+(]?[0-9][0-9 ()./-]{5,30}")
_VCARD = define_text("file_is_vcard", "This is a file of vCards, no table: import it as vCards.")
_JSON = define_text(
    "file_is_json",
    "This is JSON, no table: import it as what it is, such as an export of Monica, of Nametag or of an account.",
)
_HTML = define_text("file_is_html", "This is a web page (HTML), no table: save the contacts as CSV or as vCards.")
_XML = define_text("file_is_xml", "This is XML, no table: save the contacts as CSV or as vCards.")
_LDIF = define_text("file_is_ldif", "This is LDIF, no table: save the address book as CSV or as vCards.")
_CALENDAR = define_text("file_is_calendar", "This is a calendar (iCalendar), no table: it has no contacts.")
_SQL = define_text("file_is_sql", "This is SQL, no table: import it as an export of Monica if it is one.")
_SPREADSHEET = define_text("file_is_spreadsheet", "This is a spreadsheet, no text: open it, and save it as CSV.")
_DOCUMENT = define_text("file_is_document", "This is a document (%(kind)s), no table: save the contacts as CSV.")
_PICTURE = define_text("file_is_picture", "This is a picture, no table.")
_ARCHIVE = define_text("file_is_archive", "This is an archive, no table: unpack it, and import the file that is in it.")
NO_TEXT = define_text("not_a_text_file", "This is no text. Save a spreadsheet as CSV first.")
_HEAD = 64 * 1024
_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
_SIGNATURES: tuple[tuple[bytes, Text], ...] = (
    (b"%PDF-", _DOCUMENT.format(kind="PDF")),
    (b"{\\rtf", _DOCUMENT.format(kind="RTF")),
    *((mark, _PICTURE.format()) for mark in (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM\x36", b"II*\0", b"MM\0*")),
    *((mark, _ARCHIVE.format()) for mark in (b"\x1f\x8b", b"BZh", b"7z\xbc\xaf", b"\xfd7zXZ", b"Rar!\x1a", _ZIP)),
    *((mark, NO_TEXT.format()) for mark in (_OLE, b"SQLite format 3\0")),
)
# What an archive is that is a spreadsheet or a document, by a name in it; an old one by the names of its streams.
_ZIP_CONTENTS: tuple[tuple[bytes, Text], ...] = (
    *((mark, _SPREADSHEET.format()) for mark in (b"xl/", b"opendocument.spreadsheet", b"Index/CalculationEngine")),
    (b"word/", _DOCUMENT.format(kind="DOCX")),
    (b"opendocument.text", _DOCUMENT.format(kind="ODT")),
)
_OLE_CONTENTS = (
    ("Workbook", _SPREADSHEET.format()),
    ("Book", _SPREADSHEET.format()),
    ("WordDocument", _DOCUMENT.format(kind="DOC")),
)
# By how the text begins, blanks left out.
_TEXTS: tuple[tuple[re.Pattern[str], Text], ...] = (
    (re.compile(r"(?i)(?:item[0-9]{1,4}\.)?BEGIN\s{0,4}:\s{0,4}VCARD"), _VCARD.format()),
    (re.compile(r"(?i)BEGIN\s{0,4}:\s{0,4}VCALENDAR"), _CALENDAR.format()),
    (re.compile(r"(?i)<(?:!doctype\s{1,4}html|html|head|body|table|meta|script|div)\b"), _HTML.format()),
    (re.compile(r"(?i)<\?xml|<!--|<[a-z][\w:.-]{0,80}(?:\s[^<>]{0,4000})?>\s{0,80}<"), _XML.format()),
    # Not the name of a column in brackets.
    (re.compile(r'\{\s*(?:"|\}|$)|\[\s*(?:[{\["\]0-9-]|(?:true|false|null)\b|$)'), _JSON.format()),
    (re.compile(r"(?i)(?:version: ?1\s{1,8})?dn::? ?[^\s,;]"), _LDIF.format()),
    (re.compile(r"(?i)(?:INSERT|CREATE|DROP) {1,8}(?:INTO|TABLE)\b"), _SQL.format()),
)
_SQL_COMMENT = re.compile(r"(?i)--|/\*|SET\s|PRAGMA\s|BEGIN")
_SQL_STATEMENT = re.compile(r"^[ \t]{0,8}(?:INSERT|CREATE) {1,8}(?:INTO|TABLE)\b", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of data. `error` is set if it cannot be read."""

    cells: Sequence[str]
    warnings: tuple[Text, ...] = ()
    error: Text | None = None


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What a client says about a table; what is empty is detected. Built by `read_options`."""

    encoding: str = ""
    delimiter: str = ""
    date_order: str = ""


DETECT_ALL = TableOptions()


def read_options(*, encoding: str = "", delimiter: str = "", date_order: str = "") -> TableOptions:
    """Raises FieldError for an unknown delimiter or order of dates. `encoding` is checked with the file."""
    mark = _DELIMITER_NAMES.get(delimiter.strip(" ").lower(), delimiter.strip(" "))
    if mark and mark not in _DELIMITERS:
        raise FieldError("delimiter", _NO_DELIMITER)
    if date_order and date_order not in DateFormat.values:
        raise FieldError("dateOrder", NOT_A_CHOICE.format(choices=list(DateFormat.values)))
    return TableOptions(encoding.strip(), mark, date_order)


@dataclass(slots=True)
class CsvTable:
    """An open CSV file. `names` are the column names: the cells of the header, or numbers if there is no header."""

    file: BinaryIO
    encoding: Encoding
    delimiter: str
    names: list[str]
    preamble: int = 0
    sample: list[Row] = field(default_factory=list)
    date_order: str = ""

    def rows(self) -> Iterator[Row]:
        """Yield the rows of data that are not empty: at most MAX_ROWS, then one with an error if there are more."""
        rows = _parse_rows(islice(read_lines(self.file, self.encoding.codec), self.preamble, None), self.delimiter)
        filled = (row for row in rows if row.error or any(cell.strip() for cell in row.cells))
        if self.has_header:
            next(filled, None)
        for number, row in enumerate(filled):
            if number >= MAX_ROWS:
                yield Row((), error=_TOO_MANY_ROWS.format(limit=MAX_ROWS))
                return
            if len(row.cells) > MAX_COLUMNS:
                yield Row((), error=_TOO_MANY_CELLS.format(limit=MAX_COLUMNS))
            else:
                yield replace(row, cells=[_remove_guard(cell) for cell in row.cells])

    @property
    def has_header(self) -> bool:
        return self.names != _numbered_names(len(self.names))


def open_table(file: BinaryIO, options: TableOptions = DETECT_ALL, *, header: Sequence[str] = ()) -> CsvTable:
    """Open a CSV file. `header` are columns that its header must have; lines above the header are skipped.

    Raises FieldError if the file is no table, or is not in the encoding that the client names.
    """
    encoding = _find_encoding(file, options.encoding)
    lines = list(islice(read_lines(file, encoding.codec), _SAMPLE_ROWS))
    if kind := find_text_kind("".join(lines)[:_SAMPLE_CHARACTERS]):
        raise FieldError("file", kind)
    separator_line = _SEPARATOR_LINE.fullmatch(lines[0]) if lines else None
    preamble = _find_header(lines, header) if header else bool(separator_line)
    delimiter = options.delimiter or (separator_line[1] if separator_line else _detect_delimiter(lines[preamble:]))
    rows = _parse_rows(iter(lines[preamble:]), delimiter)
    first = next((row for row in rows if row.error or any(map(str.strip, row.cells))), None)
    if first is None:
        raise FieldError("file", _NO_HEADER)
    if first.error:
        raise FieldError("file", _BAD_HEADER.format(reason=first.error))
    if len(first.cells) > MAX_COLUMNS:
        raise FieldError("file", _TOO_MANY_COLUMNS.format(limit=MAX_COLUMNS))
    cells = [" ".join(_remove_guard(cell).split()) for cell in first.cells]
    # A header does not contain e-mail addresses or phone numbers.
    is_data = any(is_email(cell) or PHONE_PATTERN.fullmatch(cell) for cell in cells)
    names = _numbered_names(len(cells)) if is_data else cells
    table = CsvTable(file, encoding, delimiter, names, preamble, date_order=options.date_order)
    table.sample = list(islice(table.rows(), _SAMPLE_ROWS))
    return table


def _find_encoding(file: BinaryIO, name: str) -> Encoding:
    if kind := find_binary_kind(file):
        raise FieldError("file", kind)
    if not name:
        encoding = detect_encoding(file)
        if not is_text(file, encoding.codec):
            raise FieldError("file", NO_TEXT)
        return encoding
    named = named_codecs(name)
    if not named:
        raise FieldError("encoding", _UNKNOWN_ENCODING.format(name=name[:40]))
    codec = next((codec for codec in named if fits(file, codec) and is_text(file, codec)), None)
    if codec is None:
        raise FieldError("encoding", _OTHER_ENCODING.format(name=name[:40]))
    return Encoding(codec, is_certain=True)


def _remove_guard(cell: str) -> str:
    """Remove what keeps a spreadsheet from changing a cell: `="+49..."`, or an apostrophe before a sign or a number."""
    if cell[:1] not in {"=", "'"}:
        return cell
    if guarded := _GUARD.fullmatch(cell.strip()):
        return guarded[2] if guarded[1] is None else guarded[1].replace('""', '"')
    return cell


def _numbered_names(count: int) -> list[str]:
    return [str(number + 1) for number in range(count)]


def _find_header(lines: Sequence[str], header: Sequence[str]) -> int:
    """The index of the line that contains these column names."""
    for index, line in enumerate(lines):
        if all(name in line for name in header):
            return index
    raise FieldError("file", _COLUMNS_MISSING.format(columns=list(header)))


def _detect_delimiter(lines: Sequence[str]) -> str:
    """The delimiter that splits the header into the most cells; of several, the one with which most rows are as wide.

    Each is tried on at most _SAMPLE_CHARACTERS: csv.Sniffer takes the fourth power of the length of a hostile line.
    """
    text = "".join(lines)[:_SAMPLE_CHARACTERS]

    def rank(mark: str) -> tuple[int, int, int]:
        widths = [len(row) for row in csv.reader(StringIO(text, newline=""), delimiter=mark, skipinitialspace=True)]
        header = next(filter(None, widths), 0)
        # A comma within a text has a blank behind it.
        return header, widths.count(header), -text.count(f"{mark} ")

    return max(_DELIMITERS, key=rank)


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
        return Row((), error=_CELL_TOO_LONG.format(limit=csv.field_size_limit()))
    warnings = (_UNCLOSED_QUOTE,) if line.count('"') % 2 else ()
    return Row([cell.strip().strip('"') for cell in cells], warnings)


def find_binary_kind(file: BinaryIO) -> Text | None:
    """What a file is that is no text, by its first bytes; None if these may be text."""
    file.seek(0)
    head = file.read(_HEAD)
    found = next((text for mark, text in _SIGNATURES if head.startswith(mark)), None)
    if found is not None and head.startswith(_ZIP):
        contents = head + _read_end(file)
        found = next((text for mark, text in _ZIP_CONTENTS if mark in contents), found)
    elif found is not None and head.startswith(_OLE):
        contents = head + _read_end(file)
        found = next((text for name, text in _OLE_CONTENTS if name.encode("utf-16-le") in contents), found)
    return found


def find_text_kind(head: str) -> Text | None:
    """What a file is whose text begins so, if it is no table; None if it may be one."""
    head = head.lstrip()
    for pattern, text in _TEXTS:
        if pattern.match(head):
            return text
    return _SQL.format() if _SQL_COMMENT.match(head) and _SQL_STATEMENT.search(head) else None


def _read_end(file: BinaryIO) -> bytes:
    """The directory of an archive is at its end."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _HEAD))
    return file.read()
