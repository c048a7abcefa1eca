"""Routes of relationship types."""

from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BooleanField

from accounts.api.decorators import if_match, sends_etag
from accounts.api.viewsets import TrashViewSet
from contacts_project.kernel.api.etags import conditional_record
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError, NotDeletedError
from contacts_project.kernel.json import Representation
from contacts_project.kernel.ownership.client_ids import IdTakenError
from people.models import RelationshipType
from relationships.api.serializers import (
    NewRelationshipTypeSerializer,
    RelationshipTypeResponseSerializer,
    RelationshipTypeSerializer,
)
from relationships.projection import list_types, represent_type
from relationships.services import types as services

RECORD = envelope("OneRelationshipType", relationshipType=RelationshipTypeResponseSerializer())
LIST = envelope("AllRelationshipTypes", relationshipTypes=RelationshipTypeResponseSerializer(many=True))
DONE = envelope("RelationshipTypeDone", success=BooleanField())


class RelationshipTypeViewSet(TrashViewSet[RelationshipType]):
    model = RelationshipType
    lookup_url_kwarg = "type_id"
    record_name, record_serializer = "relationshipType", RelationshipTypeResponseSerializer

    def get_record(self, row_id: UUID) -> Representation:
        return represent_type(self.owner, row_id)

    @extend_schema(operation_id="listRelationshipTypes", responses=LIST)
    def list(self, request: Request) -> Response:
        """All relationship types, by label."""
        return Response({"relationshipTypes": list_types(self.owner)})

    @extend_schema(
        operation_id="createRelationshipType", request=NewRelationshipTypeSerializer, responses={200: RECORD}
    )
    @raises(IdTakenError)
    @sends_etag
    def create(self, request: Request) -> Response:
        """Define a type: symmetric, or with the inverse that inverseId names or inverseLabel makes."""
        data = self.read_body(NewRelationshipTypeSerializer)
        return self.record_response(services.create_type(owner=self.owner, data=data, now=timezone.now()).pk)

    @extend_schema(operation_id="getRelationshipType", responses=RECORD)
    @conditional_record
    def retrieve(self, request: Request, type_id: UUID) -> Response:
        """One relationship type."""
        return self.record_response(self.get_object().pk)

    @extend_schema(
        operation_id="updateRelationshipType",
        request=RelationshipTypeSerializer(partial=True),
        responses=RECORD,
    )
    @sends_etag
    @if_match
    def update(self, request: Request, type_id: UUID) -> Response:
        """Change what is sent; a change of the inverse also changes the relationships of this type."""
        # Before the body is validated: an unknown id is 404, whatever the body contains.
        self.get_object()
        data = self.read_body(RelationshipTypeSerializer, partial=True)
        return self.record_response(
            services.update_type(owner=self.owner, type_id=type_id, data=data, now=timezone.now()).pk
        )

    @extend_schema(operation_id="deleteRelationshipType", responses={200: DONE})
    @raises(services.TypeInUseError)
    @if_match
    def destroy(self, request: Request, type_id: UUID) -> Response:
        """Put a type that is not in use into the trash; its inverse stays, without one."""
        services.delete_type(owner=self.owner, type_id=type_id, now=timezone.now())
        return Response({"success": True})

    @extend_schema(operation_id="restoreRelationshipType", request=None, responses=RECORD)
    @action(detail=True, methods=["post"])
    @raises(FieldError, NotDeletedError)
    @sends_etag
    @if_match
    def restore(self, request: Request, type_id: UUID) -> Response:
        """Take a type out of the trash; it is the inverse again of what it was the inverse of."""
        return self.record_response(services.restore_type(owner=self.owner, type_id=type_id, now=timezone.now()).pk)

    @extend_schema(operation_id="removeRelationshipType", responses={200: DONE})
    @action(detail=True, methods=["delete"])
    @raises(NotDeletedError)
    @if_match
    def permanent(self, request: Request, type_id: UUID) -> Response:
        """Remove a deleted type for good; references to it are cleared."""
        services.remove_type(owner=self.owner, type_id=type_id, now=timezone.now())
        return Response({"success": True})
