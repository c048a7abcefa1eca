"""Runs: asked for, joined, carried out, and what remains of them."""

import datetime as dt
import logging
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Count
from django.utils import timezone

from accounts.models import User
from carddav.client import DavError
from carddav.models import RUN_COUNTS, Connection, ImportMode, PendingImport, Run, RunState
from carddav.services.books import server_access, work_in_book
from carddav.services.connection_lock import connection_of
from carddav.signals import contacts_found
from carddav.sync.context import Context, Tally
from carddav.sync.lock import LockLostError, locked
from carddav.sync.run import sync_book
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.metrics import Counter
from contacts_project.kernel.ownership.account_lock import AccountGoneError

log = logging.getLogger(__name__)

_RESULT = (*RUN_COUNTS, "error_messages")
RUNS = Counter("contacts_carddav_runs_total", "Runs that ended: ok, or the code of a failure.", ("outcome",))
_OPEN_RUNS = CompiledQuery(
    lambda owner_id, connection_id: (
        Run.objects.owned_by(owner_id)
        .filter(connection=connection_id)
        .exclude(state=RunState.ENDED)
        .order_by("-dry_run")
    )
)
_RUN = CompiledQuery(lambda run_id: Run.unscoped.rows().select_related("owner", "connection").filter(pk=run_id))
_PENDING = CompiledQuery(
    lambda owner_id: PendingImport.objects.owned_by(owner_id).order_by().values("owner").values_list(Count("pk"))
)
INTERRUPTED = "The run was interrupted. What it did until then is kept; the next run goes on."


def start_run(*, owner: User, trigger: str, dry_run: bool = False, confirm: bool = False, now: dt.datetime) -> Run:
    """The run that is under way, or a new one, queued; after a dry one that is under way where it is to be a real one.

    Raises MissingError without a connection.
    """
    connection = connection_of(owner)
    is_dry = dry_run or (connection.needs_confirmation and not confirm)
    if (running := _open_run(connection, now, is_dry=is_dry)) is not None:
        return running
    try:
        with transaction.atomic():
            if confirm and connection.needs_confirmation:
                Connection.objects.owned_by(owner).filter(pk=connection.pk).update(needs_confirmation=False)
            return Run.objects.create(
                owner=owner, connection=connection, trigger=trigger, dry_run=is_dry, confirmed=confirm, started_at=now
            )
    except IntegrityError:  # somebody else was faster
        found = _open_run(connection, now, is_dry=is_dry)
        if found is None:
            connection_of(owner)  # it may be gone meanwhile
            raise
        return found


def _open_run(connection: Connection, now: dt.datetime, *, is_dry: bool) -> Run | None:
    """The run that is not ended and serves who asks: a real one, or, for a dry one, either. Those whose process was
    killed are ended here."""
    rows: list[Run] = _OPEN_RUNS.instances(owner_id=connection.owner_id, connection_id=connection.pk)
    serving = (run for run in rows if is_dry or not run.dry_run)
    return next((run for run in serving if not end_interrupted(run, now)), None)


def end_interrupted(run: Run, now: dt.datetime) -> bool:
    """End a run that nobody carries out any more, since its process was killed; whether it was one."""
    rows = Connection.objects.owned_by(run.owner_id).filter(pk=run.connection_id)
    if run.state != RunState.RUNNING or not rows.free(now).exists():
        return False
    run.refresh_from_db()
    if run.state == RunState.RUNNING:
        end_run(run, Tally(), code="interrupted", error=INTERRUPTED)
    return True


def execute_run(run_id: UUID) -> Run:
    """Carry out a queued run; one that is ended stays so.

    Raises LockedError while something else has the server, MissingError where the connection was removed.
    """
    run: Run = _RUN.find(run_id=run_id)
    if run.state == RunState.ENDED:
        return run
    with locked(run.connection) as lock:
        rows = Run.objects.owned_by(run.owner_id).filter(pk=run.pk).exclude(state=RunState.ENDED)
        if not rows.update(state=RunState.RUNNING, phase="connecting"):
            return run
        connection = connection_of(run.owner)
        # Another run may have been undone while this one was asked for: nobody has seen yet what it would send.
        run.dry_run = run.dry_run or (connection.needs_confirmation and not run.confirmed)
        context = Context(run.owner, connection, lock, run=run, dry_run=run.dry_run)
        code, error = _carry_out(context)
        end_run(run, context.tally, code=code, error=error)
    return run


def _carry_out(context: Context) -> tuple[str, str]:
    connection, now = context.connection, timezone.now()
    next_at = connection.next_sync_at
    rows = Connection.objects.owned_by(context.owner).filter(pk=connection.pk)
    try:
        with server_access(context.connection, is_run=context.run is not None):
            context.report_progress("connecting", "Connecting to the server")
            work_in_book(context, sync_book)
    except DavError as error:
        return error.code, str(error)
    except (LockLostError, AccountGoneError):
        return "interrupted", INTERRUPTED
    except Exception:
        log.exception("a sync failed", extra={"run": str(context.run and context.run.pk)})
        rows.update(next_sync_at=now + dt.timedelta(seconds=connection.auto_sync_interval))
        return "interrupted", INTERRUPTED
    if not context.dry_run:
        _note_success(context, next_at)
        _announce_found(context)
    return "", ""


def _note_success(context: Context, next_at: dt.datetime) -> None:
    """An edit during the run has set next_sync_at: that stays."""
    rows = Connection.objects.owned_by(context.owner).filter(pk=context.connection.pk)
    now = timezone.now()
    rows.update(
        last_sync_at=now, last_error="", last_error_code="", last_error_status=None, last_error_at=None, not_before=None
    )
    interval = dt.timedelta(seconds=context.connection.auto_sync_interval)
    rows.filter(next_sync_at=next_at).update(next_sync_at=now + interval)


def _announce_found(context: Context) -> None:
    """Once a run."""
    if context.run is not None and context.tally.discovered and context.connection.import_mode == ImportMode.NOTIFY:
        contacts_found.send(
            sender=Run,
            owner_id=context.owner.pk,
            run_id=context.run.pk,
            count=context.tally.discovered,
            now=timezone.now(),
        )


def end_run(run: Run, tally: Tally, *, code: str = "", error: str = "") -> None:
    """Write what came of it; the last write of a run. One whose connection was removed stays away."""
    run.imported, run.exported = tally.imported, tally.exported
    run.updated_locally, run.updated_remotely = tally.updated_locally, tally.updated_remotely
    run.conflicts, run.errors, run.error_messages = tally.conflicts, tally.errors, tally.shown_messages
    run.pending_imports = sum(number for (number,) in _PENDING.rows(owner_id=run.owner_id))
    if run.dry_run:
        run.pending_imports += tally.discovered
    run.code, run.error = code, error[:1000]
    run.state, run.ended_at = RunState.ENDED, timezone.now()
    columns = (*_RESULT, "code", "error", "state", "ended_at", "dry_run")
    if Run.objects.owned_by(run.owner_id).filter(pk=run.pk).update(**{name: getattr(run, name) for name in columns}):
        RUNS.count(code or "ok")
