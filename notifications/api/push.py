"""Endpoints of browser push, of the e-mail setting, and of the summary of all channels."""

from uuid import UUID

from django.conf import settings
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import if_match, in_own_transactions, reads_one_record, sends_etag
from accounts.api.serializers import profile_record
from accounts.api.viewsets import OpenViewSet, OwnedViewSet, SettingsViewSet
from accounts.services.profile import change_preferences
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import MissingError, RateLimitedError
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.texts import define_text
from notifications.api.destinations import TEST_RESULT, test_response
from notifications.api.serializers import Subscribe, SwitchEmail
from notifications.channels.push import is_configured
from notifications.models import Destination, PushSubscription
from notifications.services.destinations import TooManyDevicesError, send_push_test, subscribe

_NO_KEYS = define_text("no_vapid_keys", "This instance has no VAPID keys.")

Success = serializers.BooleanField


class PushKeyViewSet(OpenViewSet):
    """The instance's VAPID public key."""

    @extend_schema(
        operation_id="getPushPublicKey",
        responses=envelope("PushPublicKey", publicKey=serializers.CharField()),
        auth=[],
    )
    @raises(MissingError)
    def list(self, request: Request) -> Response:
        """The key a browser needs to subscribe; 404 when the instance has none."""
        if not is_configured():
            raise MissingError(_NO_KEYS)
        return Response({"publicKey": settings.VAPID_PUBLIC_KEY})


class PushSubscriptionViewSet(OwnedViewSet[PushSubscription]):
    """The account's devices."""

    model = PushSubscription
    lookup_url_kwarg = "subscription_id"

    @extend_schema(
        operation_id="subscribePush",
        request=Subscribe,
        responses={201: envelope("PushSubscribed", success=Success(), id=serializers.UUIDField())},
    )
    @action(detail=False, methods=["post"])
    @in_own_transactions  # resolves the host's address
    @raises(TooManyDevicesError)
    def subscribe(self, request: Request) -> Response:
        """Store this device, or renew its keys."""
        data = self.read_body(Subscribe)
        agent = request.headers.get("User-Agent", "")
        key = subscribe(owner=self.owner, endpoint=data["endpoint"], user_agent=agent, **data["keys"])
        return Response({"success": True, "id": key}, status=201)

    @extend_schema(
        operation_id="listPushSubscriptions",
        responses=envelope(
            "PushSubscriptions",
            subscriptions=serializers.ListField(
                child=envelope(
                    "PushDevice",
                    id=serializers.CharField(),
                    endpoint=serializers.CharField(),
                    userAgent=serializers.CharField(help_text="Of the browser that subscribed."),
                    lastSuccessAt=serializers.DateTimeField(allow_null=True),
                    createdAt=serializers.DateTimeField(),
                    updatedAt=serializers.DateTimeField(),
                )
            ),
        ),
    )
    @action(detail=False)
    def subscriptions(self, request: Request) -> Response:
        """The devices, oldest first, without their keys."""
        devices = [
            {
                "id": row.id,
                "endpoint": row.endpoint,
                "userAgent": row.user_agent,
                "lastSuccessAt": row.last_success_at,
                "createdAt": row.created_at,
                "updatedAt": row.updated_at,
            }
            for row in self.get_queryset().order_by("id")
        ]
        return Response({"subscriptions": devices})

    @extend_schema(operation_id="testPushSubscription", request=None, responses=TEST_RESULT)
    @action(detail=False, methods=["post"], url_path="subscriptions/<id:subscription_id>/test")
    @raises(RateLimitedError)
    @in_own_transactions
    def test(self, request: Request, subscription_id: UUID) -> Response:
        """Send a sample to a device now, and say how it went."""
        return test_response(send_push_test(device=self.get_object(), now=timezone.now()))

    @extend_schema(
        operation_id="deletePushSubscription",
        responses={200: envelope("DeletedPushSubscription", success=Success())},
    )
    @action(detail=False, methods=["delete"], url_path="subscriptions/<id:subscription_id>")
    def unsubscribe(self, request: Request, subscription_id: UUID) -> Response:
        """Remove a device: nothing more is sent to it."""
        with account_write(self.owner):
            self.get_object().delete()
        return Response({"success": True})


class NotificationViewSet(SettingsViewSet):
    """The channels, and what went over them."""

    @extend_schema(
        operation_id="switchEmailReminders",
        request=SwitchEmail,
        responses=envelope("EmailSwitched", success=Success()),
    )
    @action(detail=False, methods=["put"])
    @sends_etag
    @if_match
    def email(self, request: Request) -> Response:
        """Switch reminders by e-mail on or off: a part of the profile, whose ETag the answer has."""
        enabled = self.read_body(SwitchEmail)["enabled"]
        user = change_preferences(user=self.owner, values={"email_reminders_enabled": enabled})
        return Response({"success": True}, headers={"ETag": profile_record(user).etag})

    @extend_schema(
        operation_id="getChannels",
        responses=envelope(
            "Channels",
            email=envelope("EmailChannel", enabled=serializers.BooleanField()),
            push=envelope("PushChannel", configured=serializers.BooleanField(), devices=serializers.IntegerField()),
            endpoints=serializers.IntegerField(),
        ),
    )
    @action(detail=False)
    @reads_one_record
    def channels(self, request: Request) -> Response:
        """Which channels there are, in short."""
        return Response(
            {
                "email": {"enabled": self.owner.email_reminders_enabled},
                "push": {
                    "configured": is_configured(),
                    "devices": PushSubscription.objects.owned_by(self.owner).count(),
                },
                "endpoints": Destination.objects.owned_by(self.owner).count(),
            }
        )
