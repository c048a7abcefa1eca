"""Ids that clients choose for new records, so that a record created offline has its final id at once.

Such an id must be unused in every table and by every account, and must not be that of a recently removed record: a
client that still has a copy of the old record would take the new one for it. A primary key guarantees this within one
table only, so all tables are searched. Two transactions that claim the same id for two tables cannot see each other's
rows. PostgreSQL serializes them by an advisory lock on the id until the end of the transaction; on SQLite there is only
one writer at a time. A table of claimed ids was refused: everything that removes a record would have to maintain it.
"""

from collections.abc import Collection
from functools import cache
from hashlib import blake2b
from uuid import UUID

from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import connection
from django.utils import timezone

from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.ownership.models import TOMBSTONE_RETENTION, OwnedModel, Tombstone
from contacts_project.kernel.texts import define_text


class IdTakenError(DomainError):
    """A record has this id, or had it until recently."""

    message = define_text(
        "id_taken", "This id is taken: make another one. Where you have made this record before, it is there."
    )


def claimed_id(data: JsonMapping) -> UUID:
    """Claim and return the `id` of a body, or return a new id. Must be called inside the write. Raises IdTakenError."""
    key: UUID | None = data.get("id")
    if key is not None:
        claim_ids([key])
    return key or new_id()


def claim_ids(ids: Collection[UUID]) -> None:
    """Check that the ids are unused, and reserve them until the caller's transaction ends. Raises IdTakenError."""
    if not ids:
        return
    if len(set(ids)) < len(ids):
        raise IdTakenError(field="id")
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # Sorted, because two transactions that take the same locks in different orders would deadlock.
            digests = (blake2b(key.bytes, digest_size=8, person=b"client id").digest() for key in ids)
            for number in sorted(int.from_bytes(digest, signed=True) for digest in digests):
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])
        placeholders = ", ".join(["%s"] * len(ids))
        branches = [f"SELECT 1 FROM {table} WHERE id IN ({placeholders})" for table in _tables()]  # noqa: S608 - names of our own
        stored = [key if connection.features.has_native_uuid_field else key.hex for key in ids]
        cursor.execute(" UNION ALL ".join(branches) + " LIMIT 1", stored * len(branches))
        is_taken = cursor.fetchone() is not None
    removed = Tombstone.unscoped.rows().filter(record_id__in=ids, removed_at__gte=timezone.now() - TOMBSTONE_RETENTION)
    if is_taken or removed.exists():
        raise IdTakenError(field="id")


@cache
def _tables() -> tuple[str, ...]:
    """The tables of all owned rows, that of the accounts, whose id the settings in a response have, and those that no
    account owns and whose ids clients choose (`HAS_CLIENT_IDS`)."""
    owned = (
        model._meta.db_table
        for model in apps.get_models()
        if issubclass(model, OwnedModel) or getattr(model, "HAS_CLIENT_IDS", False)
    )
    return (get_user_model()._meta.db_table, *owned)
