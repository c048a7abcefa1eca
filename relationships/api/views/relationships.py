"""Routes of relationships."""

from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BooleanField, CharField
from rest_framework.views import APIView

from accounts.api.callers import caller
from contacts_project.kernel.api.etags import conditional
from contacts_project.kernel.api.json import streamed
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError, NotDeletedError
from relationships.api.answers import RelationshipAnswer
from relationships.api.serializers import RelationshipCreateSerializer, RelationshipUpdateSerializer
from relationships.models import Relationship
from relationships.projection import all_relationships, relationship_answer
from relationships.services import relationships as services

ONE = envelope("OneRelationship", relationship=RelationshipAnswer())
MANY = envelope("AllRelationships", relationships=RelationshipAnswer(many=True))


def answer_one(request: Request, row: Relationship) -> Response:
    return Response({"relationship": relationship_answer(caller(request), row.pk)})


class RelationshipsView(APIView):
    @extend_schema(operation_id="listRelationships", responses=MANY)
    @conditional
    def get(self, request: Request) -> HttpResponseBase:
        """Every relationship, newest first; both directions of a pair are rows of it."""
        pieces = streamed("relationships", all_relationships(caller(request)))
        return StreamingHttpResponse(pieces, content_type="application/json")

    @extend_schema(
        operation_id="createRelationship",
        request=RelationshipCreateSerializer,
        responses=ONE,
    )
    def post(self, request: Request) -> Response:
        """Relate two people; the inverse relationship is made with it."""
        body = RelationshipCreateSerializer(data=request.data, context={"request": request})
        body.is_valid(raise_exception=True)
        given = {"relationship_type": None, "notes": None, **body.validated_data}
        row = services.create_relationship(owner=caller(request), now=timezone.now(), **given)
        return answer_one(request, row)


class RelationshipView(APIView):
    @extend_schema(operation_id="getRelationship", responses=ONE)
    def get(self, request: Request, relationship_id: str) -> Response:
        """One relationship."""
        return answer_one(request, Relationship.objects.owned_by(caller(request)).visible().find(relationship_id))

    @extend_schema(
        operation_id="updateRelationship",
        request=RelationshipUpdateSerializer,
        responses=ONE,
    )
    def put(self, request: Request, relationship_id: str) -> Response:
        """Change the type, the notes or both; the inverse is made to match."""
        Relationship.objects.owned_by(caller(request)).visible().find(relationship_id)
        body = RelationshipUpdateSerializer(data=request.data, context={"request": request}, partial=True)
        body.is_valid(raise_exception=True)
        row = services.update_relationship(
            owner=caller(request), relationship_id=relationship_id, data=body.validated_data, now=timezone.now()
        )
        return answer_one(request, row)

    @extend_schema(
        operation_id="deleteRelationship",
        responses={200: envelope("RelationshipDeleted", message=CharField())},
    )
    def delete(self, request: Request, relationship_id: str) -> Response:
        """Put the relationship and its inverse into the trash."""
        services.delete_relationship(owner=caller(request), relationship_id=relationship_id, now=timezone.now())
        return Response({"message": "The relationship and its inverse were deleted."})


class RestoreRelationshipView(APIView):
    @extend_schema(operation_id="restoreRelationship", request=None, responses=ONE)
    @raises(FieldError, NotDeletedError, services.PersonDeletedError)
    def post(self, request: Request, relationship_id: str) -> Response:
        """Take the relationship and its inverse out of the trash."""
        row = services.restore_relationship(owner=caller(request), relationship_id=relationship_id, now=timezone.now())
        return answer_one(request, row)


class RemoveRelationshipView(APIView):
    @extend_schema(
        operation_id="removeRelationship",
        responses={200: envelope("RelationshipRemoved", success=BooleanField())},
    )
    @raises(NotDeletedError)
    def delete(self, request: Request, relationship_id: str) -> Response:
        """Remove a deleted relationship and its inverse for good."""
        services.remove_relationship(owner=caller(request), relationship_id=relationship_id, now=timezone.now())
        return Response({"success": True})
