"""Invariants of relationships and their types that involve two rows, so that no constraint can enforce them."""

from collections.abc import Iterator

from django.db.models import Exists, F, OuterRef, Q

from contacts_project.kernel.invariants import invariant, iterate_ids
from people.models import Person, RelationshipType
from relationships.models import Relationship


@invariant("relationships do not match their inverse")
def find_broken_pairs() -> Iterator[object]:
    """Rows that contradict their inverse row, or that are their own inverse."""
    both_are_untyped = Q(relationship_type=None, inverse__relationship_type=None)
    types_match = both_are_untyped | Q(relationship_type__inverse=F("inverse__relationship_type"))
    # Each comparison needs a second branch for NULL, which equals nothing in SQL.
    same_deletion = Q(deleted_at=F("inverse__deleted_at")) | Q(deleted_at=None, inverse__deleted_at=None)
    same_notes = Q(notes=F("inverse__notes")) | Q(notes=None, inverse__notes=None)
    same_time = [
        Q(**{column: F(f"inverse__{column}")}) | Q(**{column: None, f"inverse__{column}": None})
        for column in ("since", "until")
    ]
    valid = Relationship.unscoped.rows().filter(
        types_match,
        same_deletion,
        same_notes,
        *same_time,
        ~Q(inverse=F("pk")),
        inverse__inverse=F("pk"),
        owner=F("inverse__owner"),
        person=F("inverse__related_person"),
        related_person=F("inverse__person"),
        pk=OuterRef("pk"),
    )
    return iterate_ids(Relationship.unscoped.rows().filter(~Exists(valid)))


@invariant("relationship types do not match their inverse")
def find_broken_types() -> Iterator[object]:
    valid = RelationshipType.unscoped.rows().filter(Q(inverse=None) | Q(inverse__inverse=F("pk")), pk=OuterRef("pk"))
    return iterate_ids(RelationshipType.unscoped.rows().filter(~Exists(valid)))


@invariant("active relationships have a type that is deleted or has no inverse")
def find_deleted_types() -> Iterator[object]:
    unusable = Q(relationship_type__deleted_at__isnull=False) | Q(relationship_type__inverse=None)
    return iterate_ids(Relationship.unscoped.rows().active().filter(unusable, relationship_type__isnull=False))


@invariant("active people are tied to the user by a type that is deleted")
def find_people_of_deleted_types() -> Iterator[object]:
    return iterate_ids(Person.unscoped.rows().active().filter(relationship_to_user__deleted_at__isnull=False))
