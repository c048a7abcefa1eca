"""What larger works have written (kernel.ownership.larger_work): their revisions, so that they are judged as one."""

import datetime as dt
from uuid import UUID

from django.db.models import Exists, Min, OuterRef
from django.utils import timezone

from contacts_project.kernel.ownership.account_lock import AccountGoneError, AccountWrite, account_lock
from contacts_project.kernel.ownership.larger_work import LargerWork, current_work
from contacts_project.kernel.processes import is_gone, this_process
from sharing.models import Hold, ShareMembership, WriteOrigin
from sharing.signals import announce_account

_WAIT = dt.timedelta(minutes=15)
"""A work that has not ended by then counts as killed, wherever its process runs."""
_KEPT = dt.timedelta(days=7)


def note_origin(write: AccountWrite) -> bool:
    """Note to which larger work the write belongs; returns whether there is one. Called at the beginning of the
    write."""
    work = current_work()
    if work is None or work.owner_id != write.owner_id:
        return False
    work.is_noted = True
    WriteOrigin.objects.create(
        owner_id=write.owner_id,
        origin=work.key,
        write_revision=write.revision,
        is_open=True,
        holder=this_process(),
    )
    return True


def end_origin(work: LargerWork) -> None:
    """The work has ended: what it has written may be carried now."""
    try:
        with account_lock(work.owner_id):
            WriteOrigin.objects.owned_by(work.owner_id).filter(origin=work.key).update(is_open=False)
            ShareMembership.objects.owned_by(work.owner_id).active().update(due_at=timezone.now())
            announce_account(work.owner_id)
    except AccountGoneError:
        pass


def open_revision(owner_id: UUID, now: dt.datetime) -> int | None:
    """The first revision that a work which goes on has written; None if none goes on."""
    rows = WriteOrigin.objects.owned_by(owner_id).filter(is_open=True, created_at__gt=now - _WAIT)
    firsts = rows.order_by().values_list("holder").annotate(first=Min("write_revision"))
    return min((first for holder, first in firsts if not is_gone(holder)), default=None)


def purge_origins(*, now: dt.datetime) -> int:
    """Delete what nobody asks for any more: old rows of accounts of which nothing is held."""
    held = Hold.unscoped.rows().filter(member__membership__owner=OuterRef("owner"), done_at=None)
    rows = WriteOrigin.unscoped.rows().filter(~Exists(held), created_at__lt=now - _KEPT)
    return int(rows.delete()[0])
