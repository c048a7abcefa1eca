"""Tokenizes names into folded words, and normalizes the words: phonetic key, skeleton, class of the initial.

Nothing is transliterated: names in different scripts are not comparable.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from contacts_project.kernel.text_forms import fold_letters
from people.names import NameParts

_NON_WORD = re.compile(r"[^\w]+|_+")
_DOUBLED_LETTER = re.compile(r"(.)\1+")
_VOWELS = re.compile(r"[aeiou]")
_MUTE_H = re.compile(r"(?<=.)h")
# Replacements that give the spellings of one sound in Latin names the same key. The order matters: "ck" before "c".
_SAME_SOUNDS = (
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
_INITIAL_CLASSES = str.maketrans("eiouhptgv", "aaaaabdkf")
_TITLES = frozenset({"dr", "mr", "mrs", "ms", "miss", "prof", "sir", "herr", "frau", "mme", "mlle"})
# Given names that are joined to one name of two words: María José alone in a field is no José with the name María.
_JOINED_GIVEN_NAMES = frozenset(
    word
    for line in (
        "ana andres angel angeles anna anne antonio antonia carlos carmen clara claude cristina daniel",
        "fernando francisco giovanni giulia guadalupe hans heinz ines isabel jean jesus joao joaquim joaquin",
        "jorge jose josefa juan juana julia karl klaus luis luisa luiz manuel manuela marco maria marie mario",
        "marta martin mercedes miguel paolo pablo paulo pedro peter philippe pierre pilar rafael raul ricardo",
        "rosa rosario sofia teresa vicente victoria yves",
    )
    for word in line.split()
)
_MAX_PARTICLE_LENGTH = 3
_MAX_SKELETON_CONSONANTS = 6
_PREFIX_LENGTH = 3


@lru_cache(maxsize=16_384)
def words(text: str | None) -> tuple[str, ...]:
    """The words of `text`: folded, without punctuation. Apostrophes do not split a word (O'Brien, obrien)."""
    if not text:
        return ()
    return tuple(_NON_WORD.sub(" ", fold_letters(text)).split())


def given_and_family(parts: NameParts) -> tuple[list[str], list[str]]:
    """The words of the given and the family name. A full name in the given name's field is split before its last word.

    It is split at white space and not at hyphens: Jean-Luc is a lone given name. So is María José.
    """
    family = [*words(parts.surname), *words(parts.second_last_name)]
    if family:
        return _without_titles(words(parts.name)), family
    if are_joined_given_names(whole := words(parts.name)):
        return list(whole), []
    *before, last = parts.name.split() or [""]
    given = _without_titles(words(" ".join(before)))
    if given and words(last) and given[0] not in _TITLES:
        return given, list(words(last))
    return _without_titles(words(parts.name)), []


def are_joined_given_names(found: Iterable[str]) -> bool:
    return _JOINED_GIVEN_NAMES.issuperset(found)


def _without_titles(found: tuple[str, ...]) -> list[str]:
    """The words without leading titles (Dr. John); unchanged where all are titles."""
    first = next((index for index, word in enumerate(found) if word not in _TITLES), 0)
    return list(found[first:])


def without_particles(family: Sequence[str]) -> list[str]:
    """The words of a family name without particles such as van, de and al. The last word is none, however short."""
    # Short words in other scripts are names, such as a Han character.
    return [word for word in family[:-1] if len(word) > _MAX_PARTICLE_LENGTH or not word.isascii()] + [*family[-1:]]


@lru_cache(maxsize=16_384)
def phonetic_key(word: str) -> str:
    """A phonetic key: equal for Kathrin, Catrin and Katrin. Words that are not ASCII after folding stay as they are."""
    if not word.isascii():
        return word
    for written, heard in _SAME_SOUNDS:
        word = word.replace(written, heard)
    return _DOUBLED_LETTER.sub(r"\1", _MUTE_H.sub("", word))


def is_initial(word: str) -> bool:
    """Whether `word` is one letter of an alphabet with capitals; a single Han character is a whole name."""
    return len(word) == 1 and word.upper() != word


def has_case(word: str) -> bool:
    """Whether the script of `word` has upper and lower case."""
    return any(char.upper() != char for char in word)


@lru_cache(maxsize=16_384)
def skeleton(word: str) -> str:
    """A blocking token that most typing errors do not change: the class of the first letter, and the consonants.

    For words that are not ASCII after folding: the first letters.
    """
    key = phonetic_key(word)
    if not key.isascii():
        return key[:_PREFIX_LENGTH]
    return initial_class(word) + _DOUBLED_LETTER.sub(r"\1", _VOWELS.sub("", key[1:]))[:_MAX_SKELETON_CONSONANTS]


@lru_cache(maxsize=16_384)
def initial_class(word: str) -> str:
    """The first letter, mapped to one letter for each class that is often confused (c and k, i and j, d and t)."""
    return phonetic_key(word)[:1].translate(_INITIAL_CLASSES)


def script(word: str) -> str:
    """The script of the first letter, from its Unicode name: LATIN, CYRILLIC, CJK, HIRAGANA."""
    return unicodedata.name(word[0], "").partition(" ")[0]


def is_whole_name(word: str) -> bool:
    """Whether one word in a script without spaces is long enough to contain both family and given name."""
    # Hangul syllables are the range U+AC00 to U+D7AF.
    if all(unicodedata.name(char, "").startswith("CJK UNIFIED") for char in word):
        return len(word) >= 4
    return len(word) >= 3 and all("\uac00" <= char <= "\ud7af" for char in word)
