"""The network as its definition reads, slow and obvious: what the fast one is compared with."""

from collections.abc import Collection

from relationships.network.connectivity import USER


def connected(people: Collection[str], links: Collection[tuple[str, str]]) -> set[str]:
    """Everybody in `people` whom a chain of links among `people` joins to the user."""
    there = {*people, USER}
    reached = {USER}
    grown = True
    while grown:
        grown = False
        for one, other in links:
            if {one, other} <= there and (one in reached) != (other in reached):
                reached |= {one, other}
                grown = True
    return reached - {USER}


def orphans_of(gone: Collection[str], people: Collection[str], links: Collection[tuple[str, str]]) -> set[str]:
    """Each person alone: connected before, still there, and not connected after."""
    remaining = [person for person in people if person not in gone]
    before = connected(people, links)
    after = connected(remaining, links)
    return {person for person in remaining if person in before and person not in after}
