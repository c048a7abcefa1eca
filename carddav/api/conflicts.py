"""Routes of conflicts: list the open ones, resolve one."""

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
from carddav.models import Conflict, ConflictKind
from carddav.services.conflicts import resolve_conflict
from carddav.services.connections import ConnectionBusyError
from carddav.tasks import enqueue_edits
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.json import JsonObject, format_timestamp
from people.api.conflicts import ConflictFieldSerializer, ResolutionSerializer, read_chosen
from people.contents.conflicts import AlreadyResolvedError


class ConflictSerializer(serializers.Serializer[Any]):
    """An open conflict."""

    id = serializers.UUIDField()
    personId = serializers.UUIDField()
    personName = serializers.CharField()
    kind = serializers.ChoiceField(list(ConflictKind.values))
    fields = ConflictFieldSerializer(many=True)  # type: ignore[assignment]  # hides Serializer.fields
    createdAt = serializers.DateTimeField()


class ConflictViewSet(OwnedViewSet[Conflict]):
    """Open conflicts of the account."""

    model = Conflict
    lookup_url_kwarg = "conflict_id"

    @extend_schema(
        operation_id="listConflicts", responses=envelope("Conflicts", conflicts=ConflictSerializer(many=True))
    )
    def list(self, request: Request) -> Response:
        """The open conflicts, oldest first."""
        rows = Conflict.objects.owned_by(self.owner).unresolved().select_related("person").order_by("created_at", "pk")
        rows = rows.defer("remote_raw", "remote_etag", "values")
        return Response({"conflicts": [_serialize(row, self.owner) for row in rows]})

    @extend_schema(
        operation_id="resolveConflict",
        request=ResolutionSerializer,
        responses=envelope("ConflictResolved", success=serializers.BooleanField()),
    )
    @action(detail=True, methods=["post"])
    @raises(MissingError, AlreadyResolvedError, ConnectionBusyError)
    @in_own_transactions
    def resolve(self, request: Request, conflict_id: UUID) -> Response:
        """Let this side's or the server's values count, or put both together.

        An imported conflict that no sync has seen yet takes the server's values from the card that came with it; 400
        where that card does not hold them.
        """
        conflict = self.get_object()
        data = self.read_body(ResolutionSerializer)
        chosen = read_chosen(request, data, conflict.fields)
        resolve_conflict(
            owner=self.owner, conflict_id=conflict.pk, resolution=data["resolution"], chosen=chosen, now=timezone.now()
        )
        enqueue_edits(self.owner.pk, seconds=0)
        return Response({"success": True})


def _serialize(row: Conflict, owner: User) -> JsonObject:
    return {
        "id": str(row.pk),
        "personId": str(row.person_id),
        "personName": row.person.display_name_for(owner),
        "kind": row.kind,
        "fields": row.fields,
        "createdAt": format_timestamp(row.created_at),
    }
