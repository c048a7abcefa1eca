"""How similar two people are, 0 to 1 (the table is in docs/duplicates.md).

Their names give a base score, and a verdict that limits what equal e-mails, numbers and birthdays can add.
"""

import datetime as dt
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from rapidfuzz.distance import OSA

from people.duplicates.name_words import (
    AGREEING,
    DIFFERENT,
    INITIAL,
    RESEMBLING,
    SAME,
    SHORT_FORM,
    are_joined_given_names,
    family_name_similarity,
    given_and_family,
    given_name_similarity,
    has_case,
    is_initial,
    is_whole_name,
    phonetic_key,
    script,
    without_particles,
    words,
)
from people.names import NameParts

FULL_NAME = 0.88  # the same given and family name, nothing else known
LONE_GIVEN = 0.6  # the same given name, no family name on either side
HALF_KNOWN = 0.5  # the same given name, one family name unknown
OTHER_FAMILY = 0.35  # the same given name, another family name
OTHER_GIVEN = 0.35  # the same family name, a given name that resembles
OTHER_SCRIPT = 0.3  # Сергей and Sergei: evidence neither for nor against
FAMILY_ONLY = 0.1  # the same family name, another given name
OTHER_ORDER = 0.98  # family and given name swapped, or written as one word
BY_NICKNAME = 0.97
LATER_GIVEN = 0.85  # Hans Peter and Peter
PART_OF_FAMILY = 0.93  # Garcia and Garcia Lopez, Beethoven and van Beethoven
CONTRADICTION = 0.85  # of second family names
_GENERATIONS = frozenset({"jr", "sr", "junior", "senior", "ii", "iii", "iv"})
_MAX_DISTANCE = 4


class Verdict(IntEnum):
    """What the names allow, whatever other evidence agrees."""

    CONTRADICTS = 0  # two given names that one person does not have
    RESEMBLES = 1  # Anna and Anne: relatives have such names, and share addresses and numbers
    MAY_AGREE = 2  # Tom and Thomas, Сергей and Sergei: a shared e-mail address decides
    AGREES = 3


class Agreement(NamedTuple):
    """`base` from 0 to FULL_NAME, and the verdict."""

    base: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class NameForm:
    """A name, normalized once for many comparisons."""

    given: str
    later: tuple[str, ...]  # further given names and middle names
    given_count: int  # words of the given name, without middle names
    joined_given: str
    family: tuple[str, ...]
    joined_family: str
    nickname: str
    generation: str
    all_words: tuple[str, ...]
    compact: tuple[str, str]  # all words joined without spaces, family name last and family name first
    is_plain: bool  # one given name and no nickname
    script: str
    phonetic: str  # phonetic keys of given and family name, where each is one word and no initial; else empty
    phonetic_swapped: str  # the same, family name first

    @property
    def is_lone(self) -> bool:
        return not self.family

    @property
    def has_initial(self) -> bool:
        return any(is_initial(word) for word in (self.given, *self.family))


def build_name_form(parts: NameParts) -> NameForm:
    """Parse and normalize a name."""
    given, family = given_and_family(parts)
    # A name of punctuation or emoji alone has no words.
    given = given or [parts.name.strip().casefold() or "?"]
    generation = next((word for word in [*words(parts.suffix), *family[1:]] if word in _GENERATIONS), "")
    family = [word for word in family if word not in _GENERATIONS] or family
    middle = list(words(parts.middle_name))
    left, right = "".join([*given, *middle]), "".join(family)
    is_plain = not (given[1:] or middle or parts.nickname)
    is_simple = is_plain and len(family) == 1 and not is_initial(given[0]) and not is_initial(family[0])
    return NameForm(
        given=given[0],
        later=(*given[1:], *middle),
        given_count=len(given),
        joined_given="".join(given),
        family=tuple(family),
        joined_family=right,
        nickname="".join(words(parts.nickname)),
        # "jr" and "junior" become "j", "sr" and "senior" become "s"; Roman numerals stay.
        generation=generation[:1] if generation[:1] in "js" else generation,
        all_words=tuple(sorted([*given, *middle, *family])),
        compact=(left + right, right + left),
        is_plain=is_plain,
        script=script(given[0]),
        phonetic=f"{phonetic_key(given[0])} {phonetic_key(family[0])}" if is_simple else "",
        phonetic_swapped=f"{phonetic_key(family[0])} {phonetic_key(given[0])}" if is_simple else "",
    )


def are_far_apart(one: NameForm, other: NameForm) -> bool:
    """Whether two simple names are so different that they cannot reach the threshold alone. No false positives.

    Names that agree have at most two typing errors, and an error changes at most two letters of the phonetic key.
    """
    return bool(
        one.phonetic
        and other.phonetic
        and OSA.distance(one.phonetic, other.phonetic, score_cutoff=_MAX_DISTANCE) > _MAX_DISTANCE
        and OSA.distance(one.phonetic, other.phonetic_swapped, score_cutoff=_MAX_DISTANCE) > _MAX_DISTANCE
    )


def compare_names(one: NameForm, other: NameForm) -> Agreement:
    """The agreement of two names, as given or with given and family name swapped, whichever is better."""
    if one.family and other.family:
        agreement = _compare_full(one, other)
    elif one.family or other.family:
        agreement = _compare_lone_with_full(*((one, other) if one.is_lone else (other, one)))
    else:
        agreement = _compare_lone(one, other)
    # A transliterated name shares no letter with the original, which is no contradiction.
    if agreement.verdict == Verdict.CONTRADICTS and one.script != other.script:
        return Agreement(OTHER_SCRIPT, Verdict.MAY_AGREE)
    return agreement


def _compare_full(one: NameForm, other: NameForm) -> Agreement:
    in_order = _combine(_compare_given(one, other), _compare_family(one.family, other.family))
    # No swapped comparison can score higher than this.
    if in_order.base >= FULL_NAME * OTHER_ORDER or _have_given_names_in_other_order(one, other):
        return in_order
    if one.all_words == other.all_words or one.compact[0] in other.compact:
        return Agreement(FULL_NAME * OTHER_ORDER, Verdict.AGREES)
    swapped = family_name_similarity(one.given, other.joined_family)
    if swapped >= AGREEING:
        swapped *= family_name_similarity(one.joined_family, other.given)
    if swapped >= AGREEING:
        return Agreement(max(in_order.base, FULL_NAME * OTHER_ORDER * swapped), Verdict.AGREES)
    return in_order


def _combine(given: float, family: float) -> Agreement:
    if given >= AGREEING and family >= AGREEING:
        return Agreement(FULL_NAME * given * family, Verdict.AGREES)
    if given >= AGREEING:
        return Agreement(OTHER_FAMILY * given, Verdict.AGREES)
    if given >= RESEMBLING and family >= AGREEING:
        return Agreement(OTHER_GIVEN * family, _verdict(given))
    return Agreement(FAMILY_ONLY if family >= AGREEING else 0.0, Verdict.CONTRADICTS)


def _compare_lone_with_full(lone: NameForm, full: NameForm) -> Agreement:
    """Compare one word with a full name: it may be the given name, the family name, or both without a space."""
    if lone.compact[0] in full.compact:
        return Agreement(FULL_NAME * OTHER_ORDER, Verdict.AGREES)
    given = _compare_given(lone, full)
    if given >= AGREEING:
        return Agreement(HALF_KNOWN * given, Verdict.AGREES)
    if lone.given in full.family:
        return Agreement(OTHER_FAMILY, Verdict.AGREES)
    return Agreement(FAMILY_ONLY if given >= RESEMBLING else 0.0, _verdict(given))


def _compare_lone(one: NameForm, other: NameForm) -> Agreement:
    given = _compare_given(one, other)
    if given == SAME and not has_case(one.given) and is_whole_name(one.given) and one.given == other.given:
        return Agreement(FULL_NAME, Verdict.AGREES)
    if given >= AGREEING:
        return Agreement(LONE_GIVEN * given, Verdict.AGREES)
    return Agreement(FAMILY_ONLY if given >= RESEMBLING else 0.0, _verdict(given))


def _verdict(given: float) -> Verdict:
    """What given names allow that do not agree."""
    if given >= SHORT_FORM:
        return Verdict.MAY_AGREE
    return Verdict.RESEMBLES if given >= RESEMBLING else Verdict.CONTRADICTS


def _compare_given(one: NameForm, other: NameForm) -> float:
    """The similarity of the given names; a nickname counts as a given name."""
    if _have_given_names_in_other_order(one, other):
        return RESEMBLING  # María José and José María
    first = given_name_similarity(one.given, other.given)
    # Most names end here: nothing else to compare.
    if one.is_plain and other.is_plain:
        return first
    if first >= AGREEING and any(
        given_name_similarity(left, right) < AGREEING for left, right in zip(one.later, other.later, strict=False)
    ):
        return RESEMBLING  # Anna Lena and Anna Maria, Juan Carlos and Juan Pablo
    if first == SAME:
        return first
    scores = [first, _compare_initials(one, other), _compare_initials(other, one)]
    if (one.joined_given, other.joined_given) != (one.given, other.given):
        scores.append(given_name_similarity(one.joined_given, other.joined_given))
    if one.given in other.later or other.given in one.later:
        scores.append(LATER_GIVEN)
    if one.nickname or other.nickname:
        scores.append(_compare_nicknames(one, other) * BY_NICKNAME)
    return max(scores)


def _have_given_names_in_other_order(one: NameForm, other: NameForm) -> bool:
    """Whether the same given names, two or more, come in another order.

    A middle name may stand in front in one of them, unless it is such a given name.
    """
    names, others = (one.given, *one.later), (other.given, *other.later)
    if len(names) < 2 or one.given == other.given or sorted(names) != sorted(others):
        return False
    return one.given_count == other.given_count or are_joined_given_names(names)


def _compare_nicknames(one: NameForm, other: NameForm) -> float:
    pairs = ((one.nickname, other.given), (one.given, other.nickname), (one.nickname, other.nickname))
    return max(
        (given_name_similarity(left, right) for left, right in pairs if len(left) > 1 and len(right) > 1),
        default=DIFFERENT,
    )


def _compare_initials(short: NameForm, long: NameForm) -> float:
    """Compare initials in one word with a full given name: JRR with John Ronald Reuel."""
    if not long.later or not 2 <= len(short.given) <= 4 or short.later:
        return DIFFERENT
    letters = long.given[0] + "".join(word[0] for word in long.later)
    return INITIAL if short.given == letters else DIFFERENT


def _compare_family(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """The similarity of the family names; particles and a second family name may be missing in one of them."""
    if len(one) == 1 and len(other) == 1:
        return family_name_similarity(one[0], other[0])
    whole = family_name_similarity("".join(one), "".join(other))
    cores = without_particles(one), without_particles(other)
    if len(one) > 1 and len(other) > 1:
        # Without the particles, which would make a short name long: de Boer and de Beer differ as Boer and Beer do.
        whole = min(whole, family_name_similarity("".join(cores[0]), "".join(cores[1])))
    core, other_core = set(cores[0]), set(cores[1])
    if core <= other_core or other_core <= core:
        return max(whole, PART_OF_FAMILY)
    if whole >= AGREEING:
        return whole
    first = family_name_similarity(one[0], other[0])
    if len(one) > 1 and len(other) > 1:
        return first * CONTRADICTION if first >= AGREEING else DIFFERENT
    single, several = (one, other) if len(one) == 1 else (other, one)
    return PART_OF_FAMILY * max(family_name_similarity(single[0], word) for word in several)


THRESHOLD = 0.75

# By which part of the distance to 1 an equal value raises the score.
SAME_EMAIL, SAME_PHONE, SAME_EMAIL_AND_PHONE = 0.75, 0.6, 0.9
SAME_BIRTHDAY, SAME_DAY_OF_YEAR = 0.5, 0.25
DIFFERENT_BIRTHDAY_FACTOR = 0.78
DIFFERENT_GENERATION_FACTOR = 0.78
# Limits of the whole score, below the threshold.
MAX_CONTRADICTING_NAMES = 0.7
MAX_RESEMBLING_NAMES = 0.74


class Birthday(NamedTuple):
    """A birth date. If `year_unknown`, only month and day are compared."""

    date: dt.date
    year_unknown: bool = False


@dataclass(frozen=True, slots=True)
class Identity:
    """The attributes of a person that are compared. E-mails and phones are keys (people.duplicates.keys)."""

    name: NameForm
    emails: frozenset[str] = field(default_factory=frozenset)
    phones: frozenset[str] = field(default_factory=frozenset)
    birthday: Birthday | None = None


def build_identity(
    parts: NameParts,
    *,
    emails: frozenset[str] = frozenset(),
    phones: frozenset[str] = frozenset(),
    birthday: Birthday | None = None,
) -> Identity:
    """Build an Identity from the parts of a name, and keys."""
    return Identity(build_name_form(parts), emails, phones, birthday)


def similarity(one: Identity, other: Identity) -> float:
    """The likelihood that two records are one person, 0 to 1, rounded to thousandths. Symmetric."""
    agreement = compare_names(one.name, other.name)
    score = agreement.base
    shares_email = not one.emails.isdisjoint(other.emails)
    shares_phone = not one.phones.isdisjoint(other.phones)
    if shares_email:
        score = _raise_score(score, SAME_EMAIL_AND_PHONE if shares_phone else SAME_EMAIL)
    elif shares_phone:
        score = _raise_score(score, SAME_PHONE)
    score = _with_birthdays(score, one.birthday, other.birthday)
    if one.name.generation and other.name.generation and one.name.generation != other.name.generation:
        score *= DIFFERENT_GENERATION_FACTOR
    # Last, so that no other evidence lifts the score over these limits: relatives share e-mails, phones and family
    # names.
    if agreement.verdict == Verdict.CONTRADICTS:
        score = min(score, MAX_CONTRADICTING_NAMES)
    elif agreement.verdict == Verdict.RESEMBLES or (agreement.verdict == Verdict.MAY_AGREE and not shares_email):
        score = min(score, MAX_RESEMBLING_NAMES)
    return round(score, 3)


def may_reach_threshold(one: Identity, other: Identity) -> bool:
    """False where the similarity is certainly below the threshold: a cheap filter for most candidates."""
    return (
        not are_far_apart(one.name, other.name)
        or not one.emails.isdisjoint(other.emails)
        or not one.phones.isdisjoint(other.phones)
        or bool(one.birthday and other.birthday)
    )


def _raise_score(score: float, fraction: float) -> float:
    """Raise `score` towards 1 by a fraction of the remaining distance."""
    return score + (1 - score) * fraction


def _with_birthdays(score: float, one: Birthday | None, other: Birthday | None) -> float:
    if one is None or other is None:
        return score
    if one.year_unknown or other.year_unknown:
        same = (one.date.month, one.date.day) == (other.date.month, other.date.day)
        return _raise_score(score, SAME_DAY_OF_YEAR) if same else score * DIFFERENT_BIRTHDAY_FACTOR
    return _raise_score(score, SAME_BIRTHDAY) if one.date == other.date else score * DIFFERENT_BIRTHDAY_FACTOR
