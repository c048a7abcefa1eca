"""Compiled updates of rows that the change feed reports."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from contacts_project.kernel.database.compiled_queries import CompiledUpdate, Parameter
from contacts_project.kernel.ownership.account_lock import FeedModel, revision_values


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
