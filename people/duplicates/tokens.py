"""The words of a name, folded, and what makes them comparable: spelling and skeleton.

Nothing is transliterated: a name in one script is never compared with a name in another.
"""

import re
import unicodedata
from functools import lru_cache

from people.names import NameParts, fold

_NO_LETTER = re.compile(r"[^\w]+|_+")
_APOSTROPHES = re.compile("['\u2019\u02bc\u2018`\u00b4]")
_DOUBLED = re.compile(r"(.)\1+")
_VOWELS = re.compile(r"[aeiou]")
_MUTE_H = re.compile(r"(?<=.)h")
# Ways of writing one sound in Latin names, in this order.
_SPELLINGS = (
    ("ae", "a"),
    ("oe", "o"),
    ("ue", "u"),
    ("ph", "f"),
    ("ck", "k"),
    ("dt", "t"),
    ("c", "k"),
    ("q", "k"),
    ("y", "i"),
    ("j", "i"),
    ("z", "s"),
    ("w", "v"),
)
_CLASS = str.maketrans("eiouhptgv", "aaaaabdkf")
_TITLES = frozenset({"dr", "mr", "mrs", "ms", "miss", "prof", "sir", "herr", "frau", "mme", "mlle"})
_SKELETON = 6
_PREFIX = 3


@lru_cache(maxsize=16_384)
def words(text: str | None) -> tuple[str, ...]:
    """The words of `text`: folded, without punctuation; an apostrophe joins (O'Brien, obrien)."""
    if not text:
        return ()
    return tuple(_NO_LETTER.sub(" ", _APOSTROPHES.sub("", fold(text))).split())


def given_and_family(parts: NameParts) -> tuple[list[str], list[str]]:
    """The words of given and family name. A name typed into one field is split before its last word.

    White space splits, a hyphen does not: Jean-Luc alone is a lone given name.
    """
    family = [*words(parts.surname), *words(parts.second_last_name)]
    if family:
        return _untitled(words(parts.name)), family
    *before, last = parts.name.split() or [""]
    given = _untitled(words(" ".join(before)))
    if given and words(last) and given[0] not in _TITLES:
        return given, list(words(last))
    return _untitled(words(parts.name)), []


def _untitled(found: tuple[str, ...]) -> list[str]:
    """Words without the titles before them, as long as a name is left: Dr. John."""
    first = next((place for place, word in enumerate(found) if word not in _TITLES), 0)
    return list(found[first:])


@lru_cache(maxsize=16_384)
def spelling(word: str) -> str:
    """`word` as it might as well be written: Kathrin, Catrin and Katrin are one. Latin words only."""
    if not word.isascii():
        return word
    for written, heard in _SPELLINGS:
        word = word.replace(written, heard)
    return _DOUBLED.sub(r"\1", _MUTE_H.sub("", word))


def is_initial(word: str) -> bool:
    """One letter of an alphabet that has capitals; a single Han character is a whole name."""
    return len(word) == 1 and word.upper() != word


def has_case(word: str) -> bool:
    """Whether the script of `word` tells small letters from capitals."""
    return any(char.upper() != char for char in word)


@lru_cache(maxsize=16_384)
def skeleton(word: str) -> str:
    """What most typing errors leave alone: class of the first letter and the consonants; elsewhere the beginning."""
    spelt = spelling(word)
    if not spelt.isascii():
        return spelt[:_PREFIX]
    return initial_class(word) + _DOUBLED.sub(r"\1", _VOWELS.sub("", spelt[1:]))[:_SKELETON]


@lru_cache(maxsize=16_384)
def initial_class(word: str) -> str:
    """The first letter, letters that are easily mistaken for each other being one (c and k, i and j, d and t)."""
    return spelling(word)[:1].translate(_CLASS)


def script(word: str) -> str:
    """The script of the first letter, as Unicode names it: LATIN, CYRILLIC, CJK, HIRAGANA."""
    return unicodedata.name(word[0], "").partition(" ")[0]


def is_whole_name(word: str) -> bool:
    """Whether one word in a script without spaces is long enough to be family and given name at once."""
    if all(unicodedata.name(char, "").startswith("CJK UNIFIED") for char in word):
        return len(word) >= 4
    return len(word) >= 3 and all("\uac00" <= char <= "\ud7af" for char in word)
