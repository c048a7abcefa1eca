"""Responses and schemas that several routes of the sync share."""

from typing import Any

from rest_framework import serializers

from carddav.models import Run, Trigger
from carddav.services.receipts import Receipt
from contacts_project.kernel.api.json import format_timestamp
from contacts_project.kernel.api.schema import envelope


class SyncCountsSerializer(serializers.Serializer[Any]):
    """The eight fields of `complete`."""

    imported = serializers.IntegerField()
    exported = serializers.IntegerField()
    updatedLocally = serializers.IntegerField()
    updatedRemotely = serializers.IntegerField()
    conflicts = serializers.IntegerField()
    errors = serializers.IntegerField()  # type: ignore[assignment]  # hides Serializer.errors, which responses do not need
    errorMessages = serializers.ListField(child=serializers.CharField())
    pendingImports = serializers.IntegerField()


class RunSerializer(SyncCountsSerializer):
    """A run: its counts, and how it ended."""

    id = serializers.UUIDField()
    startedAt = serializers.DateTimeField()
    endedAt = serializers.DateTimeField(allow_null=True)
    trigger = serializers.ChoiceField(list(Trigger.values))
    dryRun = serializers.BooleanField()
    undone = serializers.BooleanField()
    code = serializers.CharField(allow_null=True)
    error = serializers.CharField(allow_null=True)


def counts_of(run: Run) -> dict[str, Any]:
    """The counts of a `complete` event."""
    return {
        "imported": run.imported,
        "exported": run.exported,
        "updatedLocally": run.updated_locally,
        "updatedRemotely": run.updated_remotely,
        "conflicts": run.conflicts,
        "errors": run.errors,
        "errorMessages": run.error_messages,
        "pendingImports": run.pending_imports,
    }


def serialize_run(run: Run) -> dict[str, Any]:
    """A run as in GET /api/carddav/runs."""
    return {
        "id": str(run.pk),
        "startedAt": format_timestamp(run.started_at),
        "endedAt": format_timestamp(run.ended_at) if run.ended_at else None,
        "trigger": run.trigger,
        "dryRun": run.dry_run,
        "undone": run.undone_at is not None,
        "code": run.code or None,
        "error": run.error or None,
        **counts_of(run),
    }


def receipt_schema(name: str, *counted: str) -> "serializers.Serializer[Any]":
    """The schema of `serialize_receipt`."""
    fields: Any = {
        "success": serializers.BooleanField(),
        **{count: serializers.IntegerField() for count in (*counted, "errors")},
        "errorMessages": serializers.ListField(child=serializers.CharField()),
    }
    return envelope(name, **fields)


def serialize_receipt(receipt: Receipt, done: str, *, is_skipping: bool = True) -> dict[str, Any]:
    """The response about selected contacts; `done` is the key of the count of successes."""
    skipped = {"skipped": receipt.skipped} if is_skipping else {}
    counts = {done: receipt.done, **skipped, "errors": receipt.errors}
    return {"success": not receipt.errors, **counts, "errorMessages": receipt.shown_messages}
