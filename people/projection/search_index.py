"""The search index: a flat record for each person, with the entries of a multi-value field joined into one text."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any

from orjson import dumps, loads

from accounts.models import User
from contacts_project.kernel.database.expressions import IdHex, RawColumn
from contacts_project.kernel.ids import format_id
from people import field_table
from people.field_table import FieldKind
from people.models import Person
from people.names import COLUMNS as NAME_COLUMNS
from people.names import display_name
from people.projection.columns import column_of
from people.projection.lists import load_groups, load_types
from people.projection.people import FETCH_SIZE, NO_GROUPS

_INDEXED = [field for field in field_table.FIELDS if field.index_name]
_SCALARS = [field for field in _INDEXED if field.column and field.kind is not FieldKind.LIST]
_LISTS = [field for field in _INDEXED if field.kind is FieldKind.LIST]
# The contract has `groups` before `customFields`, which is the last list.
*_LISTS_BEFORE_GROUPS, _CUSTOM_FIELDS = (field.index_name for field in _LISTS)

RECORD: tuple[str, ...] = (
    "id",
    *(field.index_name for field in _INDEXED if field.kind is not FieldKind.LIST),
    *_LISTS_BEFORE_GROUPS,
    "groups",
    _CUSTOM_FIELDS,
    "relationshipToUser",
)
"""The keys of a record, in their order."""

# The keys that come from a person's row. Behind these columns the row has the other columns of the display name.
_NAMES = ("id", *(field.index_name for field in [*_SCALARS, *_LISTS]), "relationshipToUser")
_COLUMNS: dict[str, Any] = {
    "id": IdHex("id"),
    **{field.column: column_of(field) for field in _SCALARS},
    **{field.column: RawColumn(field.column) for field in _LISTS},
    "relationship_to_user": IdHex("relationship_to_user_id"),
}
_COLUMNS |= {column: column for column in NAME_COLUMNS if column not in _COLUMNS}
_pick_name_parts = itemgetter(*(list(_COLUMNS).index(column) for column in NAME_COLUMNS))


def _build_join(keys: Sequence[str]) -> Callable[[str], str]:
    """A function that joins the texts under `keys` in all entries of a field; it takes the entries as JSON."""
    if len(keys) > 1:
        return lambda entries: " ".join([text for entry in loads(entries) for key in keys if (text := entry.get(key))])
    text_of, find = itemgetter(keys[0]), re.compile(rf'"{keys[0]}": ?"([^"]*)"').findall

    def join(entries: str) -> str:
        # Without a backslash no text contains an escaped quotation mark, and searching takes half the time of decoding.
        return " ".join(map(text_of, loads(entries)) if "\\" in entries else find(entries))

    return join


_JOINS = [(field.index_name, _build_join(field.indexed_keys)) for field in _LISTS]


def search_records(owner: User) -> Iterator[bytes]:
    """The records of the active people as JSON, in name order: up to FETCH_SIZE at a time, with commas between them.

    Groups and types are read at once, people lazily.
    """
    types, groups = load_types(owner), load_groups(owner)
    labels = {key: type_.label for key, type_ in types.items()}
    order, form = owner.name_order, owner.name_display_format

    def serialize(rows: list[Any]) -> bytes:
        # Column by column: for each person one by one it takes a sixth longer.
        columns = list(zip(*rows, strict=True))
        values: dict[str, Iterable[Any]] = dict(zip(_NAMES, columns))  # noqa: B905 - there are more columns
        keys = columns[0]
        values["id"] = map(format_id, keys)
        names = zip(*_pick_name_parts(columns), strict=True)
        values["displayName"] = [display_name(parts, order=order, form=form) for parts in names]
        for name, join in _JOINS:
            values[name] = ["" if text == "[]" else join(text) for text in values[name]]  # most are empty
        values["groups"] = [groups.get(key, NO_GROUPS).names for key in keys]
        values["relationshipToUser"] = [labels.get(key, "") for key in values["relationshipToUser"]]
        records = zip(*[values[name] for name in RECORD], strict=True)
        return dumps([dict(zip(RECORD, record)) for record in records])[1:-1]  # noqa: B905 - equally long

    rows = Person.objects.owned_by(owner).active().in_name_order().values_list(*_COLUMNS.values())
    people = rows.iterator(chunk_size=FETCH_SIZE)
    return map(serialize, iter(lambda: list(islice(people, FETCH_SIZE)), []))
