"""Parses the INSERT statements of Monica's SQL export. Nothing is executed.

One pass over the text: every other statement is skipped up to its semicolon.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from contacts_project.kernel.errors import FieldError
from people.importing.sources.encodings import detect_encoding

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


def read_tables(file: BinaryIO, wanted: frozenset[str]) -> Rows:
    """Return the rows of the wanted tables; values are texts, None for NULL. Raises FieldError without any INSERT."""
    codec = detect_encoding(file)
    file.seek(0)
    text = file.read().decode(codec, "replace")
    tables: Rows = defaultdict(list)
    place = _skip_space(text, 0)
    found = is_damaged = False
    while place < len(text):
        if match := _INSERT.match(text, place):
            found = True
            names = [name.strip().strip("`") for name in match[2].split(",")][:_MAX_COLUMNS]
            rows = tables[match[1]] if match[1] in wanted else None
            place = match.end()
            for row, end in _parse_rows(text, match.end(), names):
                place = end
                if rows is not None:
                    rows.append(row)
        elif not is_damaged and (skipped := _OTHER_STATEMENT.match(text, place)):
            place = max(skipped.end(), place + 1)
        else:
            # A quote is never closed, so semicolons do not separate statements any more: from here on only search for
            # INSERT at the beginning of a line.
            is_damaged = True
            place = text.find("\nINSERT", place) + 1 or len(text)
        place = _skip_space(text, place)
    if not found:
        raise FieldError("file", "This is no SQL export of Monica.")
    return tables


def _skip_space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


def _parse_rows(text: str, place: int, names: list[str]) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the rows of a statement, each with the position behind it. Ends at the first text that is no row."""
    while text.startswith("(", place):
        values: list[str | None] = []
        place += 1
        while match := _VALUE.match(text, place):
            place = match.end()
            if len(values) < _MAX_COLUMNS:
                values.append(_parse_value(match[1], match[2]))
            if match[3] == ")":
                break
        else:
            return
        yield dict(zip(names, values, strict=False)), place
        place = _skip_space(text, place)
        if not text.startswith(",", place):
            return
        place = _skip_space(text, place + 1)


def _parse_value(quoted: str | None, bare: str) -> str | None:
    if quoted is None:
        return None if bare.upper() == "NULL" else bare
    return _ESCAPE.sub(lambda found: _ESCAPED_CHARACTERS.get(found[1], found[1]) if found[1] else "'", quoted[1:-1])


def by_id(rows: list[dict[str, Any]]) -> Mapping[str, dict[str, Any]]:
    """Rows by id. Of rows with the same id the first wins."""
    return {str(row.get("id")): row for row in reversed(rows)}
