"""Routes of conflicts of shares: fields that this member and the share changed to different values."""

from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.viewsets import OwnedViewSet
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError, MissingError
from people.api.conflicts import ResolutionSerializer, read_chosen
from people.contents.conflicts import AlreadyResolvedError
from people.vocabularies import Resolution
from sharing.api.pages import ShareListViewSet
from sharing.api.shares import ShareConflictSerializer
from sharing.decisions import RELATIONS
from sharing.models import ShareConflict
from sharing.projection import list_conflicts
from sharing.services.conflicts import choose_relations, find_conflict, resolve_conflict


class ConflictsOfShareViewSet(ShareListViewSet):
    """The open conflicts of a share."""

    @extend_schema(
        operation_id="listShareConflicts",
        responses=envelope("ShareConflictsAnswer", conflicts=ShareConflictSerializer(many=True)),
    )
    @action(detail=True)
    @raises(MissingError)
    def conflicts(self, request: Request, share_id: UUID) -> Response:
        """The open conflicts, oldest first."""
        return Response({"conflicts": list_conflicts(self.owner, self.get_object())})


class ShareConflictViewSet(OwnedViewSet[ShareConflict]):
    """One conflict of a share."""

    model = ShareConflict
    lookup_url_kwarg = "conflict_id"

    @extend_schema(
        operation_id="resolveShareConflict",
        request=ResolutionSerializer,
        responses=envelope("ShareConflictResolved", success=serializers.BooleanField()),
    )
    @action(detail=True, methods=["post"])
    @raises(FieldError, MissingError, AlreadyResolvedError)
    def resolve(self, request: Request, conflict_id: UUID) -> Response:
        """Let this side's or the share's values count, or put both together."""
        conflict = find_conflict(self.owner, conflict_id)
        data = self.read_body(ResolutionSerializer)
        values = dict(data.get("values") or {}) if data["resolution"] == Resolution.MERGED else {}
        relations = choose_relations(values.pop(RELATIONS, None), conflict.fields)
        chosen = read_chosen(request, {**data, "values": values}, conflict.fields)
        resolve_conflict(
            owner=self.owner,
            conflict_id=conflict.pk,
            resolution=data["resolution"],
            chosen=chosen,
            relations=relations,
            now=timezone.now(),
        )
        return Response({"success": True})
