"""Routes of a share's log, and of undoing one of its changes."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import in_own_transactions
from contacts_project.kernel.api.fields import StrictBooleanField
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError, MissingError
from sharing.api.pages import PAGE_PARAMETERS, ShareListViewSet, describe_page, page_fields, read_cursor
from sharing.models import LogAction
from sharing.services.log import list_log
from sharing.services.undo import ChangedSinceError, NotUndoableError, undo_entry


class ShareLogEntrySerializer(serializers.Serializer[Any]):
    """What a member did."""

    id = serializers.UUIDField()
    at = serializers.DateTimeField()
    by = serializers.CharField()
    action = serializers.ChoiceField(list(LogAction.values))
    personId = serializers.UUIDField(allow_null=True, help_text="Who it is in this account.")
    personName = serializers.CharField(allow_null=True)
    fields = serializers.ListField(child=serializers.CharField())  # type: ignore[assignment]  # hides Serializer.fields
    undoable = serializers.BooleanField()


class UndoSerializer(serializers.Serializer[Any]):
    """`force`: set back what was changed again since, too."""

    force = StrictBooleanField(required=False)


class LogViewSet(ShareListViewSet):
    """What happened in a share."""

    @extend_schema(
        operation_id="listShareLog",
        parameters=PAGE_PARAMETERS,
        responses=envelope("ShareLogAnswer", entries=ShareLogEntrySerializer(many=True), **page_fields()),
    )
    @action(detail=True)
    @raises(FieldError, MissingError)
    def log(self, request: Request, share_id: UUID) -> Response:
        """What happened in the last 90 days, newest first."""
        membership = self.get_object()
        limit, before = read_cursor(request.query_params)
        rows, cursor = list_log(self.owner, membership, before=before, limit=limit, now=timezone.now())
        return Response({"entries": rows, **describe_page(cursor)})

    @extend_schema(
        operation_id="undoShareLogEntry",
        request=UndoSerializer,
        responses=envelope("ShareLogEntryUndone", success=serializers.BooleanField()),
    )
    @action(detail=True, methods=["post"], url_path="log/<id:entry_id>/undo")
    @raises(FieldError, MissingError, ChangedSinceError, NotUndoableError)
    @in_own_transactions
    def undo(self, request: Request, share_id: UUID, entry_id: UUID) -> Response:
        """Set the fields of one's own person back to before a change, which then travels like any edit."""
        key = self.get_object().share_id
        data = self.read_body(UndoSerializer)
        undo_entry(
            owner=self.owner,
            share_id=key,
            entry_id=entry_id,
            force=data.get("force", False),
            now=timezone.now(),
        )
        return Response({"success": True})
