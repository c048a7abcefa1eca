"""The tasks that a device has put and must read again: see UnreadTask."""

import hashlib
import time
from uuid import UUID

from dav.authentication import Credentials
from dav.models import UnreadTask


def note_unread(device: Credentials, person_id: UUID) -> None:
    """The device has put this task. Must be called inside its write."""
    row = UnreadTask(owner=device.owner, token=device.token, person_id=person_id)
    UnreadTask.objects.bulk_create([row], ignore_conflicts=True)


def forget_unread(device: Credentials, person_id: UUID) -> None:
    """The device reads this task now."""
    if device.has_unread_tasks:
        UnreadTask.objects.owned_by(device.owner).filter(token=device.token, person=person_id).delete()


def unread_of(device: Credentials) -> frozenset[UUID]:
    """The people whose tasks the device must read again. One statement, none for a device without such tasks."""
    rows = UnreadTask.objects.owned_by(device.owner).filter(token=device.token)
    return frozenset(rows.values_list("person_id", flat=True)) if device.has_unread_tasks else frozenset()


def etag_of_unread(etag: str) -> str:
    """An ETag that no text has."""
    return hashlib.sha256(f"unread {etag}".encode()).hexdigest()[:32]


def ctag_of_unread(ctag: str) -> str:
    """Another one at each request."""
    return f"{ctag}#{time.time_ns()}"
