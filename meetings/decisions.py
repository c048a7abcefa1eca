"""Which meetings are proposed: decides from events, people and what was answered. Pure: no database, no clock."""

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from contacts_project.kernel.text_forms import case_key, fold_email, nfc
from meetings.calendars.occurrences import Occurrence, hash_key
from meetings.calendars.parser import MAX_ATTENDEES, Event
from people.scripts import CJK_RANGES

MAX_PROPOSALS = 2_000
"""How many open proposals a source has: the latest."""
_fold_email = lru_cache(maxsize=4096)(fold_email)  # each occurrence of a series has the same guests
_WORD = re.compile(r"[^\W_]+(?:['’\-·][^\W_]+)*")
_CJK = re.compile(f"[{CJK_RANGES}]")
_MAX_WORDS, _MAX_CJK = 20, 12  # words, and letters, of a whole name


@dataclass(frozen=True, slots=True)
class Known:
    """A person, as far as meetings ask. `is_silent`: in no proposal (quiet, dead, or the user)."""

    id: UUID
    name: str
    surname: str
    is_silent: bool = False


@dataclass(frozen=True, slots=True)
class People:
    """Whom an account knows: people by folded address and by name, its own addresses, and the days of its people."""

    by_email: Mapping[str, Sequence[Known]]
    named: Sequence[Known]
    own_emails: frozenset[str]
    days: Mapping[UUID, Collection[int]]
    """Month and day (1210) of the important dates of each."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A meeting to propose. `people` are ids with "email" or "name"; `unknown` are addresses with names."""

    key: str
    day_key: str
    series_key: str
    title_key: str
    title: str
    location: str
    starts_at: dt.datetime
    ends_at: dt.datetime
    day: dt.date | None
    people: tuple[tuple[UUID, str], ...]
    unknown: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """What was answered, of the keys that were asked for: `days` maps the key of a day to the occurrences of it."""

    keys: Collection[str]
    days: Mapping[str, Collection[str]]


def title_key(title: str) -> str:
    """The key of a title, whatever its case and spaces."""
    return hash_key("title", " ".join(case_key(title).split()))


def propose(occurrences: Iterable[Occurrence], people: People, now: dt.datetime) -> list[Proposal]:
    """The meetings that have ended and had somebody of the people, answered or not; the latest 2,000."""
    matcher = Matcher(people)
    found = [
        proposal
        for occurrence in occurrences
        if occurrence.ends_at <= now and (proposal := _propose(occurrence, people, matcher)) is not None
    ]
    found.sort(key=lambda proposal: (proposal.starts_at, proposal.key), reverse=True)
    return found[:MAX_PROPOSALS]


def open_proposals(proposals: Iterable[Proposal], answered: Answered, present: Collection[str]) -> Iterator[Proposal]:
    """Those that nobody has answered. `present` are the keys of all occurrences that the source has now.

    An occurrence whose original start is new is answered, too, if its series had another one on the day that was
    answered and is not there any more: the rule was changed.
    """
    for proposal in proposals:
        keys = {proposal.key, proposal.series_key, proposal.title_key}
        gone = set(answered.days.get(proposal.day_key, ())) - {proposal.key} - set(present)
        if not gone and keys.isdisjoint(answered.keys):
            yield proposal


def _propose(occurrence: Occurrence, people: People, matcher: "Matcher") -> Proposal | None:
    event = occurrence.event
    if event.is_cancelled or event.is_private or len(event.attendees) > MAX_ATTENDEES:
        return None
    if occurrence.day is not None and event.is_transparent:
        return None
    own = [attendee for attendee in event.attendees if _fold_email(attendee.email) in people.own_emails]
    if any(attendee.has_declined for attendee in own):
        return None
    met, unknown, absent = _attendees(event, people)
    met.update({person.id: "name" for person in matcher.find(event.summary) if person.id not in {*met, *absent}})
    if occurrence.day is not None:
        days = _month_days(occurrence.day)
        met = {key: by for key, by in met.items() if days.isdisjoint(people.days.get(key, ()))}
    if not met:
        return None
    return Proposal(
        occurrence.key,
        occurrence.day_key,
        occurrence.series_key,
        title_key(event.summary),
        event.summary[:200],
        event.location,
        occurrence.starts_at,
        occurrence.ends_at,
        occurrence.day,
        tuple(met.items()),
        tuple(unknown.values()),
    )


def _attendees(event: Event, people: People) -> tuple[dict[UUID, str], dict[str, tuple[str, str]], set[UUID]]:
    """Who was there by address, the addresses that nobody has (by their key), and who declined."""
    met: dict[UUID, str] = {}
    unknown: dict[str, tuple[str, str]] = {}
    absent: set[UUID] = set()
    for attendee in event.attendees:
        key = _fold_email(attendee.email) if attendee.email else ""
        if not key or key in people.own_emails or not attendee.is_person:
            continue
        known = people.by_email.get(key, ())
        if attendee.has_declined:
            absent.update(person.id for person in known)
            continue
        met.update({person.id: "email" for person in known if not person.is_silent})
        if not known:
            unknown.setdefault(key, (attendee.email, attendee.name))
    return met, unknown, absent


def _month_days(day: dt.date) -> frozenset[int]:
    """The month and day of a whole day; without 29 February in the year, that one as well."""
    number = day.month * 100 + day.day
    is_leap = (dt.date(day.year, 3, 1) - dt.timedelta(days=1)).day == 29
    return frozenset({number, 229} if not is_leap and number in {228, 301} else {number})


class Matcher:
    """Finds people by their names in a title.

    A whole name stands in it as name and surname, in either order, or as a given name that one person alone has. Case
    counts, and words are whole ones, but for names in Chinese, Japanese or Korean, which no space separates.
    """

    def __init__(self, people: People) -> None:
        self._whole: dict[tuple[str, ...], list[Known]] = defaultdict(list)
        self._given: dict[tuple[str, ...], list[Known]] = defaultdict(list)
        self._cjk: dict[str, list[Known]] = defaultdict(list)
        self._cjk_given: dict[str, list[Known]] = defaultdict(list)
        for person in people.named:
            if not person.is_silent:
                self._add(person)
        self._found: dict[str, list[Known]] = {}
        # How many words the names have that begin with a word, the longest first.
        sizes: dict[str, set[int]] = defaultdict(set)
        for words in (*self._whole, *self._given):
            sizes[words[0]].add(len(words))
        self._sizes = {word: sorted(found, reverse=True) for word, found in sizes.items()}

    def _add(self, person: Known) -> None:
        name, surname = _words(person.name), _words(person.surname)
        if _CJK.search(person.name + person.surname):
            given, family = "".join(person.name.split()), "".join(person.surname.split())
            self._cjk_given[nfc(given)].append(person)
            if family:
                for joined in {nfc(given + family), nfc(family + given)}:
                    self._cjk[joined].append(person)
            return
        if len(name) + len(surname) > _MAX_WORDS:
            return
        if name:
            self._given[name].append(person)
        if name and surname:
            for whole in {name + surname, surname + name}:
                self._whole[whole].append(person)

    def find(self, title: str) -> list[Known]:
        """The people whom a title names, each once; who is named whole is not also looked for by the given name."""
        if title in self._found:
            return self._found[title]
        words = _words(title)
        found: dict[UUID, Known] = {}
        position = 0
        while position < len(words):
            size = self._find_at(words, position, found)
            position += max(1, size)
        if _CJK.search(title):
            self._find_cjk(nfc("".join(title.split())), found)
        self._found[title] = list(found.values())
        return self._found[title]

    def _find_at(self, words: tuple[str, ...], position: int, found: dict[UUID, Known]) -> int:
        """Add whom the words at a position name; returns how many words that took."""
        for size in self._sizes.get(words[position], ()):
            part = words[position : position + size]
            people = self._whole.get(part) or _alone(self._given.get(part))
            if people:
                found.update({person.id: person for person in people})
                return size
        return 0

    def _find_cjk(self, text: str, found: dict[UUID, Known]) -> None:
        taken = -1
        for start in range(len(text)):
            if start <= taken:
                continue
            for size in range(min(_MAX_CJK, len(text) - start), 0, -1):
                part = text[start : start + size]
                # One letter alone is part of too many words to be a name.
                people = self._cjk.get(part) or (_alone(self._cjk_given.get(part)) if size > 1 else None)
                if people:
                    found.update({person.id: person for person in people})
                    taken = start + size - 1
                    break


def _alone(people: list[Known] | None) -> list[Known] | None:
    return people if people is not None and len(people) == 1 else None


def _words(text: str) -> tuple[str, ...]:
    """The words of a text; a possessive ends before its apostrophe."""
    return tuple(re.sub(r"['’]s$", "", word) for word in _WORD.findall(nfc(text)))
