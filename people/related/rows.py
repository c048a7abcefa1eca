"""Keeps the rows of RelatedName equal to the names on people's card lines."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from people.models import RelatedName
from people.related.cards import RelatedPerson, parse_related_people

Lines = Iterable[Mapping[str, Any]]


def related_people_on(card_lines: Lines) -> list[RelatedPerson]:
    """The related people on a person's card lines, in their order."""
    return parse_related_people(kept["line"] for kept in card_lines)


def replace_related_names(owner_id: UUID, people: Iterable[tuple[UUID, Lines, Lines]]) -> None:
    """Update the rows of `people`: ids, the card lines before the write, and the lines after it.

    No statement if the names are unchanged. Must be called inside the transaction that writes the lines.
    """
    new: list[RelatedName] = []
    for person_id, lines_before, lines_after in people:
        before, after = related_people_on(lines_before), related_people_on(lines_after)
        # Unchanged rows stay: their ids are the ids of suggestions that a client may hold.
        if removed := set(before).difference(after):
            rows = RelatedName.objects.filter(owner=owner_id, person=person_id, name__in={one.name for one in removed})
            keys = [pk for pk, *one in rows.values_list("pk", "name", "type_name") if RelatedPerson(*one) in removed]
            RelatedName.objects.filter(pk__in=keys).delete()
        new += [
            RelatedName(owner_id=owner_id, person_id=person_id, name=name, type_name=kind)
            for name, kind in after
            if (name, kind) not in before
        ]
    if new:
        RelatedName.objects.bulk_create(new)
