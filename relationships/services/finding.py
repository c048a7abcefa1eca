"""Look-ups by an id from a path, inside the turn of the write that needs the row."""

from typing import TypeVar
from uuid import UUID

from django.db.models import Model
from rest_framework.exceptions import NotFound

from contacts_project.kernel.ownership.models import OwnedQuerySet

M = TypeVar("M", bound=Model)


def find(rows: OwnedQuerySet[M], key: str | UUID) -> M:
    """The row of `rows` with the id `key`; 404 when there is none or `key` is no id."""
    row = rows.with_id(key).first()
    if row is None:
        raise NotFound
    return row
