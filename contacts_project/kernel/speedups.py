"""What overrides Django or DRF only to save time: each piece with what it saves.

Without them everything works the same, more slowly. `tests/contacts_project/test_speedups.py` counts the calls of
Python functions with and without each, and fails where one saves nothing any more. What is done otherwise with
PostgreSQL's driver is in `database/prepared_statements.py` and `database/kept_cursor.py`, and which connections are
checked in `database/health_checks.py`.
"""

import functools
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models, transaction

from contacts_project.kernel.database.kept_cursor import kept_cursor
from contacts_project.kernel.database.row_inserts import MAX_ROWS, OnConflict, insert_instances

if TYPE_CHECKING:
    from rest_framework.serializers import Serializer

M = TypeVar("M", bound=models.Model)


class QuickSave:
    """For models: `save` of a stored row runs an UPDATE whose text is kept. Django builds it anew each time.

    A save of one column of a person makes 187 calls, and 317 with Django's.
    """

    def _do_update(
        self,
        base_qs: models.QuerySet[Any],
        using: str | None,
        pk_val: Any,
        values: Collection[tuple[Any, Any, Any]],
        update_fields: Iterable[str] | None,
        forced_update: bool,
    ) -> bool:
        # Django has no public method for this part of `save`. A test fails if another version of Django does not call
        # this one as it is here.
        if not values or any(hasattr(value, "resolve_expression") for _, _, value in values):
            djangos: Any = super()
            return bool(djangos._do_update(base_qs, using, pk_val, values, update_fields, forced_update))
        row: Any = self  # `save` has set what fields such as `updated_at` compute
        return update_rows(base_qs.model, [row], [field.name for field, _, _ in values], {}) > 0


class QuickWritesQuerySet(models.QuerySet[M, M]):
    """For querysets: `bulk_create` of a few rows runs a statement whose text is kept, as QuickSave does. To create one
    person takes 652 calls, and 1,069 with Django's.

    `bulk_update` sends one UPDATE by id for each row, all in one exchange. Django writes one statement with a CASE for
    each column and a branch for each row, which databases take minutes to plan for many thousand rows. Two columns of
    50 people take 1,424 calls, and 55,727 with Django's; of one person 89 and 1,680.
    """

    def bulk_create(self, objs: Iterable[M], *args: Any, **kwargs: Any) -> list[M]:
        rows = list(objs)
        if not args and 0 < len(rows) <= MAX_ROWS and insert_instances(rows, _read_conflict(**kwargs)):
            return rows
        return super().bulk_create(rows, *args, **kwargs)

    def bulk_update(self, objs: Iterable[M], fields: Iterable[str], batch_size: int | None = None) -> int:
        """Write these columns of each row, and return the number of rows. The values are no expressions.

        Like Django's method it leaves `updated_at` alone, unless that is among the columns. `batch_size` is not needed.
        Of the queryset's conditions only its account is asked: the rows were read by the others before.
        """
        return update_rows(self.model, list(objs), list(fields), self._common_values())

    def _common_values(self) -> Mapping[str, Any]:
        """Values that all rows must have, or they are not written."""
        return {}


def _read_conflict(
    *,
    batch_size: int | None = None,
    ignore_conflicts: bool = False,
    update_conflicts: bool = False,
    unique_fields: Collection[str] = (),
    update_fields: Collection[str] = (),
) -> OnConflict | None:
    """The arguments of bulk_create."""
    if update_conflicts:
        return OnConflict(tuple(unique_fields), tuple(update_fields))
    return OnConflict() if ignore_conflicts else None


def update_rows(
    model: type[models.Model], rows: Sequence[models.Model], columns: Sequence[str], where: Mapping[str, Any]
) -> int:
    """UPDATE these columns of each row that has the values `where`, and return the number of rows.

    One UPDATE by id for each row: all or none are written. Columns are names of fields; no value of `where` is None.
    """
    if not rows or not columns:
        return 0
    database = connections[DEFAULT_DB_ALIAS]
    statement, fields = _update_statement(database.vendor, model, tuple(columns), ("id", *where))
    own, compared = fields[: len(columns) + 1], fields[len(columns) + 1 :]
    fixed = [field.get_db_prep_save(v, database) for field, v in zip(compared, where.values(), strict=True)]
    values = [
        [*(field.get_db_prep_save(getattr(row, field.attname), database) for field in own), *fixed] for row in rows
    ]
    if len(values) == 1:
        cursor = kept_cursor(database)
        cursor.execute(statement, values[0])
        return int(cursor.rowcount)
    with transaction.atomic(savepoint=False), database.cursor() as cursor:
        cursor.executemany(statement, values)
        return int(cursor.rowcount)


@functools.lru_cache(maxsize=256)
def _update_statement(
    vendor: str, model: type[models.Model], columns: tuple[str, ...], conditions: tuple[str, ...]
) -> "tuple[str, list[models.Field[Any, Any]]]":
    """The SQL, and the fields of its parameters."""
    quote = connections[DEFAULT_DB_ALIAS].ops.quote_name
    fields: list[Any] = [model._meta.get_field(name) for name in (*columns, *conditions)]
    terms = [f"{quote(field.column)} = %s" for field in fields]
    assignments, where = ", ".join(terms[: len(columns)]), " AND ".join(terms[len(columns) :])
    return f"UPDATE {quote(model._meta.db_table)} SET {assignments} WHERE {where}", fields  # noqa: S608 - names of our own


def kept_serializer(serializer_class: "type[Serializer[Any]]", *, partial: bool) -> "Serializer[Any]":
    """A serializer for request bodies, with its fields, kept for the next request of this thread.

    DRF copies and binds all fields for each new serializer, which takes longer than the validation itself. One for each
    thread, because a field reaches the request through the serializer that it is bound to. To validate the name of a
    person takes 452 calls, and 1,591 with a new serializer.
    """
    key = (serializer_class, partial)
    serializer = _serializers.by_class.get(key)
    if serializer is None:
        serializer = _serializers.by_class[key] = serializer_class(data=None, partial=partial)
    return serializer


class _Serializers(threading.local):
    def __init__(self) -> None:
        self.by_class: dict[tuple[type[Serializer[Any]], bool], Serializer[Any]] = {}


_serializers = _Serializers()
