"""The two graphs of the API: one person with their neighbours, and the whole network.

Each is loaded in a fixed number of queries. `build_person_graph` and `build_network_graph` need no database.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.database.compiled_queries import Rows, compiled_query
from contacts_project.kernel.database.expressions import IdHex
from contacts_project.kernel.ids import format_id
from people.models import Membership, Person, RelationshipType
from people.names import NameParts, format_name
from people.projection.lists import active_groups
from relationships.connectivity import USER, Network
from relationships.models import Relationship
from relationships.projection import MAX_IDS_IN_QUERY, PersonReference, load_named_people


class GraphNode(TypedDict):
    """A person, or the user, who may be one of the people (`User.me_person_id`), else `user`.

    `groups` are names, `colors` their colors in the same order.
    """

    id: str
    label: str
    groups: list[str]
    colors: list[str | None]
    isCenter: bool
    isUser: bool


class GraphEdge(TypedDict):
    """`source` is `type` of `target`. An edge to the user has no relationshipId."""

    source: str
    target: str
    type: str | None
    label: str | None
    color: str | None
    relationshipId: str | None


class Graph(TypedDict):
    nodes: list[GraphNode]
    edges: list[GraphEdge]


class _Group(NamedTuple):
    key: str
    name: str
    color: str


class _Type(NamedTuple):
    name: str | None
    label: str | None
    color: str | None
    inverse_key: str | None


_RelationshipRow = tuple[str, str, str, str | None]
"""The ids (IdHex) of a relationship: its own, person, related person, type."""


def load_person_graph(owner: User, person: Person) -> Graph:
    """`person`, their neighbours (the user may be one), and the edges between those and `person`."""
    me = owner.me_person_id
    rows = sorted(_relationships_of_person.rows(owner_id=owner.pk, person_id=person.pk))
    # All of them are neighbours of the user.
    found = (
        _related_to_user(owner.pk)
        if person.pk == me
        else _related_to_user_by_id.rows(owner_id=owner.pk, person_ids=[person.pk])
    )
    to_user = list(found)
    keys = {person.pk.hex, *(related_key for _, _, related_key, _ in rows), *(key for key, _ in to_user)}
    keys |= {me.hex} if me else set()
    people, groups = load_named_people(owner, keys), _groups_by_person(owner, keys)
    nodes = {key: _node(named, groups.get(key, [])) for key, named in people.items() if key in keys}
    center, user = nodes[person.pk.hex], _user_node(owner, nodes.get(me.hex) if me else None)
    center["isCenter"] = True
    return build_person_graph(center, _edges(owner, rows, people, to_user, me), user, nodes.values())


def load_network_graph(
    owner: User,
    *,
    including: Collection[str] | None = None,
    excluding: Collection[str] = (),
    limit: int | None = None,
) -> Graph:
    """The user as center, and the people who are in a group of `including` (None: all people), in none of `excluding`.

    Both hold the `UUID.hex` of groups. `limit` is a number of people; those nearest to the user are kept.
    """
    me = owner.me_person_id
    people, groups = load_named_people(owner), _groups_by_person(owner)
    user = None
    nodes = []
    for key, person in people.items():
        if me and key == me.hex:
            user = _node(person, groups.get(key, []))
            continue
        group_keys = {group.key for group in groups.get(key, ())}
        if (including is None or not group_keys.isdisjoint(including)) and group_keys.isdisjoint(excluding):
            nodes.append(_node(person, groups.get(key, [])))
    user = _user_node(owner, user)
    user["isCenter"] = True
    # Sorted here by id, the order of creation: the database would sort rows far wider than these.
    rows = sorted(_relationships(owner.pk).one_of_each_pair())
    edges = _edges(owner, rows, people, _related_to_user(owner.pk), me)
    return build_network_graph(user, nodes, edges, limit)


def _user_node(owner: User, me: GraphNode | None) -> GraphNode:
    """The node of the user: that of the person that the user is, or one of its own."""
    if me is not None:
        me["isUser"] = True
        return me
    parts = NameParts(owner.name, owner.surname, nickname=owner.nickname)
    label = format_name(owner, parts)
    return {"id": USER, "label": label, "groups": [], "colors": [], "isCenter": False, "isUser": True}


def _node(person: PersonReference, groups: list[_Group]) -> GraphNode:
    return {
        "id": person["id"],
        "label": person["name"],
        "groups": [group.name for group in groups],
        "colors": [group.color for group in groups],
        "isCenter": False,
        "isUser": False,
    }


def _groups_by_person(owner: User, keys: Collection[str] | None = None) -> Mapping[str, list[_Group]]:
    """The active groups of each person, ordered by name: of the people of `keys`, or of all (None)."""
    # Sorted here, because databases collate text differently.
    groups = {key: _Group(key, *row) for _, key, *row in sorted(active_groups.rows(owner_id=owner.pk))}
    memberships: Iterable[Any]
    if keys is not None and len(keys) <= MAX_IDS_IN_QUERY:
        memberships = _memberships_of_people.rows(owner_id=owner.pk, person_ids=[UUID(key) for key in keys])
    else:
        memberships = _memberships(owner.pk)
    people_by_group: defaultdict[str, list[str]] = defaultdict(list)
    for person_key, group_key in memberships:
        people_by_group[group_key].append(person_key)
    found: defaultdict[str, list[_Group]] = defaultdict(list)
    for key, group in groups.items():
        for person_key in people_by_group.get(key, ()):
            found[person_key].append(group)
    return found


def _memberships(owner_id: UUID) -> Rows:
    return Membership.objects.owned_by(owner_id).values_list(IdHex("person_id"), IdHex("group_id"))


@compiled_query
def _memberships_of_people(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    return _memberships(owner_id).filter(person__in=person_ids)


def _relationships(owner_id: UUID) -> Any:
    columns = (IdHex("pk"), IdHex("person_id"), IdHex("related_person_id"), IdHex("relationship_type_id"))
    return Relationship.objects.owned_by(owner_id).active().values_list(*columns)


@compiled_query
def _relationships_of_person(owner_id: UUID, person_id: UUID) -> Rows:
    rows: Rows = _relationships(owner_id).filter(person=person_id)
    return rows


def _edges(
    owner: User,
    rows: Sequence[_RelationshipRow],
    people: Mapping[str, PersonReference],
    to_user: Iterable[tuple[str, str]],
    me: UUID | None,
) -> list[GraphEdge]:
    """Edges of the relationships among `people`, then those to the user, of `to_user`: person and type.

    `me` is the person that the user is. What a relationship with it says is not said again by an edge to the user.
    """
    types: dict[str | None, _Type] = {key: _Type(*columns) for key, *columns in _types.rows(owner_id=owner.pk)}
    types[None] = _Type(None, None, None, None)
    edges = [
        _edge(people[person_key]["id"], people[related_key]["id"], types[type_key], format_id(key))
        for key, person_key, related_key, type_key in rows
        # A relationship stays active while one of its people is in the trash.
        if person_key in people and related_key in people
    ]
    if me is None or me.hex not in people:
        return edges + [_edge(format_id(key), USER, types[type_key], None) for key, type_key in to_user]
    said = {(key, type_key) for _, key, related_key, type_key in rows if related_key == me.hex}
    said |= {(related_key, types[type_key].inverse_key) for _, key, related_key, type_key in rows if key == me.hex}
    return edges + [
        _edge(format_id(key), people[me.hex]["id"], types[type_key], None)
        for key, type_key in to_user
        if key != me.hex and (key, type_key) not in said
    ]


@compiled_query
def _types(owner_id: UUID) -> Rows:
    return RelationshipType.objects.owned_by(owner_id).values_list(
        IdHex("pk"), "name", "label", "color", IdHex("inverse_id")
    )


def _related_to_user(owner_id: UUID) -> Rows:
    related = Person.objects.owned_by(owner_id).active().filter(relationship_to_user__isnull=False)
    return related.in_name_order().values_list(IdHex("pk"), IdHex("relationship_to_user_id"))


@compiled_query
def _related_to_user_by_id(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    return _related_to_user(owner_id).filter(pk__in=person_ids)


def _edge(source: str, target: str, relationship_type: _Type, relationship_id: str | None) -> GraphEdge:
    name, label, color, _ = relationship_type
    return {
        "source": source,
        "target": target,
        "type": name,
        "label": label,
        "color": color,
        "relationshipId": relationship_id,
    }


def build_person_graph(
    center: GraphNode, edges: Iterable[GraphEdge], user: GraphNode, others: Iterable[GraphNode]
) -> Graph:
    """The center, its edges, and the nodes at their other ends.

    The user is a node only if an edge ends there. Edges to ids without a node are left out.
    """
    by_id = {node["id"]: node for node in others} | {user["id"]: user, center["id"]: center}
    kept = [edge for edge in edges if edge["source"] in by_id and edge["target"] in by_id]
    neighbours = dict.fromkeys(end for edge in kept for end in (edge["source"], edge["target"]))
    neighbours.pop(center["id"], None)
    return {"nodes": [center, *(by_id[key] for key in neighbours)], "edges": kept}


def build_network_graph(
    user: GraphNode, people: Sequence[GraphNode], edges: Collection[GraphEdge], limit: int | None = None
) -> Graph:
    """The user as center, the people, and the edges among them. With a limit, the people nearest to the user."""
    kept = people if limit is None or limit >= len(people) else _nearest(user, people, edges, limit)
    ids = {node["id"] for node in kept} | {user["id"]}
    inner_edges = [edge for edge in edges if edge["source"] in ids and edge["target"] in ids]
    return {"nodes": [user, *kept], "edges": inner_edges}


def _nearest(user: GraphNode, people: Sequence[GraphNode], edges: Iterable[GraphEdge], limit: int) -> list[GraphNode]:
    """The `limit` people with the shortest paths to the user. Ties keep their order, unreachable people come last."""
    ids = {node["id"] for node in people} | {user["id"]}
    pairs = ((edge["source"], edge["target"]) for edge in edges)
    # Without the edges of people that are filtered out: a path through them would not be in the graph.
    network = Network((one, other) for one, other in pairs if one in ids and other in ids)
    distances = network.distances(user=user["id"])
    unreachable = len(people) + 1
    return sorted(people, key=lambda node: distances.get(node["id"], unreachable))[:limit]
