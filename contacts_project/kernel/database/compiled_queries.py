"""Hot reads: the ORM writes the SQL once for each shape, after that it is run with other parameters.

For a small read Django takes ten times longer to build the statement than the database to answer it.
"""

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet
from django.db.models.query import get_related_populators  # type: ignore[attr-defined] # not in the stubs

from contacts_project.kernel.errors import MissingError

Parameter = UUID | str
"""What a query is asked with."""

# A run of ids that no row has: UUIDs of no version. Texts that stand for texts look like nothing that is stored.
_FIRST_ID, _TEXT = 0xC0FFEE << 64, "\ue000 parameter {}"
# Shapes that are kept of one query; lists of ids come in many lengths.
_MOST_SHAPES = 300


class CompiledQuery:
    """A read whose parameters are ids, texts, or lists of those.

    `build` takes the parameters by name and returns a queryset that compares them as they are. How many entries a list
    has is part of the shape, so it is for few.
    """

    def __init__(self, build: Callable[..., "QuerySet[Any, Any]"]) -> None:
        self._build = build
        self._names = tuple(inspect.signature(build).parameters)
        self._statements: dict[tuple[Any, ...], _Statement] = {}

    def rows(self, **parameters: Parameter | Sequence[Parameter]) -> list[tuple[Any, ...]]:
        """The rows of a values_list() as the driver gives them; none for an empty list among the parameters.

        Columns need no conversion in Python: text, numbers, and what expressions of this project hand over raw.
        """
        return self._fetched(parameters)[1]

    def page(self, limit: int, offset: int, **parameters: Parameter | Sequence[Parameter]) -> list[tuple[Any, ...]]:
        """As rows(), at most `limit` of them from the row `offset` on; the queryset is ordered and not sliced."""
        return self._fetched(parameters, (limit, offset))[1]

    def instances(self, **parameters: Parameter | Sequence[Parameter]) -> list[Any]:
        """The rows as models, with what select_related() names; none for an empty list among the parameters."""
        statement, rows = self._fetched(parameters)
        return [statement.instance(row) for row in rows] if statement else []

    def instance(self, **parameters: Parameter | Sequence[Parameter]) -> Any:
        """The only row as a model; None where there is none."""
        found = self.instances(**parameters)
        return found[0] if found else None

    def find(self, **parameters: Parameter | Sequence[Parameter]) -> Any:
        """The same, where there must be one. Raises MissingError, which is 404 in the API."""
        found = self.instance(**parameters)
        if found is None:
            raise MissingError
        return found

    def _fetched(
        self, parameters: dict[str, Parameter | Sequence[Parameter]], window: tuple[int, ...] = ()
    ) -> "tuple[_Statement | None, list[tuple[Any, ...]]]":
        values: list[Parameter] = []
        shape: list[Any] = [connection.vendor]
        for name in self._names:
            value = parameters[name]
            if isinstance(value, UUID | str):
                shape.append(type(value))
                values.append(value)
            elif value:
                shape.append((type(value[0]), len(value)))
                values += value
            else:
                return None, []
        key = tuple(shape)
        statement = self._statements.get(key)
        if statement is None:
            if len(self._statements) >= _MOST_SHAPES:
                self._statements.clear()
            statement = self._statements[key] = self._compile(shape[1:])
        filled = [_stored(values[part.number]) if isinstance(part, _Place) else part for part in statement.parameters]
        sql = f"{statement.sql} LIMIT %s OFFSET %s" if window else statement.sql
        with connection.cursor() as cursor:
            cursor.execute(sql, [*filled, *window])
            return statement, list(cursor.fetchall())

    def _compile(self, shape: list[Any]) -> "_Statement":
        """The SQL, and its parameters: each either fixed or the place of one that is given."""
        places: dict[Any, _Place] = {}

        def stand_in(kind: type) -> Parameter:
            number = len(places)
            made = UUID(int=_FIRST_ID + number) if kind is UUID else _TEXT.format(number)
            places[_stored(made)] = _Place(number)
            return made

        arguments = {
            name: stand_in(kind) if isinstance(kind, type) else [stand_in(kind[0]) for _ in range(kind[1])]
            for name, kind in zip(self._names, shape, strict=True)
        }
        compiler = self._build(**arguments).query.get_compiler(connection.alias)
        sql, parameters = compiler.as_sql()
        filled = [places.get(value, value) if _is_hashable(value) else value for value in parameters]
        if missing := set(places.values()) - {part for part in filled if isinstance(part, _Place)}:
            raise TypeError(f"Of the parameters {self._names} {len(missing)} are not compared as they are.")
        return _Statement(sql, filled, _builder_of_models(compiler))


class _Place(NamedTuple):
    """Where a given parameter goes."""

    number: int


class _Statement(NamedTuple):
    sql: str
    parameters: list[Any]
    instance: Callable[[Sequence[Any]], Any]


def _builder_of_models(compiler: Any) -> Callable[[Sequence[Any]], Any]:
    """A function that makes a model of a row, as django.db.models.query.ModelIterable does of each."""
    if not compiler.query.default_cols:
        return tuple  # of values_list()
    fields = compiler.klass_info["select_fields"]
    first, last = fields[0], fields[-1] + 1
    names = [column[0].target.attname for column in compiler.select[first:last]]
    related = get_related_populators(compiler.klass_info, compiler.select, connection.alias)
    converters = list(compiler.get_converters([column[0] for column in compiler.select]).items())
    make = partial(compiler.klass_info["model"].from_db, connection.alias, names)

    def build(row: Sequence[Any]) -> Any:
        values = list(row)
        for position, (functions, expression) in converters:
            for convert in functions:
                values[position] = convert(values[position], expression, connection)
        made = make(values[first:last])
        for populator in related:
            populator.populate(values, made)
        return made

    return build


def _stored(value: Parameter) -> Parameter:
    """How the database holds an id: as digits where it has no type for it."""
    if isinstance(value, str) or connection.features.has_native_uuid_field:
        return value
    return value.hex


def _is_hashable(value: Any) -> bool:
    return value.__hash__ is not None
