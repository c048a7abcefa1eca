"""Who may be spoken of: the one definition of whom reminders, lists, feeds, maps, books and letters leave out, and why.

A place that speaks of people unasked filters by `may_be_mentioned`, or asks `Person.silence` of a row that it has. It
names its topic, since there are three reasons: a quiet person is not spoken of at all, somebody who died still has
memorial days, and users are not in touch with themselves. Lists, searches, groups, relationships and exports, which
show what the user looks for, leave nobody out.
tests/routes/test_mentions.py has the places.
"""

import datetime as dt
from collections.abc import Mapping
from enum import Enum, StrEnum, auto
from typing import Final

from django.db.models import Q

from people.vocabularies import DateType


class Topic(Enum):
    """What is to be said about a person."""

    PERSON = auto()
    """That there is such a person, or a day to remember it: maps, duplicates, books, calendars."""
    BIRTHDAY = auto()
    """That it is a year older."""
    CONTACT = auto()
    """That the user could be in touch: contact reminders, insights, letters."""


class Silence(StrEnum):
    """Why a person is not spoken of, as responses name it."""

    QUIET = "quiet"
    DECEASED = "deceased"
    ME = "me"
    """The person is the user (Person.is_me)."""


_REASONS: Final[Mapping[Topic, tuple[Silence, ...]]] = {
    Topic.PERSON: (Silence.QUIET,),
    Topic.BIRTHDAY: (Silence.QUIET, Silence.DECEASED),
    Topic.CONTACT: (Silence.QUIET, Silence.DECEASED, Silence.ME),
}
"""The reasons that count for each topic; the first that holds is given."""

COLUMNS: Final = ("quiet", "deathday", "is_me")
"""The columns of a person that decide."""


def topic_of(type_: str | None) -> Topic:
    """The topic of an important date, by its predefined type."""
    return Topic.BIRTHDAY if type_ == DateType.BIRTHDAY else Topic.PERSON


def silence(topic: Topic, *, quiet: bool, deathday: dt.date | None, is_me: bool) -> Silence | None:
    """Why the person is not spoken of; None if it is."""
    holds = {Silence.QUIET: quiet, Silence.DECEASED: deathday is not None, Silence.ME: is_me}
    return next((reason for reason in _REASONS[topic] if holds[reason]), None)


def may_be_mentioned(topic: Topic = Topic.PERSON, path: str = "") -> Q:
    """The condition for `silence` to be None. `path` leads to the person, such as `person__`."""
    is_missing = {
        Silence.QUIET: (f"{path}quiet", False),
        Silence.DECEASED: (f"{path}deathday__isnull", True),
        Silence.ME: (f"{path}is_me", False),
    }
    return Q(*(is_missing[reason] for reason in _REASONS[topic]))


def has_ended(topic: Topic, deathday: dt.date | None) -> bool:
    """Whether there is no more of it because the person has died, such as birthdays, quiet or not."""
    return silence(topic, quiet=False, deathday=deathday, is_me=False) is Silence.DECEASED
