"""What ends with time: invitations, log entries, people whom nobody has any more, and shares that have ended."""

import datetime as dt

from django.db.models import Exists, OuterRef, Q

from contacts_project.kernel.ownership.models import TOMBSTONE_RETENTION, retention_cutoff
from sharing.carry.origins import purge_origins
from sharing.carry.pictures import purge_pictures
from sharing.models import Hold, Invitation, InvitationState, LogEntry, Share, SharedCopy, SharedPerson
from sharing.services.log import LOG_RETENTION


def purge_shares(*, now: dt.datetime) -> dict[str, int]:
    """Returns the number of rows and files by kind."""
    due = Invitation.unscoped.rows().filter(state=InvitationState.SENT, expires_at__lte=now)
    old = now - LOG_RETENTION
    return {
        "invitations ended": due.update(state=InvitationState.EXPIRED, token="", mail_at=None),
        "invitations": _delete(Invitation, Q(expires_at__lt=old)),
        "log entries": _delete(LogEntry, Q(created_at__lt=old)),
        "holds": _delete(Hold, Q(done_at__lt=old)),
        "shared people": _delete_gone_people(now),
        # As long as clients may ask for what has been removed.
        "shares": _delete(Share, Q(ended_at__lt=now - TOMBSTONE_RETENTION)),
        "origins of writes": purge_origins(now=now),
        "pictures of shares": purge_pictures(now=now),
    }


def _delete(model: type[Invitation | LogEntry | Hold | Share], condition: Q) -> int:
    count: int = model.unscoped.rows().filter(condition).delete()[1].get(model._meta.label, 0)
    return count


def _delete_gone_people(now: dt.datetime) -> int:
    """Those whom nobody can bring back: who took them out had them in the trash until now, or nobody knows of them."""
    known = SharedCopy.unscoped.rows().filter(shared=OuterRef("pk"))
    forgotten = Q(out_at__lt=retention_cutoff(now)) | ~Exists(known)
    rows = SharedPerson.unscoped.rows().filter(forgotten, is_gone=True)
    count: int = rows.delete()[1].get(SharedPerson._meta.label, 0)
    return count
