"""The devices of an account: programs that sign in with an app password (open points, section 14)."""

import datetime as dt
import plistlib
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import UUID, uuid5

from django.conf import settings
from django.db.models import Count, F, Min, QuerySet, Window
from django.db.models.functions import RowNumber
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
from accounts.models import ApiToken, User
from contacts_project.kernel.api.fields import StrictDateTimeField
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.json import JsonObject, format_timestamp
from contacts_project.kernel.texts import Text, describe_remarks
from dav.models import Device, Refusal, ReplacedValue
from dav.resources.uris import principal_path
from dav.services.deletions import standing_deletions, undo_deletions
from dav.services.history import PHOTO, RETENTION, restore_replaced

_PROFILE_TYPE = "application/x-apple-aspen-config"
_NAME = "Contact network"
_DEFAULT_PORTS = {"https": 443, "http": 80}
#: How many refusals and values of each device are shown, the latest first.
MAX_SHOWN = 50
Row = TypeVar("Row", Refusal, ReplacedValue)


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


def list_devices(owner: User, now: dt.datetime) -> list[JsonObject]:
    """Each device as GET /api/user/devices shows it, the last seen first."""
    rows = Device.objects.owned_by(owner).select_related("token").order_by("-last_seen_at", "id")
    refusals = Refusal.objects.owned_by(owner)
    since = dict(refusals.order_by().values("token").annotate(first=Min("created_at")).values_list("token", "first"))
    refused = _grouped(_latest(refusals))
    values = ReplacedValue.objects.owned_by(owner).filter(created_at__gt=now - RETENTION, person__deleted_at=None)
    replaced = _grouped(_latest(values.select_related("person")))
    deleted = standing_deletions(owner, now).order_by().values("token_id").annotate(number=Count("pk"))
    numbers = dict(deleted.values_list("token_id", "number"))
    return [
        {
            **_settings(row.token),
            "userAgent": row.user_agent,
            "lastSeenAt": format_timestamp(row.last_seen_at),
            "refusedSince": format_timestamp(since[row.token_id]) if row.token_id in since else None,
            "refused": [_refusal(each) for each in refused[row.token_id]],
            "replaced": [_replaced(owner, each) for each in replaced[row.token_id]],
            "deleted": numbers.get(row.token_id, 0),
        }
        for row in rows
    ]


def _latest(rows: QuerySet[Row]) -> QuerySet[Row]:
    """The latest rows of each token."""
    place = Window(RowNumber(), partition_by=[F("token")], order_by=[F("created_at").desc(), F("id").desc()])
    return rows.annotate(place=place).filter(place__lte=MAX_SHOWN).order_by("-created_at", "-id")


def _grouped(rows: Iterable[Row]) -> defaultdict[UUID, list[Row]]:
    grouped: defaultdict[UUID, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row.token_id].append(row)
    return grouped


def _settings(token: ApiToken) -> JsonObject:
    return {
        "tokenId": str(token.pk),
        "name": token.name,
        "scope": token.scope,
        "groupCards": bool(token.group_cards),
        "book": token.book,
        "alarms": token.alarms,
    }


def _refusal(row: Refusal) -> JsonObject:
    person = {"personId": str(row.person_id)} if row.person_id else {}
    reason = describe_remarks([Text.from_stored(row.reason)])
    return {"href": row.href, **person, **reason, "at": format_timestamp(row.created_at)}


def _replaced(owner: User, row: ReplacedValue) -> JsonObject:
    return {
        "id": str(row.pk),
        "personId": str(row.person_id),
        "personName": row.person.display_name_for(owner),
        "property": row.property,
        # The name of a stored file says nothing to anybody.
        "value": None if row.property == PHOTO else row.value,
        "at": format_timestamp(row.created_at),
    }


def profile_of(owner: User, token: ApiToken) -> bytes:
    """A configuration profile of Apple's: the account of contacts and calendars to tap, without the password.

    https://developer.apple.com/documentation/devicemanagement/carddav and /caldav: payload types
    com.apple.carddav.account and com.apple.caldav.account. The ids stay the same for a token, so that installing it
    again replaces it.
    """
    base = urlsplit(settings.BASE_URL)
    is_encrypted = base.scheme == "https"
    port = base.port or _DEFAULT_PORTS[base.scheme]
    # Apple's reversed domain; the id of the token makes two of one host two.
    identifier = f"{'.'.join(reversed((base.hostname or 'localhost').split('.')))}.contacts.{token.pk}"
    payloads = [
        {
            "PayloadType": f"com.apple.{kind.lower()}.account",
            "PayloadVersion": 1,
            "PayloadIdentifier": f"{identifier}.{kind.lower()}",
            "PayloadUUID": _payload_uuid(token.pk, kind),
            "PayloadDisplayName": f"{_NAME}: {title}",
            f"{kind}AccountDescription": token.name,
            f"{kind}HostName": base.hostname or "",
            f"{kind}Port": port,
            f"{kind}UseSSL": is_encrypted,
            f"{kind}PrincipalURL": principal_path(owner.pk),
            f"{kind}Username": owner.email,
        }
        for kind, title in (("CardDAV", "contacts"), ("CalDAV", "calendars"))
    ]
    profile = {
        "PayloadType": "Configuration",
        "PayloadVersion": 1,
        "PayloadIdentifier": identifier,
        "PayloadUUID": _payload_uuid(token.pk, "profile"),
        "PayloadDisplayName": f"{_NAME} ({base.hostname})",
        "PayloadDescription": f"Contacts and calendars of {owner.email}. Asks for the app password.",
        "PayloadOrganization": _NAME,
        "PayloadRemovalDisallowed": False,
        "PayloadContent": payloads,
    }
    return plistlib.dumps(profile)


def _payload_uuid(token_id: UUID, kind: str) -> str:
    return str(uuid5(token_id, kind)).upper()
