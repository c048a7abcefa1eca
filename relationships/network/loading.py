"""The network of one account out of the database, in a constant number of queries."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, Q

from contacts_project.kernel.api.columns import IdKey
from people.models import Person
from relationships.models import Relationship
from relationships.network.connectivity import Network

_IS_RELATED = ExpressionWrapper(Q(relationship_to_user__isnull=False), output_field=BooleanField())


def load_network(owner: Any) -> Network:
    """The graph of the active people of `owner` (a user or the id of one), by `UUID.hex`. Two queries."""
    people: dict[str, bool] = dict(Person.objects.owned_by(owner).active().values_list(IdKey("pk"), _IS_RELATED))
    ties = Relationship.objects.owned_by(owner).active().one_of_each_pair()
    links = ties.values_list(IdKey("person_id"), IdKey("related_person_id"))
    return Network(
        ((one, other) for one, other in links.iterator(chunk_size=5000) if one in people and other in people),
        related_to_user=(person for person, is_related in people.items() if is_related),
    )


def find_orphans(owner: Any, person_ids: Collection[UUID]) -> set[str]:
    """The people, by `UUID.hex`, who are connected now and would not be once all of `person_ids` are gone."""
    return load_network(owner).orphans_of({person_id.hex for person_id in person_ids})
