"""Frequent statements. The ORM compiles the SQL once for each shape of the parameters; after that only values change.

For a small statement Django takes ten times longer to build it than the database takes to run it. PostgreSQL takes four
times longer to plan it than to run it, so a connection keeps the plans of what it repeats.
"""

import datetime as dt
import functools
import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.backends.signals import connection_created
from django.db.models import QuerySet
from django.db.models.query import get_related_populators  # type: ignore[attr-defined] # not in the stubs
from django.db.models.sql import UpdateQuery

from contacts_project.kernel.errors import MissingError

Parameter = UUID | str | int | dt.datetime
"""The value of one parameter. In a condition an int is the limit or the offset of a slice."""

# While a query is compiled, placeholders stand for the parameters and are recognised in the SQL and its values. They
# must differ from every constant of a query: UUIDs without a version, a private-use character, very large numbers, the
# year 1.
_PLACEHOLDER_ID, _PLACEHOLDER_TEXT, _PLACEHOLDER_INT = 0xC0FFEE << 64, "\ue000 parameter {}", 0xC0FFEE << 32
_PLACEHOLDER_TIME = dt.datetime(1, 1, 2, tzinfo=dt.UTC)
_PARAMETER_NAME = "p{}"
# Statements that one query keeps: lists of ids come in many lengths, and each length is a statement of its own.
_MAX_STATEMENTS = 300
# A statement with more parameters is sent with its values in the text. The protocol allows 65,535 parameters, and the
# plan of a long INSERT takes much memory, though the same length is seldom repeated.
MAX_BOUND_PARAMETERS = 300
# Matches a list of two or more values. A kept plan for any list in any account reads all rows of an account, if the
# average account is small, so these statements are planned each time for their values.
_ID_LIST = re.compile(r" IN \(%(?:\(\w+\))?s, ")


@dataclass(frozen=True, slots=True)
class _Statement:
    """The SQL for one shape of the parameters."""

    sql: str
    constants: dict[str, Any]
    """The values of the statement itself, by name."""


@dataclass(frozen=True, slots=True)
class _SelectStatement(_Statement):
    """A SELECT, and what turns its rows into Python values."""

    convert_row: Callable[[Sequence[Any]], tuple[Any, ...]]
    build_instance: Callable[[Sequence[Any]], Any]


S = TypeVar("S", bound=_Statement)


class _Compiled(ABC, Generic[S]):
    """Statements by the shape of their parameters, which are ids, texts, numbers, times, or lists of those.

    `build` takes the parameters by name and returns a queryset that compares them unchanged (it may not compute with
    them or look at their values). Each length of a list is compiled separately, so lists should be short: statements
    with more than MAX_BOUND_PARAMETERS values are built each time.
    """

    def __init__(self, build: Callable[..., "QuerySet[Any, Any]"], *columns: str) -> None:
        self._build = build
        self._columns = columns  # those that an UPDATE sets
        self._names = (*inspect.signature(build).parameters, *columns)
        self._statements: dict[tuple[Any, ...], S] = {}

    @abstractmethod
    def _make_compiler(self, arguments: dict[str, Any]) -> Any:
        """Django's compiler of the statement with these parameters."""

    @abstractmethod
    def _make_statement(self, sql: str, constants: dict[str, Any], compiler: Any) -> S: ...

    def _execute(
        self,
        parameters: dict[str, Parameter | Sequence[Parameter]],
        read_result: Callable[[Any], Any],
    ) -> tuple[S, Any] | None:
        """Run the statement for these parameters. Returns it with what `read_result` reads from the cursor.

        None if a list among the parameters is empty: no row could match. Raises TypeError for None as a parameter.
        """
        values: list[Parameter] = []
        # Looked up once: every attribute of the proxy `connection` would repeat the look-up.
        database = connections[DEFAULT_DB_ALIAS]
        shape: list[Any] = [database.vendor]
        for name in self._names:
            value = parameters[name]
            if isinstance(value, UUID | str | int | dt.datetime):
                shape.append(type(value))
                values.append(value)
            elif value:
                shape.append((type(value[0]), len(value)))
                values += value
            elif isinstance(value, Sequence):
                return None
            else:  # a condition would need IS NULL, and NULL as a new value has no placeholder
                raise TypeError(f"The parameter {name} is of the type {type(value).__name__}.")
        if len(values) > MAX_BOUND_PARAMETERS:
            return self._execute_once(parameters, read_result)
        key = tuple(shape)
        statement = self._statements.get(key)
        if statement is None:
            # Dropping all is rare, and needs no bookkeeping on each use as an LRU cache would.
            if len(self._statements) >= _MAX_STATEMENTS:
                self._statements.clear()
            statement = self._statements[key] = self._compile(shape[1:])
        if database.vendor == "sqlite":
            values = [_to_sqlite(value, database.ops) for value in values]
        named_values = {_PARAMETER_NAME.format(number): value for number, value in enumerate(values)}
        with database.cursor() as cursor:
            cursor.execute(statement.sql, {**statement.constants, **named_values})
            return statement, read_result(cursor)

    def _execute_once(
        self, parameters: dict[str, Parameter | Sequence[Parameter]], read_result: Callable[[Any], Any]
    ) -> tuple[S, Any]:
        """Run a statement with long lists as the ORM does, and keep nothing of it.

        SQLite looks up each named parameter among all before it: 20,000 ids took four seconds, positional ones 0.2.
        """
        compiler = self._make_compiler(dict(parameters))
        sql, values = compiler.as_sql()
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute(sql, values)
            return self._make_statement(sql, {}, compiler), read_result(cursor)

    def _compile(self, shape: list[Any]) -> S:
        """Compile the SQL for parameters of these types and lengths. Raises TypeError if `build` changes a parameter.

        The SQL has named parameters: on SQLite, Django searches the text of a statement with positional ones each time.
        """
        names: dict[Any, str] = {}  # by placeholder, in the order of the parameters

        def make_placeholder(kind: type) -> Parameter:
            number = len(names)
            placeholder: Parameter
            if kind is UUID:
                placeholder = UUID(int=_PLACEHOLDER_ID + number)
            elif kind is int:
                placeholder = _PLACEHOLDER_INT + number
            elif kind is dt.datetime:
                placeholder = _PLACEHOLDER_TIME + dt.timedelta(microseconds=number)
            else:
                placeholder = _PLACEHOLDER_TEXT.format(number)
            in_sql = _to_sqlite(placeholder, connection.ops) if connection.vendor == "sqlite" else placeholder
            names[in_sql] = _PARAMETER_NAME.format(number)
            return placeholder

        arguments = {
            name: make_placeholder(kind)
            if isinstance(kind, type)
            else [make_placeholder(kind[0]) for _ in range(kind[1])]
            for name, kind in zip(self._names, shape, strict=True)
        }
        compiler = self._make_compiler(arguments)
        sql, values = compiler.as_sql()
        constants = {}
        for position, value in enumerate(values):
            # A constant may be a list or a dict, which cannot be looked up.
            name = names.get(value) if isinstance(value, Hashable) else None
            if name is None:
                name = f"constant{position}"
                constants[name] = value
            sql = sql.replace("%s", f"%({name})s", 1)
        for placeholder, name in names.items():
            if isinstance(placeholder, int):  # Django writes limit and offset into the text
                sql = sql.replace(str(placeholder), f"%({name})s")
        if missing := [name for name in names.values() if f"%({name})s" not in sql]:
            raise TypeError(f"Of the parameters {self._names} {len(missing)} are not compared as they are.")
        return self._make_statement(sql, constants, compiler)


class CompiledQuery(_Compiled[_SelectStatement]):
    """A read whose parameters are ids, texts, lists of those, or the limit and offset of a slice."""

    def rows(self, **parameters: Parameter | Sequence[Parameter]) -> list[tuple[Any, ...]]:
        """The rows of a values_list() as the driver returns them; none if a list among the parameters is empty.

        For columns that need no conversion in Python: text, numbers, and expressions such as IdHex and TimestampText.
        """
        found = self._execute(parameters, _fetch_all)
        return found[1] if found else []

    def instances(self, **parameters: Parameter | Sequence[Parameter]) -> list[Any]:
        """The rows as model instances with select_related() and annotations; none if a list of parameters is empty."""
        found = self._execute(parameters, _fetch_all)
        return [found[0].build_instance(row) for row in found[1]] if found else []

    def values(self, **parameters: Parameter | Sequence[Parameter]) -> list[tuple[Any, ...]]:
        """The rows of a values_list() as the ORM returns them, with ids as UUIDs for example."""
        found = self._execute(parameters, _fetch_all)
        return [found[0].convert_row(row) for row in found[1]] if found else []

    def instance(self, **parameters: Parameter | Sequence[Parameter]) -> Any:
        """The only row as a model instance, or None."""
        found = self.instances(**parameters)
        return found[0] if found else None

    def find(self, **parameters: Parameter | Sequence[Parameter]) -> Any:
        """The only row as a model instance. Raises MissingError, which is 404 in the API."""
        found = self.instance(**parameters)
        if found is None:
            raise MissingError
        return found

    def _make_compiler(self, arguments: dict[str, Any]) -> Any:
        return self._build(**arguments).query.get_compiler(connection.alias)

    def _make_statement(self, sql: str, constants: dict[str, Any], compiler: Any) -> _SelectStatement:
        return _SelectStatement(sql, constants, _make_row_converter(compiler), _make_instance_builder(compiler))


def _fetch_all(cursor: Any) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


class CompiledUpdate(_Compiled[_Statement]):
    """An UPDATE that sets `columns` of the rows that `build` returns. The new values are parameters with their names.

    Rows of the change feed need a revision as well: kernel.ownership.feed_updates.
    """

    def run(self, **parameters: Parameter | Sequence[Parameter]) -> int:
        """Update the rows and return their number; no row if a list among the parameters is empty."""
        done = self._execute(parameters, _count_rows)
        return done[1] if done else 0

    def _make_compiler(self, arguments: dict[str, Any]) -> Any:
        new_values = {column: arguments.pop(column) for column in self._columns}
        query: Any = self._build(**arguments).query.chain(UpdateQuery)
        query.add_update_values(new_values)
        return query.get_compiler(connection.alias)

    def _make_statement(self, sql: str, constants: dict[str, Any], compiler: Any) -> _Statement:
        return _Statement(sql, constants)


def _count_rows(cursor: Any) -> int:
    count: int = cursor.rowcount
    return count


def update_where(model: type[models.Model], where: Mapping[str, Any], values: Mapping[str, Any]) -> int:
    """UPDATE the rows that have the values `where` (None matches NULL), and return their number. Keys are field names.

    Unlike CompiledUpdate it takes values of every type that a field takes. The ORM is not involved.

    If a column is in both `where` and `values`, only one of several concurrent callers updates the row.
    """
    database = connections[DEFAULT_DB_ALIAS]
    conditions = tuple((name, value is None) for name, value in where.items())
    statement, fields = _update_statement(database.vendor, model, tuple(values), conditions)
    arguments = [*values.values(), *(value for value in where.values() if value is not None)]
    parameters = [field.get_db_prep_save(value, database) for field, value in zip(fields, arguments, strict=True)]
    with database.cursor() as cursor:
        cursor.execute(statement, parameters)
        return int(cursor.rowcount)


@functools.lru_cache(maxsize=256)
def _update_statement(
    vendor: str, model: type[models.Model], names: tuple[str, ...], conditions: tuple[tuple[str, bool], ...]
) -> "tuple[str, list[models.Field[Any, Any]]]":
    """The SQL, and the fields of its parameters. A condition is a field name and whether it compares with NULL."""
    quote = connections[DEFAULT_DB_ALIAS].ops.quote_name
    assignments = ", ".join(f"{quote(_field(model, name).column)} = %s" for name in names)
    where = " AND ".join(
        f"{quote(_field(model, name).column)} {'IS NULL' if is_null else '= %s'}" for name, is_null in conditions
    )
    statement = f"UPDATE {quote(model._meta.db_table)} SET {assignments} WHERE {where}"  # noqa: S608 - names of our own
    compared = [name for name, is_null in conditions if not is_null]
    return statement, [_field(model, name) for name in (*names, *compared)]


def _field(model: type[models.Model], name: str) -> "models.Field[Any, Any]":
    field = model._meta.get_field(name)
    assert isinstance(field, models.Field), name  # noqa: S101 - the other side of a relation has no column
    return field


def _make_row_converter(compiler: Any) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Return a function that converts a row of the driver to Python values, as the ORM does."""
    converters = list(compiler.get_converters([column[0] for column in compiler.select]).items())

    def convert(row: Sequence[Any]) -> tuple[Any, ...]:
        values = list(row)
        for position, (functions, expression) in converters:
            for function in functions:
                values[position] = function(values[position], expression, connection)
        return tuple(values)

    return convert


def _make_instance_builder(compiler: Any) -> Callable[[Sequence[Any]], Any]:
    """Return a function that builds a model instance from a row, as django.db.models.query.ModelIterable does."""
    if not compiler.query.default_cols:
        return tuple  # a values_list() has no model
    fields = compiler.klass_info["select_fields"]
    first, last = fields[0], fields[-1] + 1
    names = [column[0].target.attname for column in compiler.select[first:last]]
    populators = get_related_populators(compiler.klass_info, compiler.select, connection.alias)
    convert_row = _make_row_converter(compiler)
    annotations = tuple(compiler.annotation_col_map.items())
    from_db = partial(compiler.klass_info["model"].from_db, connection.alias, names)

    def build(row: Sequence[Any]) -> Any:
        values = convert_row(row)
        instance = from_db(values[first:last])
        for name, position in annotations:
            setattr(instance, name, values[position])
        for populator in populators:
            populator.populate(values, instance)
        return instance

    return build


def _to_sqlite(value: Parameter, operations: Any) -> Parameter:
    """An id or a time as the text that SQLite stores; any other value unchanged."""
    if isinstance(value, UUID):
        return value.hex
    text: str | int = operations.adapt_datetimefield_value(value) if isinstance(value, dt.datetime) else value
    return text


class _Driver(NamedTuple):
    """What replaces Django's and psycopg's defaults on a connection."""

    cursor: type[Any]
    server_side_cursor: type[Any]
    integer_dumpers: tuple[tuple[type, type[Any]], ...]


@functools.cache
def _load_driver() -> _Driver:
    """Define the cursor that lets psycopg prepare repeated statements. Called for PostgreSQL only."""
    # Imported here, because psycopg would cost each process of an instance on SQLite 60 ms and 9 MB.
    from django.db.backends.postgresql import base  # noqa: PLC0415
    from psycopg import ClientCursor  # noqa: PLC0415
    from psycopg.types import numeric  # noqa: PLC0415

    class PreparingCursor(base.ServerBindingCursor):  # type: ignore[misc, name-defined] # not in the stubs
        """Sends parameters beside the statement, so that its plan can be kept, unless the plan should not be."""

        def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
            if not params or (len(params) <= MAX_BOUND_PARAMETERS and not _ID_LIST.search(str(query))):
                return super().execute(query, params, **options)
            # With a threshold psycopg would keep each such text, to count how often it is repeated.
            threshold = self.connection.prepare_threshold
            self.connection.prepare_threshold = None
            try:
                return super().execute(ClientCursor(self.connection).mogrify(query, params), **options)
            finally:
                self.connection.prepare_threshold = threshold

    # Integers are sent as text, so the server refuses a number that is too large. psycopg's binary dumpers cut off what
    # does not fit in the type, and the server stored the rest: 4,464 for 70,000.
    integer_dumpers = (
        (numeric.Int2, numeric.Int2Dumper),
        (numeric.Int4, numeric.Int4Dumper),
        (numeric.Int8, numeric.Int8Dumper),
    )
    # Queries with .iterator() bind on the client, since their lists may be longer than the protocol allows.
    return _Driver(PreparingCursor, base.ServerSideCursor, integer_dumpers)  # type: ignore[attr-defined] # as above


def _configure_connection(*, connection: Any, **kwargs: Any) -> None:
    """Receiver of connection_created."""
    if connection.vendor == "postgresql":
        driver = _load_driver()
        psycopg_connection = connection.connection
        psycopg_connection.cursor_factory = driver.cursor
        psycopg_connection.server_cursor_factory = driver.server_side_cursor
        for kind, dumper in driver.integer_dumpers:
            psycopg_connection.adapters.register_dumper(kind, dumper)


def keep_prepared_statements() -> None:
    """Keep the plans of repeated statements on every connection to PostgreSQL that is opened from now on.

    The setting `prepare_threshold` of the connection decides after how many executions.
    """
    connection_created.connect(_configure_connection, dispatch_uid="prepared_statements")
