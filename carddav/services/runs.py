"""Starts, joins, executes and ends sync runs."""

import datetime as dt
import logging
from uuid import UUID

from django.db import IntegrityError
from django.dispatch import Signal
from django.utils import timezone

from accounts.models import User
from carddav.client.address_books import code_of
from carddav.models import RUN_COUNTS, Connection, ImportMode, Mapping, PendingImport, Run, RunState, RunTrigger
from carddav.services.books import server_access, work_in_book
from carddav.services.connections import get_connection
from carddav.sync.context import DryRunContext, SyncContext, Tally
from carddav.sync.lock import LockLostError, locked
from carddav.sync.push_plan import next_retry_at
from carddav.sync.run import sync_book
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.metrics import Counter
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock, account_write
from contacts_project.kernel.ownership.larger_work import LargerWork
from contacts_project.kernel.texts import Text, define_text
from contacts_project.kernel.webdav.errors import DavError, OverdueError
from people.models.account_counts import StorageLimitError

_CONNECTING = define_text("progress_connecting", "Connecting to the server")

log = logging.getLogger(__name__)

RUNS = Counter("contacts_carddav_runs_total", "Runs that ended: ok, or the code of a failure.", ("outcome",))
#: A run found new pending imports, and importMode is notify. The composition root connects it.
#: Arguments: owner_id, run_id, count (int), now.
contacts_found = Signal()

#: A run follows after this time at the earliest because of cards that are held back and may be tried again.
_RETRY_AFTER = dt.timedelta(minutes=5)
INTERRUPTED = define_text(
    "run_interrupted", "The run was interrupted. What it did until then is kept; the next run goes on."
)


def start_run(*, owner: User, trigger: str, dry_run: bool = False, confirm: bool = False, now: dt.datetime) -> Run:
    """The run in progress, or a new queued one. A real run that is requested during a dry one is queued behind it.

    Raises MissingError if there is no connection.
    """
    connection = get_connection(owner)
    is_dry = dry_run or (connection.needs_confirmation and not confirm)
    if (running := _open_run(connection, now, is_dry=is_dry)) is not None:
        return running
    try:
        # The account's lock, so that its deletion cannot miss a run that is not committed yet. The constraint
        # carddav_run_at_a_time decides between concurrent requests.
        with account_lock(owner):
            if confirm and connection.needs_confirmation:
                Connection.objects.owned_by(owner).filter(pk=connection.pk).update(needs_confirmation=False)
            return Run.objects.create(
                owner=owner, connection=connection, trigger=trigger, dry_run=is_dry, confirmed=confirm, started_at=now
            )
    except AccountGoneError:
        raise MissingError from None
    except IntegrityError:  # a concurrent request has created the run
        other = _open_run(connection, now, is_dry=is_dry)
        if other is None:
            get_connection(owner)  # MissingError if the connection was removed meanwhile
            raise
        return other


def retry_held_back(*, owner: User, person_id: UUID, now: dt.datetime) -> Run:
    """Let the next run send the person's card, also with the content that was refused; returns that run.

    A run in progress may have passed the card already: then one follows it. Raises MissingError.
    """
    with account_write(owner):
        if not Mapping.objects.owned_by(owner).held_back().filter(person=person_id).try_again(now):
            raise MissingError
        Connection.objects.owned_by(owner).filter(sync_enabled=True).update(next_sync_at=now)
    return start_run(owner=owner, trigger=RunTrigger.MANUAL, now=now)


def start_due_run(*, owner: User, trigger: str, now: dt.datetime) -> Run | None:
    """The run in progress, or a new one if the connection is still due; None if it is not, or was removed.

    Two jobs that found the same connection due do not sync it twice, even if the first ends before the second begins.
    """
    try:
        with account_lock(owner):
            # A run sets next_sync_at before it ends. It has to wait for this row lock, so that no run can end between
            # this check and the insert, which refuses a second run beside one that has not ended.
            due = Connection.objects.owned_by(owner).due(now).select_for_update(no_key=True, of=("self",))
            return start_run(owner=owner, trigger=trigger, now=now) if due.first() else None
    except AccountGoneError:
        return None


def _open_run(connection: Connection, now: dt.datetime, *, is_dry: bool) -> Run | None:
    """The run in progress that serves the request: a real one, or for a dry one either kind. Runs whose process was
    killed are ended here."""
    rows = Run.objects.owned_by(connection.owner_id).filter(connection=connection.pk).exclude(state=RunState.ENDED)
    serving = (run for run in rows.order_by("-dry_run") if is_dry or not run.dry_run)
    return next((run for run in serving if not end_interrupted(run, now)), None)


def end_interrupted(run: Run, now: dt.datetime) -> bool:
    """End a run whose process was killed; returns whether it was one."""
    rows = Connection.objects.owned_by(run.owner_id).filter(pk=run.connection_id)
    if run.state != RunState.RUNNING or not rows.free(now).exists():
        return False
    # Its process may have ended it between the two reads.
    run.refresh_from_db()
    if run.state == RunState.RUNNING:
        end_run(run, Tally(), code="interrupted", error=INTERRUPTED)
    return True


def execute_run(run_id: UUID) -> Run:
    """Execute a queued run; one that has ended stays as it is.

    Raises LockedError while another job works with the server, MissingError if the connection was removed.
    """
    run: Run | None = Run.unscoped.rows().select_related("owner", "connection").filter(pk=run_id).first()
    if run is None:
        raise MissingError
    if run.state == RunState.ENDED:
        return run
    with locked(run.connection) as lock:
        rows = Run.objects.owned_by(run.owner_id).filter(pk=run.pk).exclude(state=RunState.ENDED)
        # Another process may have ended it since it was read.
        if not rows.update(state=RunState.RUNNING, phase="connecting"):
            return run
        connection = get_connection(run.owner)
        # Another run may have been undone since this one was queued: the user has not seen yet what it would send.
        run.dry_run = run.dry_run or (connection.needs_confirmation and not run.confirmed)
        kind = DryRunContext if run.dry_run else SyncContext
        context = kind(run.owner, connection, lock, run=run, work=LargerWork(run.owner_id, "sync"))
        try:
            code, error = _perform(context)
        finally:
            if context.work:
                context.work.end()
        end_run(run, context.tally, code=code, error=error)
    return run


def _perform(context: SyncContext) -> tuple[str, Text | None]:
    connection, now = context.connection, timezone.now()
    next_at = connection.next_sync_at
    rows = Connection.objects.owned_by(context.owner).filter(pk=connection.pk)
    try:
        with server_access(context.connection, is_run=context.run is not None):
            context.report_progress("connecting", _CONNECTING)
            work_in_book(context, sync_book)
    except DavError as error:
        if isinstance(error, OverdueError) and context.tally.has_changes and not isinstance(context, DryRunContext):
            rows.update(next_sync_at=now)  # the book is large: the next run goes on where this one had to stop
        return code_of(error), error.text
    except (LockLostError, AccountGoneError):
        return "interrupted", INTERRUPTED
    except StorageLimitError as error:
        rows.update(next_sync_at=now + dt.timedelta(seconds=connection.auto_sync_interval))
        return "storage_limit", error.message
    except Exception:
        log.exception("a sync failed", extra={"run": str(context.run and context.run.pk)})
        rows.update(next_sync_at=now + dt.timedelta(seconds=connection.auto_sync_interval))
        return "interrupted", INTERRUPTED
    if not isinstance(context, DryRunContext):
        _record_success(context, next_at)
        _announce_discovered(context)
    return "", None


def _record_success(context: SyncContext, next_at: dt.datetime) -> None:
    """Clear the last error and schedule the next run."""
    rows = Connection.objects.owned_by(context.owner).filter(pk=context.connection.pk)
    now = timezone.now()
    rows.update(
        last_sync_at=now, last_error="", last_error_code="", last_error_status=None, last_error_at=None, not_before=None
    )
    due = now + dt.timedelta(seconds=context.connection.auto_sync_interval)
    if (retry_at := next_retry_at(context.connection)) is not None:
        due = min(due, max(retry_at, now + _RETRY_AFTER))
    # An edit during the run has set next_sync_at, which then stays.
    rows.filter(next_sync_at=next_at).update(next_sync_at=due)


def _announce_discovered(context: SyncContext) -> None:
    """Notify the user once a run."""
    if context.run is not None and context.tally.discovered and context.connection.import_mode == ImportMode.NOTIFY:
        contacts_found.send(
            sender=Run,
            owner_id=context.owner.pk,
            run_id=context.run.pk,
            count=context.tally.discovered,
            now=timezone.now(),
        )


def end_run(run: Run, tally: Tally, *, code: str = "", error: Text | None = None) -> None:
    """Store the result: the last write of a run. The row may be gone with its connection."""
    run.imported, run.exported = tally.imported, tally.exported
    run.updated_locally, run.updated_remotely = tally.updated_locally, tally.updated_remotely
    run.conflicts, run.errors = tally.conflicts, tally.errors
    run.error_messages = [message.to_stored() for message in tally.shown_messages]
    run.pending_imports = PendingImport.objects.owned_by(run.owner_id).count()
    if run.dry_run:
        run.pending_imports += tally.discovered - tally.pending_gone
    run.code, run.error = code, error or ""
    run.state, run.ended_at = RunState.ENDED, timezone.now()
    columns = (*RUN_COUNTS, "error_messages", "code", "error", "state", "ended_at", "dry_run")
    if Run.objects.owned_by(run.owner_id).filter(pk=run.pk).update(**{name: getattr(run, name) for name in columns}):
        RUNS.count(code or "ok")
