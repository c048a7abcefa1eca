"""The network of one account out of the database: whole, or as far as a question needs it."""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, Q

from contacts_project.kernel.api.ids import IdHex
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from people.models import Person
from relationships.models import Relationship
from relationships.network.connectivity import Network
from relationships.network.regions import Regions, SearchLimitError

# Beyond so many people asked about, or looked at, to read the whole network in two queries costs less.
MOST_GONE, MOST_SEEN = 200, 1_000


def find_orphans(owner: Any, person_ids: Collection[UUID]) -> set[str]:
    """The people, by `UUID.hex`, who are connected now and would not be once all of `person_ids` are gone.

    Looks from them outwards, and no further than to the first tie to the user: in most networks some hops.
    """
    gone = {person_id.hex for person_id in person_ids}
    if len(gone) <= MOST_GONE:
        try:
            return _regions_around(owner, gone).orphans()
        except SearchLimitError:
            pass
    return load_network(owner).orphans_of(gone)


def load_network(owner: Any) -> Network:
    """The graph of the active people of `owner` (a user or the id of one), by `UUID.hex`. Two queries."""
    people: dict[str, bool] = dict(Person.objects.owned_by(owner).active().values_list(IdHex("pk"), _is_tied("")))
    ties = Relationship.objects.owned_by(owner).active().one_of_each_pair()
    links = ties.values_list(IdHex("person_id"), IdHex("related_person_id"))
    return Network(
        ((one, other) for one, other in links.iterator(chunk_size=5000) if one in people and other in people),
        related_to_user=(person for person, is_tied in people.items() if is_tied),
    )


def _regions_around(owner: Any, gone: set[str]) -> Regions:
    """What lies beside `gone`, read hop by hop, one query each. Raises SearchLimitError."""
    owner_id = getattr(owner, "pk", owner)
    regions = Regions(dict(_PEOPLE.rows(owner_id=owner_id, person_ids=[UUID(key) for key in gone])), MOST_SEEN)
    frontier: Iterable[str] = regions.gone
    while frontier:
        # A pair has a row for each direction, so that the rows of the frontier name all its neighbours.
        found = _NEIGHBOURS.rows(owner_id=owner_id, person_ids=[UUID(key) for key in frontier])
        frontier = regions.grow(found)
    return regions


def _is_tied(path: str) -> "ExpressionWrapper[Any]":
    """Whether the person at `path` is something to the user."""
    return ExpressionWrapper(Q(**{f"{path}relationship_to_user__isnull": False}), output_field=BooleanField())


_PEOPLE = CompiledQuery(
    lambda owner_id, person_ids: (
        Person.objects.owned_by(owner_id).active().filter(pk__in=person_ids).values_list(IdHex("pk"), _is_tied(""))
    )
)
_NEIGHBOURS = CompiledQuery(
    lambda owner_id, person_ids: (
        Relationship.objects.owned_by(owner_id)
        .active()
        .filter(person__in=person_ids, related_person__deleted_at=None)
        .values_list(IdHex("person_id"), IdHex("related_person_id"), _is_tied("related_person__"))
    )
)
