"""Recognizes the headers of Outlook and Thunderbird in the six languages of the service.

The names of the columns are in `outlook_columns.txt` and `thunderbird_columns.txt`; docs/imports.md says where they are
from.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from people.importing.sources.column_words import fold_name

# A header is one of a product if most of its columns are, and so many that it is no table of somebody's own.
_MIN_COLUMNS = 10
_MIN_SHARE = 0.8
_NO_TARGET = "-"

# For a column name without accents and signs, the columns that have it: French Outlook has two called `Titre`.
_Names = dict[str, list[str]]


def outlook_columns(names: Sequence[str]) -> list[str] | None:
    """The names of these columns in English, unknown ones unchanged; None if this is no header of Outlook."""
    return _translate("outlook", names)


def thunderbird_targets(names: Sequence[str]) -> list[str] | None:
    """The targets of these columns, empty without one; None if this is no header of Thunderbird."""
    columns = _translate("thunderbird", names)
    if columns is None:
        return None
    return ["" if column in {_NO_TARGET, name} else column for column, name in zip(columns, names, strict=True)]


def _translate(product: str, names: Sequence[str]) -> list[str] | None:
    folded = [fold_name(name) for name in names]
    filled = sum(map(bool, folded))
    for known in _read_languages(product):
        count = sum(name in known for name in folded)
        if count >= _MIN_COLUMNS and count >= filled * _MIN_SHARE:
            return _take_columns(known, names, folded)
    return None


def _take_columns(known: _Names, names: Sequence[str], folded: Sequence[str]) -> list[str]:
    """The column of each name. Where several have the same name, they come in the order of the product."""
    seen: defaultdict[str, int] = defaultdict(int)
    columns = []
    for name, key in zip(names, folded, strict=True):
        found = known.get(key)
        columns.append(found[min(seen[key], len(found) - 1)] if found else name)
        seen[key] += 1
    return columns


@cache
def _read_languages(product: str) -> list[_Names]:
    """The columns of a product by their names, for each language; each also knows the English names."""
    text = Path(__file__).with_name(f"{product}_columns.txt").read_text("utf-8")
    rows = [line.split(" | ") for line in text.splitlines() if line and not line.startswith("#")]
    english: _Names = defaultdict(list)
    languages = []
    for language in range(1, len(rows[0])):
        known: _Names = defaultdict(list)
        for row in rows:
            for name in row[language].split(" ~ "):
                known[fold_name(name)].append(row[0])
        english = english or known
        languages.append({**english, **known})
    return languages
