"""The health check, for load balancers, container engines and operators."""

import datetime as dt
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.files.storage import FileSystemStorage, default_storage
from django.db import Error, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from contacts_project.celery import app
from contacts_project.kernel.database.migrations import newer_migrations
from contacts_project.kernel.database.sqlite3 import limit_lock_wait, skip_if_locked
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.storage import StorageUnavailableError
from notifications.models.deliveries import last_heartbeat, record_heartbeat

# The time of import, which is close enough to the start of the process.
STARTED_AT = timezone.now()
# The due scan runs each minute. If one is missing, reminders are late: the instance is degraded. If none has completed
# for five minutes, scheduler or workers stand still.
SCHEDULER_LATE_SECONDS, SCHEDULER_FAILED_SECONDS = 90, 300
# With less free space, writes of the database may fail at any time.
MIN_FREE_BYTES = 64 * 1024 * 1024
# If the write lock cannot be had within this time, all writers are blocked, and the check need not wait longer.
_MAX_LOCK_SECONDS = 2
# For how long it is remembered that requests carried X-Forwarded-For, and how often a web process records it.
FORWARDED_SECONDS, _RECORD_FORWARDED_SECONDS = 24 * 3600, 3600
_FORWARDED = "forwarded_requests"


@dataclass(frozen=True)
class Check:
    """The result for one part: whether it is fit, its value in the response, and whether it works below its level."""

    is_fit: bool
    value: Any
    is_degraded: bool = False


class Health(StrEnum):
    """The `status` of the response. A degraded instance serves all requests, but something of it is late."""

    OK = "ok"
    DEGRADED = "degraded"
    UNFIT = "unfit"


def check_health(now: dt.datetime) -> tuple[Health, JsonObject]:
    """The status, and the `checks` of the response. Without the database, what needs it has failed."""
    parts = {"database": check_database(), "migrations": _simple_check(False), "broker": check_broker()}
    parts["disk"] = _simple_check(free_bytes() >= MIN_FREE_BYTES)
    parts["scheduler"] = Check(False, {"status": "failed", "lagSeconds": None})
    parts["proxy"] = Check(True, "ok")
    if parts["database"].is_fit:
        parts |= {"migrations": check_migrations(), "scheduler": check_scheduler(now)}
        if parts["migrations"].is_fit:
            parts["proxy"] = check_proxy(now)
    parts["photos"] = check_photos()
    status = Health.DEGRADED if any(part.is_degraded for part in parts.values()) else Health.OK
    if not all(part.is_fit for part in parts.values()):
        status = Health.UNFIT
    return status, {name: part.value for name, part in parts.items()}


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
    """Whether the tables are those of this version: `failed` if they are older, `newer` if a newer one has them."""
    try:
        executor = MigrationExecutor(connection)
        if newer_migrations(executor.recorder.applied_migrations()):
            return Check(False, "newer")
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


def base_url_is_loopback() -> bool:
    """Whether other machines cannot reach BASE_URL, as that of an instance without the setting."""
    return urlsplit(settings.BASE_URL).hostname in {"127.0.0.1", "localhost", "::1"}


def free_bytes() -> int:
    """Free bytes on the disk of the data folder."""
    return shutil.disk_usage(settings.DATA_DIR).free


def check_scheduler(now: dt.datetime) -> Check:
    """The time since the due scan last completed. Null on a new instance that has not had one since its start."""
    last = last_heartbeat("due_scan")
    since = (now - (last or STARTED_AT)).total_seconds()
    lag = None if last is None else max(0, round(since))
    is_fit, is_late = since < SCHEDULER_FAILED_SECONDS, since >= SCHEDULER_LATE_SECONDS
    status = ("late" if is_late else "ok") if is_fit else "failed"
    return Check(is_fit, {"status": status, "lagSeconds": lag}, is_degraded=is_late)


def check_proxy(now: dt.datetime) -> Check:
    """Whether requests come through a proxy that TRUSTED_PROXY_COUNT does not count. It is always fit: anybody can send
    the header, and requests are answered."""
    return Check(True, "uncounted" if requests_are_forwarded(now) else "ok")


def requests_are_forwarded(now: dt.datetime) -> bool:
    """Whether a request of the last day carried X-Forwarded-For while no proxy is trusted: all callers would then share
    the address of the proxy, and its rate limits."""
    if settings.TRUSTED_PROXY_COUNT:
        return False
    seen = last_heartbeat(_FORWARDED)
    return seen is not None and (now - seen).total_seconds() < FORWARDED_SECONDS


class ForwardedRequests:
    """Middleware that remembers for the instance that a request was forwarded; neither its address nor the header."""

    recorded_at: float | None = None

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if "HTTP_X_FORWARDED_FOR" in request.META and not settings.TRUSTED_PROXY_COUNT:
            self._record()
        return response

    def _record(self) -> None:
        now = time.monotonic()
        if self.recorded_at is not None and now - self.recorded_at < _RECORD_FORWARDED_SECONDS:
            return
        self.recorded_at = now
        # A database that cannot take it now gets it in an hour.
        with suppress(Error), skip_if_locked():
            record_heartbeat(_FORWARDED, timezone.now())
