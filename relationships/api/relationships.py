"""Routes of relationships."""

from uuid import UUID

from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BooleanField, CharField

from accounts.api.decorators import if_match, sends_etag
from accounts.api.viewsets import ACTIONS_IN_THE_TRASH, OwnedViewSet
from contacts_project.kernel.api.etags import conditional, conditional_record
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError, NotDeletedError
from contacts_project.kernel.json import Representation, stream_list
from contacts_project.kernel.ownership.client_ids import IdTakenError
from contacts_project.kernel.texts import define_text
from relationships.api.serializers import (
    RelationshipCreateSerializer,
    RelationshipResponseSerializer,
    RelationshipUpdateSerializer,
)
from relationships.models import Relationship, RelationshipQuerySet
from relationships.projection import load_relationship, stream_relationships
from relationships.services import relationships as services

_DELETED = define_text("relationship_deleted", "The relationship and its inverse were deleted.")

RECORD = envelope("OneRelationship", relationship=RelationshipResponseSerializer())
LIST = envelope("AllRelationships", relationships=RelationshipResponseSerializer(many=True))


class RelationshipViewSet(OwnedViewSet[Relationship]):
    """Relationships: a pair is two records, one for each direction."""

    model = Relationship
    lookup_url_kwarg = "relationship_id"
    record_name, record_serializer = "relationship", RelationshipResponseSerializer

    def get_queryset(self) -> RelationshipQuerySet:
        """The visible rows; for `restore` and `permanent` also rows in the trash and of people in the trash."""
        rows = Relationship.objects.owned_by(self.owner)
        return rows.within_retention(timezone.now()) if self.action in ACTIONS_IN_THE_TRASH else rows.visible()

    def get_object(self) -> Relationship:
        if self.action in ACTIONS_IN_THE_TRASH:
            return super().get_object()
        return services.find_relationship(self.owner, self.kwargs["relationship_id"])

    def get_record(self, row_id: UUID) -> Representation:
        return load_relationship(self.owner, row_id)

    @extend_schema(operation_id="listRelationships", responses=LIST)
    @conditional
    def list(self, request: Request) -> HttpResponseBase:
        """Every relationship, newest first; both directions of a pair are rows of it."""
        pieces = stream_list("relationships", stream_relationships(self.owner))
        return StreamingHttpResponse(pieces, content_type="application/json")

    @extend_schema(operation_id="createRelationship", request=RelationshipCreateSerializer, responses={200: RECORD})
    @raises(IdTakenError)
    @sends_etag
    def create(self, request: Request) -> Response:
        """Relate two people; the inverse relationship is made with it."""
        values = {"type_id": None, **self.read_body(RelationshipCreateSerializer)}
        content = {name: values.pop(name) for name in services.CONTENT if name in values}
        row = services.create_relationship(owner=self.owner, now=timezone.now(), content=content, **values)
        return self.record_response(row.pk)

    @extend_schema(operation_id="getRelationship", responses=RECORD)
    @conditional_record
    def retrieve(self, request: Request, relationship_id: UUID) -> Response:
        """One relationship."""
        return self.record_response(self.get_object().pk)

    @extend_schema(operation_id="updateRelationship", request=RelationshipUpdateSerializer, responses=RECORD)
    @sends_etag
    @if_match
    def update(self, request: Request, relationship_id: UUID) -> Response:
        """Change the type, the notes, since or until when; the inverse is made to match."""
        # Before the body is validated: an unknown id is 404, whatever the body contains.
        row = self.get_object()
        data = self.read_body(RelationshipUpdateSerializer, partial=True)
        services.update_relationship(owner=self.owner, row=row, data=data, now=timezone.now())
        return self.record_response(row.pk)

    @extend_schema(
        operation_id="deleteRelationship",
        responses={200: envelope("RelationshipDeleted", message=CharField())},
    )
    @if_match
    def destroy(self, request: Request, relationship_id: UUID) -> Response:
        """Put the relationship and its inverse into the trash."""
        services.delete_relationship(owner=self.owner, relationship_id=relationship_id, now=timezone.now())
        return Response({"message": _DELETED})

    @extend_schema(operation_id="restoreRelationship", request=None, responses=RECORD)
    @action(detail=True, methods=["post"])
    @raises(FieldError, NotDeletedError, services.PersonDeletedError)
    @sends_etag
    @if_match
    def restore(self, request: Request, relationship_id: UUID) -> Response:
        """Take the relationship and its inverse out of the trash."""
        row = services.restore_relationship(owner=self.owner, relationship_id=relationship_id, now=timezone.now())
        return self.record_response(row.pk)

    @extend_schema(
        operation_id="removeRelationship",
        responses={200: envelope("RelationshipRemoved", success=BooleanField())},
    )
    @action(detail=True, methods=["delete"])
    @raises(NotDeletedError)
    @if_match
    def permanent(self, request: Request, relationship_id: UUID) -> Response:
        """Remove a deleted relationship and its inverse for good."""
        services.remove_relationship(owner=self.owner, relationship_id=relationship_id, now=timezone.now())
        return Response({"success": True})
