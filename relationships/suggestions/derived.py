"""What follows from relationships and addresses: siblings, the spouse's children, who lives together."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import combinations, islice
from typing import Final, NamedTuple
from uuid import UUID

from django.db.models import Count

from accounts.models import User
from contacts_project.kernel.api.ids import IdHex
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

# Children of one parent that are looked at: pairs grow with their square, and a list of 1,000 is no family.
_MOST_CHILDREN: Final = 30
# More than so many at one address are no household: a dormitory, a firm.
_LARGEST_HOUSEHOLD: Final = 8
# A family name that several share says relatives; of others who live together we know no more.
_RELATIVE, _OTHER = "RELATIVE", "OTHER"


class _Likely(NamedTuple):
    person_id: UUID
    related_person_id: UUID
    type_name: str
    reason: str


def derived_suggestions(owner: User, settled: Settled) -> list[Suggestion]:
    """The first MOST of each reason; `settled` has all that was answered. Four statements."""
    likely = [one for found in _likely(owner, settled) for one in _take(found, settled)]
    return list(_suggested(owner, likely))


def derived_with_ids(owner: User, settled: Settled, ids: Collection[UUID]) -> list[Suggestion]:
    """Those that have these ids. Nothing is kept of the others, of which there may be a hundred thousand."""
    wanted, found = set(ids), []
    for one in (one for likely in _likely(owner, settled) for one in likely):
        types = (_OTHER, _RELATIVE) if one.reason == HOUSEHOLD else (one.type_name,)
        if same := wanted.intersection(derived_id(*one._replace(type_name=name)) for name in types):
            found.append(one)
            wanted -= same
            if not wanted:
                break
    return list(_suggested(owner, found))


def _likely(owner: User, settled: Settled) -> Iterator[Iterator[_Likely]]:
    """What follows, by reason."""
    parents, spouses = _ties(owner, settled)
    yield _siblings(parents, settled)
    yield _step(parents, spouses, settled)
    yield _households(owner, settled)


def _suggested(owner: User, likely: list[_Likely]) -> Iterator[Suggestion]:
    names = names_of(owner, {key for one in likely for key in one[:2]})
    for one in likely:
        if one.person_id in names and one.related_person_id in names:
            typed = _with_type(one, names) if one.reason == HOUSEHOLD else one
            yield Suggestion(
                id=derived_id(*typed),
                person_id=one.person_id,
                person_name=shown_name(owner, names[one.person_id]),
                related_person_id=one.related_person_id,
                related_name=shown_name(owner, names[one.related_person_id]),
                type_name=typed.type_name,
                reason=one.reason,
            )


def _take(likely: Iterable[_Likely], settled: Settled) -> Iterator[_Likely]:
    """The first MOST, none of them once more for another reason or from the other side."""
    for one in islice(likely, MOST):
        settled.answered[one.person_id, one.related_person_id].add(one.type_name)
        yield one


Children = dict[UUID, list[UUID]]


def _ties(owner: User, settled: Settled) -> tuple[Children, list[tuple[UUID, UUID]]]:
    """Children by parent, and married pairs; all relationships are noted in `settled`. One statement."""
    children: Children = defaultdict(list)
    spouses = []
    rows = Relationship.objects.owned_by(owner).visible().order_by("created_at", "id")
    texts = rows.values_list(IdHex("person_id"), IdHex("related_person_id"), "relationship_type__name")
    ids: dict[str, UUID] = {}
    for person, related, name in texts.iterator(chunk_size=5000):
        one = ids.get(person) or ids.setdefault(person, UUID(person))
        other = ids.get(related) or ids.setdefault(related, UUID(related))
        settled.relate(one, other, name or "")
        if name == "PARENT":
            if len(theirs := children[one]) < _MOST_CHILDREN:
                theirs.append(other)
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
