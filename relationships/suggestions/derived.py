"""What follows from relationships and addresses: siblings, the spouse's children, who lives together."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Final, NamedTuple
from uuid import UUID

from django.db.models import Count

from accounts.models import User
from contacts_project.kernel.api.ids import IdKey
from people.models import LookupKey
from people.names import NameParts, fold
from relationships.models import Relationship
from relationships.suggestions.names import names_of, shown_name
from relationships.suggestions.suggestion import (
    HOUSEHOLD,
    MOST,
    SIBLINGS,
    SPOUSES_CHILD,
    Settled,
    Suggestion,
    derived_id,
)

# More than so many at one address are no household: a dormitory, a firm.
_LARGEST_HOUSEHOLD: Final = 8
# A family name that several share says relatives; of others who live together we know no more.
_RELATIVE, _OTHER = "RELATIVE", "OTHER"


class _Likely(NamedTuple):
    person_id: UUID
    related_person_id: UUID
    type_name: str
    reason: str


def derived_suggestions(owner: User, settled: Settled, most: int | None = MOST) -> list[Suggestion]:
    """The first `most` of each reason; `settled` has all that was answered. Four statements."""
    parents, spouses = _ties(owner, settled)
    likely = [
        *_take(_siblings(parents, settled), settled, most),
        *_take(_step(parents, spouses, settled), settled, most),
    ]
    homes = list(_take(_households(owner, settled), settled, most))
    names = names_of(owner, {key for one in (*likely, *homes) for key in one[:2]})
    shown = [*likely, *(_with_type(one, names) for one in homes)]
    return [
        Suggestion(
            id=derived_id(*one),
            person_id=one.person_id,
            person_name=shown_name(owner, names[one.person_id]),
            related_person_id=one.related_person_id,
            related_name=shown_name(owner, names[one.related_person_id]),
            type_name=one.type_name,
            reason=one.reason,
        )
        for one in shown
        if one.person_id in names and one.related_person_id in names
    ]


def _take(likely: Iterable[_Likely], settled: Settled, most: int | None) -> Iterator[_Likely]:
    for taken, one in enumerate(likely):
        if most is not None and taken == most:
            return
        settled.answered[one.person_id, one.related_person_id].add(one.type_name)
        yield one


Children = dict[UUID, list[UUID]]


def _ties(owner: User, settled: Settled) -> tuple[Children, list[tuple[UUID, UUID]]]:
    """Children by parent, and married pairs; all relationships are noted in `settled`. One statement."""
    children: Children = defaultdict(list)
    spouses = []
    rows = Relationship.objects.owned_by(owner).visible().order_by("created_at", "id")
    texts = rows.values_list(IdKey("person_id"), IdKey("related_person_id"), "relationship_type__name")
    ids: dict[str, UUID] = {}
    for person, related, name in texts.iterator(chunk_size=5000):
        one, other = (ids.get(key) or ids.setdefault(key, UUID(key)) for key in (person, related))
        settled.related[one, other].add(name or "")
        if name == "PARENT":
            children[one].append(other)
        elif name == "SPOUSE":
            spouses.append((one, other))
    return children, spouses


def _siblings(children: Children, settled: Settled) -> Iterator[_Likely]:
    """Who have a parent in common; one is enough, for half siblings are siblings."""
    for kids in children.values():
        for one, other in combinations(kids, 2):
            if one != other and settled.is_new(one, other, "SIBLING"):
                yield _Likely(one, other, "SIBLING", SIBLINGS)


def _step(children: Children, spouses: list[tuple[UUID, UUID]], settled: Settled) -> Iterator[_Likely]:
    """Who is married to a parent of the child."""
    for one, spouse in spouses:
        for child in children.get(spouse, ()):
            if child != one and settled.is_new(one, child, "PARENT"):
                yield _Likely(one, child, "PARENT", SPOUSES_CHILD)


def _households(owner: User, settled: Settled) -> Iterator[_Likely]:
    """Who share a street with postal code or town, two to eight of them. One statement."""
    keys = LookupKey.objects.filter(owner=owner, kind=LookupKey.ADDRESS)
    shared = keys.values("key").annotate(count=Count("id")).filter(count__gt=1).values("key")
    rows = keys.filter(key__in=shared).order_by("key", "person").values_list("key", "person_id", "person__deleted_at")
    homes: dict[str, list[UUID]] = defaultdict(list)
    for key, person_id, deleted_at in rows:
        if deleted_at is None:
            homes[key].append(person_id)
    for people in homes.values():
        if len(people) <= _LARGEST_HOUSEHOLD:
            for one, other in combinations(people, 2):
                if settled.is_new(one, other, None):
                    yield _Likely(one, other, _OTHER, HOUSEHOLD)


def _with_type(one: _Likely, names: dict[UUID, NameParts]) -> _Likely:
    first, second = (fold(names[key].surname or "") if key in names else "" for key in one[:2])
    return one._replace(type_name=_RELATIVE) if first and first == second else one
