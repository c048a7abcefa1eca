"""Suggestions from the related names on people's cards (RelatedName).

A name is matched to a person by the similarity scores of duplicates (docs/duplicates.md).
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from accounts.models import User
from people.duplicates.keys import name_blocks, name_key
from people.duplicates.similarity import LONE_GIVEN, THRESHOLD, build_identity, similarity
from people.models import LookupKey, Person, RelatedName
from people.names import COLUMNS, NameParts, format_name
from people.vcard.card import uid_spellings
from relationships.models import AnsweredSuggestion
from relationships.suggestions.suggestion import CARD, MAX_SUGGESTIONS, Exclusions, Suggestion, load_relationships

# The first batch is about one response. Batches double, since names that are excluded, or UIDs of nobody in the
# account, are read again for each response although they are never shown.
_FIRST_BATCH_SIZE, _MAX_BATCH_SIZE = 250, 4_000
# Names read for one response.
MAX_NAMES: Final = 60_000
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


def list_card_suggestions(owner: User, exclusions: Exclusions) -> list[Suggestion]:
    """The first MAX_SUGGESTIONS that are not excluded, oldest first. Adds them to `exclusions`."""
    suggestions: list[Suggestion] = []
    last_id, read, batch_size = None, 0, _FIRST_BATCH_SIZE
    while (
        len(suggestions) < MAX_SUGGESTIONS and read < MAX_NAMES and (names := _load_names(owner, last_id, batch_size))
    ):
        last_id, read, batch_size = names[-1].id, read + len(names), min(2 * batch_size, _MAX_BATCH_SIZE)
        load_relationships(exclusions, owner, {card_name.person_id for card_name in names})
        for suggestion in _build_suggestions(owner, names):
            if not exclusions.silent.isdisjoint((suggestion.person_id, suggestion.related_person_id)):
                continue
            # A name that matches nobody cannot duplicate a relationship.
            if suggestion.related_person_id and exclusions.has(
                suggestion.person_id, suggestion.related_person_id, suggestion.type_name
            ):
                continue
            exclusions.add(suggestion)
            suggestions.append(suggestion)
    return suggestions[:MAX_SUGGESTIONS]


def find_card_suggestions(owner: User, ids: Collection[UUID]) -> list[Suggestion]:
    """The suggestions from cards with these ids, including excluded ones."""
    return list(_build_suggestions(owner, _fetch(_related_names(owner).filter(pk__in=ids))))


def _build_suggestions(owner: User, names: list[CardName]) -> Iterator[Suggestion]:
    """One for each name, except UIDs that nobody has and names that match the card's own person."""
    matches = match_people(owner, names)
    for card_name in names:
        match = matches.get(card_name.id)
        if match is None and card_name.is_uid:
            continue
        if match is not None and match.id == card_name.person_id:
            continue
        yield Suggestion(
            id=card_name.id,
            person_id=card_name.person_id,
            person_name=format_name(owner, card_name.parts),
            related_person_id=match and match.id,
            related_name=format_name(owner, match.parts) if match else card_name.name,
            type_name=card_name.type_name,
            reason=CARD,
            name_on_card=card_name.name,
        )


def _related_names(owner: User) -> QuerySet[RelatedName]:
    return RelatedName.objects.filter(owner=owner, person__deleted_at=None)


def _load_names(owner: User, last_id: UUID | None, limit: int) -> list[CardName]:
    """The next names after `last_id` whose suggestion was not answered."""
    # Compared by content: a card that is imported again makes new rows with new ids.
    answers = AnsweredSuggestion.unscoped.rows().filter(
        person=OuterRef("person"), name_on_card=OuterRef("name"), type_name=OuterRef("type_name")
    )
    # The order of an index, so that the database reads no more rows than the limit needs.
    rows = _related_names(owner).filter(~Exists(answers)).order_by("id")
    return _fetch((rows.filter(pk__gt=last_id) if last_id else rows)[:limit])


def _fetch(rows: QuerySet[RelatedName]) -> list[CardName]:
    columns = ("id", "person_id", "name", "type_name", *(f"person__{column}" for column in COLUMNS))
    return [
        CardName(key, person_id, name, kind, NameParts(*parts))
        for key, person_id, name, kind, *parts in rows.values_list(*columns)
    ]


def match_people(owner: User, names: Sequence[CardName]) -> dict[UUID, MatchedPerson]:
    """The most likely active person by the id of the name.

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
