"""The words by which people are found, in one spelling: what is indexed and what is asked for go through here alike.

Without case and accents (people.names.fold), Greek and Cyrillic in Latin letters, and the two ways of writing an umlaut
as one: Müller, Mueller and Muller are `muller`, Sørensen and Soerensen `sorensen`, Иванов and Ivanov `ivanov`. Scripts
without spaces are split into their signs. More words become equal than should be (Manuel, Manul): that finds too much
and never too little.
"""

import re
from collections.abc import Iterator

from people.names import CJK_RANGES, fold

LONGEST = 40
#: Distinct words of a text: each is a row of an index, written in the transaction of the text.
MOST_WORDS = 1_000
_SIGN = re.compile(f"[{CJK_RANGES}]")
_WORD = re.compile(f"[{CJK_RANGES}]|[^\\W_{CJK_RANGES}]+")
_APOSTROPHES = re.compile("['\u2019\u02bc\u2018`\u00b4]")
_UMLAUT = re.compile("(?<=[aou])e|(?<=a)a")
_CYRILLIC = dict(zip("абвгдезийклмнопрстуфыэіїґ", "abvgdeziiklmnoprstufyeiig", strict=True)) | {
    "ж": "zh",
    "х": "kh",
    "ц": "ts",
    "ч": "ch",
    "ш": "sh",
    "щ": "shch",
    "ю": "yu",
    "я": "ya",
    "є": "ie",
    "ъ": "",
    "ь": "",
}
_GREEK = dict(zip("αβγδεζηικλμνξοπρσςτυφω", "avgdeziiklmnxoprsstyfo", strict=True)) | {"θ": "th", "χ": "ch", "ψ": "ps"}
_LATIN = str.maketrans(_CYRILLIC | _GREEK)


def words_of(*texts: str | None) -> list[str]:
    """The words of the texts, in their order, each cut at 40 characters; of each the first 1,000 distinct ones."""
    return [word for text in texts if text for word in _words(text)]


def _words(text: str) -> Iterator[str]:
    plain = _UMLAUT.sub("", _APOSTROPHES.sub("", fold(text)).translate(_LATIN))
    seen: set[str] = set()
    for found in _WORD.finditer(plain):
        word = found.group()[:LONGEST]
        seen.add(word)
        if len(seen) > MOST_WORDS:
            return
        yield word


def is_letter(word: str) -> bool:
    """Whether it is one letter, which says next to nothing; a sign of a script without spaces is a word."""
    return len(word) == 1 and not _SIGN.match(word)


def words_of_email(address: str) -> list[str]:
    """The words of an address, but the last part of its domain, which everybody has."""
    local, _, domain = address.rpartition("@")
    return words_of(local, *domain.split(".")[:-1])


def words_of_value(value: object) -> list[str]:
    """The words of a custom field's value; yes and no are none."""
    return [] if isinstance(value, bool) else words_of(str(value))


def reversed_word(word: str) -> str:
    """The word from its end, so that an index finds by the last letters."""
    return word[::-1]
