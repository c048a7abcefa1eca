"""Suggestions derived from relationships and addresses: siblings, a spouse's children, households."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from itertools import combinations, islice
from typing import Final, NamedTuple
from uuid import UUID

from django.db.models import Count
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.database.expressions import IdHex
from contacts_project.kernel.text_forms import fold
from people.dates.schedule import calendar_from_user
from people.models import LookupKey
from people.names import format_name
from relationships.models import Relationship, has_ended
from relationships.suggestions.suggestion import (
    HOUSEHOLD,
    MAX_SUGGESTIONS,
    SIBLINGS,
    SPOUSES_CHILD,
    Exclusions,
    Suggestion,
    derived_id,
    load_names,
)

# The number of sibling pairs grows with the square of the children, and a thousand children are no family.
_MAX_CHILDREN: Final = 30
# More people at one address are a dormitory or a company.
_MAX_HOUSEHOLD_SIZE: Final = 8
# Members of a household with the same family name are RELATIVE, others OTHER.
_RELATIVE, _OTHER = "RELATIVE", "OTHER"


class _Inference(NamedTuple):
    """`person` is probably `type_name` of the related person."""

    person_id: UUID
    related_person_id: UUID
    type_name: str
    reason: str


def list_derived_suggestions(owner: User, exclusions: Exclusions) -> list[Suggestion]:
    """The first MAX_SUGGESTIONS of each reason. `exclusions` must contain all answers."""
    selected = []
    for inferences in _infer(owner, exclusions):
        for inference in islice(inferences, MAX_SUGGESTIONS):
            # Immediately: the generators read the exclusions, and must not infer the same pair for another reason.
            exclusions.answered[inference.person_id, inference.related_person_id].add(inference.type_name)
            selected.append(inference)
    return list(_build_suggestions(owner, selected))


def find_derived_suggestions(owner: User, exclusions: Exclusions, ids: Collection[UUID]) -> list[Suggestion]:
    """The derived suggestions with these ids."""
    missing, found = set(ids), []
    # An id is a hash, so all inferences are made again. They are not kept: there may be a hundred thousand.
    for inference in (inference for inferences in _infer(owner, exclusions) for inference in inferences):
        types = (_OTHER, _RELATIVE) if inference.reason == HOUSEHOLD else (inference.type_name,)
        if matching := missing.intersection(derived_id(*inference._replace(type_name=name)) for name in types):
            found.append(inference)
            missing -= matching
            if not missing:
                break
    return list(_build_suggestions(owner, found))


def _infer(owner: User, exclusions: Exclusions) -> Iterator[Iterator[_Inference]]:
    """The inferences of each reason."""
    children, spouses = _load_families(owner, exclusions)
    yield _infer_siblings(children, exclusions)
    yield _infer_parents(children, spouses, exclusions)
    yield _infer_households(owner, exclusions)


def _build_suggestions(owner: User, inferences: list[_Inference]) -> Iterator[Suggestion]:
    names = load_names(
        owner, {key for inference in inferences for key in (inference.person_id, inference.related_person_id)}
    )
    for inference in inferences:
        if inference.person_id in names and inference.related_person_id in names:
            type_name = inference.type_name
            if inference.reason == HOUSEHOLD:
                surname, related_surname = (
                    fold(names[key].surname or "") for key in (inference.person_id, inference.related_person_id)
                )
                type_name = _RELATIVE if surname and surname == related_surname else type_name
            yield Suggestion(
                id=derived_id(inference.person_id, inference.related_person_id, type_name, inference.reason),
                person_id=inference.person_id,
                person_name=format_name(owner, names[inference.person_id]),
                related_person_id=inference.related_person_id,
                related_name=format_name(owner, names[inference.related_person_id]),
                type_name=type_name,
                reason=inference.reason,
            )


Children = dict[UUID, list[UUID]]


def _load_families(owner: User, exclusions: Exclusions) -> tuple[Children, list[tuple[UUID, UUID]]]:
    """Children by parent, and married couples. Adds all relationships to `exclusions`."""
    children: Children = defaultdict(list)
    spouses = []
    rows = Relationship.objects.owned_by(owner).visible().order_by("created_at", "id")
    today = calendar_from_user(owner).today(timezone.now())
    texts = rows.values_list(IdHex("person_id"), IdHex("related_person_id"), "relationship_type__name", "until")
    # Each id is parsed once: a UUID is expensive to build, and a person has many relationships.
    ids: dict[str, UUID] = {}
    for person, related, name, until in texts.iterator(chunk_size=5000):
        one = ids.get(person) or ids.setdefault(person, UUID(person))
        other = ids.get(related) or ids.setdefault(related, UUID(related))
        exclusions.add_relationship(one, other, name or "")
        if has_ended(until, today):
            continue
        if name == "PARENT":
            if len(siblings := children[one]) < _MAX_CHILDREN:
                siblings.append(other)
        elif name == "SPOUSE":
            spouses.append((one, other))
    return children, spouses


def _infer_siblings(children: Children, exclusions: Exclusions) -> Iterator[_Inference]:
    """Children with a common parent. One parent is enough: half siblings are siblings."""
    for siblings in children.values():
        for one, other in combinations(siblings, 2):
            if one != other and exclusions.is_new(one, other, "SIBLING"):
                yield _Inference(one, other, "SIBLING", SIBLINGS)


def _infer_parents(
    children: Children, spouses: list[tuple[UUID, UUID]], exclusions: Exclusions
) -> Iterator[_Inference]:
    """People who are married to a parent of the child."""
    for one, spouse in spouses:
        for child in children.get(spouse, ()):
            if child != one and exclusions.is_new(one, child, "PARENT"):
                yield _Inference(one, child, "PARENT", SPOUSES_CHILD)


def _infer_households(owner: User, exclusions: Exclusions) -> Iterator[_Inference]:
    """Two to eight people with the same street and postal code, or street and town."""
    keys = LookupKey.objects.filter(owner=owner, kind=LookupKey.ADDRESS)
    shared = keys.values("key").annotate(count=Count("id")).filter(count__gt=1).values("key")
    rows = keys.filter(key__in=shared).order_by("key", "person").values_list("key", "person_id", "person__deleted_at")
    households: dict[str, list[UUID]] = defaultdict(list)
    for key, person_id, deleted_at in rows:
        if deleted_at is None:
            households[key].append(person_id)
    for people in households.values():
        if len(people) <= _MAX_HOUSEHOLD_SIZE:
            for one, other in combinations(people, 2):
                if exclusions.is_new(one, other, None):
                    # The type is set when the suggestion is built, which loads the names.
                    yield _Inference(one, other, _OTHER, HOUSEHOLD)
