"""Endpoints of notification destinations (specification, Notifications)."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api.callers import caller
from contacts_project.kernel.api.ids import parse_id
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.api.secrets import SecretResponse
from contacts_project.kernel.errors import PlanLimitError, RateLimitedError
from contacts_project.kernel.outbound import Code
from notifications.api.serializers import CreateDestination, DestinationSerializer, UpdateDestination
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


class DestinationList(APIView):
    """All destinations of the account."""

    @extend_schema(
        operation_id="listDestinations",
        responses=envelope("Destinations", endpoints=DestinationSerializer(many=True)),
    )
    def get(self, request: Request) -> Response:
        """The destinations, oldest first, without their secrets."""
        rows = Destination.objects.owned_by(caller(request)).order_by("id")
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
    def post(self, request: Request) -> Response:
        """Register an ntfy topic or a webhook; a webhook's signing secret is in this answer alone."""
        body = CreateDestination(data=request.data)
        body.is_valid(raise_exception=True)
        data: dict[str, Any] = body.validated_data
        destination, secret = create_destination(
            owner=caller(request),
            type_=DestinationType(data["type"]),
            label=data["label"],
            url=data["url"],
            token=data.get("token") or "",
        )
        answer = {"endpoint": DestinationSerializer(destination).data}
        return SecretResponse({**answer, "secret": secret} if secret else answer, status=201)


class DestinationDetail(APIView):
    """One destination."""

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
    def put(self, request: Request, destination_id: str) -> Response:
        """Change a destination; a new URL is checked as at creation."""
        destination = own_destination(request, destination_id)
        body = UpdateDestination(data=request.data, context={"type": destination.type})
        body.is_valid(raise_exception=True)
        secret = update_destination(destination=destination, changes=body.changes, now=timezone.now())
        return SecretResponse({"success": True, "secret": secret} if secret else {"success": True})

    @extend_schema(
        operation_id="deleteDestination",
        responses={200: envelope("DeletedDestination", success=serializers.BooleanField())},
    )
    def delete(self, request: Request, destination_id: str) -> Response:
        """Remove a destination for good."""
        delete_destination(destination=own_destination(request, destination_id))
        return Response({"success": True})


class DestinationTest(APIView):
    """Trying a destination out."""

    @extend_schema(
        operation_id="testDestination",
        request=None,
        responses=envelope(
            "DestinationTest",
            optional=("code",),
            ok=serializers.BooleanField(),
            code=serializers.ChoiceField(choices=[code.value for code in Code], help_text="Where ok is false."),
        ),
    )
    @raises(SecretMissingError, PlanLimitError, RateLimitedError)
    def post(self, request: Request, destination_id: str) -> Response:
        """Send a sample to a destination now, and say how it went."""
        outcome = send_test(destination=own_destination(request, destination_id), now=timezone.now())
        return Response({"ok": True} if outcome.is_ok else {"ok": False, "code": outcome.code})


def own_destination(request: Request, destination_id: str) -> Destination:
    """The caller's destination with this id, else 404."""
    key = parse_id(destination_id)
    rows = Destination.objects.owned_by(caller(request)).select_related("owner")
    row = rows.filter(pk=key).first() if key else None
    if row is None:
        raise NotFound
    return row
