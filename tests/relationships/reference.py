"""A slow, obvious implementation of connectivity and orphans, to compare the fast one with."""

from collections.abc import Collection

from relationships.connectivity import USER


def connected(people: Collection[str], edges: Collection[tuple[str, str]]) -> set[str]:
    """The members of `people` whom a chain of edges among `people` connects to the user."""
    nodes = {*people, USER}
    reached = {USER}
    grown = True
    while grown:
        grown = False
        for one, other in edges:
            if {one, other} <= nodes and (one in reached) != (other in reached):
                reached |= {one, other}
                grown = True
    return reached - {USER}


def orphans_of(removed: Collection[str], people: Collection[str], edges: Collection[tuple[str, str]]) -> set[str]:
    """The remaining people who are connected before the removal and not after it."""
    remaining = [person for person in people if person not in removed]
    before = connected(people, edges)
    after = connected(remaining, edges)
    return {person for person in remaining if person in before and person not in after}
