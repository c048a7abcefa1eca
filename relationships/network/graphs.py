"""The two graphs of the API out of the database, each in a constant number of queries."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.api.ids import IdHex
from contacts_project.kernel.api.json import format_id
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from people.models import Group, Membership, Person, RelationshipType
from people.names import NameParts, display_name
from relationships.models import Relationship
from relationships.network.connectivity import USER
from relationships.network.graph_builder import Edge, Graph, Node, build_network_graph, build_person_graph
from relationships.projection import FEW, Named, named_people

_GroupsByPerson = Mapping[str, list[tuple[str, str, str]]]
_OfType = tuple[str | None, str | None, str | None]


def direct_graph(owner: User, person: Person) -> Graph:
    """`person` and everybody related to them, the user included, with the edges between those and `person`."""
    ties = sorted(_TIES_OF_ONE.rows(owner_id=owner.pk, person_id=person.pk))
    keys = {person.pk.hex, *(tie[2] for tie in ties)}
    people, groups = named_people(owner, keys), _groups_of(owner, keys)
    nodes = {key: _node(named, groups.get(key, [])) for key, named in people.items() if key in keys}
    center = nodes[person.pk.hex]
    center["isCenter"] = True
    edges = _edges(owner, ties, people, [person.pk.hex])
    return build_person_graph(center, edges, _user_node(owner, is_center=False), nodes.values())


def whole_graph(
    owner: User,
    *,
    including: Collection[str] | None = None,
    excluding: Collection[str] = (),
    limit: int | None = None,
) -> Graph:
    """The user as center, and the people in some group of `including` (None: all people), in none of `excluding`.

    Both hold the `UUID.hex` of groups.
    """
    people, groups = named_people(owner), _groups_of(owner)
    nodes = [
        _node(named, groups.get(key, []))
        for key, named in people.items()
        if _is_chosen({group[0] for group in groups.get(key, ())}, including, excluding)
    ]
    # Sorted here: the database would sort rows far wider than these.
    ties = sorted(_ties(owner.pk).one_of_each_pair())
    return build_network_graph(_user_node(owner, is_center=True), nodes, _edges(owner, ties, people), limit)


def _is_chosen(groups: set[str], including: Collection[str] | None, excluding: Collection[str]) -> bool:
    return (including is None or not groups.isdisjoint(including)) and groups.isdisjoint(excluding)


def _user_node(owner: User, *, is_center: bool) -> Node:
    parts = NameParts(owner.name, owner.surname, nickname=owner.nickname)
    name = display_name(parts, order=owner.name_order, form=owner.name_display_format)
    return {"id": USER, "label": name, "groups": [], "colors": [], "isCenter": is_center}


def _node(person: Named, groups: list[tuple[str, str, str]]) -> Node:
    return {
        "id": person["id"],
        "label": person["name"],
        "groups": [group[1] for group in groups],
        "colors": [group[2] for group in groups],
        "isCenter": False,
    }


def _groups_of(owner: User, keys: Collection[str] | None = None) -> _GroupsByPerson:
    """Key, name and colour of the groups of each person, in the order of the groups' names."""
    known = {group[0]: group for group in _GROUPS.rows(owner_id=owner.pk)}
    memberships: Iterable[Any]
    if keys is not None and len(keys) <= FEW:
        memberships = _MEMBERSHIPS_OF.rows(owner_id=owner.pk, person_ids=[UUID(key) for key in keys])
    else:
        memberships = _memberships(owner.pk)
    found: defaultdict[str, list[tuple[str, str, str]]] = defaultdict(list)
    rank = {key: position for position, key in enumerate(known)}
    pairs = [pair for pair in memberships if pair[1] in known]
    for person_key, group_key in sorted(pairs, key=lambda pair: rank[pair[1]]):
        found[person_key].append(known[group_key])
    return found


def _memberships(owner_id: UUID) -> Any:
    return Membership.objects.owned_by(owner_id).values_list(IdHex("person_id"), IdHex("group_id"))


_GROUPS = CompiledQuery(
    lambda owner_id: (
        Group.objects.owned_by(owner_id).active().order_by("name_key", "id").values_list(IdHex("pk"), "name", "color")
    )
)
_MEMBERSHIPS_OF = CompiledQuery(lambda owner_id, person_ids: _memberships(owner_id).filter(person__in=person_ids))


def _ties(owner_id: UUID) -> Any:
    """Id, and keys of person, related person and type, of relationships; ids rise with their age."""
    columns = (IdHex("pk"), IdHex("person_id"), IdHex("related_person_id"), IdHex("relationship_type_id"))
    return Relationship.objects.owned_by(owner_id).active().values_list(*columns)


_TIES_OF_ONE = CompiledQuery(lambda owner_id, person_id: _ties(owner_id).filter(person=person_id))


def _edges(
    owner: User,
    ties: Iterable[tuple[str, str, str, str]],
    people: Mapping[str, Named],
    to_user_from: Collection[str] | None = None,
) -> list[Edge]:
    """Edges of `ties` among `people`, then those to the user: of `to_user_from`, or of all."""
    types: dict[Any, Any] = {key: of for key, *of in _TYPES.rows(owner_id=owner.pk)}
    types[None] = (None, None, None)
    edges = [
        _edge(people[one]["id"], people[other]["id"], types[kind], format_id(tie))
        for tie, one, other, kind in ties
        if one in people and other in people
    ]
    to_user: Iterable[Any] = (
        _related_to_user(owner.pk)
        if to_user_from is None
        else _TO_USER_FROM.rows(owner_id=owner.pk, person_ids=[UUID(key) for key in to_user_from])
    )
    return edges + [_edge(format_id(person), USER, types[kind], None) for person, kind in to_user]


_TYPES = CompiledQuery(
    lambda owner_id: RelationshipType.objects.owned_by(owner_id).values_list(IdHex("pk"), "name", "label", "color")
)


def _related_to_user(owner_id: UUID) -> Any:
    related = Person.objects.owned_by(owner_id).active().filter(relationship_to_user__isnull=False)
    return related.in_name_order().values_list(IdHex("pk"), IdHex("relationship_to_user_id"))


_TO_USER_FROM = CompiledQuery(lambda owner_id, person_ids: _related_to_user(owner_id).filter(pk__in=person_ids))


def _edge(source: str, target: str, of_type: _OfType, relationship_id: str | None) -> Edge:
    name, label, color = of_type
    return {
        "source": source,
        "target": target,
        "type": name,
        "label": label,
        "color": color,
        "relationshipId": relationship_id,
    }
