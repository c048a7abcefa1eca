"""The two graphs of the API out of the database, each in a constant number of queries."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from accounts.models import User
from contacts_project.kernel.api.columns import IdKey, id_text
from people.models import Group, Membership, Person
from people.names import NameParts, display_name
from relationships.models import Relationship, RelationshipQuerySet, RelationshipType
from relationships.network.connectivity import USER
from relationships.network.drawing import Edge, Graph, Node, draw_direct, draw_whole
from relationships.projection import FEW, Named, named_people

_GroupsByPerson = Mapping[str, list[tuple[str, str, str]]]
_OfType = tuple[str | None, str | None, str | None]


def direct_graph(owner: User, person: Person) -> Graph:
    """`person` and everybody related to them, the user included, with the edges between those and `person`."""
    ties = _ties(Relationship.objects.owned_by(owner).active().filter(person=person))
    keys = {person.pk.hex, *(tie[2] for tie in ties)}
    people, groups = named_people(owner, keys), _groups_of(owner, keys)
    nodes = {key: _node(named, groups.get(key, [])) for key, named in people.items() if key in keys}
    center = nodes[person.pk.hex]
    center["isCenter"] = True
    edges = _edges(owner, ties, people, [person.pk.hex])
    return draw_direct(center, edges, _user_node(owner, is_center=False), nodes.values())


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
    ties = _ties(Relationship.objects.owned_by(owner).active().one_of_each_pair())
    return draw_whole(_user_node(owner, is_center=True), nodes, _edges(owner, ties, people), limit)


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
    groups = Group.objects.owned_by(owner).active().order_by("name_key", "id")
    known = {group[0]: group for group in groups.values_list(IdKey("pk"), "name", "color")}
    memberships = Membership.objects.owned_by(owner)
    if keys is not None and len(keys) <= FEW:
        memberships = memberships.filter(person__in=keys)
    found: defaultdict[str, list[tuple[str, str, str]]] = defaultdict(list)
    rank = {key: position for position, key in enumerate(known)}
    pairs = [pair for pair in memberships.values_list(IdKey("person_id"), IdKey("group_id")) if pair[1] in known]
    for person_key, group_key in sorted(pairs, key=lambda pair: rank[pair[1]]):
        found[person_key].append(known[group_key])
    return found


def _ties(rows: RelationshipQuerySet) -> list[tuple[str, str, str, str]]:
    """Id, and keys of person, related person and type, of relationships, oldest first."""
    columns = (IdKey("pk"), IdKey("person_id"), IdKey("related_person_id"), IdKey("relationship_type_id"))
    # Sorted here: the database would sort rows far wider than these.
    return sorted(rows.values_list(*columns))


def _edges(
    owner: User,
    ties: Iterable[tuple[str, str, str, str]],
    people: Mapping[str, Named],
    to_user_from: Collection[str] | None = None,
) -> list[Edge]:
    """Edges of `ties` among `people`, then those to the user: of `to_user_from`, or of all."""
    columns = (IdKey("pk"), "name", "label", "color")
    types: dict[Any, _OfType] = {key: of for key, *of in RelationshipType.objects.owned_by(owner).values_list(*columns)}
    types[None] = (None, None, None)
    edges = [
        _edge(people[one]["id"], people[other]["id"], types[kind], id_text(tie))
        for tie, one, other, kind in ties
        if one in people and other in people
    ]
    related = Person.objects.owned_by(owner).active().filter(relationship_to_user__isnull=False)
    if to_user_from is not None:
        related = related.filter(pk__in=to_user_from)
    to_user = related.in_name_order().values_list(IdKey("pk"), IdKey("relationship_to_user_id"))
    return edges + [_edge(id_text(person), USER, types[kind], None) for person, kind in to_user]


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
