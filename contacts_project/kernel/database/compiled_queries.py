"""Frequent statements. The ORM compiles the SQL once for each shape of the parameters; after that only values change.

For a small statement Django takes ten times longer to build it than the database takes to run it. The ORM is the way to
query; these are for the few paths where they save what a person or a device feels (`compiled_query` lists them).
"""

import datetime as dt
import inspect
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.operations import BaseDatabaseOperations
from django.db.backends.utils import CursorWrapper
from django.db.models import QuerySet
from django.db.models.query import get_related_populators  # type: ignore[attr-defined] # not in the stubs
from django.db.models.sql import UpdateQuery
from django.db.models.sql.compiler import SQLCompiler, SQLUpdateCompiler

from contacts_project.kernel.database.postgresql import MAX_BOUND_PARAMETERS
from contacts_project.kernel.errors import MissingError

Parameter = UUID | str | bytes | int | dt.date
"""The value of one parameter; a dt.datetime is a dt.date. In a condition an int is the limit or offset of a slice, or
compared as Value(number): Django drops a condition that no number of the column's type can meet."""
# A tuple, since `isinstance` with a union would make that union anew each time.
_SCALARS = (UUID, str, bytes, int, dt.date)
_LISTS = (list, tuple)

# While a query is compiled, placeholders stand for the parameters and are recognised in the SQL and its values. They
# must differ from every constant of a query: UUIDs without a version, a private-use character, very large numbers, the
# year 1.
_PLACEHOLDER_TEXT = "\ue000 parameter {}"
_PLACEHOLDERS: dict[type, Callable[[int], Parameter]] = {
    UUID: lambda number: UUID(int=(0xC0FFEE << 64) + number),
    bytes: lambda number: _PLACEHOLDER_TEXT.format(number).encode(),
    int: lambda number: (0xC0FFEE << 32) + number,
    dt.datetime: lambda number: dt.datetime(1, 1, 2, tzinfo=dt.UTC) + dt.timedelta(microseconds=number),
    dt.date: lambda number: dt.date(1, 1, 2) + dt.timedelta(number),
}
_PARAMETER_NAME = "p{}"
_PARAMETER_NAMES = tuple(map(_PARAMETER_NAME.format, range(MAX_BOUND_PARAMETERS)))
# Statements that one query keeps: lists of ids come in many lengths, and each length is a statement of its own.
_MAX_STATEMENTS = 300
# Of a query by ids PostgreSQL keeps the plans for lists of these lengths: those of a merge, of the feed, and of a page.
_KEPT_LENGTHS = frozenset({2, 3, 4, 10, 50, 100})
# In the SQL: a list of two or more parameters, and the comparison of an owner.
_ID_LIST = re.compile(r" IN \((%\(p\d+\)s(?:, %\(p\d+\)s)+)\)")
_OWNER = re.compile(r"\"owner_id\" = %\(")


Rows: TypeAlias = "QuerySet[Any, Any]"
"""What the function of a compiled query returns."""

# Begins the name of a value that an UPDATE sets, so that a column may have the name of a parameter.
_SET = "set "


Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class _Statement:
    """The SQL for one shape of the parameters, and for a SELECT what turns its rows into Python values."""

    sql: str
    constants: dict[str, str | int]
    """The values of the statement itself, by name."""
    convert_row: Callable[[Sequence[Any]], tuple[Any, ...]] = tuple
    build_instance: Callable[[Sequence[Any]], Any] = tuple


class CompiledQuery:
    """Statements by the shape of their parameters: ids, texts, bytes, numbers, times, days, or lists of those.

    None, True and False are part of the shape: a condition on None is IS NULL, as in the ORM.

    `build` takes the parameters by name and returns a queryset that compares them unchanged (it may not compute with
    them or look at their values). Each length of a list is compiled separately, so lists should be short: statements
    with more than MAX_BOUND_PARAMETERS values are built each time. Use the decorator `compiled_query`, or
    `query_by_ids`.
    """

    def __init__(self, build: Callable[..., Rows], *, is_by_ids: bool = False) -> None:
        self._build = build
        self._is_by_ids = is_by_ids
        self.name = f"{build.__module__}.{build.__qualname__}"
        self._names = tuple(inspect.signature(build).parameters)
        self._statements: dict[tuple[Any, ...], _Statement] = {}
        self._updated_rows: Any = None  # known after the first update

    def rows(self, **parameters: Parameter | Sequence[Parameter] | None) -> list[tuple[Any, ...]]:
        """The rows of a values_list() as the driver returns them; none if a list among the parameters is empty.

        For columns that need no conversion in Python: text, numbers, and expressions such as IdHex and TimestampText.
        """
        found = self._execute(self._names, parameters, _fetch_all)
        return found[1] if found else []

    def instances(self, **parameters: Parameter | Sequence[Parameter] | None) -> list[Any]:
        """The rows as model instances with select_related() and annotations; none if a list of parameters is empty."""
        found = self._execute(self._names, parameters, _fetch_all)
        return [found[0].build_instance(row) for row in found[1]] if found else []

    def values(self, **parameters: Parameter | Sequence[Parameter] | None) -> list[tuple[Any, ...]]:
        """The rows of a values_list() as the ORM returns them, with ids as UUIDs for example."""
        found = self._execute(self._names, parameters, _fetch_all)
        return [found[0].convert_row(row) for row in found[1]] if found else []

    def instance(self, **parameters: Parameter | Sequence[Parameter] | None) -> Any:
        """The only row as a model instance, or None."""
        found = self.instances(**parameters)
        return found[0] if found else None

    def find(self, **parameters: Parameter | Sequence[Parameter] | None) -> Any:
        """The only row as a model instance. Raises MissingError, which is 404 in the API."""
        found = self.instance(**parameters)
        if found is None:
            raise MissingError
        return found

    def update(
        self, new: Mapping[str, Parameter | None], /, **parameters: Parameter | Sequence[Parameter] | None
    ) -> int:
        """Set columns of the rows, as QuerySet.update does, and return their number; none if a list is empty.

        Rows of the change feed get the revision of the open write as well (FeedQuerySet.values_of_update).
        """
        if self._updated_rows is None:
            self._updated_rows = self._build(**parameters)
        if values_of_update := getattr(self._updated_rows, "values_of_update", None):
            new = {**new, **values_of_update(parameters["owner_id"], new)}
        given = {**parameters, **{_SET + column: value for column, value in new.items()}}
        done = self._execute((*self._names, *(_SET + column for column in new)), given, _count_rows)
        return done[1] if done else 0

    def _execute(
        self,
        names: tuple[str, ...],
        parameters: Mapping[str, Parameter | Sequence[Parameter] | None],
        read_result: Callable[[CursorWrapper], Found],
    ) -> tuple[_Statement, Found] | None:
        """Run the statement for these parameters. Returns it with what `read_result` reads from the cursor.

        None if a list among the parameters is empty: no row could match.
        """
        found = self._shape_and_values(names, parameters)
        if found is None:
            return None
        shape, values = found
        if len(values) > MAX_BOUND_PARAMETERS:
            return self._execute_once(parameters, read_result)
        # Looked up once: every attribute of the proxy `connection` would repeat the look-up.
        database = connections[DEFAULT_DB_ALIAS]
        vendor = database.vendor
        key = (vendor, *shape) if names is self._names else (vendor, *shape, *names)
        statement = self._statements.get(key)
        if statement is None:
            # Dropping all is rare, and needs no bookkeeping on each use as an LRU cache would.
            if len(self._statements) >= _MAX_STATEMENTS:
                self._statements.clear()
            statement = self._statements[key] = self._compile(names, parameters, shape)
        if vendor == "sqlite":
            values = [value if type(value) is str else to_sqlite(value, database.ops) for value in values]
        named_values = dict(zip(_PARAMETER_NAMES, values, strict=False))
        with database.cursor() as cursor:
            cursor.execute(statement.sql, {**statement.constants, **named_values})
            return statement, read_result(cursor)

    def _shape_and_values(
        self, names: tuple[str, ...], parameters: Mapping[str, Parameter | Sequence[Parameter] | None]
    ) -> tuple[list[Any], list[Parameter]] | None:
        """What the text of a statement depends on, and the values to bind. None if a list is empty."""
        shape: list[Any] = []
        values: list[Parameter] = []
        for name in names:
            try:
                value = parameters[name]
            except KeyError:
                raise TypeError(f"{self.name}: the parameter {name} is missing.") from None
            if value is None or value is True or value is False:
                shape.append(value)
            elif isinstance(value, _SCALARS):
                shape.append(type(value))
                values.append(value)
            elif not isinstance(value, _LISTS):
                raise TypeError(f"{self.name}: the parameter {name} is of the type {type(value).__name__}.")
            elif value:
                shape.append((type(value[0]), len(value)))
                values += value
            else:
                return None
        return shape, values

    def _execute_once(
        self,
        parameters: Mapping[str, Parameter | Sequence[Parameter] | None],
        read_result: Callable[[CursorWrapper], Found],
    ) -> tuple[_Statement, Found]:
        """Run a statement with long lists as the ORM does, and keep nothing of it.

        SQLite looks up each named parameter among all before it: 20,000 ids took four seconds, positional ones 0.2.
        """
        compiler = self._make_compiler(dict(parameters))
        sql, values = compiler.as_sql()
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute(sql, values)
            return _make_statement(sql, {}, compiler), read_result(cursor)

    def _compile(self, names: tuple[str, ...], parameters: Mapping[str, Any], shape: list[Any]) -> _Statement:
        """Compile the SQL for parameters of these types and lengths. Raises TypeError if `build` changes a parameter.

        The SQL has named parameters: on SQLite, Django searches the text of a statement with positional ones each time.
        """
        if unknown := parameters.keys() - set(names):
            raise TypeError(f"{self.name} has no parameter {', '.join(sorted(unknown))}.")
        keys: dict[Any, str] = {}  # by placeholder, in the order of the parameters
        parameter_of: dict[str, str] = {}

        def make_placeholder(name: str, kind: type) -> Parameter:
            number = len(keys)
            placeholder = _PLACEHOLDERS.get(kind, _PLACEHOLDER_TEXT.format)(number)
            in_sql = to_sqlite(placeholder, connection.ops) if connection.vendor == "sqlite" else placeholder
            keys[in_sql] = key = _PARAMETER_NAME.format(number)
            parameter_of[key] = name
            return placeholder

        arguments = {
            name: [make_placeholder(name, kind[0]) for _ in range(kind[1])]
            if isinstance(kind, tuple)
            else make_placeholder(name, kind)
            if isinstance(kind, type)
            else kind
            for name, kind in zip(names, shape, strict=True)
        }
        compiler = self._make_compiler(arguments)
        sql, values = compiler.as_sql()
        constants = {}
        for position, value in enumerate(values):
            # Django wraps bytes as the driver wants. A constant may be a list or a dict, which cannot be looked up.
            found = inner if isinstance(inner := getattr(value, "obj", None), bytes) else value
            key = keys.get(found) if isinstance(found, Hashable) else None
            if key is None:
                key = f"constant{position}"
                constants[key] = value
            sql = sql.replace("%s", f"%({key})s", 1)
        for placeholder, key in keys.items():
            if isinstance(placeholder, int):  # Django writes limit and offset into the text
                sql = sql.replace(str(placeholder), f"%({key})s")
        if missing := {parameter_of[key] for key in keys.values() if f"%({key})s" not in sql}:
            raise TypeError(f"{self.name}: {', '.join(sorted(missing))} is not compared as it is.")
        lengths = {kind[1] for kind in shape if isinstance(kind, tuple) and kind[1] > 1}
        if self._is_by_ids and connection.vendor == "postgresql" and lengths and lengths <= _KEPT_LENGTHS:
            sql = _OWNER.sub('"owner_id" IS NOT DISTINCT FROM %(', _ID_LIST.sub(r" = ANY(ARRAY[\1]::uuid[])", sql))
        return _make_statement(sql, constants, compiler)

    def _make_compiler(self, arguments: Mapping[str, Parameter | Sequence[Parameter] | None]) -> SQLCompiler:
        """Django's compiler of the statement with these parameters: an UPDATE if some of them are set, or a SELECT."""
        rows: Any = self._build(**{name: arguments[name] for name in self._names})
        query = rows.query
        if new := {name.removeprefix(_SET): value for name, value in arguments.items() if name.startswith(_SET)}:
            query = query.chain(UpdateQuery)
            query.add_update_values(new)
        compiler: SQLCompiler = query.get_compiler(connection.alias)
        return compiler


def compiled_query(build: Callable[..., Rows]) -> CompiledQuery:
    """Decorator of a function that returns a queryset: a read, or an update, whose SQL is compiled once.

    @compiled_query
    def _dates_of(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
        return ImportantDate.objects.owned_by(owner_id).active().filter(person__in=person_ids)

    _dates_of.instances(owner_id=owner.pk, person_ids=keys)
    _dates_of.update({"deleted_at": now}, owner_id=owner.pk, person_ids=keys)

    Those that there are, with the CPU of their statements in milliseconds (SQLite, 2,000 people) and that of the ORM:

    | path | queries | compiled | ORM |
    | --- | --- | --- | --- |
    | a token; of a device, with its book | 1; 1 | 0.1; 0.1 | 0.5; 2.6 |
    | rows by id (`Model.objects.active_rows`): a person to show, change or merge, ids in bodies | 1 | 0.1 | 0.4 |
    | one person, also as the response of a write | 3 | 0.1 | 5.0 |
    | a page of the list, with its number; by another order | 5; 2 more | 1.0; 0.9 | 4.6; 3.3 |
    | search | 2 | 0.1 | 2.2 |
    | graph of one | 5 | 0.1 | 1.9 |
    | create and PUT: groups, values and dates that are there | 2 | 0.1 | 1.1 |
    | merge | 2 | 0.1 | 3.2 |
    | a page of the feed: dates; relationships | 1; 1 | 0.1; 0.1 | 0.5; 0.8 |
    | DAV, GET: the card by its name, what the device has of it | 2 | 0.1 | 0.6 |
    | DAV, 50 cards | 1 | 0.2 | 0.5 |
    | DAV, the card of a person that has changed: its person, dates, groups, stored text | 4 | 0.9 | 2.9 |
    | DAV, PUT; of a new card | 4; 1 | 0.1; 0.1 | 1.9; 1.2 |

    The account's lock is one statement of its own (ownership/account_lock.py), and the due scan is the ORM's.
    """
    return CompiledQuery(build)


def query_by_ids(build: Callable[..., Rows]) -> CompiledQuery:
    """As `compiled_query`, for the rows of an account that a list of ids finds by an index of their column.

    PostgreSQL keeps the plan for a short list, too, which takes several times as long to make as to run. A plan for any
    account would read all rows of the owner if most accounts are small, so it may not use an index by owner: IS NOT
    DISTINCT FROM has none. Not for a column whose only index begins with the owner.
    """
    return CompiledQuery(build, is_by_ids=True)


def _make_statement(sql: str, constants: dict[str, str | int], compiler: SQLCompiler) -> _Statement:
    if isinstance(compiler, SQLUpdateCompiler):
        return _Statement(sql, constants)
    return _Statement(sql, constants, _make_row_converter(compiler), _make_instance_builder(compiler))


def _fetch_all(cursor: CursorWrapper) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _count_rows(cursor: CursorWrapper) -> int:
    count: int = cursor.rowcount
    return count


def _make_row_converter(compiler: SQLCompiler) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Return a function that converts a row of the driver to Python values, as the ORM does."""
    converters = list(compiler.get_converters([column[0] for column in compiler.select]).items())

    def convert(row: Sequence[Any]) -> tuple[Any, ...]:
        values = list(row)
        for position, (functions, expression) in converters:
            for function in functions:
                values[position] = function(values[position], expression, connection)
        return tuple(values)

    return convert


def _make_instance_builder(compiler: SQLCompiler) -> Callable[[Sequence[Any]], Any]:
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


def to_sqlite(value: Any, operations: BaseDatabaseOperations) -> Any:
    """An id, a time or a day as the text that SQLite stores; any other value unchanged."""
    if isinstance(value, UUID):
        return value.hex
    if isinstance(value, dt.datetime):
        return str(operations.adapt_datetimefield_value(value))
    return value.isoformat() if isinstance(value, dt.date) else value
