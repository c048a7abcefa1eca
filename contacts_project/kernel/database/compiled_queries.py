"""Hot reads: the ORM writes the SQL once for each shape, after that it is run with other parameters.

For a small read Django takes ten times longer to build the statement than the database to answer it.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet


class CompiledQuery:
    """A read whose parameters are ids, or lists of ids, of rows.

    `build` takes the parameters by name and returns a queryset of values_list() whose columns need no conversion in
    Python: text, numbers, and what expressions of this project hand over raw. How many ids a list has is part of the
    shape, so it is for few.
    """

    def __init__(self, build: Callable[..., "QuerySet[Any, Any]"]) -> None:
        self._build = build
        self._names = tuple(inspect.signature(build).parameters)
        self._compiled: dict[tuple[Any, ...], tuple[str, list[Any]]] = {}

    def rows(self, **parameters: UUID | Sequence[UUID]) -> list[tuple[Any, ...]]:
        """The rows for these parameters; none for a list of no ids."""
        values: list[UUID] = []
        shape: list[Any] = [connection.vendor]
        for name in self._names:
            value = parameters[name]
            ids = [value] if isinstance(value, UUID) else list(value)
            if not ids:
                return []
            values += ids
            shape.append(None if isinstance(value, UUID) else len(ids))
        key = tuple(shape)
        if key not in self._compiled:
            self._compiled[key] = self._compile(shape[1:])
        sql, places = self._compiled[key]
        filled = [_stored(values[place.number]) if isinstance(place, _Place) else place for place in places]
        with connection.cursor() as cursor:
            cursor.execute(sql, filled)
            return list(cursor.fetchall())

    def _compile(self, sizes: list[int | None]) -> tuple[str, list[Any]]:
        """The SQL, and its parameters: each either fixed or the place of one that is given."""
        stands_for: dict[Any, _Place] = {}

        def sentinel() -> UUID:
            number = len(stands_for)
            made = UUID(int=_SENTINELS + number)
            stands_for[_stored(made)] = _Place(number)
            return made

        arguments = {
            name: sentinel() if size is None else [sentinel() for _ in range(size)]
            for name, size in zip(self._names, sizes, strict=True)
        }
        sql, parameters = self._build(**arguments).query.get_compiler(connection.alias).as_sql()
        return sql, [stands_for.get(value, value) if _is_hashable(value) else value for value in parameters]


# A run of ids that no row has: UUIDs of no version.
_SENTINELS = 0xC0FFEE << 64


class _Place:
    """Where a given parameter goes."""

    def __init__(self, number: int) -> None:
        self.number = number


def _stored(value: UUID) -> UUID | str:
    """How the database holds an id: as digits where it has no type for it."""
    return value if connection.features.has_native_uuid_field else value.hex


def _is_hashable(value: Any) -> bool:
    return value.__hash__ is not None
