"""Orphans: reads the whole network of an account, or the part around the people who are removed."""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, Q

from accounts.models import User
from contacts_project.kernel.database.expressions import IdHex
from people.models import Person
from relationships.connectivity import ComponentSearch, Network, SearchLimitError
from relationships.models import Relationship

# With more removed people, or more visited ones, it costs less to read the whole network in two queries.
MAX_REMOVED, MAX_VISITED = 200, 1_000


def find_orphans(owner: User | UUID, person_ids: Collection[UUID]) -> set[str]:
    """The people, by `UUID.hex`, who are connected to the user now, and would not be without all of `person_ids`.

    `owner` is a user or the id of one. Reads only the neighbourhood of `person_ids` where that is small.
    """
    removed = {person_id.hex for person_id in person_ids}
    if len(removed) <= MAX_REMOVED:
        try:
            return _search_components(owner, removed).orphans()
        except SearchLimitError:
            pass
    return load_network(owner).orphans_of(removed)


def load_network(owner: User | UUID) -> Network:
    """The graph of the active people of `owner` (a user or the id of one), by `UUID.hex`."""
    people: dict[str, bool] = dict(
        Person.objects.owned_by(owner).active().values_list(IdHex("pk"), _is_related_to_user(""))
    )
    rows = Relationship.objects.owned_by(owner).active().one_of_each_pair()
    edges = rows.values_list(IdHex("person_id"), IdHex("related_person_id")).iterator(chunk_size=5000)
    return Network(
        # A relationship stays active while one of its people is in the trash.
        ((one, other) for one, other in edges if one in people and other in people),
        related_to_user=(person for person, is_related_to_user in people.items() if is_related_to_user),
    )


def _search_components(owner: User | UUID, removed: set[str]) -> ComponentSearch:
    """The components next to the removed people, read hop by hop. Raises SearchLimitError."""
    owner_id: UUID = owner.pk if isinstance(owner, User) else owner
    people = Person.objects.owned_by(owner_id).active().filter(pk__in=[UUID(key) for key in removed])
    search = ComponentSearch(dict(people.values_list(IdHex("pk"), _is_related_to_user(""))), MAX_VISITED)
    relationships = Relationship.objects.owned_by(owner_id).active().filter(related_person__deleted_at=None)
    edges = relationships.values_list(
        IdHex("person_id"), IdHex("related_person_id"), _is_related_to_user("related_person__")
    )
    frontier: Iterable[str] = search.removed
    while frontier:
        # A pair has a row for each direction, so the rows that start at the frontier lead to all its neighbours.
        frontier = search.add_edges(edges.filter(person__in=[UUID(key) for key in frontier]))
    return search


def _is_related_to_user(path: str) -> "ExpressionWrapper[Any]":
    """Whether the person at `path` has a relationship to the user, or is the user."""
    related = Q(**{f"{path}relationship_to_user__isnull": False}) | Q(**{f"{path}is_me": True})
    return ExpressionWrapper(related, output_field=BooleanField())
