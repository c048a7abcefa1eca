"""How alike two words of a name are: from 1 (the same) over typing errors to RESEMBLING and 0.

The steps are a table in docs/duplicates.md; the labelled pairs in tests/people/duplicates hold them in place.
"""

from functools import lru_cache

from rapidfuzz.distance import OSA, JaroWinkler

from people.duplicates.tokens import initial_class, is_initial, skeleton, spelling, words

SAME = 1.0
SPELT_ALIKE = 0.95
INITIAL = 0.87
AGREEING = 0.7  # from here on two words are taken for the same one
RESEMBLING = 0.5  # Anna and Anne, Tom and Thomas: no evidence for, none against
DIFFERENT = 0.0

_VOWELS = frozenset("aeiouаеиоуыэюяαεηιουω")  # of Latin, Cyrillic and Greek names
_RESEMBLING_FROM = 0.8
_SHORTEST_PART = 3
# (at least so many letters in the longer word, likeness), for one and for two typing errors.
_ONE_ERROR = ((7, 0.93), (5, 0.9), (4, 0.87), (3, AGREEING))
_TWO_ERRORS = ((9, 0.88), (7, 0.87), (6, AGREEING))
_ONE_LETTER_REPLACED = ((7, 0.93), (6, 0.9), (5, 0.85), (4, 0.8))


@lru_cache(maxsize=65_536)
def given_likeness(one: str, other: str) -> float:
    """How alike two given names are. An ending alone makes another name: Maria and Mario, Andrea and Andreas."""
    found = _likeness(one, other)
    if AGREEING <= found < SPELT_ALIKE and not is_initial(one) and not is_initial(other) and _ends_apart(one, other):
        return RESEMBLING
    return found


@lru_cache(maxsize=65_536)
def family_likeness(one: str, other: str) -> float:
    """How alike two family names are."""
    return _likeness(one, other)


def _likeness(one: str, other: str) -> float:
    if not one or not other:
        return DIFFERENT
    if one == other:
        return INITIAL if is_initial(one) else SAME
    if is_initial(one) or is_initial(other):
        return INITIAL if one[0] == other[0] else DIFFERENT
    if len(one) > 2 and len(other) > 2 and spelling(one) == spelling(other):
        return SPELT_ALIKE
    found = _typing_errors(one, other)
    return found if found >= AGREEING else _resemblance(one, other)


def _typing_errors(one: str, other: str) -> float:
    length = max(len(one), len(other))
    distance = OSA.distance(one, other, score_cutoff=2)
    if distance == 2:
        return _step(_TWO_ERRORS, length)
    if distance != 1:
        return DIFFERENT
    if sorted(one) == sorted(other):  # two letters exchanged: nearly always a slip
        return max(_step(_ONE_ERROR, length), INITIAL if length > 2 else DIFFERENT)
    if one[0] != other[0]:  # Harry and Larry
        return DIFFERENT
    return _step(_ONE_LETTER_REPLACED if len(one) == len(other) else _ONE_ERROR, length)


def _step(steps: tuple[tuple[int, float], ...], length: int) -> float:
    return next((value for least, value in steps if length >= least), DIFFERENT)


def _resemblance(one: str, other: str) -> float:
    alike = min(len(one), len(other)) > 1 and JaroWinkler.similarity(one, other) >= _RESEMBLING_FROM
    return RESEMBLING if alike or _is_part(one, other) or _is_part(spelling(one), spelling(other)) else DIFFERENT


def _is_part(one: str, other: str) -> bool:
    """Whether one is in the other: Liz in Elizabeth, and as it sounds Tony in Anthony."""
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= _SHORTEST_PART and shorter in longer


def _ends_apart(one: str, other: str) -> bool:
    """Whether two words of one beginning differ in their last letter, a vowel in one of them."""
    return one[:3] == other[:3] and one[-1] != other[-1] and bool({one[-1], other[-1]} & _VOWELS)


def clear_word_caches() -> None:
    """Empty the caches of words: once a whole account has passed they hold tens of megabytes, for nobody."""
    for cached in (words, spelling, skeleton, initial_class, given_likeness, family_likeness):
        cached.cache_clear()
