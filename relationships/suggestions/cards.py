"""What the cards of people say that they are to others."""

from collections.abc import Collection, Iterator
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, OuterRef

from accounts.models import User
from people.models import RelatedName
from people.names import COLUMNS, NameParts
from relationships.models import AnsweredSuggestion
from relationships.suggestions.names import Named, people_meant, shown_name
from relationships.suggestions.suggestion import (
    CARD,
    MOST,
    Settled,
    Suggestion,
    add_relationships,
)

# Names looked at together: as many as one answer shows, or nearly; twice as many after each round, for names that are
# settled otherwise, or whose UIDs mean nobody here, are looked at in each answer and never shown.
_FIRST, _MOST_AT_ONCE = 250, 4_000
# Names looked at for one answer.
MOST_NAMES: Final = 60_000


def card_suggestions(owner: User, settled: Settled) -> list[Suggestion]:
    """The first MOST that nothing speaks against, in the order in which the cards came; they are `settled` then."""
    suggestions: list[Suggestion] = []
    last, seen, at_once = None, 0, _FIRST
    while len(suggestions) < MOST and seen < MOST_NAMES and (names := _next_names(owner, last, at_once)):
        last, seen, at_once = names[-1].id, seen + len(names), min(2 * at_once, _MOST_AT_ONCE)
        add_relationships(settled, owner, {one.person_id for one in names})
        for one in suggested(owner, names):
            if not _is_settled(settled, one):
                settled.add(one)
                suggestions.append(one)
    return suggestions[:MOST]


def suggestions_with_ids(owner: User, ids: Collection[UUID]) -> list[Suggestion]:
    """Those of cards, whatever speaks against them."""
    return list(suggested(owner, _named(_rows(owner).filter(pk__in=ids))))


def suggested(owner: User, names: list[Named]) -> Iterator[Suggestion]:
    """One for each name, but for a UID that nobody has and a name that means the person itself."""
    meant = people_meant(owner, names)
    for one in names:
        found = meant.get(one.id)
        if found is None and one.is_uid:
            continue
        if found is not None and found.id == one.person_id:
            continue
        yield Suggestion(
            id=one.id,
            person_id=one.person_id,
            person_name=shown_name(owner, one.parts),
            related_person_id=found and found.id,
            related_name=shown_name(owner, found.parts) if found else one.name,
            type_name=one.type_name,
            reason=CARD,
            named=one.name,
        )


def _is_settled(settled: Settled, one: Suggestion) -> bool:
    if one.related_person_id is None:
        return False
    return settled.has(one.person_id, one.related_person_id, one.type_name)


def _rows(owner: User) -> Any:
    return RelatedName.objects.filter(owner=owner, person__deleted_at=None)


def _next_names(owner: User, last: UUID | None, number: int) -> list[Named]:
    """Those behind `last` that were not answered. Asked in the order of an index, so that no more is read."""
    answers = AnsweredSuggestion.unscoped.rows().filter(
        person=OuterRef("person"), named=OuterRef("name"), type_name=OuterRef("type_name")
    )
    rows = _rows(owner).filter(~Exists(answers)).order_by("id")
    return _named((rows.filter(pk__gt=last) if last else rows)[:number])


def _named(rows: Any) -> list[Named]:
    columns = ("id", "person_id", "name", "type_name", *(f"person__{column}" for column in COLUMNS))
    return [
        Named(key, person_id, name, kind, NameParts(*parts))
        for key, person_id, name, kind, *parts in rows.values_list(*columns)
    ]
