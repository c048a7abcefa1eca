"""The health check, for load balancers, container engines and operators."""

import datetime as dt
import shutil
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.files.storage import FileSystemStorage, default_storage
from django.db import Error, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from contacts_project.celery import app
from contacts_project.kernel.database.write_lock import limit_lock_wait
from contacts_project.kernel.storage import StorageUnavailableError
from notifications.models.heartbeat import last_heartbeat

# The time of import, which is close enough to the start of the process.
STARTED_AT = timezone.now()
# The due scan runs each minute. If none has completed for this long, the scheduler is not working.
SCHEDULER_LAG_SECONDS = 300
# With less free space, writes of the database may fail at any time.
MIN_FREE_BYTES = 64 * 1024 * 1024
# If the write lock cannot be had within this time, all writers are blocked, and the check need not wait longer.
_MAX_LOCK_SECONDS = 2


@dataclass(frozen=True)
class Check:
    """The result for one part: whether it is fit, and its value in the response."""

    is_fit: bool
    value: Any


def check_health(now: dt.datetime) -> tuple[bool, dict[str, Any]]:
    """Whether all parts are fit, and the `checks` of the response. Without the database, what needs it has failed."""
    parts = {"database": check_database(), "migrations": _simple_check(False), "broker": check_broker()}
    parts["disk"] = _simple_check(free_bytes() >= MIN_FREE_BYTES)
    parts["scheduler"] = Check(False, {"status": "failed", "lagSeconds": None})
    if parts["database"].is_fit:
        parts |= {"migrations": check_migrations(), "scheduler": check_scheduler(now)}
    parts["photos"] = check_photos()
    return all(part.is_fit for part in parts.values()), {name: part.value for name, part in parts.items()}


def _simple_check(is_fit: bool) -> Check:
    return Check(is_fit, "ok" if is_fit else "failed")


def check_database() -> Check:
    """Whether the database answers. On SQLite also whether it can be written to: a transaction takes the write lock."""
    try:
        with limit_lock_wait(_MAX_LOCK_SECONDS), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        return _simple_check(False)
    return _simple_check(True)


def check_photos() -> Check:
    """Whether the object store of photos answers, if one is configured. It is always fit: all else works without it."""
    store: Any = default_storage
    if isinstance(default_storage, FileSystemStorage):
        return Check(True, "ok")
    try:
        store.check()
    except StorageUnavailableError:
        return Check(True, "failed")
    return Check(True, "ok")


def check_migrations() -> Check:
    try:
        executor = MigrationExecutor(connection)
        return _simple_check(not executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except Error:
        return _simple_check(False)


def check_broker() -> Check:
    try:
        with app.connection_for_write() as broker:
            broker.ensure_connection(max_retries=0, timeout=2)
    except Exception:  # noqa: BLE001 - kombu lets the errors of its transport through; each means unfit
        return _simple_check(False)
    return _simple_check(True)


def free_bytes() -> int:
    """Free bytes on the disk of the data folder."""
    return shutil.disk_usage(settings.DATA_DIR).free


def check_scheduler(now: dt.datetime) -> Check:
    """The time since the due scan last completed. Null, and fit, on a new instance that has not had one yet."""
    last = last_heartbeat("due_scan")
    since = (now - (last or STARTED_AT)).total_seconds()
    lag = None if last is None else max(0, round(since))
    is_fit = since < SCHEDULER_LAG_SECONDS
    return Check(is_fit, {"status": "ok" if is_fit else "failed", "lagSeconds": lag})
