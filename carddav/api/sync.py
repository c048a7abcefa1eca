"""Routes of sync runs: start one and stream its progress, list and undo them, discover new cards."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from typing import Any
from uuid import UUID

from django.utils import timezone
from django.utils.translation import override
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import NotAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import excluded_from_batches, ignores_idempotency_key, in_own_transactions
from accounts.api.viewsets import OpenViewSet, OwnedViewSet
from carddav.models import Run, RunState, RunTrigger
from carddav.services.connections import ConnectionBusyError
from carddav.services.pending_imports import discover_contacts
from carddav.services.runs import start_run
from carddav.services.schedule import is_cron_secret, sync_due
from carddav.services.undo import RunAlreadyUndoneError, undo_run
from carddav.sync.context import JobReport
from carddav.tasks import enqueue_run
from contacts_project.kernel.api.asgi_responses import EventStream, event, in_thread
from contacts_project.kernel.api.queries import read_flag
from contacts_project.kernel.api.schema import RemarkSerializer, envelope, raises
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.json import JsonObject, format_timestamp
from contacts_project.kernel.texts import Text, define_text, describe_remarks

_REMOVED = define_text("connection_removed", "The connection was removed.")
_WAITING = define_text("progress_waiting", "Waiting for the worker")

#: How often a stream reads the row of its run.
_POLL_SECONDS = 0.5
_MAX_RUNS = 100
_EVENTS = (
    "Server-Sent Events, the data of each as JSON. `progress`, any number: `{ phase, message, current, total }`, with "
    "phase connecting, recovering, listing, fetching, applying, pushing, verifying or finishing. Then one `complete`: "
    "`{ imported, exported, updatedLocally, updatedRemotely, conflicts, errors, errorMessages, pendingImports }`, or "
    "one `error`: `{ error, code }`, with code auth, not_carddav, timeout, tls, policy, dns, refused, book_gone, busy, "
    "interrupted or unavailable (ask again: the run goes on). A comment every 15 seconds. Who stops reading stops "
    "nothing."
)
_KEPT = inline_serializer(
    "KeptPerson",
    {
        "personId": serializers.UUIDField(),
        "personName": serializers.CharField(),
        "reason": serializers.CharField(),
        "code": serializers.CharField(),
    },
    many=True,
)


class SyncCountsSerializer(serializers.Serializer[Any]):
    """The eight fields of `complete`, and where something failed the codes of the messages."""

    optional: tuple[str, ...] = ("remarks",)

    imported = serializers.IntegerField()
    exported = serializers.IntegerField()
    updatedLocally = serializers.IntegerField()
    updatedRemotely = serializers.IntegerField()
    conflicts = serializers.IntegerField()
    errors = serializers.IntegerField()  # type: ignore[assignment]  # hides Serializer.errors, which responses do not need
    errorMessages = serializers.ListField(child=serializers.CharField())
    remarks = RemarkSerializer(many=True, help_text="The error messages, in the same order, with their codes.")
    pendingImports = serializers.IntegerField()


class RunSerializer(SyncCountsSerializer):
    """A run: its counts, and how it ended."""

    optional = ("remarks", "params")

    id = serializers.UUIDField()
    startedAt = serializers.DateTimeField()
    endedAt = serializers.DateTimeField(allow_null=True)
    trigger = serializers.ChoiceField(list(RunTrigger.values))
    dryRun = serializers.BooleanField()
    undone = serializers.BooleanField()
    code = serializers.CharField(allow_null=True)
    error = serializers.CharField(allow_null=True)
    params = serializers.DictField(help_text="The values in the error.")


def _describe_messages(messages: Iterable[Text]) -> JsonObject:
    remarks = [message.describe() for message in messages]
    described = {"errorMessages": [remark["text"] for remark in remarks]}
    return described | {"remarks": remarks} if remarks else described


def counts_of(run: Run) -> JsonObject:
    """The counts of a `complete` event."""
    return {
        "imported": run.imported,
        "exported": run.exported,
        "updatedLocally": run.updated_locally,
        "updatedRemotely": run.updated_remotely,
        "conflicts": run.conflicts,
        "errors": run.errors,
        **_describe_messages(run.messages),
        "pendingImports": run.pending_imports,
    }


def serialize_run(run: Run) -> JsonObject:
    """A run as in GET /api/carddav/runs."""
    return {
        "id": str(run.pk),
        "startedAt": format_timestamp(run.started_at),
        "endedAt": format_timestamp(run.ended_at) if run.ended_at else None,
        "trigger": run.trigger,
        "dryRun": run.dry_run,
        "undone": run.undone_at is not None,
        "code": run.code or None,
        "error": str(run.error) if run.error else None,
        **({"params": run.error.described_params()} if run.error and run.error.params else {}),
        **counts_of(run),
    }


def report_schema(name: str, *counted: str) -> "serializers.Serializer[Any]":
    """The schema of `serialize_receipt`."""
    fields: Any = {
        "success": serializers.BooleanField(),
        **{count: serializers.IntegerField() for count in (*counted, "errors")},
        "errorMessages": serializers.ListField(child=serializers.CharField()),
        "remarks": RemarkSerializer(many=True),
    }
    return envelope(name, optional=("remarks",), **fields)


def serialize_report(report: JobReport, done: str, *, is_skipping: bool = True) -> JsonObject:
    """The response about selected contacts; `done` is the key of the count of successes."""
    skipped = {"skipped": report.skipped} if is_skipping else {}
    counts = {done: report.done, **skipped, "errors": report.errors}
    return {"success": not report.errors, **counts, **_describe_messages(report.shown_messages)}


class SyncViewSet(OwnedViewSet[Run]):
    """Sync runs and discovery."""

    model = Run

    @extend_schema(
        operation_id="syncCardDav",
        request=None,
        parameters=[
            OpenApiParameter("dryRun", OpenApiTypes.BOOL, description="true only says what would happen."),
            OpenApiParameter("confirm", OpenApiTypes.BOOL, description="true goes on after a run was undone."),
        ],
        responses={(200, "text/event-stream"): OpenApiResponse(OpenApiTypes.STR, description=_EVENTS)},
    )
    @action(detail=False, methods=["post"])
    @raises(MissingError)
    @ignores_idempotency_key
    @excluded_from_batches
    def sync(self, request: Request) -> EventStream:
        """Sync both ways: `progress` events, then `complete` with the counts, or `error`. Joins the run under way."""
        run = start_run(
            owner=self.owner,
            trigger=RunTrigger.MANUAL,
            dry_run=read_flag(request.query_params, "dryRun", default=False),
            confirm=read_flag(request.query_params, "confirm", default=False),
            now=timezone.now(),
        )
        if run.state == RunState.QUEUED:
            enqueue_run(str(run.pk))
        return EventStream(progress(run.owner_id, run.pk, self.owner.language))

    @extend_schema(operation_id="listSyncRuns", responses=envelope("SyncRuns", runs=RunSerializer(many=True)))
    @action(detail=False)
    def runs(self, request: Request) -> Response:
        """The last hundred runs with their counts, newest first."""
        rows = self.get_queryset().order_by("-started_at", "-pk")[:_MAX_RUNS]
        return Response({"runs": [serialize_run(run) for run in rows]})

    @extend_schema(
        operation_id="discoverContacts",
        request=None,
        responses=report_schema("DiscoverAnswer", "discovered"),
    )
    @action(detail=False, methods=["post"])
    @raises(MissingError, ConnectionBusyError)
    @in_own_transactions
    def discover(self, request: Request) -> Response:
        """Keep contacts of the server that are not here yet as pending imports."""
        report = discover_contacts(owner=self.owner)
        return Response(serialize_report(report, "discovered", is_skipping=False))


class CronViewSet(OpenViewSet):
    """Authenticated by CRON_SECRET as a bearer token; sessions and API tokens are not accepted."""

    @extend_schema(
        operation_id="cronCardDavSync",
        responses=report_schema("CronSyncAnswer", "total", "synced", "skipped"),
    )
    @action(detail=False, url_path="carddav-sync")
    @raises(NotAuthenticated)
    def carddav_sync(self, request: Request) -> Response:
        """Sync every account that is due, one after the other."""
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not is_cron_secret(secret.strip()):
            raise NotAuthenticated
        report = sync_due(now=timezone.now(), trigger=RunTrigger.CRON)
        total = report.done + report.skipped + report.errors
        return Response({**serialize_report(report, "synced"), "total": total})


class UndoViewSet(OwnedViewSet[Run]):
    """Undo of one run."""

    model = Run
    lookup_url_kwarg = "run_id"

    @extend_schema(
        operation_id="undoSyncRun",
        request=None,
        responses=envelope("SyncRunUndone", restored=serializers.IntegerField(), kept=_KEPT),
    )
    @action(detail=True, methods=["post"])
    @raises(RunAlreadyUndoneError, ConnectionBusyError)
    @in_own_transactions
    def undo(self, request: Request, run_id: UUID) -> Response:
        """Put back the people whom a run changed, made or trashed; who was edited since is kept, and named.

        The server is not touched. Until a sync is confirmed, runs are dry.
        """
        undone = undo_run(owner=self.owner, run_id=self.get_object().pk, now=timezone.now())
        kept = [
            {
                "personId": str(person.pk),
                "personName": person.display_name_for(self.owner),
                **describe_remarks([reason]),
            }
            for person, reason in undone.kept
        ]
        return Response({"restored": undone.restored, "kept": kept})


async def progress(owner_id: UUID, run_id: UUID, language: str) -> AsyncGenerator[bytes, None]:
    """The events of a run until it ends. The run goes on if the client disconnects."""
    last_state: dict[str, Any] | None = None
    while True:
        # A worker executes the run, perhaps on another machine, so its row is polled.
        run = await in_thread(_find_run, owner_id, run_id)
        if run is None:
            yield _event("error", {"error": _REMOVED, "code": "interrupted"}, language)
            return
        if run.state == RunState.ENDED:
            break
        state = {
            "phase": run.phase or "connecting",
            "message": run.message or _WAITING,
            "current": run.current,
            "total": run.total,
        }
        if state != last_state:
            last_state = state
            yield _event("progress", state, language)
        await asyncio.sleep(_POLL_SECONDS)
    if run.code:
        yield _event("error", {"error": run.error, "code": run.code}, language)
    else:
        with override(language):
            counts = counts_of(run)
        yield event("complete", counts)


def _event(name: str, data: JsonObject, language: str) -> bytes:
    with override(language):  # the generator runs outside of the request
        return event(name, data)


def _find_run(owner_id: UUID, run_id: UUID) -> Run | None:
    return Run.objects.owned_by(owner_id).filter(pk=run_id).first()
