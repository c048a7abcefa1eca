"""Whether the service is fit to serve: asked by load balancers, container engines and operators."""

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
from notifications.models.heartbeat import last_beat

STARTED_AT = timezone.now()
# The due scan runs each minute; a scheduler that has been silent for this long is not working.
SCHEDULER_LAG_SECONDS = 300
# With less free the database may fail in the middle of anything.
LEAST_FREE_BYTES = 64 * 1024 * 1024
# A write lock that is held for longer than this holds up everybody who writes; who asks waits no longer either.
_LOCK_SECONDS = 2


@dataclass(frozen=True)
class Check:
    """One part: whether it is fit, and what the answer shows of it."""

    fit: bool
    shown: Any


def check_health(now: dt.datetime) -> tuple[bool, dict[str, Any]]:
    """Return whether all parts are fit, and the answer's `checks`. Without its database nothing is."""
    parts = {"database": check_database(), "migrations": _word(False), "broker": check_broker()}
    parts["disk"] = _word(free_bytes() >= LEAST_FREE_BYTES)
    parts["scheduler"] = Check(False, {"status": "failed", "lagSeconds": None})
    if parts["database"].fit:
        parts |= {"migrations": check_migrations(), "scheduler": check_scheduler(now)}
    parts["photos"] = check_photos()
    return all(part.fit for part in parts.values()), {name: part.shown for name, part in parts.items()}


def _word(fit: bool) -> Check:
    return Check(fit, "ok" if fit else "failed")


def check_database() -> Check:
    """Whether it answers and, since a transaction takes SQLite's write lock, can be written to."""
    try:
        with limit_lock_wait(_LOCK_SECONDS), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        return _word(False)
    return _word(True)


def check_photos() -> Check:
    """Whether the store of photos answers, where there is one. Without it all else works: it makes nothing unfit."""
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
        return _word(not executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except Error:
        return _word(False)


def check_broker() -> Check:
    try:
        with app.connection_for_write() as broker:
            broker.ensure_connection(max_retries=0, timeout=2)
    except Exception:  # noqa: BLE001 - kombu raises whatever its transport raises, all of it means unfit
        return _word(False)
    return _word(True)


def free_bytes() -> int:
    """What is free where the data folder lies."""
    return shutil.disk_usage(settings.DATA_DIR).free


def check_scheduler(now: dt.datetime) -> Check:
    """The time since the due scan last ran; null, and fit, while a new instance has not had its first."""
    last = last_beat("due_scan")
    since = (now - (last or STARTED_AT)).total_seconds()
    lag = None if last is None else max(0, round(since))
    fit = since < SCHEDULER_LAG_SECONDS
    return Check(fit, {"status": "ok" if fit else "failed", "lagSeconds": lag})
