"""Routes of the cards that are not written for now."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import in_own_transactions
from accounts.api.viewsets import OwnedViewSet
from accounts.models import User
from carddav.models import HeldBack, Mapping
from carddav.services.runs import retry_held_back
from carddav.tasks import run_sync
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.json import JsonObject, format_timestamp


class HeldBackSerializer(serializers.Serializer[Any]):
    """A person whose card cannot be written for now, and why."""

    optional = ("params",)

    personId = serializers.UUIDField()
    personName = serializers.CharField()
    href = serializers.CharField(allow_null=True, help_text="Null for a card that was never sent.")
    code = serializers.ChoiceField(list(HeldBack.values))
    reason = serializers.CharField()
    params = serializers.DictField(help_text="The values in the reason.")
    since = serializers.DateTimeField()
    nextTryAt = serializers.DateTimeField(allow_null=True, help_text="Null: when its content changes.")


class HeldBackViewSet(OwnedViewSet[Mapping]):
    """Cards that are held back."""

    model = Mapping
    lookup_url_kwarg = "person_id"

    @extend_schema(
        operation_id="listHeldBackCards",
        responses=envelope("CardDavHeldBack", heldBack=HeldBackSerializer(many=True)),
    )
    def list(self, request: Request) -> Response:
        """The cards that the server refused, or that cannot be written for now; the oldest first."""
        rows = Mapping.objects.owned_by(self.owner).held_back().select_related("person", "connection")
        rows = rows.defer("remote_raw", "base_local", "base_remote").order_by("held_since", "pk")
        return Response({"heldBack": [_serialize(row, self.owner) for row in rows]})

    @extend_schema(
        operation_id="retryHeldBackCard",
        request=None,
        responses=envelope("CardDavHeldBackRetried", success=serializers.BooleanField()),
    )
    @action(detail=True, methods=["post"])
    @raises(MissingError)
    @in_own_transactions
    def retry(self, request: Request, person_id: UUID) -> Response:
        """Try again with the next run, which starts within seconds."""
        run = retry_held_back(owner=self.owner, person_id=person_id, now=timezone.now())
        run_sync.delay(str(run.pk))
        return Response({"success": True})


def _serialize(row: Mapping, owner: User) -> JsonObject:
    return {
        "personId": str(row.person_id),
        "personName": row.person.display_name_for(owner),
        "href": row.href or None,
        "code": row.code,
        "reason": str(row.error),
        **({"params": row.error.described_params()} if row.error and row.error.params else {}),
        "since": format_timestamp(row.held_since),
        "nextTryAt": format_timestamp(row.retry_at()),
    }
