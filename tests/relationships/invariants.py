"""What holds of an account's relationships and types after every operation."""

from django.db.models import F, Q

from accounts.models import User
from people.models import Person
from relationships.models import Relationship, RelationshipType


def check_invariants(owner: User) -> None:
    """Raise where a pair does not match, a type is half, or something active has a type in the trash."""
    rows = Relationship.objects.owned_by(owner)
    matches = Q(
        inverse__inverse=F("pk"), inverse__person=F("related_person"), inverse__related_person=F("person")
    ) & ~Q(inverse=F("pk"))
    assert not rows.exclude(matches).exists(), "two rows that do not know each other"
    by_id = {row.pk: row for row in rows}
    types = {row.pk: row for row in RelationshipType.objects.owned_by(owner)}
    for row in by_id.values():
        other = by_id[row.inverse_id]
        assert (row.notes, row.deleted_at) == (other.notes, other.deleted_at), "half a change"
        kind = types[row.relationship_type_id] if row.relationship_type_id else None
        assert other.relationship_type_id == (kind and kind.inverse_id), "types that are not each other's inverse"
        assert row.deleted_at or not (kind and kind.deleted_at), "an active relationship of a deleted type"
    for kind in types.values():
        inverse = types[kind.inverse_id]
        assert inverse.inverse_id == kind.pk, "half a type"
        assert inverse.deleted_at == kind.deleted_at, "a type without its inverse"
    active = [(row.person_id, row.related_person_id, row.relationship_type_id) for row in rows.active()]
    assert len(active) == len(set(active)), "the same relationship twice"
    names = [kind.name for kind in types.values() if not kind.deleted_at]
    assert len(names) == len(set(names)), "two types of one name"
    lost = Person.objects.owned_by(owner).active().filter(relationship_to_user__deleted_at__isnull=False)
    assert not lost.exists(), "an active person of a deleted type"
