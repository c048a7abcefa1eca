"""The similarity of two words of a name: 1 (equal), less for typing errors, RESEMBLING, or 0.

The scores are a table in docs/duplicates.md; the labelled pairs in tests/people/duplicates guard them.
"""

from functools import lru_cache

from rapidfuzz.distance import OSA, JaroWinkler

from people.duplicates.tokens import initial_class, is_initial, phonetic_key, skeleton, words

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
