"""Which entry of a multi-value field is which, when one list of them follows another."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

Key = Callable[[Any], Hashable]


def match_entries(new: Sequence[Any], old: Sequence[Any], *, keys: Sequence[Key], kind: Key) -> list[int | None]:
    """For each new entry the place of the old one that it is, None where there is none; each old one once.

    It is the first one left with the same first key, else the second and so on, else the only one left of its kind.
    """
    found: list[int | None] = [None] * len(new)
    left = dict(enumerate(old))
    for key in (*keys, kind):
        if not left:
            break
        places: dict[Hashable, list[int]] = defaultdict(list)
        for old_place, entry in left.items():
            places[key(entry)].append(old_place)
        for number, entry in enumerate(new):
            candidates = places[key(entry)] if found[number] is None else []
            if len(candidates) == 1 or (candidates and key is not kind):
                place = found[number] = candidates.pop(0)
                del left[place]
    return found
