"""What operators see of address books: which ones fail, and why. No card, name or server path."""

import datetime as dt
from urllib.parse import urlsplit

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from carddav.models import Conflict, ConflictKind, Connection, Mapping, MappingStatus, Pause, Run, RunState, RunTrigger
from contacts_project.kernel.admin import OperatorAdmin, WordFilter


class PauseFilter(WordFilter[Connection]):
    title, parameter_name = "state", "state"
    words = (
        (Pause.AUTH.value, "paused: the server refuses the password"),
        (Pause.DELETIONS_HELD.value, "paused: deletions are held"),
        ("failing", "the last run failed"),
        ("off", "automatic sync is off"),
    )

    def narrow(self, rows: QuerySet[Connection], value: str) -> QuerySet[Connection]:
        if value == "failing":
            return rows.exclude(last_error_code="")
        if value == "off":
            return rows.filter(sync_enabled=False)
        # As in the partial index, so that the planner can use it.
        return rows.exclude(pause="").filter(pause=value)


@admin.register(Connection)
class ConnectionAdmin(OperatorAdmin):
    """Of the server only the host; neither user name nor password."""

    list_display = (
        *("id", "account", "host", "provider", "sync_enabled", "pause", "last_error_code", "last_error_status"),
        *("last_sync_at", "next_sync_at"),
    )
    list_filter = (PauseFilter,)
    ordering = ("-id",)
    fields = readonly_fields = (
        *list_display,
        *("last_error_at", "not_before", "needs_confirmation", "import_mode", "auto_sync_interval", "auto_export_new"),
        *("last_reconcile_at", "held_until", "created_at"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Connection]:
        return super().get_queryset(request).defer("password", "username", "sync_token", "ctag", "last_error")

    @admin.display(description="host")
    def host(self, connection: Connection) -> str:
        try:
            return urlsplit(connection.server_url).hostname or "–"
        except ValueError:
            return "–"


class RunStateFilter(WordFilter[Run]):
    title, parameter_name = "state", "state"
    words = tuple(RunState.choices)

    def narrow(self, rows: QuerySet[Run], value: str) -> QuerySet[Run]:
        return (
            rows.exclude(state=RunState.ENDED).filter(state=value)
            if value != RunState.ENDED
            else rows.filter(ended_at__isnull=False)
        )


class OutcomeFilter(WordFilter[Run]):
    title, parameter_name = "outcome", "outcome"
    words = (("ok", "went through"), ("failed", "failed"))

    def narrow(self, rows: QuerySet[Run], value: str) -> QuerySet[Run]:
        return rows.filter(code="") if value == "ok" else rows.exclude(code="")


class TriggerFilter(WordFilter[Run]):
    title, parameter_name = "trigger", "trigger"
    words = tuple(RunTrigger.choices)

    def narrow(self, rows: QuerySet[Run], value: str) -> QuerySet[Run]:
        if value == RunTrigger.AUTOMATIC:
            return rows.filter(trigger=value)
        # The redundant condition is that of the partial index, so that the planner can use it.
        return rows.exclude(trigger=RunTrigger.AUTOMATIC).filter(trigger=value)


class RunAgeFilter(WordFilter[Run]):
    title, parameter_name = "age", "age"
    words = (("hour", "the last hour"), ("day", "the last day"), ("week", "the last week"))

    def narrow(self, rows: QuerySet[Run], value: str) -> QuerySet[Run]:
        hours = {"hour": 1, "day": 24, "week": 7 * 24}[value]
        return rows.filter(started_at__gte=timezone.now() - dt.timedelta(hours=hours))


@admin.register(Run)
class RunAdmin(OperatorAdmin):
    """Counts and codes of runs. The messages name cards and are for the owner only."""

    list_display = (
        *("started_at", "account", "trigger", "state", "duration", "code", "imported", "exported"),
        *("updated_locally", "updated_remotely", "conflicts", "errors"),
    )
    list_filter = (RunStateFilter, OutcomeFilter, TriggerFilter, RunAgeFilter)
    ordering = ("-started_at",)
    fields = readonly_fields = (
        "id",
        *list_display,
        *("ended_at", "pending_imports", "dry_run", "confirmed", "phase", "current", "total", "undone_at"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        return super().get_queryset(request).defer("error_messages", "error", "message")

    @admin.display(description="took")
    def duration(self, run: Run) -> str:
        if run.ended_at is None:
            return "–"
        return f"{(run.ended_at - run.started_at).total_seconds():.1f} s"


class ConflictStateFilter(WordFilter[Conflict]):
    title, parameter_name = "state", "state"
    words = (("open", "open"), ("decided", "decided"))

    def narrow(self, rows: QuerySet[Conflict], value: str) -> QuerySet[Conflict]:
        return rows.filter(resolved_at__isnull=value == "open")


class ConflictKindFilter(WordFilter[Conflict]):
    title, parameter_name = "kind", "kind"
    words = tuple(ConflictKind.choices)
    column = "kind"


@admin.register(Conflict)
class ConflictAdmin(OperatorAdmin):
    """The fields in conflict, without their values."""

    list_display = ("id", "account", "kind", "field_names", "created_at", "resolution", "resolved_at")
    list_filter = (ConflictStateFilter, ConflictKindFilter)
    ordering = ("-id",)
    fields = readonly_fields = (*list_display, "updated_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conflict]:
        return super().get_queryset(request).defer("remote_raw", "values")

    @admin.display(description="fields")
    def field_names(self, conflict: Conflict) -> str:
        return ", ".join(sorted(str(entry.get("field", "")) for entry in conflict.fields)) or "–"


@admin.register(Mapping)
class HeldDeletionAdmin(OperatorAdmin):
    """Cards whose deletion the guard holds until their owner decides."""

    list_display = ("id", "account", "updated_at")
    ordering = ("-updated_at",)
    fields = readonly_fields = list_display

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        return super().changelist_view(request, {"title": "Deletions that are held", **(extra_context or {})})

    def get_queryset(self, request: HttpRequest) -> QuerySet[Mapping]:
        rows = super().get_queryset(request).filter(status=MappingStatus.HELD)
        return rows.only("id", "updated_at", "owner__id", "owner__email")
