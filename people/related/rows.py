"""Writes whom cards name as related (RelatedName), as the lines of the cards change."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from people.models import RelatedName
from people.related.cards import RelatedName as RelatedPerson
from people.related.cards import related_names

Lines = Iterable[Mapping[str, Any]]


def named_in(card_lines: Lines) -> list[RelatedPerson]:
    """All whom the lines of a person's card name, in their order."""
    return related_names(kept["line"] for kept in card_lines)


def replace_related_names(owner_id: UUID, people: Iterable[tuple[UUID, Lines, Lines]]) -> None:
    """Write them for people by their ids: the lines that they had, and those that they have now. No statement where
    they name the same as before; in the caller's transaction.
    """
    new: list[RelatedName] = []
    for person_id, before, now in people:
        was, named = named_in(before), named_in(now)
        if gone := set(was).difference(named):
            rows = RelatedName.objects.filter(owner=owner_id, person=person_id, name__in={one.name for one in gone})
            keys = [pk for pk, *said in rows.values_list("pk", "name", "type_name") if RelatedPerson(*said) in gone]
            RelatedName.objects.filter(pk__in=keys).delete()
        new += [
            RelatedName(owner_id=owner_id, person_id=person_id, name=name, type_name=kind)
            for name, kind in named
            if (name, kind) not in was
        ]
    if new:
        RelatedName.objects.bulk_create(new)
