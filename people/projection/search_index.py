"""The search index: a flat record for each person, whose multi-value fields are joined into one text each."""

import re
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from orjson import dumps, loads

from accounts.models import User
from contacts_project.kernel.api.columns import RawColumn
from contacts_project.kernel.api.ids import IdHex
from contacts_project.kernel.api.json import format_id
from people import field_table
from people.field_table import Kind
from people.models import Person
from people.names import COLUMNS as NAME_COLUMNS
from people.names import display_name
from people.projection.columns import column_of
from people.projection.lists import groups_of, types_of
from people.projection.people import FETCH, NO_GROUPS

_INDEXED = [field for field in field_table.FIELDS if field.index_name]
_SCALARS = [field for field in _INDEXED if field.column and field.kind is not Kind.LIST]
_LISTS = [field for field in _INDEXED if field.kind is Kind.LIST]
*_BEFORE, _CUSTOM_FIELDS = (field.index_name for field in _LISTS)

RECORD: tuple[str, ...] = (
    "id",
    *(field.index_name for field in _INDEXED if field.kind is not Kind.LIST),
    *_BEFORE,
    "groups",
    _CUSTOM_FIELDS,
    "relationshipToUser",
)
"""The names of a record, in its order."""

_EMPTY: dict[str, Any] = dict.fromkeys(RECORD)
# What of a record is read with the row of its person; behind it the rest of what a name is made of.
_NAMES = ("id", *(field.index_name for field in [*_SCALARS, *_LISTS]), "relationshipToUser")
_COLUMNS: dict[str, Any] = {
    "id": IdHex("id"),
    **{field.column: column_of(field) for field in _SCALARS},
    **{field.column: RawColumn(field.column) for field in _LISTS},
    "relationship_to_user": IdHex("relationship_to_user_id"),
}
_COLUMNS |= {column: column for column in NAME_COLUMNS if column not in _COLUMNS}
_NAME_PARTS = itemgetter(*(list(_COLUMNS).index(column) for column in NAME_COLUMNS))


def _joining(keys: Sequence[str]) -> Callable[[str], str]:
    """What joins the texts of all entries of a field, which come as JSON."""
    if len(keys) > 1:
        return lambda entries: " ".join([text for entry in loads(entries) for key in keys if (text := entry.get(key))])
    text_of, find = itemgetter(keys[0]), re.compile(rf'"{keys[0]}": ?"([^"]*)"').findall

    def join(entries: str) -> str:
        # Without a backslash no text holds a quotation mark: to find the texts takes half the time of decoding all.
        return " ".join(map(text_of, loads(entries)) if "\\" in entries else find(entries))

    return join


_JOINS = [(field.index_name, _joining(field.indexed_keys)) for field in _LISTS]


def search_records(owner: User) -> Iterator[bytes]:
    """A record for everybody as JSON, in name order; what stands beside the rows is read at once, the rows lazily."""
    types, groups = types_of(owner), groups_of(owner)
    labels = {key: kind.label for key, kind in types.items()}
    order, form = owner.name_order, owner.name_display_format

    def record(row: Any) -> bytes:
        answer = _EMPTY.copy()
        answer.update(zip(_NAMES, row))  # noqa: B905 - parts of the name stand behind
        key = answer["id"]
        answer["id"] = format_id(key)
        answer["displayName"] = display_name(_NAME_PARTS(row), order=order, form=form)
        for name, join in _JOINS:
            text = answer[name]
            answer[name] = "" if text == "[]" else join(text)  # most are empty
        answer["groups"] = groups.get(key, NO_GROUPS).names
        answer["relationshipToUser"] = labels.get(answer["relationshipToUser"], "")
        return dumps(answer)

    rows = Person.objects.owned_by(owner).active().in_name_order().values_list(*_COLUMNS.values())
    return map(record, rows.iterator(chunk_size=FETCH))
