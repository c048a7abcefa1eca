"""Endpoints of browser push, of the e-mail switch, and the summary of all channels."""

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api.callers import caller
from accounts.services.preferences import change_preferences
from contacts_project.kernel.api.ids import parse_id
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.ownership.writing import account_write
from notifications.api.serializers import Subscribe, SwitchEmail
from notifications.channels.push import is_configured
from notifications.models import Destination, PushSubscription
from notifications.services.devices import TooManyDevicesError, subscribe

Success = serializers.BooleanField


class PushPublicKey(APIView):
    """The instance's VAPID public key. Open."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="getPushPublicKey",
        responses=envelope("PushPublicKey", publicKey=serializers.CharField()),
        auth=[],
    )
    @raises(NotFound)
    def get(self, request: Request) -> Response:
        """The key a browser needs to subscribe; 404 when the instance has none."""
        if not is_configured():
            raise NotFound("This instance has no VAPID keys.")
        return Response({"publicKey": settings.VAPID_PUBLIC_KEY})


class PushSubscribe(APIView):
    """Adding a device."""

    @extend_schema(
        operation_id="subscribePush",
        request=Subscribe,
        responses={201: envelope("PushSubscribed", success=Success())},
    )
    @raises(TooManyDevicesError)
    def post(self, request: Request) -> Response:
        """Store this device, or renew its keys."""
        body = Subscribe(data=request.data)
        body.is_valid(raise_exception=True)
        data: dict[str, Any] = body.validated_data
        subscribe(owner=caller(request), endpoint=data["endpoint"], **data["keys"])
        return Response({"success": True}, status=201)


class PushSubscriptionList(APIView):
    """The account's devices."""

    @extend_schema(
        operation_id="listPushSubscriptions",
        responses=envelope(
            "PushSubscriptions",
            subscriptions=serializers.ListField(
                child=envelope(
                    "PushDevice",
                    id=serializers.CharField(),
                    endpoint=serializers.CharField(),
                    createdAt=serializers.DateTimeField(),
                    updatedAt=serializers.DateTimeField(),
                )
            ),
        ),
    )
    def get(self, request: Request) -> Response:
        """The devices, oldest first, without their keys."""
        rows = PushSubscription.objects.owned_by(caller(request)).order_by("id")
        devices = [
            {"id": row.id, "endpoint": row.endpoint, "createdAt": row.created_at, "updatedAt": row.updated_at}
            for row in rows
        ]
        return Response({"subscriptions": devices})


class PushSubscriptionDetail(APIView):
    """One device."""

    @extend_schema(
        operation_id="deletePushSubscription",
        responses={200: envelope("DeletedPushSubscription", success=Success())},
    )
    def delete(self, request: Request, subscription_id: str) -> Response:
        """Remove a device: nothing more is sent to it."""
        key = parse_id(subscription_id)
        if key is None:
            raise NotFound
        with account_write(caller(request)):
            deleted, _ = PushSubscription.objects.owned_by(caller(request)).filter(pk=key).delete()
        if not deleted:
            raise NotFound
        return Response({"success": True})


class EmailSwitch(APIView):
    """The e-mail channel."""

    @extend_schema(
        operation_id="switchEmailReminders",
        request=SwitchEmail,
        responses=envelope("EmailSwitched", success=Success()),
    )
    def put(self, request: Request) -> Response:
        """Switch reminders by e-mail on or off."""
        body = SwitchEmail(data=request.data)
        body.is_valid(raise_exception=True)
        change_preferences(user=caller(request), values={"email_reminders_enabled": body.validated_data["enabled"]})
        return Response({"success": True})


class ChannelSummary(APIView):
    """What the account has of each channel."""

    @extend_schema(
        operation_id="getChannels",
        responses=envelope(
            "Channels",
            email=envelope("EmailChannel", enabled=serializers.BooleanField()),
            push=envelope("PushChannel", configured=serializers.BooleanField(), devices=serializers.IntegerField()),
            endpoints=serializers.IntegerField(),
        ),
    )
    def get(self, request: Request) -> Response:
        """Which channels there are, in short."""
        owner = caller(request)
        return Response(
            {
                "email": {"enabled": owner.email_reminders_enabled},
                "push": {
                    "configured": is_configured(),
                    "devices": PushSubscription.objects.owned_by(owner).count(),
                },
                "endpoints": Destination.objects.owned_by(owner).count(),
            }
        )
