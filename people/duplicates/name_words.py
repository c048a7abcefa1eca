"""The words of names: how a name is split and normalized, and how similar two of its words are.

Nothing is transliterated: names in different scripts are not comparable. A similarity is 1 (equal), less for typing
errors, RESEMBLING, or 0. The scores are a table in docs/duplicates.md; the labelled pairs in tests/people/duplicates
guard them.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from rapidfuzz.distance import OSA, JaroWinkler

from contacts_project.kernel.text_forms import fold_letters
from people.names import NameParts

_NON_WORD = re.compile(r"[^\w]+|_+")
_DOUBLED_LETTER = re.compile(r"(.)\1+")
_LATIN_VOWELS = re.compile(r"[aeiou]")
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
    return initial_class(word) + _DOUBLED_LETTER.sub(r"\1", _LATIN_VOWELS.sub("", key[1:]))[:_MAX_SKELETON_CONSONANTS]


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


SAME = 1.0
SAME_SOUND = 0.95
INITIAL = 0.87
AGREEING = 0.7  # the threshold from which two words count as the same word
SHORT_FORM = 0.6  # Tom and Thomas: evidence neither for nor against
RESEMBLING = 0.5  # Anna and Anne, Lena and Lina: two people of one family as likely as one
DIFFERENT = 0.0

_VOWELS = frozenset("aeiouаеиоуыэюяαεηιουω")  # of Latin, Cyrillic and Greek names
_JARO_WINKLER_THRESHOLD = 0.8
_MIN_SUBSTRING_LENGTH = 3
_MAX_SHORT_NAME_LENGTH = 5
_MIN_LETTERS_LEFT_OUT = 2
# (minimum length of the longer word, score): in a short word an error is more likely another name.
_ONE_ERROR = ((7, 0.93), (5, 0.9), (4, 0.87), (3, AGREEING))
_TWO_ERRORS = ((9, 0.88), (7, 0.87), (6, AGREEING))
_ONE_LETTER_REPLACED = ((7, 0.93), (6, 0.9), (5, 0.85), (4, 0.8))


@lru_cache(maxsize=65_536)
def given_name_similarity(one: str, other: str) -> float:
    """The similarity of two given names.

    A different ending makes another name (Maria and Mario, Andrea and Andreas), and so does one letter of a short name
    (Lena and Lina, Lisa and Luisa), unless two are exchanged.
    """
    score = _word_similarity(one, other)
    if AGREEING <= score < SAME_SOUND and not is_initial(one) and not is_initial(other):
        is_short = max(len(one), len(other)) <= _MAX_SHORT_NAME_LENGTH and sorted(one) != sorted(other)
        return RESEMBLING if is_short or _has_other_ending(one, other) else score
    if score == RESEMBLING and _is_short_form(one, other):
        return SHORT_FORM
    return score


def _has_other_ending(one: str, other: str) -> bool:
    return one[:3] == other[:3] and one[-1] != other[-1] and bool({one[-1], other[-1]} & _VOWELS)


def _is_short_form(one: str, other: str) -> bool:
    """Whether the shorter name is part of the longer, and does not become that of a woman by a few letters more.

    Tom and Thomas, Alex and Alexander, but not Paul and Pauline, Jan and Janina.
    """
    shorter, longer = sorted((one, other), key=len)
    if len(longer) - len(shorter) < _MIN_LETTERS_LEFT_OUT or (longer.startswith(shorter) and longer[-1] in _VOWELS):
        return False
    return _is_substring(one, other) or _is_substring(phonetic_key(one), phonetic_key(other))


@lru_cache(maxsize=65_536)
def family_name_similarity(one: str, other: str) -> float:
    return _word_similarity(one, other)


def _word_similarity(one: str, other: str) -> float:
    if not one or not other:
        return DIFFERENT
    if one == other:
        return INITIAL if is_initial(one) else SAME
    if is_initial(one) or is_initial(other):
        return INITIAL if one[0] == other[0] else DIFFERENT
    if len(one) > 2 and len(other) > 2 and phonetic_key(one) == phonetic_key(other):
        return SAME_SOUND
    score = _typing_error_score(one, other)
    if score >= AGREEING:
        return score
    resembles = (
        (min(len(one), len(other)) > 1 and JaroWinkler.similarity(one, other) >= _JARO_WINKLER_THRESHOLD)
        or _is_substring(one, other)
        or _is_substring(phonetic_key(one), phonetic_key(other))
    )
    return RESEMBLING if resembles else DIFFERENT


def _typing_error_score(one: str, other: str) -> float:
    """The score of one or two edits (optimal string alignment distance); DIFFERENT for more."""
    length = max(len(one), len(other))
    distance = OSA.distance(one, other, score_cutoff=2)
    if distance == 2:
        return _score_for_length(_TWO_ERRORS, length)
    if distance != 1:
        return DIFFERENT
    # Two letters transposed: nearly always a typing error, seldom another name.
    if sorted(one) == sorted(other):
        return max(_score_for_length(_ONE_ERROR, length), INITIAL if length > 2 else DIFFERENT)
    # Another first letter makes another name: Harry and Larry.
    if one[0] != other[0]:
        return DIFFERENT
    return _score_for_length(_ONE_LETTER_REPLACED if len(one) == len(other) else _ONE_ERROR, length)


def _score_for_length(steps: tuple[tuple[int, float], ...], length: int) -> float:
    return next((value for least, value in steps if length >= least), DIFFERENT)


def _is_substring(one: str, other: str) -> bool:
    """Whether the shorter word is part of the longer: Liz in Elizabeth, or as phonetic keys Tony in Anthony."""
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= _MIN_SUBSTRING_LENGTH and shorter in longer


def clear_word_caches() -> None:
    """Clear the caches of words. After all people of an account they hold tens of megabytes that nobody uses again."""
    for cached in (words, phonetic_key, skeleton, initial_class, given_name_similarity, family_name_similarity):
        cached.cache_clear()
