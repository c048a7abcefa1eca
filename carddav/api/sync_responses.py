"""Responses and schemas that several routes of the sync share."""

from collections.abc import Iterable
from typing import Any

from rest_framework import serializers

from carddav.models import Run, Trigger
from carddav.sync.context import Receipt
from contacts_project.kernel.api.schema import RemarkSerializer, envelope
from contacts_project.kernel.json import JsonObject, format_timestamp
from contacts_project.kernel.texts import Text


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
    trigger = serializers.ChoiceField(list(Trigger.values))
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


def receipt_schema(name: str, *counted: str) -> "serializers.Serializer[Any]":
    """The schema of `serialize_receipt`."""
    fields: Any = {
        "success": serializers.BooleanField(),
        **{count: serializers.IntegerField() for count in (*counted, "errors")},
        "errorMessages": serializers.ListField(child=serializers.CharField()),
        "remarks": RemarkSerializer(many=True),
    }
    return envelope(name, optional=("remarks",), **fields)


def serialize_receipt(receipt: Receipt, done: str, *, is_skipping: bool = True) -> JsonObject:
    """The response about selected contacts; `done` is the key of the count of successes."""
    skipped = {"skipped": receipt.skipped} if is_skipping else {}
    counts = {done: receipt.done, **skipped, "errors": receipt.errors}
    return {"success": not receipt.errors, **counts, **_describe_messages(receipt.shown_messages)}
