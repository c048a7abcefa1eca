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

from accounts.api.viewsets import OwnedViewSet
from contacts_project.kernel.api.etags import conditional
from contacts_project.kernel.api.json import streamed
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError, NotDeletedError
from relationships.api.answers import RelationshipAnswer
from relationships.api.serializers import RelationshipCreateSerializer, RelationshipUpdateSerializer
from relationships.models import Relationship
from relationships.models.relationship import RelationshipQuerySet
from relationships.projection import all_relationships, relationship_answer
from relationships.services import relationships as services

ONE = envelope("OneRelationship", relationship=RelationshipAnswer())
MANY = envelope("AllRelationships", relationships=RelationshipAnswer(many=True))


class RelationshipViewSet(OwnedViewSet[Relationship]):
    """Relationships; both directions of a pair are rows of it."""

    model = Relationship
    lookup_url_kwarg = "relationship_id"

    def get_queryset(self) -> RelationshipQuerySet:
        return Relationship.objects.owned_by(self.owner).visible()

    @extend_schema(operation_id="listRelationships", responses=MANY)
    @conditional
    def list(self, request: Request) -> HttpResponseBase:
        """Every relationship, newest first; both directions of a pair are rows of it."""
        pieces = streamed("relationships", all_relationships(self.owner))
        return StreamingHttpResponse(pieces, content_type="application/json")

    @extend_schema(operation_id="createRelationship", request=RelationshipCreateSerializer, responses={200: ONE})
    def create(self, request: Request) -> Response:
        """Relate two people; the inverse relationship is made with it."""
        given = {"relationship_type": None, "notes": None, **self.read_body(RelationshipCreateSerializer)}
        return self._answer(services.create_relationship(owner=self.owner, now=timezone.now(), **given))

    @extend_schema(operation_id="getRelationship", responses=ONE)
    def retrieve(self, request: Request, relationship_id: UUID) -> Response:
        """One relationship."""
        return self._answer(self.get_object())

    @extend_schema(operation_id="updateRelationship", request=RelationshipUpdateSerializer, responses=ONE)
    def update(self, request: Request, relationship_id: UUID) -> Response:
        """Change the type, the notes or both; the inverse is made to match."""
        self.get_object()
        data = self.read_body(RelationshipUpdateSerializer, partial=True)
        row = services.update_relationship(
            owner=self.owner, relationship_id=relationship_id, data=data, now=timezone.now()
        )
        return self._answer(row)

    @extend_schema(
        operation_id="deleteRelationship",
        responses={200: envelope("RelationshipDeleted", message=CharField())},
    )
    def destroy(self, request: Request, relationship_id: UUID) -> Response:
        """Put the relationship and its inverse into the trash."""
        services.delete_relationship(owner=self.owner, relationship_id=relationship_id, now=timezone.now())
        return Response({"message": "The relationship and its inverse were deleted."})

    @extend_schema(operation_id="restoreRelationship", request=None, responses=ONE)
    @action(detail=True, methods=["post"])
    @raises(FieldError, NotDeletedError, services.PersonDeletedError)
    def restore(self, request: Request, relationship_id: UUID) -> Response:
        """Take the relationship and its inverse out of the trash."""
        row = services.restore_relationship(owner=self.owner, relationship_id=relationship_id, now=timezone.now())
        return self._answer(row)

    @extend_schema(
        operation_id="removeRelationship",
        responses={200: envelope("RelationshipRemoved", success=BooleanField())},
    )
    @action(detail=True, methods=["delete"])
    @raises(NotDeletedError)
    def permanent(self, request: Request, relationship_id: UUID) -> Response:
        """Remove a deleted relationship and its inverse for good."""
        services.remove_relationship(owner=self.owner, relationship_id=relationship_id, now=timezone.now())
        return Response({"success": True})

    def _answer(self, row: Relationship) -> Response:
        return Response({"relationship": relationship_answer(self.owner, row.pk)})
