"""Endpoints of notification destinations."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import (
    if_match,
    ignores_idempotency_key,
    in_own_transactions,
    not_in_atomic_batches,
    sends_etag,
)
from accounts.api.viewsets import OwnedViewSet
from contacts_project.kernel.api.etags import conditional_status
from contacts_project.kernel.api.json import SecretResponse, representation_response
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import PlanLimitError, RateLimitedError
from contacts_project.kernel.json import Representation
from contacts_project.kernel.outbound.failures import Code
from notifications.api.serializers import (
    CreateDestination,
    DestinationSerializer,
    UpdateDestination,
    destination_record,
)
from notifications.channels.interface import AttemptOutcome
from notifications.models import Destination, DestinationType
from notifications.services.destinations import (
    DuplicateUrlError,
    SecretMissingError,
    TooManyDestinationsError,
    UrlRefusedError,
    create_destination,
    delete_destination,
    send_test,
    update_destination,
)

TEST_RESULT = envelope(
    "DestinationTest",
    optional=("code",),
    ok=serializers.BooleanField(),
    code=serializers.ChoiceField(choices=[code.value for code in Code], help_text="Where ok is false."),
)


class DestinationViewSet(OwnedViewSet[Destination]):
    """The account's destinations."""

    model = Destination
    lookup_url_kwarg = "destination_id"
    record_name, record_serializer = "endpoint", DestinationSerializer

    def current_record(self) -> Representation:
        return destination_record(self.get_object())

    @extend_schema(
        operation_id="listDestinations",
        responses=envelope("Destinations", endpoints=DestinationSerializer(many=True)),
    )
    def list(self, request: Request) -> Response:
        """The destinations, oldest first, without their secrets."""
        rows: Any = self.get_queryset().order_by("id")
        return Response({"endpoints": DestinationSerializer(rows, many=True).data})

    @extend_schema(
        operation_id="createDestination",
        request=CreateDestination,
        responses={
            201: envelope(
                "CreatedDestination",
                optional=("secret",),
                endpoint=DestinationSerializer(),
                secret=serializers.CharField(help_text="Of a webhook."),
            )
        },
    )
    @raises(UrlRefusedError, DuplicateUrlError, TooManyDestinationsError, PlanLimitError, RateLimitedError)
    @ignores_idempotency_key
    @sends_etag
    @not_in_atomic_batches
    def create(self, request: Request) -> Response:
        """Register an ntfy topic or a webhook; a webhook's signing secret is in this answer alone."""
        data = self.read_body(CreateDestination)
        destination, secret = create_destination(
            owner=self.owner,
            type_=DestinationType(data["type"]),
            label=data["label"],
            url=data["url"],
            token=data.get("token") or "",
        )
        shown = destination_record(destination)
        body = {"endpoint": shown.body}
        response = SecretResponse({**body, "secret": secret} if secret else body, status=201)
        response["ETag"] = shown.etag
        return response

    @extend_schema(
        operation_id="getDestination", responses=envelope("DestinationAnswer", endpoint=DestinationSerializer())
    )
    @conditional_status
    def retrieve(self, request: Request, destination_id: UUID) -> Response:
        """One destination, without its secret."""
        return representation_response("endpoint", self.current_record())

    @extend_schema(
        operation_id="updateDestination",
        request=UpdateDestination,
        responses=envelope(
            "UpdatedDestination",
            optional=("secret",),
            success=serializers.BooleanField(),
            secret=serializers.CharField(help_text="With rotateSecret."),
        ),
    )
    @raises(UrlRefusedError, DuplicateUrlError, PlanLimitError, RateLimitedError)
    @sends_etag
    @if_match
    @not_in_atomic_batches
    def update(self, request: Request, destination_id: UUID) -> Response:
        """Change a destination; a new URL is checked as at creation."""
        destination = self.get_object()
        body = UpdateDestination(data=request.data, context={"type": destination.type})
        body.is_valid(raise_exception=True)
        secret = update_destination(destination=destination, changes=body.changes, now=timezone.now())
        response = SecretResponse({"success": True, "secret": secret} if secret else {"success": True})
        response["ETag"] = self.current_record().etag
        return response

    @extend_schema(
        operation_id="deleteDestination",
        responses={200: envelope("DeletedDestination", success=serializers.BooleanField())},
    )
    @if_match
    def destroy(self, request: Request, destination_id: UUID) -> Response:
        """Remove a destination for good."""
        delete_destination(destination=self.get_object())
        return Response({"success": True})

    @extend_schema(
        operation_id="testDestination",
        request=None,
        responses=TEST_RESULT,
    )
    @action(detail=True, methods=["post"])
    @raises(SecretMissingError, PlanLimitError, RateLimitedError)
    @in_own_transactions
    def test(self, request: Request, destination_id: UUID) -> Response:
        """Send a sample to a destination now, and say how it went."""
        return test_response(send_test(destination=self.get_object(), now=timezone.now()))


def test_response(outcome: AttemptOutcome) -> Response:
    """The result of a test: `{ ok, code? }`."""
    return Response({"ok": True} if outcome.is_ok else {"ok": False, "code": outcome.code})
