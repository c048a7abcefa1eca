"""Matches names on cards to people, by the similarity scores of duplicates (docs/duplicates.md)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from accounts.models import User
from people.duplicates.keys import name_blocks, name_key
from people.duplicates.similarity import LONE_GIVEN, THRESHOLD, build_identity, similarity
from people.importing.known import uid_spellings
from people.models import LookupKey, Person
from people.names import COLUMNS, NameParts

_FAMILY_TYPES: Final = frozenset({"PARENT", "CHILD", "SIBLING", "SPOUSE", "PARTNER"})
# Limit of the rows of lookup keys that are read: an average for each name, since hundreds of people may share a key.
_ROWS_PER_NAME, _MIN_ROW_LIMIT = 20, 5_000


class CardName(NamedTuple):
    """A related name on the card of a person. `parts` is the name of that person."""

    id: UUID
    person_id: UUID
    name: str
    type_name: str
    parts: NameParts

    @property
    def is_uid(self) -> bool:
        return self.name.lower().startswith("urn:")

    def variants(self) -> list[NameParts]:
        """The name itself; for a lone given name of a family member, also with the surname of the card's person."""
        unchanged = NameParts(self.name)
        if " " in self.name or not self.parts.surname or self.type_name not in _FAMILY_TYPES:
            return [unchanged]
        return [NameParts(self.name, self.parts.surname), unchanged]


class MatchedPerson(NamedTuple):
    """A person whom a name on a card may refer to."""

    id: UUID
    parts: NameParts


def match_people(owner: User, names: Sequence[CardName]) -> dict[UUID, MatchedPerson]:
    """The most likely active person by the id of the name; at most three statements.

    A UID matches the person with that UID. A name matches people above the threshold of duplicates, or the only person
    with exactly this name.
    """
    matches = _match_by_uid(owner, [card_name for card_name in names if card_name.is_uid])
    plain_names = [card_name for card_name in names if not card_name.is_uid]
    # The key of the whole name first: blocks are larger, and needed for misspelled names only.
    for kind in (LookupKey.NAME, LookupKey.BLOCK):
        unmatched = [card_name for card_name in plain_names if card_name.id not in matches]
        matches |= _match_by_keys(owner, unmatched, kind)
    return matches


def _match_by_uid(owner: User, names: list[CardName]) -> dict[UUID, MatchedPerson]:
    if not names:
        return {}
    spellings = {spelling for card_name in names for spelling in uid_spellings(card_name.name)}
    # Descending, so that of several people with a UID the oldest is kept in the dictionary.
    rows = Person.objects.owned_by(owner).active().filter(uid__in=spellings).order_by("-pk")
    people = {uid: MatchedPerson(pk, NameParts(*parts)) for pk, uid, *parts in rows.values_list("pk", "uid", *COLUMNS)}
    matches = {
        card_name.id: [people[uid] for uid in uid_spellings(card_name.name) if uid in people] for card_name in names
    }
    return {key: found[0] for key, found in matches.items() if found}


def _blocking_keys(parts: NameParts, kind: int) -> set[str]:
    return name_blocks(parts) if kind == LookupKey.BLOCK else {name_key(parts) or ""}


def _match_by_keys(owner: User, names: list[CardName], kind: int) -> dict[UUID, MatchedPerson]:
    keys = {key for card_name in names for variant in card_name.variants() for key in _blocking_keys(variant, kind)} - {
        ""
    }
    if not keys:
        return {}
    rows = LookupKey.objects.filter(owner=owner, kind=kind, key__in=keys).order_by("key", "person")
    columns = ("key", "person_id", "person__deleted_at", *(f"person__{column}" for column in COLUMNS))
    candidates: dict[str, list[MatchedPerson]] = defaultdict(list)
    limit = max(_ROWS_PER_NAME * len(names), _MIN_ROW_LIMIT)
    for key, person_id, deleted_at, *parts in rows.values_list(*columns)[:limit]:
        if deleted_at is None:
            candidates[key].append(MatchedPerson(person_id, NameParts(*parts)))
    best = {card_name.id: _best_candidate(card_name, candidates, kind) for card_name in names}
    return {key: person for key, person in best.items() if person}


def _best_candidate(card_name: CardName, candidates: dict[str, list[MatchedPerson]], kind: int) -> MatchedPerson | None:
    """The candidate with the highest score; of equal scores the oldest person."""
    scored: list[tuple[float, int, MatchedPerson]] = []
    for variant in card_name.variants():
        name = build_identity(variant)
        for key in _blocking_keys(variant, kind):
            others = [person for person in candidates.get(key, ()) if person.id != card_name.person_id]
            is_only_exact_match = kind == LookupKey.NAME and len(others) == 1
            for person in others:
                score = similarity(name, build_identity(person.parts))
                # José María has the key of María José, but is another person.
                if score >= THRESHOLD or (is_only_exact_match and score >= LONE_GIVEN):
                    # Ids are UUIDs of version 7, whose order is the order of creation.
                    scored.append((score, -person.id.int, person))
    return max(scored)[2] if scored else None


def split_name(name: str) -> tuple[str, str | None]:
    """Split into given name and surname, for a new person: the surname precedes a comma, or is the last word."""
    family, comma, given = (part.strip() for part in name.partition(","))
    if comma and given and family:
        return given[:100], family[:100]
    *before, last = name.split()
    return (" ".join(before)[:100], last[:100]) if before else (last[:100], None)


def load_names(owner: User, person_ids: Iterable[UUID]) -> dict[UUID, NameParts]:
    """The names of the active people among these. One statement."""
    rows: Any = Person.objects.owned_by(owner).active().filter(pk__in=list(person_ids))
    return {pk: NameParts(*parts) for pk, *parts in rows.values_list("pk", *COLUMNS)}
