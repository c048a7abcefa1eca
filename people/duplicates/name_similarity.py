"""How far two names agree, and in which way they do not: the base of a similarity."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from rapidfuzz.distance import OSA

from people.duplicates.tokens import given_and_family, has_case, is_initial, is_whole_name, script, spelling, words
from people.duplicates.word_similarity import (
    AGREEING,
    DIFFERENT,
    INITIAL,
    RESEMBLING,
    SAME,
    family_likeness,
    given_likeness,
)
from people.names import NameParts

FULL_NAME = 0.88  # the same given and family name, nothing else known
LONE_GIVEN = 0.6  # the same given name, no family name on either side
HALF_KNOWN = 0.5  # the same given name, one family name unknown
OTHER_FAMILY = 0.35  # the same given name, another family name
OTHER_GIVEN = 0.35  # the same family name, a given name that resembles
OTHER_SCRIPT = 0.3  # Сергей and Sergei: neither for nor against
FAMILY_ONLY = 0.1  # the same family name, another given name
OTHER_ORDER = 0.98  # family and given name exchanged, or run together
BY_NICKNAME = 0.97
LATER_GIVEN = 0.85  # Hans Peter and Peter
PART_OF_FAMILY = 0.93  # Garcia and Garcia Lopez, Beethoven and van Beethoven
CONTRADICTION = 0.85  # of second given names or second family names
_GENERATIONS = frozenset({"jr", "sr", "junior", "senior", "ii", "iii", "iv"})
_PARTICLE = 3
_FAR = 4


class Verdict(IntEnum):
    """What a name says about being the same person, whatever else agrees."""

    CONTRADICTS = 0  # two given names: nobody has both
    RESEMBLES = 1  # Anna and Anne
    AGREES = 2


class Agreement(NamedTuple):
    """`base` from 0 to FULL_NAME, and the verdict."""

    base: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class NameForm:
    """A name made ready for comparing."""

    given: str
    later: tuple[str, ...]  # further given names and middle names
    joined_given: str
    family: tuple[str, ...]
    joined_family: str
    nickname: str
    generation: str
    all_words: tuple[str, ...]
    compact: tuple[str, str]  # everything run together, in both orders
    is_plain: bool  # one given name and no nickname
    script: str
    spelt: str  # given and family name as they sound, where each is one word and no initial; else empty
    spelt_crossed: str

    @property
    def is_lone(self) -> bool:
        return not self.family

    @property
    def has_initial(self) -> bool:
        return any(is_initial(word) for word in (self.given, *self.family))


def name_form(parts: NameParts) -> NameForm:
    """Take a name apart."""
    given, family = given_and_family(parts)
    given = given or [parts.name.strip().casefold() or "?"]  # a name of signs alone
    generation = next((word for word in [*words(parts.suffix), *family[1:]] if word in _GENERATIONS), "")
    family = [word for word in family if word not in _GENERATIONS] or family
    middle = list(words(parts.middle_name))
    left, right = "".join([*given, *middle]), "".join(family)
    is_plain = not (given[1:] or middle or parts.nickname)
    is_simple = is_plain and len(family) == 1 and not is_initial(given[0]) and not is_initial(family[0])
    return NameForm(
        given=given[0],
        later=(*given[1:], *middle),
        joined_given="".join(given),
        family=tuple(family),
        joined_family=right,
        nickname="".join(words(parts.nickname)),
        generation=generation[:1] if generation[:1] in "js" else generation,
        all_words=tuple(sorted([*given, *middle, *family])),
        compact=(left + right, right + left),
        is_plain=is_plain,
        script=script(given[0]),
        spelt=f"{spelling(given[0])} {spelling(family[0])}" if is_simple else "",
        spelt_crossed=f"{spelling(family[0])} {spelling(given[0])}" if is_simple else "",
    )


def are_far_apart(one: NameForm, other: NameForm) -> bool:
    """Whether two simple names are so unlike that they cannot reach the threshold alone; cheap, never too soon.

    Names that agree have two slips between them at most, and a slip changes at most two signs of the spelling.
    """
    return bool(
        one.spelt
        and other.spelt
        and OSA.distance(one.spelt, other.spelt, score_cutoff=_FAR) > _FAR
        and OSA.distance(one.spelt, other.spelt_crossed, score_cutoff=_FAR) > _FAR
    )


def compare_names(one: NameForm, other: NameForm) -> Agreement:
    """The agreement of two names, in whichever order of family and given name they agree better."""
    if one.family and other.family:
        found = _compare_full(one, other)
    elif one.family or other.family:
        found = _compare_half(*((one, other) if one.is_lone else (other, one)))
    else:
        found = _compare_lone(one, other)
    if found.verdict == Verdict.CONTRADICTS and one.script != other.script:
        return Agreement(OTHER_SCRIPT, Verdict.RESEMBLES)
    return found


def _compare_full(one: NameForm, other: NameForm) -> Agreement:
    straight = _pair(_given(one, other), _family(one.family, other.family))
    if straight.base >= FULL_NAME * OTHER_ORDER:
        return straight
    if one.all_words == other.all_words or one.compact[0] in other.compact:
        return Agreement(FULL_NAME * OTHER_ORDER, Verdict.AGREES)
    crossed = family_likeness(one.given, other.joined_family)
    if crossed >= AGREEING:
        crossed *= family_likeness(one.joined_family, other.given)
    if crossed >= AGREEING:
        return Agreement(max(straight.base, FULL_NAME * OTHER_ORDER * crossed), Verdict.AGREES)
    return straight


def _pair(given: float, family: float) -> Agreement:
    if given >= AGREEING and family >= AGREEING:
        return Agreement(FULL_NAME * given * family, Verdict.AGREES)
    if given >= AGREEING:
        return Agreement(OTHER_FAMILY * given, Verdict.AGREES)
    if given >= RESEMBLING and family >= AGREEING:
        return Agreement(OTHER_GIVEN * family, Verdict.RESEMBLES)
    return Agreement(FAMILY_ONLY if family >= AGREEING else 0.0, Verdict.CONTRADICTS)


def _compare_half(lone: NameForm, full: NameForm) -> Agreement:
    """A lone name with a full one: it may be the given name, the family name, or both run together."""
    if lone.compact[0] in full.compact:
        return Agreement(FULL_NAME * OTHER_ORDER, Verdict.AGREES)
    given = _given(lone, full)
    if given >= AGREEING:
        return Agreement(HALF_KNOWN * given, Verdict.AGREES)
    if lone.given in full.family:
        return Agreement(OTHER_FAMILY, Verdict.AGREES)
    return Agreement(FAMILY_ONLY, Verdict.RESEMBLES) if given >= RESEMBLING else Agreement(0.0, Verdict.CONTRADICTS)


def _compare_lone(one: NameForm, other: NameForm) -> Agreement:
    given = _given(one, other)
    if given == SAME and not has_case(one.given) and is_whole_name(one.given) and one.given == other.given:
        return Agreement(FULL_NAME, Verdict.AGREES)
    if given >= AGREEING:
        return Agreement(LONE_GIVEN * given, Verdict.AGREES)
    return Agreement(FAMILY_ONLY, Verdict.RESEMBLES) if given >= RESEMBLING else Agreement(0.0, Verdict.CONTRADICTS)


def _given(one: NameForm, other: NameForm) -> float:
    """How alike the given names are, nicknames standing in for them."""
    best = given_likeness(one.given, other.given)
    if one.is_plain and other.is_plain:
        return best
    if best >= AGREEING and _contradict(one.later, other.later):
        best *= CONTRADICTION
    if best == SAME:
        return best
    found = [best, _initials(one, other), _initials(other, one)]
    if (one.joined_given, other.joined_given) != (one.given, other.given):
        found.append(given_likeness(one.joined_given, other.joined_given))
    if one.given in other.later or other.given in one.later:
        found.append(LATER_GIVEN)
    if one.nickname or other.nickname:
        found.append(_nicknames(one, other) * BY_NICKNAME)
    return max(found)


def _nicknames(one: NameForm, other: NameForm) -> float:
    pairs = ((one.nickname, other.given), (one.given, other.nickname), (one.nickname, other.nickname))
    return max(
        (given_likeness(mine, theirs) for mine, theirs in pairs if len(mine) > 1 and len(theirs) > 1),
        default=DIFFERENT,
    )


def _initials(short: NameForm, long: NameForm) -> float:
    """JRR for John Ronald Reuel."""
    if not long.later or not 2 <= len(short.given) <= 4 or short.later:
        return DIFFERENT
    letters = long.given[0] + "".join(word[0] for word in long.later)
    return INITIAL if short.given == letters else DIFFERENT


def _contradict(one: Sequence[str], other: Sequence[str]) -> bool:
    return any(given_likeness(mine, theirs) < AGREEING for mine, theirs in zip(one, other, strict=False))


def _family(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """How alike the family names are; particles and a second family name may be missing on one side."""
    if len(one) == 1 and len(other) == 1:
        return family_likeness(one[0], other[0])
    whole = family_likeness("".join(one), "".join(other))
    if whole >= AGREEING:
        return whole
    mine, theirs = _core(one), _core(other)
    if mine <= theirs or theirs <= mine:
        return PART_OF_FAMILY
    first = family_likeness(one[0], other[0])
    if len(one) > 1 and len(other) > 1:
        return first * CONTRADICTION if first >= AGREEING else DIFFERENT
    single, several = (one, other) if len(one) == 1 else (other, one)
    return PART_OF_FAMILY * max(family_likeness(single[0], word) for word in several)


def _core(family: tuple[str, ...]) -> frozenset[str]:
    """The words that carry the name: without van, de, al."""
    return frozenset(word for word in family if len(word) > _PARTICLE or not word.isascii()) or frozenset(family)
