"""The log of a share as one member sees it."""

import datetime as dt
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.json import JsonObject, format_timestamp
from sharing.models import CopyState, LogAction, LogEntry, SharedCopy, ShareMembership
from sharing.models.neutral import NeutralQuerySet
from sharing.projection import shared_name

LOG_RETENTION = dt.timedelta(days=90)


def entries_of(membership: ShareMembership, now: dt.datetime) -> NeutralQuerySet[LogEntry]:
    """What happened within the retention."""
    return LogEntry.objects.reached_by(membership).filter(created_at__gte=now - LOG_RETENTION)


def list_log(
    owner: User, membership: ShareMembership, *, before: UUID | None, limit: int, now: dt.datetime
) -> tuple[list[JsonObject], UUID | None]:
    """A page, the newest first, and the cursor of the next one (None on the last)."""
    rows = entries_of(membership, now)
    if before is not None:
        rows = rows.filter(pk__lt=before)
    found = list(rows.defer("before", "after").order_by("-pk")[: limit + 1])
    page = found[:limit]
    copies = SharedCopy.objects.owned_by(owner).filter(
        membership=membership,
        shared__in={row.person_id for row in page if row.person_id},
        state__in=[CopyState.LINKED, CopyState.OUT],
        person__deleted_at=None,
    )
    here = {copy.shared_id: copy for copy in copies}
    entries = []
    for row in page:
        copy = here.get(row.person_id)
        entries.append(
            {
                "id": str(row.pk),
                "at": format_timestamp(row.created_at),
                "by": row.by_name,
                "action": row.action,
                "personId": None if copy is None else str(copy.person_id),
                "personName": shared_name(owner, row.name_parts) if row.name_parts else None,
                "fields": row.fields,
                "undoable": (
                    row.action == LogAction.CHANGED
                    and copy is not None
                    and copy.state == CopyState.LINKED
                    and not set(membership.private).issuperset(row.fields)
                ),
            }
        )
    return entries, page[-1].pk if len(found) > limit else None
