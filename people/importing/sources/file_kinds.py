"""Recognizes files that are no tables, to say what they are and where they can be imported."""

import re
from typing import BinaryIO

from contacts_project.kernel.texts import Text, define_text

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
