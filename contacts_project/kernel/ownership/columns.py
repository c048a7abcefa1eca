"""Writing some columns of many rows, each row with values of its own."""

from collections.abc import Iterable, Sequence

from django.db import connections, models, router

from contacts_project.kernel.ownership.account_lock import NoOpenWriteError
from contacts_project.kernel.ownership.models import FeedModel


def update_columns(model: type[models.Model], rows: Iterable[models.Model], columns: Sequence[str]) -> None:
    """UPDATE each row's columns by its key, as one batch; `updated_at` stays. Inside the caller's transaction.

    bulk_update writes one CASE with a branch for each row and column, which databases take minutes to plan.
    """
    connection = connections[router.db_for_write(model)]
    if issubclass(model, FeedModel) and model.is_in_feed(columns):
        raise NoOpenWriteError(f"{model.__name__}: only QUIET_COLUMNS may be written past the feed.")
    known = {field.name: field for field in model._meta.concrete_fields}
    key = next(field for field in known.values() if field.primary_key)
    fields = [known[column] for column in columns]
    quote = connection.ops.quote_name
    assignments = ", ".join(f"{quote(field.column)} = %s" for field in fields)
    statement = f"UPDATE {quote(model._meta.db_table)} SET {assignments} WHERE {quote(key.column)} = %s"  # noqa: S608 - names of our own
    values = [
        [field.get_db_prep_save(getattr(row, field.attname), connection) for field in [*fields, key]] for row in rows
    ]
    if values:
        with connection.cursor() as cursor:
            cursor.executemany(statement, values)
