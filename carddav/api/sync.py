"""Routes of sync runs: start one and stream its progress, list them, discover new cards."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any
from uuid import UUID

from django.utils import timezone
from django.utils.translation import override
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import excluded_from_batches, ignores_idempotency_key, in_own_transactions
from accounts.api.viewsets import OwnedViewSet
from carddav.api.sync_responses import RunSerializer, counts_of, receipt_schema, serialize_receipt, serialize_run
from carddav.models import Run, RunState, Trigger
from carddav.services.connections import ConnectionBusyError
from carddav.services.pending_imports import discover_contacts
from carddav.services.runs import start_run
from carddav.tasks import enqueue_run
from contacts_project.kernel.api.event_streams import EventStream, event, in_thread
from contacts_project.kernel.api.queries import read_flag
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import define_text

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
            trigger=Trigger.MANUAL,
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
        responses=receipt_schema("DiscoverAnswer", "discovered"),
    )
    @action(detail=False, methods=["post"])
    @raises(MissingError, ConnectionBusyError)
    @in_own_transactions
    def discover(self, request: Request) -> Response:
        """Keep contacts of the server that are not here yet as pending imports."""
        receipt = discover_contacts(owner=self.owner)
        return Response(serialize_receipt(receipt, "discovered", is_skipping=False))


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
