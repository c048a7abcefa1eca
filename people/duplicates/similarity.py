"""The similarity score of two people, 0 to 1 (the table is in docs/duplicates.md)."""

import datetime as dt
from dataclasses import dataclass, field
from typing import NamedTuple

from people.duplicates.name_similarity import NameForm, Verdict, are_far_apart, build_name_form, compare_names
from people.names import NameParts

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
