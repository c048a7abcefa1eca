"""Both sides of a conflict put together: what the user gave, and the entries of either side."""

import datetime as dt
from collections.abc import Mapping as MappingOf
from typing import Any
from uuid import UUID

from carddav.sync.context import Context
from carddav.sync.fields import Fields, changed_fields
from carddav.sync.merge import NEVER, Sides, merge
from carddav.sync.people import LocalSide, load_sides, write_fields
from people.services.person_writer import update_person


def merge_values(
    context: Context, person_id: UUID, names: set[str], remote: Fields, values: MappingOf[str, Any], now: dt.datetime
) -> LocalSide:
    """Write `values` to the person, and the union of the other lists among `names`. Inside the write."""
    side = load_sides(context.owner, [person_id])[person_id]
    if values:
        update_person(owner=context.owner, person=side.person, data=values, now=now)
        side = load_sides(context.owner, [person_id])[person_id]
    union = _union(side.fields, remote, names - _fields_of(values))
    if changed := changed_fields(side.fields, union):
        with context.write() as write:
            side = write_fields(context.owner, write, side, union, changed, None)
    return side


def _fields_of(values: MappingOf[str, Any]) -> set[str]:
    return {
        "".join(word.capitalize() if number else word for number, word in enumerate(key.split("_"))) for key in values
    }


def _union(local: Fields, remote: Fields, names: set[str]) -> Fields:
    """Both sides' entries of these lists; scalars stay ours."""
    joined = merge(NEVER, Sides(local, remote)).target.local
    return {**local, **{name: joined[name] for name in names if isinstance(local[name], list)}}
