"""One suggestion, and what is known against suggesting it."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final
from uuid import UUID, uuid5

from accounts.models import User
from people.models import RelationshipType
from relationships.models import AnsweredSuggestion, Relationship

CARD, SIBLINGS, SPOUSES_CHILD, HOUSEHOLD = "card", "siblings", "parent_of_spouses_child", "household"
REASONS: Final = (CARD, SIBLINGS, SPOUSES_CHILD, HOUSEHOLD)
MOST: Final = 200
"""Of each reason that one answer shows; the others follow once these are answered."""
_INVERSE: Final = {"PARENT": "CHILD", "CHILD": "PARENT"}
_NAMESPACE: Final = UUID("5f0d2d55-92a4-5c4b-9a55-9b0c3f6f7a11")
Pair = tuple[UUID, UUID]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """`person` is `type_name` of the related one: a person, or only a name. `named`: what the card calls it."""

    id: UUID
    person_id: UUID
    person_name: str
    related_person_id: UUID | None
    related_name: str
    type_name: str
    reason: str
    named: str = ""

    def answer(self, types: dict[str, UUID]) -> dict[str, Any]:
        """As GET /api/relationship-suggestions shows it; `types`: the account's types by name."""
        return {
            "id": self.id,
            "personId": self.person_id,
            "relatedPersonId": self.related_person_id,
            "relatedName": self.related_name,
            "relationshipTypeId": types.get(self.type_name),
            "typeName": self.type_name,
            "reason": self.reason,
            "personName": self.person_name,
        }


def derived_id(person_id: UUID, related_person_id: UUID, type_name: str, reason: str) -> UUID:
    """The same for the same suggestion, whenever it is made."""
    return uuid5(_NAMESPACE, f"{person_id}|{related_person_id}|{type_name}|{reason}")


def types_by_name(owner: User) -> dict[str, UUID]:
    """The ids of the account's active relationship types."""
    return dict(RelationshipType.objects.owned_by(owner).active().values_list("name", "pk"))


@dataclass
class Settled:
    """What is not suggested: what two people are already, and what was answered; by pair the names of types.

    A type of the user's own counts by its own name. `""` is a relationship without a type.
    """

    related: dict[Pair, frozenset[str]] = field(default_factory=dict)
    answered: dict[Pair, set[str]] = field(default_factory=lambda: defaultdict(set))

    def has(self, person_id: UUID, related_person_id: UUID, type_name: str) -> bool:
        """Whether the two are so already, or were answered about, seen from either side."""
        pair, back = (person_id, related_person_id), (related_person_id, person_id)
        inverse = _INVERSE.get(type_name, type_name)
        known = self.related.get(pair, frozenset()) | self.answered.get(pair, set())
        return type_name in known or inverse in self.answered.get(back, ())

    def is_new(self, person_id: UUID, related_person_id: UUID, type_name: str | None) -> bool:
        """Whether the two are nothing to each other yet, and were not answered about (None: as whatever)."""
        pair, back = (person_id, related_person_id), (related_person_id, person_id)
        if type_name is None:
            return not (pair in self.related or pair in self.answered or back in self.answered)
        return pair not in self.related and not self.has(person_id, related_person_id, type_name)

    def relate(self, person_id: UUID, related_person_id: UUID, type_name: str) -> None:
        """The two have a relationship. Pairs of one type share its set: there are tens of thousands."""
        pair = (person_id, related_person_id)
        known = self.related.setdefault(pair, _alone(type_name))
        if type_name not in known:
            self.related[pair] = known | {type_name}

    def add(self, one: Suggestion) -> None:
        """It is suggested now, and not once more for another reason or from the other side."""
        if one.related_person_id:
            self.answered[one.person_id, one.related_person_id].add(one.type_name)


@lru_cache(maxsize=256)
def _alone(type_name: str) -> frozenset[str]:
    return frozenset((type_name,))


def add_answers(settled: Settled, owner: User) -> None:
    """What was answered about two people. One statement."""
    rows = AnsweredSuggestion.objects.owned_by(owner).filter(related_person__isnull=False)
    for person_id, related_id, type_name in rows.values_list("person_id", "related_person_id", "type_name"):
        settled.answered[person_id, related_id].add(type_name)


def add_relationships(settled: Settled, owner: User, person_ids: Iterable[UUID]) -> None:
    """What these people are to others. One statement."""
    rows = Relationship.objects.owned_by(owner).visible().filter(person__in=list(person_ids))
    for person_id, related_id, name in rows.values_list("person_id", "related_person_id", "relationship_type__name"):
        settled.relate(person_id, related_id, name or "")
