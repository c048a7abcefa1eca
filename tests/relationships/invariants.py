"""Invariants of an account's relationships and types, which hold after every operation."""

from typing import Any

from accounts.models import User
from people.counts import wrong_counts
from people.models import Person, RelationshipType
from relationships.models import Relationship


def check_invariants(owner: User) -> None:
    """Fail if a pair or type does not match its inverse, or an active row has a type in the trash."""
    types = _by_id(RelationshipType.objects.owned_by(owner), "name", "inverse_id", "deleted_at")
    ends = ("person_id", "related_person_id")
    rows = _by_id(
        Relationship.objects.owned_by(owner), *ends, "relationship_type_id", "notes", "deleted_at", "inverse_id"
    )
    for key, (person, related, kind_id, notes, deleted_at, inverse_id) in rows.items():
        other = rows[inverse_id]
        assert (other[0], other[1], other[5]) == (related, person, key), "two rows that do not refer to each other"
        assert key != inverse_id, "a row that is its own inverse"
        assert (notes, deleted_at) == other[3:5], "notes or deletion of only one row"
        if kind_id is None:
            assert other[2] is None, "one end without a type"
            continue
        _, inverse_kind_id, type_deleted_at = types[kind_id]
        assert inverse_kind_id is not None, "a relationship whose type has no inverse"
        assert other[2] == inverse_kind_id, "types that are not each other's inverse"
        assert deleted_at or not type_deleted_at, "an active relationship of a deleted type"
    for key, (_, inverse_id, _) in types.items():
        assert inverse_id is None or types[inverse_id][1] == key, "a type that is not the inverse of its inverse"
    active = [row[:3] for row in rows.values() if not row[4]]
    assert len(active) == len(set(active)), "the same relationship twice"
    names = [name for name, _, deleted_at in types.values() if not deleted_at]
    assert len(names) == len(set(names)), "two types of one name"
    assert wrong_counts(owner.pk) == []
    people_of_deleted_types = (
        Person.objects.owned_by(owner).active().filter(relationship_to_user__deleted_at__isnull=False)
    )
    assert not people_of_deleted_types.exists(), "an active person of a deleted type"


def _by_id(rows: Any, *columns: str) -> dict[Any, tuple[Any, ...]]:
    return {row[0]: row[1:] for row in rows.values_list("pk", *columns)}
