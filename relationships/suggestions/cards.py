"""Suggestions from the related names on people's cards (RelatedName)."""

from collections.abc import Collection, Iterator
from typing import Final
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from accounts.models import User
from people.models import RelatedName
from people.names import COLUMNS, NameParts, format_name
from relationships.models import AnsweredSuggestion
from relationships.suggestions.names import CardName, match_people
from relationships.suggestions.suggestion import (
    CARD,
    MAX_SUGGESTIONS,
    Exclusions,
    Suggestion,
    load_relationships,
)

# The first batch is about one response. Batches double, since names that are excluded, or UIDs of nobody in the
# account, are read again for each response although they are never shown.
_FIRST_BATCH_SIZE, _MAX_BATCH_SIZE = 250, 4_000
# Names read for one response.
MAX_NAMES: Final = 60_000


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
