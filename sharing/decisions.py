"""What sharing decides from values alone: what travels, what a relationship looks like from both ends, whom a shared
person may be, what is too much to pass unasked. Pure.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from people.contents.fields import EMPTY_FIELDS, Fields
from people.contents.merge import FieldConflict, Sides, merge
from people.entries import RELATION_KEYS, pair_entries

RELATIONS = "relationships"
_NEVER = frozenset({"groups", "displayNameOverride", "favourite"})
TRAVELLING: Fields = {**{name: empty for name, empty in EMPTY_FIELDS.items() if name not in _NEVER}, RELATIONS: []}
"""The field map of an empty document. What it has no key for never travels."""
_DATES = "importantDates"

LINK_FROM, UNSURE_FROM = 0.95, 0.75
"""Similarities: somebody is certain from the first on, unless somebody else reaches the second."""

HOLD_COUNT, HOLD_PERCENT = 5, 20
"""More people than the larger of the two may not be taken out, emptied or changed unasked."""

Entry = Mapping[str, Any]


def travelling_fields(private: Collection[str]) -> list[str]:
    """The names of the fields that travel from and to a member with these private fields."""
    return [name for name in TRAVELLING if name not in private]


def travelling_part(fields: Fields, names: Collection[str]) -> Fields:
    """The field map of a person as far as it travels; fields that are not named are empty."""
    return {name: fields[name] if name in names and name in fields else empty for name, empty in TRAVELLING.items()}


def relation_entry(**values: str | None) -> dict[str, Any]:
    """An entry with all RELATION_KEYS."""
    return {key: values.get(key) for key in RELATION_KEYS}


@dataclass(frozen=True, slots=True)
class Agreement:
    """A merge of a person with a document. `person` and `document` are what both shall be, `bases` the bases of the
    next merge as far as the merge knows them, `conflicts` what has to be answered."""

    person: Fields
    document: Fields
    bases: Sides
    conflicts: tuple[FieldConflict, ...]


def agree(bases: Sides, now: Sides, names: Collection[str], here: Collection[str]) -> Agreement:
    """Merge the fields `names`; the others stay as they are on each side.

    `here` are the ids of the shared people whom this member has: relationships with others are no business of this
    member. They stay in the document, and in the bases as they were.
    """
    local = Sides({**TRAVELLING, **bases.local}, {**TRAVELLING, **bases.remote})
    visible = Sides(_with_relations(local.local, here), _with_relations(local.remote, here))
    document = {**TRAVELLING, **now.remote}
    seen = Sides(now.local, _with_relations(document, here))
    merged = merge(_first_meeting(visible, seen), seen, names=names)
    return Agreement(
        {**now.local, **merged.target.local},
        {**document, **merged.target.remote, **_hidden_relations(document, merged.target.remote, here)},
        Sides(
            {**local.local, **merged.bases.local, **_hidden_relations(local.local, merged.bases.local, here)},
            {**local.remote, **merged.bases.remote, **_hidden_relations(local.remote, merged.bases.remote, here)},
        ),
        merged.conflicts,
    )


def _with_relations(fields: Fields, here: Collection[str]) -> Fields:
    return {**fields, RELATIONS: [entry for entry in fields[RELATIONS] if entry["person"] in here]}


def _hidden_relations(before: Fields, merged: Fields, here: Collection[str]) -> Fields:
    """The merged relationships with those that the merge did not see, in an order that is the same for all members:
    each sees others of them."""
    if RELATIONS not in merged:
        return {}
    hidden = (one for one in before[RELATIONS] if one["person"] not in here)
    return {RELATIONS: sorted([*merged[RELATIONS], *hidden], key=_order_of_relation)}


def _order_of_relation(entry: Entry) -> tuple[str, ...]:
    return tuple(str(entry[key] or "") for key in RELATION_KEYS)


def _first_meeting(bases: Sides, now: Sides) -> Sides:
    """The bases, with those of two dates of one type that are new on both sides. If their days differ, neither is the
    other's spelling, and it has to be answered which is right: a base without a day says so."""
    own, others = _new_dates(bases.local, now.local), _new_dates(bases.remote, now.remote)
    met: tuple[list[Entry], list[Entry]] = ([], [])
    for entry, position in zip(own, pair_entries("important_dates", own, others), strict=True):
        other = None if position is None else others[position]
        if other and (entry["date"], entry["yearUnknown"]) != (other["date"], other["yearUnknown"]):
            met[0].append({**entry, "date": None})
            met[1].append({**other, "date": None})
    return Sides(
        {**bases.local, _DATES: [*bases.local[_DATES], *met[0]]},
        {**bases.remote, _DATES: [*bases.remote[_DATES], *met[1]]},
    )


def _new_dates(base: Fields, now: Fields) -> list[Entry]:
    positions = pair_entries("important_dates", now[_DATES], base[_DATES], edits=True)
    return [entry for entry, position in zip(now[_DATES], positions, strict=True) if position is None]


def shared_changes(before: Fields, after: Fields) -> list[str]:
    """The names of the fields whose values differ, in their order."""
    return [name for name, empty in TRAVELLING.items() if before.get(name, empty) != after.get(name, empty)]


def is_emptied(before: Fields, after: Fields) -> bool:
    """Whether a field, or its last entry, has gone."""
    return any(before.get(name) and not after.get(name) for name in TRAVELLING)


def hold_limit(people: int) -> int:
    """How many people of a share may be taken out, emptied or changed unasked."""
    return max(HOLD_COUNT, people * HOLD_PERCENT // 100)


@dataclass(frozen=True, slots=True)
class Sending:
    """What the carry of one person would change in the share. `write`: the write that it comes from, or the larger work
    (an import, a run of the sync). `removes`: the person is taken out, or a field of it emptied."""

    shared: UUID
    write: str
    removes: bool


def held_people(sendings: Collection[Sending], removed_lately: Collection[UUID], people: int) -> set[UUID]:
    """The people of a share of `people` whose changes are held: those that are removed, if there are too many with what
    the member has removed within the hour; and those of a write that changes too many. None: everything may go."""
    limit = hold_limit(people)
    removed = {one.shared for one in sendings if one.removes}
    held = removed if len(removed.union(removed_lately)) > limit else set()
    by_write: dict[str, set[UUID]] = defaultdict(set)
    for one in sendings:
        by_write[one.write].add(one.shared)
    return held.union(*(changed for changed in by_write.values() if len(changed) > limit))


@dataclass(frozen=True, slots=True)
class Match:
    """Whom a document may be here: certainly `link`, or perhaps one of `candidates` (id and similarity); with neither
    somebody new."""

    link: UUID | None = None
    candidates: Sequence[tuple[UUID, float]] = ()

    @property
    def is_unsure(self) -> bool:
        return self.link is None and bool(self.candidates)


def judge(by_uid: Collection[UUID], scores: Mapping[UUID, float]) -> Match:
    """The match, from the people who have the document's UID and from the similarities of others."""
    if len(by_uid) == 1:
        return Match(next(iter(by_uid)))
    likely = {key: score for key, score in scores.items() if score >= UNSURE_FROM}
    likely |= dict.fromkeys(by_uid, 1.0)
    ranked = sorted(likely.items(), key=lambda pair: (-pair[1], pair[0]))
    if len(ranked) == 1 and ranked[0][1] >= LINK_FROM:
        return Match(ranked[0][0])
    return Match(None, tuple(ranked))


def without_rivals(matches: Mapping[UUID, Match]) -> dict[UUID, Match]:
    """The matches, in which one person who is certain for two documents is certain for neither."""
    wanted: dict[UUID, int] = {}
    for match in matches.values():
        if match.link:
            wanted[match.link] = wanted.get(match.link, 0) + 1
    return {
        key: Match(None, ((match.link, 1.0),)) if match.link and wanted[match.link] > 1 else match
        for key, match in matches.items()
    }
