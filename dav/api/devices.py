"""The devices of an account: programs that sign in with an app password (open points, section 14)."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import in_own_transactions
from accounts.api.serializers import SCOPES, BookSerializer
from accounts.api.viewsets import OwnedViewSet
from accounts.models import ApiToken
from contacts_project.kernel.api.fields import StrictDateTimeField
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.texts import describe_remarks
from dav.profile import profile_of
from dav.services.deletions import undo_deletions
from dav.services.device_list import list_devices
from dav.services.history import restore_replaced

_PROFILE_TYPE = "application/x-apple-aspen-config"


class RefusedSerializer(serializers.Serializer[Any]):
    """What the device sent and was refused, in whole or in part."""

    optional = ("personId", "params")
    href = serializers.CharField()
    personId = serializers.UUIDField()
    reason = serializers.CharField()
    code = serializers.CharField()
    params = serializers.DictField()
    at = serializers.DateTimeField()


class ReplacedSerializer(serializers.Serializer[Any]):
    """A value that the device removed or replaced; it can be put back for 30 days."""

    id = serializers.UUIDField()
    personId = serializers.UUIDField()
    personName = serializers.CharField()
    property = serializers.CharField()
    value = serializers.JSONField()
    at = serializers.DateTimeField()


class DeviceSerializer(serializers.Serializer[Any]):
    tokenId = serializers.UUIDField()
    name = serializers.CharField()
    userAgent = serializers.CharField()
    lastSeenAt = serializers.DateTimeField()
    scope = serializers.ChoiceField(SCOPES)
    groupCards = serializers.BooleanField()
    book = BookSerializer(allow_null=True)
    alarms = serializers.BooleanField()
    refusedSince = serializers.DateTimeField(allow_null=True)
    refused = RefusedSerializer(many=True)
    replaced = ReplacedSerializer(many=True)
    deleted = serializers.IntegerField(help_text="What it deleted within 30 days and is still in the trash.")


class KeptSerializer(serializers.Serializer[Any]):
    """A record that could not be brought back, and why."""

    optional = ("params",)
    kind = serializers.ChoiceField(["people", "groups"])
    id = serializers.UUIDField()
    name = serializers.CharField()
    reason = serializers.CharField()
    code = serializers.CharField()
    params = serializers.DictField()


class UndoBodySerializer(serializers.Serializer[Any]):
    since = StrictDateTimeField(required=False, allow_null=True, help_text="Only what was deleted from then on.")


class DeviceViewSet(OwnedViewSet[ApiToken]):
    """The devices of the caller, by the id of their token."""

    model = ApiToken
    lookup_url_kwarg = "token_id"

    @extend_schema(operation_id="listDevices", responses=envelope("DevicesAnswer", devices=DeviceSerializer(many=True)))
    def list(self, request: Request) -> Response:
        """Every program that has signed in with an app password, the last seen first."""
        return Response({"devices": list_devices(self.owner, timezone.now())})

    @extend_schema(
        operation_id="undoDeletionsOfDevice",
        request=UndoBodySerializer,
        responses=envelope("DeletionsUndone", restored=serializers.IntegerField(), kept=KeptSerializer(many=True)),
    )
    @action(detail=True, methods=["post"], url_path="undo-deletions")
    @in_own_transactions
    def undo_deletions(self, request: Request, token_id: UUID) -> Response:
        """Bring back what the device deleted; what could not come back is named."""
        since = self.read_body(UndoBodySerializer).get("since")
        row = self.get_queryset().with_id(token_id).first()
        undone = undo_deletions(owner=self.owner, token_id=token_id, since=since, now=timezone.now())
        if row is None and not undone.restored and not undone.kept:
            raise MissingError
        kept = [
            {"kind": kind, "id": str(key), "name": name, **describe_remarks([reason])}
            for kind, key, name, reason in undone.kept
        ]
        return Response({"restored": undone.restored, "kept": kept})

    @extend_schema(
        operation_id="restoreReplacedValue",
        request=None,
        responses=envelope("ReplacedValueRestored", success=serializers.BooleanField()),
    )
    @action(detail=True, methods=["post"], url_path="replaced/<id:replaced_id>/restore")
    @raises(MissingError)
    def restore_replaced(self, request: Request, token_id: UUID, replaced_id: UUID) -> Response:
        """Put back one value that the device removed or replaced."""
        restore_replaced(owner=self.owner, token_id=token_id, replaced_id=replaced_id, now=timezone.now())
        return Response({"success": True})

    @extend_schema(
        operation_id="getDeviceProfile",
        responses={(200, _PROFILE_TYPE): OpenApiTypes.BINARY},
    )
    @action(detail=True, methods=["get"])
    @raises(MissingError)
    def profile(self, request: Request, token_id: UUID) -> HttpResponse:
        """A configuration profile for iPhone, iPad and Mac, without the password, for which the device asks."""
        body = profile_of(self.owner, self.get_object())
        headers = {"Content-Disposition": 'attachment; filename="contacts.mobileconfig"', "Cache-Control": "no-store"}
        return HttpResponse(body, content_type=_PROFILE_TYPE, headers=headers)
