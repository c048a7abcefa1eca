"""Parses the INSERT statements of Monica's SQL export. Nothing is executed.

One pass over the text: every other statement is skipped up to its semicolon.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.json import MAX_DOCUMENT_VALUES, JsonObject
from contacts_project.kernel.texts import define_text
from people.importing.sources.documents import too_many_values
from people.importing.sources.encodings import detect_encoding

_NOT_MONICA = define_text("not_monica_sql", "This is no SQL export of Monica.")

Rows = dict[str, list[dict[str, Any]]]

# The patterns use possessive quantifiers, so that a hostile file cannot cause backtracking.
_STRING = r"'(?:[^'\\]++|\\.|'')*+'"
_SPACE = re.compile(r"(?:\s++|#[^\n]*+|--[ \t][^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z))*+")
_INSERT = re.compile(r"INSERT\s+(?:IGNORE\s+)?INTO\s+`?(\w{1,64})`?\s*\(([^()';]{1,5000})\)\s*VALUES\s*", re.IGNORECASE)
_VALUE = re.compile(rf"\s*+(?:({_STRING})|([^\s,()';]++))\s*+([,)])", re.DOTALL)
_OTHER_STATEMENT = re.compile(rf"(?:[^;']++|{_STRING})*+(?:;|\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)|''", re.DOTALL)
_ESCAPED_CHARACTERS = {"n": "\n", "r": "\r", "t": "\t", "0": "", "Z": ""}
_MAX_COLUMNS = 200
# What a row counts besides its values: it becomes a record of the JSON export, which has objects of its own.
_RECORD_VALUES = 4


def read_tables(file: BinaryIO, table_names: frozenset[str], others: Counter[str] | None = None) -> Rows:
    """Return the rows of these tables; values are texts, None for NULL. Raises FieldError if there is no INSERT.

    Rows that are kept count towards the limit of values of a document. `others` counts the rows of all other tables.
    """
    codec = detect_encoding(file).codec
    file.seek(0)
    text = file.read().decode(codec, "replace")
    tables: Rows = defaultdict(list)
    position = _skip_space(text, 0)
    found = is_damaged = False
    values = 0
    while position < len(text):
        if match := _INSERT.match(text, position):
            found = True
            names = [name.strip().strip("`") for name in match[2].split(",")][:_MAX_COLUMNS]
            rows = tables[match[1]] if match[1] in table_names else None
            position = match.end()
            for row, end in _parse_rows(text, match.end(), names):
                position = end
                if rows is None:
                    if others is not None:
                        others[match[1]] += 1
                    continue
                values += len(row) + _RECORD_VALUES
                if values > MAX_DOCUMENT_VALUES:
                    raise too_many_values("Monica")
                rows.append(row)
        elif not is_damaged and (skipped := _OTHER_STATEMENT.match(text, position)):
            position = max(skipped.end(), position + 1)
        else:
            # A quote is never closed, so semicolons do not separate statements any more: from here on only search for
            # INSERT at the beginning of a line.
            is_damaged = True
            position = text.find("\nINSERT", position) + 1 or len(text)
        position = _skip_space(text, position)
    if not found:
        raise FieldError("file", _NOT_MONICA)
    return tables


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _parse_rows(text: str, position: int, names: list[str]) -> Iterator[tuple[JsonObject, int]]:
    """Yield the rows of a statement, each with the position behind it. Ends at the first text that is no row."""
    while text.startswith("(", position):
        values: list[str | None] = []
        position += 1
        while match := _VALUE.match(text, position):
            position = match.end()
            if len(values) < _MAX_COLUMNS:
                values.append(_parse_value(match[1], match[2]))
            if match[3] == ")":
                break
        else:
            return
        yield dict(zip(names, values, strict=False)), position
        position = _skip_space(text, position)
        if not text.startswith(",", position):
            return
        position = _skip_space(text, position + 1)


def _parse_value(quoted: str | None, bare: str) -> str | None:
    if quoted is None:
        return None if bare.upper() == "NULL" else bare
    return _ESCAPE.sub(lambda found: _ESCAPED_CHARACTERS.get(found[1], found[1]) if found[1] else "'", quoted[1:-1])


def by_id(rows: list[JsonObject]) -> Mapping[str, JsonObject]:
    """Rows by id. Of rows with the same id the first wins."""
    return {str(row.get("id")): row for row in reversed(rows)}
