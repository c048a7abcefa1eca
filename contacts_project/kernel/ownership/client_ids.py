"""Ids that clients make for their new records, so that what was made without the network is known by its id at once.

Such an id is to be nobody's, of no kind, and none that was removed lately: whoever keeps a copy would take the new
record for the old one. Keys of tables say so of one table each, so all are asked. Two accounts that claim one id in two
tables at once see nothing of each other yet: on PostgreSQL they stand in line by an advisory lock of the id, until the
transaction ends; on SQLite all writers do. A table of claimed ids would do that, too, and would have to be kept true by
everything that removes a record.
"""

from collections.abc import Collection, Mapping
from functools import cache
from hashlib import blake2b
from typing import Any
from uuid import UUID

from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import connection
from django.utils import timezone

from contacts_project.kernel.api.ids import new_id
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ownership.models import OwnedModel
from contacts_project.kernel.ownership.tombstones import TOMBSTONE_RETENTION, Tombstone


class IdTakenError(DomainError):
    """Some record has this id, or had it until lately."""

    message = "This id is taken: make another one. Where you have made this record before, it is there."


def claimed_id(data: Mapping[str, Any]) -> UUID:
    """The `id` of a body, claimed for its new record, else a new one; inside the write. Raises IdTakenError."""
    key: UUID | None = data.get("id")
    if key is not None:
        claim_ids([key])
    return key or new_id()


def claim_ids(ids: Collection[UUID]) -> None:
    """Make sure, until the caller's write is over, that nothing else has these ids. Raises IdTakenError."""
    if not ids:
        return
    if len(set(ids)) < len(ids):
        raise IdTakenError(field="id")
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            for number in sorted(_lock_number(key) for key in ids):  # in one order, so that no two wait for each other
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])
        places = ", ".join(["%s"] * len(ids))
        branches = [f"SELECT 1 FROM {table} WHERE id IN ({places})" for table in _tables()]  # noqa: S608 - names of our own
        stored = [key if connection.features.has_native_uuid_field else key.hex for key in ids]
        cursor.execute(" UNION ALL ".join(branches) + " LIMIT 1", stored * len(branches))
        is_taken = cursor.fetchone() is not None
    removed = Tombstone.unscoped.rows().filter(record_id__in=ids, removed_at__gte=timezone.now() - TOMBSTONE_RETENTION)
    if is_taken or removed.exists():
        raise IdTakenError(field="id")


@cache
def _tables() -> tuple[str, ...]:
    """All that hold what somebody owns, and the accounts, whose id is that of their settings."""
    owned = (model._meta.db_table for model in apps.get_models() if issubclass(model, OwnedModel))
    return (get_user_model()._meta.db_table, *owned)


def _lock_number(key: UUID) -> int:
    return int.from_bytes(blake2b(key.bytes, digest_size=8, person=b"client id").digest(), signed=True)
