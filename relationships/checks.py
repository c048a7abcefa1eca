"""What `manage.py doctor` looks at in relationships: that every pair and every type is whole."""

from typing import Any

from django.core.checks import CheckMessage, Error, register
from django.db import DatabaseError
from django.db.models import F, Q

from people.models import RelationshipType
from relationships.models import Relationship

_HINT = "No part of the service writes this: restore a backup, or write to the maintainers."


@register("doctor", deploy=True)
def check_pairs(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """What the database's constraints cannot say about two rows at once."""
    try:
        pairs, types = broken_pairs(), broken_types()
    except DatabaseError:  # without a database or its tables there are other things to say
        return []
    found: list[CheckMessage] = []
    if pairs:
        found.append(Error(f"{pairs} relationships do not match their inverse.", hint=_HINT, id="doctor.E060"))
    if types:
        found.append(Error(f"{types} relationship types do not match their inverse.", hint=_HINT, id="doctor.E061"))
    return found


def broken_pairs() -> int:
    """How many rows do not say the same as the row that they name."""
    both_are_untyped = Q(relationship_type=None, inverse__relationship_type=None)
    types_match = both_are_untyped | Q(relationship_type__inverse=F("inverse__relationship_type"))
    same_state = Q(deleted_at=F("inverse__deleted_at")) | Q(deleted_at=None, inverse__deleted_at=None)
    rows = Relationship.unscoped.rows().filter(
        types_match,
        same_state,
        inverse__inverse=F("pk"),
        person=F("inverse__related_person"),
        related_person=F("inverse__person"),
    )
    return int(Relationship.unscoped.count() - rows.count())


def broken_types() -> int:
    """How many types are not the inverse of their inverse."""
    rows = RelationshipType.unscoped.rows().filter(Q(inverse=None) | Q(inverse__inverse=F("pk")))
    return int(RelationshipType.unscoped.count() - rows.count())
