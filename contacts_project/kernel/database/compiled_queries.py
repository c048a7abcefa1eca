"""Hot reads: the ORM writes the SQL once for each shape, after that it is run with other parameters. PostgreSQL plans
whatever statement a connection repeats once.

For a small read Django takes ten times longer to build the statement than the database to answer it, and PostgreSQL
four times longer to plan the statement than to run it.
"""

import functools
import inspect
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.signals import connection_created
from django.db.models import QuerySet
from django.db.models.query import get_related_populators  # type: ignore[attr-defined] # not in the stubs

from contacts_project.kernel.errors import MissingError

Parameter = UUID | str | int
"""What a query is asked with; a number is the limit or the offset of a slice."""

# A run of ids that no row has: UUIDs of no version. Texts that stand for texts look like nothing that is stored, and no
# statement has such numbers.
_FIRST_ID, _TEXT, _FIRST_NUMBER = 0xC0FFEE << 64, "\ue000 parameter {}", 0xC0FFEE << 32
_NAME = "given{}"
# Shapes that are kept of one query; lists of ids come in many lengths.
_MOST_SHAPES = 300
# Sent beside a statement. The protocol takes 65,535; the plan of a long INSERT is large, and seldom wanted again.
MAX_BOUND_PARAMETERS = 300
# A plan for any list of ids in any account reads all of an account of average size: those are planned for their values.
_LIST = re.compile(r" IN \(%(?:\(\w+\))?s, ")


class CompiledQuery:
    """A read whose parameters are ids, texts, lists of those, or the limit and offset of a slice.

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

    def instances(self, **parameters: Parameter | Sequence[Parameter]) -> list[Any]:
        """The rows as models, with what select_related() names; none for an empty list among the parameters."""
        statement, rows = self._fetched(parameters)
        return [statement.instance(row) for row in rows] if statement else []

    def values(self, **parameters: Parameter | Sequence[Parameter]) -> list[tuple[Any, ...]]:
        """The rows of a values_list() as the ORM gives them: ids as UUIDs, say."""
        statement, rows = self._fetched(parameters)
        return [statement.converted(row) for row in rows] if statement else []

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
        self, parameters: dict[str, Parameter | Sequence[Parameter]]
    ) -> "tuple[_Statement | None, list[tuple[Any, ...]]]":
        values: list[Parameter] = []
        database = connections[DEFAULT_DB_ALIAS]  # `connection` looks that up each time
        shape: list[Any] = [database.vendor]
        for name in self._names:
            value = parameters[name]
            if isinstance(value, UUID | str | int):
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
        if not database.features.has_native_uuid_field:
            values = [_as_digits(value) for value in values]
        given = {_NAME.format(number): value for number, value in enumerate(values)}
        with database.cursor() as cursor:
            cursor.execute(statement.sql, {**statement.fixed, **given})
            return statement, cursor.fetchall()

    def _compile(self, shape: list[Any]) -> "_Statement":
        """The SQL. Its parameters have names: for those without, Django looks through the text each time it is run."""
        names: dict[Any, str] = {}

        def stand_in(kind: type) -> Parameter:
            number = len(names)
            made: Parameter = UUID(int=_FIRST_ID + number) if kind is UUID else _TEXT.format(number)
            if kind is int:
                made = _FIRST_NUMBER + number
            names[made if connection.features.has_native_uuid_field else _as_digits(made)] = _NAME.format(number)
            return made

        arguments = {
            name: stand_in(kind) if isinstance(kind, type) else [stand_in(kind[0]) for _ in range(kind[1])]
            for name, kind in zip(self._names, shape, strict=True)
        }
        compiler = self._build(**arguments).query.get_compiler(connection.alias)
        sql, values = compiler.as_sql()
        fixed = {}
        for position, value in enumerate(values):
            name = names.get(value) if _is_hashable(value) else None
            if name is None:
                name = f"fixed{position}"
                fixed[name] = value
            sql = sql.replace("%s", f"%({name})s", 1)
        for made, name in names.items():
            if isinstance(made, int):  # Django writes those into the text
                sql = sql.replace(str(made), f"%({name})s")
        if missing := [name for name in names.values() if f"%({name})s" not in sql]:
            raise TypeError(f"Of the parameters {self._names} {len(missing)} are not compared as they are.")
        return _Statement(sql, fixed, _converter_of_values(compiler), _builder_of_models(compiler))


class _Statement(NamedTuple):
    sql: str
    fixed: dict[str, Any]
    converted: Callable[[Sequence[Any]], tuple[Any, ...]]
    instance: Callable[[Sequence[Any]], Any]


def _converter_of_values(compiler: Any) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """A function that makes Python's values of what the driver gives."""
    converters = list(compiler.get_converters([column[0] for column in compiler.select]).items())

    def convert(row: Sequence[Any]) -> tuple[Any, ...]:
        values = list(row)
        for position, (functions, expression) in converters:
            for function in functions:
                values[position] = function(values[position], expression, connection)
        return tuple(values)

    return convert


def _builder_of_models(compiler: Any) -> Callable[[Sequence[Any]], Any]:
    """A function that makes a model of a row, as django.db.models.query.ModelIterable does of each."""
    if not compiler.query.default_cols:
        return tuple  # of values_list()
    fields = compiler.klass_info["select_fields"]
    first, last = fields[0], fields[-1] + 1
    names = [column[0].target.attname for column in compiler.select[first:last]]
    related = get_related_populators(compiler.klass_info, compiler.select, connection.alias)
    convert = _converter_of_values(compiler)
    make = partial(compiler.klass_info["model"].from_db, connection.alias, names)

    def build(row: Sequence[Any]) -> Any:
        values = convert(row)
        made = make(values[first:last])
        for populator in related:
            populator.populate(values, made)
        return made

    return build


def _as_digits(value: Parameter) -> Parameter:
    """An id as a database holds it that has no type for them."""
    return value.hex if isinstance(value, UUID) else value


def _is_hashable(value: Any) -> bool:
    return value.__hash__ is not None


@functools.cache
def _driver() -> tuple[type[Any], type[Any], tuple[tuple[type, type[Any]], ...]]:
    """What a connection uses: a cursor that has psycopg keep prepared statements, Django's server-side cursor, which
    binds on the client, and how integers are sent.
    """
    # SQLite needs no driver of PostgreSQL.
    from django.db.backends.postgresql import base  # noqa: PLC0415
    from psycopg import ClientCursor  # noqa: PLC0415
    from psycopg.types import numeric  # noqa: PLC0415

    class PreparingCursor(base.ServerBindingCursor):  # type: ignore[misc, name-defined] # not in the stubs
        def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
            if not params or (len(params) <= MAX_BOUND_PARAMETERS and not _LIST.search(str(query))):
                return super().execute(query, params, **options)
            threshold = self.connection.prepare_threshold
            self.connection.prepare_threshold = None  # else psycopg holds such a text to see whether it comes again
            try:
                return super().execute(ClientCursor(self.connection).mogrify(query, params), **options)
            finally:
                self.connection.prepare_threshold = threshold

    # As text: in binary psycopg cuts off what is too large for the type, and the server stores the rest.
    integers = (
        (numeric.Int2, numeric.Int2Dumper),
        (numeric.Int4, numeric.Int4Dumper),
        (numeric.Int8, numeric.Int8Dumper),
    )
    return PreparingCursor, base.ServerSideCursor, integers  # type: ignore[attr-defined] # as above


def _use_driver(*, connection: Any, **kwargs: Any) -> None:
    if connection.vendor == "postgresql":
        kept = connection.connection
        kept.cursor_factory, kept.server_cursor_factory, integers = _driver()
        for kind, dumper in integers:
            kept.adapters.register_dumper(kind, dumper)


def keep_prepared_statements() -> None:
    """On each connection to PostgreSQL that is made from now on, where settings give a prepare_threshold."""
    connection_created.connect(_use_driver, dispatch_uid="prepared_statements")
