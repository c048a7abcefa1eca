"""A suggestion, and the exclusions: pairs of people for which no suggestion is made."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final
from uuid import UUID, uuid5

from accounts.models import User
from contacts_project.kernel.json import JsonObject
from people.mentions import may_be_mentioned
from people.models import Person, RelationshipType
from people.names import COLUMNS, NameParts
from relationships.models import AnsweredSuggestion, Relationship

CARD, SIBLINGS, SPOUSES_CHILD, HOUSEHOLD = "card", "siblings", "parent_of_spouses_child", "household"
REASONS: Final = (CARD, SIBLINGS, SPOUSES_CHILD, HOUSEHOLD)
MAX_SUGGESTIONS: Final = 200
"""Of each reason in one response; the others follow once these are answered."""
_INVERSE: Final = {"PARENT": "CHILD", "CHILD": "PARENT"}
_NAMESPACE: Final = UUID("5f0d2d55-92a4-5c4b-9a55-9b0c3f6f7a11")
Pair = tuple[UUID, UUID]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """`person` is `type_name` of the related person, who may be only a name.

    `name_on_card` is the name on the person's card, empty if the suggestion is not from a card.
    """

    id: UUID
    person_id: UUID
    person_name: str
    related_person_id: UUID | None
    related_name: str
    type_name: str
    reason: str
    name_on_card: str = ""

    def serialize(self, types: dict[str, UUID]) -> JsonObject:
        """An item of GET /api/relationship-suggestions; `types`: ids of the account's types by name."""
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
    """A deterministic id: derived suggestions have no row."""
    return uuid5(_NAMESPACE, f"{person_id}|{related_person_id}|{type_name}|{reason}")


def types_by_name(owner: User) -> dict[str, UUID]:
    """The ids of the account's active relationship types."""
    return dict(RelationshipType.objects.owned_by(owner).active().values_list("name", "pk"))


@dataclass
class Exclusions:
    """Relationships that exist, and suggestions that were answered: names of types by pair of people.

    Custom types are included by their name. `""` is a relationship without a type. `silent` are people who are not
    spoken of: pairs with one of them are excluded, too.
    """

    related: dict[Pair, frozenset[str]] = field(default_factory=dict)
    answered: dict[Pair, set[str]] = field(default_factory=lambda: defaultdict(set))
    silent: set[UUID] = field(default_factory=set)

    def has(self, person_id: UUID, related_person_id: UUID, type_name: str) -> bool:
        """Whether the pair has a relationship of this type, or it was answered, in either direction."""
        pair, reverse = (person_id, related_person_id), (related_person_id, person_id)
        inverse = _INVERSE.get(type_name, type_name)
        known = self.related.get(pair, frozenset()) | self.answered.get(pair, set())
        # Each relationship has two rows, one for each direction, so only answers need the reverse look-up.
        return type_name in known or inverse in self.answered.get(reverse, ())

    def is_new(self, person_id: UUID, related_person_id: UUID, type_name: str | None) -> bool:
        """Whether the pair has no relationship, and no answer for this type (None: for any type)."""
        pair, reverse = (person_id, related_person_id), (related_person_id, person_id)
        if not self.silent.isdisjoint(pair):
            return False
        if type_name is None:
            return not (pair in self.related or pair in self.answered or reverse in self.answered)
        return pair not in self.related and not self.has(person_id, related_person_id, type_name)

    def add_relationship(self, person_id: UUID, related_person_id: UUID, type_name: str) -> None:
        pair = (person_id, related_person_id)
        # Pairs with one type share a cached set: there are tens of thousands of pairs.
        known = self.related.setdefault(pair, _single_type(type_name))
        if type_name not in known:
            self.related[pair] = known | {type_name}

    def add(self, suggestion: Suggestion) -> None:
        """Exclude a suggestion of this response for other reasons and the other direction."""
        if suggestion.related_person_id:
            self.answered[suggestion.person_id, suggestion.related_person_id].add(suggestion.type_name)


@lru_cache(maxsize=256)
def _single_type(type_name: str) -> frozenset[str]:
    return frozenset((type_name,))


def load_answers(exclusions: Exclusions, owner: User) -> None:
    """Add the answers that concern two people."""
    rows = AnsweredSuggestion.objects.owned_by(owner).filter(related_person__isnull=False)
    for person_id, related_id, type_name in rows.values_list("person_id", "related_person_id", "type_name"):
        exclusions.answered[person_id, related_id].add(type_name)


def load_silent(exclusions: Exclusions, owner: User) -> None:
    """Add the people who are not spoken of."""
    silent = Person.objects.owned_by(owner).active().filter(~may_be_mentioned())
    exclusions.silent.update(silent.values_list("pk", flat=True))


def load_relationships(exclusions: Exclusions, owner: User, person_ids: Iterable[UUID]) -> None:
    """Add the relationships of these people."""
    rows = Relationship.objects.owned_by(owner).visible().filter(person__in=list(person_ids))
    for person_id, related_id, name in rows.values_list("person_id", "related_person_id", "relationship_type__name"):
        exclusions.add_relationship(person_id, related_id, name or "")


def load_names(owner: User, person_ids: Iterable[UUID]) -> dict[UUID, NameParts]:
    """The names of the active people among these."""
    rows: Any = Person.objects.owned_by(owner).active().filter(pk__in=list(person_ids))
    return {pk: NameParts(*parts) for pk, *parts in rows.values_list("pk", *COLUMNS)}
