"""Updates of rows that the change feed reports, with SQL that is written once."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from contacts_project.kernel.database.compiled_queries import CompiledUpdate, Parameter, update_where
from contacts_project.kernel.ownership.account_lock import FeedModel, revision_values


def update_row(row: FeedModel, **values: Any) -> None:
    """Set columns of one row, given by field name, and its revision; `row` itself gets the values too.

    For values of every type, None included. Unlike `save` it leaves `updated_at` alone, unless it is given. Raises
    NoOpenWriteError outside account_write(owner).
    """
    values |= revision_values(type(row), row.owner_id)
    for name, value in values.items():
        setattr(row, row._meta.get_field(name).attname, value)  # type: ignore[union-attr]  # a field with a column
    update_where(type(row), {"id": row.pk}, values)


class FeedUpdate:
    """An UPDATE of one account's rows, compiled once: it sets `columns`, and the revision of the open write.

    Without `columns` it does what FeedQuerySet.mark_changed does. `build` is that of a CompiledQuery and has the
    parameter `owner_id`.
    """

    def __init__(self, model: type[FeedModel], build: Callable[..., "QuerySet[Any, Any]"], *columns: str) -> None:
        self._model = model
        self._update = CompiledUpdate(build, *columns, "revision")

    def run(self, *, owner_id: UUID, **parameters: Parameter | Sequence[Parameter]) -> int:
        """Update the rows and return their number. Raises NoOpenWriteError outside account_write(owner)."""
        return self._update.run(owner_id=owner_id, **parameters, **revision_values(self._model, owner_id))
