"""Splits texts into normalized words. Indexed texts and search queries are normalized alike.

Words have no case and accents (`fold`), Greek and Cyrillic are written in Latin letters, and both spellings of an
umlaut become one: Müller, Mueller and Muller are `muller`, Sørensen and Soerensen `sorensen`, Иванов and Ivanov
`ivanov`. Scripts without spaces are split into characters. Some different words become equal (Manuel, Manul), so a
search may find too much, but never too little.
"""

import re
from collections.abc import Iterator

from contacts_project.kernel.text_forms import fold_letters
from people.scripts import CJK_RANGES

MAX_WORD_LENGTH = 40
#: Distinct words of one text. A limit, because each word is an index row that is written with the text.
MAX_WORDS = 1_000
_SIGN = re.compile(f"[{CJK_RANGES}]")
_WORD = re.compile(f"[{CJK_RANGES}]|[^\\W_{CJK_RANGES}]+")
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
    """The words of the texts in order, each cut to 40 characters; the first 1,000 distinct words of each text."""
    return [word for text in texts if text for word in _words(text)]


def _words(text: str) -> Iterator[str]:
    plain = _UMLAUT.sub("", fold_letters(text).translate(_LATIN))
    seen: set[str] = set()
    for found in _WORD.finditer(plain):
        word = found.group()[:MAX_WORD_LENGTH]
        seen.add(word)
        if len(seen) > MAX_WORDS:
            return
        yield word


def is_letter(word: str) -> bool:
    """Whether `word` is a single letter, which matches too much. A character of a script without spaces is a word."""
    return len(word) == 1 and not _SIGN.match(word)


def words_of_email(address: str) -> list[str]:
    """The words of an e-mail address, without its top-level domain, which is too common."""
    local, _, domain = address.rpartition("@")
    return words_of(local, *domain.split(".")[:-1])


def words_of_value(value: object) -> list[str]:
    """The words of a custom field's value; a boolean has none."""
    return [] if isinstance(value, bool) else words_of(str(value))


def reversed_word(word: str) -> str:
    """The word backwards, so that an index can find words by their last letters."""
    return word[::-1]
