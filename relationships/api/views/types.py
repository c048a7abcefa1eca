"""Routes of relationship types."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BooleanField
from rest_framework.views import APIView

from accounts.api.callers import caller
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError, NotDeletedError
from contacts_project.kernel.ownership.models import TrashQuerySet
from relationships.api.answers import RelationshipTypeAnswer
from relationships.api.serializers import RelationshipTypeSerializer
from relationships.models import RelationshipType
from relationships.projection import type_answer, type_answers
from relationships.services import types as services

ONE = envelope("OneRelationshipType", relationshipType=RelationshipTypeAnswer())
MANY = envelope("AllRelationshipTypes", relationshipTypes=RelationshipTypeAnswer(many=True))
DONE = envelope("RelationshipTypeDone", success=BooleanField())


def own_types(request: Request) -> TrashQuerySet[RelationshipType]:
    return RelationshipType.objects.owned_by(caller(request)).active().select_related("inverse")


def answer_one(request: Request, row: RelationshipType) -> Response:
    return Response({"relationshipType": type_answer(own_types(request).get(pk=row.pk))})


class RelationshipTypesView(APIView):
    @extend_schema(operation_id="listRelationshipTypes", responses=MANY)
    def get(self, request: Request) -> Response:
        """All relationship types, by label."""
        return Response({"relationshipTypes": type_answers(own_types(request).order_by("label", "id"))})

    @extend_schema(
        operation_id="createRelationshipType",
        request=RelationshipTypeSerializer,
        responses=ONE,
    )
    def post(self, request: Request) -> Response:
        """Define a type: symmetric, or with the inverse that inverseId names or inverseLabel makes."""
        body = RelationshipTypeSerializer(data=request.data, context={"request": request})
        body.is_valid(raise_exception=True)
        row = services.create_type(owner=caller(request), data=body.validated_data, now=timezone.now())
        return answer_one(request, row)


class RelationshipTypeView(APIView):
    @extend_schema(operation_id="getRelationshipType", responses=ONE)
    def get(self, request: Request, type_id: str) -> Response:
        """One relationship type."""
        return answer_one(request, own_types(request).find(type_id))

    @extend_schema(
        operation_id="updateRelationshipType",
        request=RelationshipTypeSerializer(partial=True),
        responses=ONE,
    )
    def put(self, request: Request, type_id: str) -> Response:
        """Change what is sent; a change of the inverse also changes the relationships of this type."""
        own_types(request).find(type_id)
        body = RelationshipTypeSerializer(data=request.data, context={"request": request}, partial=True)
        body.is_valid(raise_exception=True)
        row = services.update_type(owner=caller(request), type_id=type_id, data=body.validated_data, now=timezone.now())
        return answer_one(request, row)

    @extend_schema(operation_id="deleteRelationshipType", responses={200: DONE})
    @raises(services.TypeInUseError)
    def delete(self, request: Request, type_id: str) -> Response:
        """Put a type that is not in use into the trash; its inverse stays, without one."""
        services.delete_type(owner=caller(request), type_id=type_id, now=timezone.now())
        return Response({"success": True})


class RestoreRelationshipTypeView(APIView):
    @extend_schema(operation_id="restoreRelationshipType", request=None, responses=ONE)
    @raises(FieldError, NotDeletedError)
    def post(self, request: Request, type_id: str) -> Response:
        """Take a type out of the trash; it is the inverse again of what it was the inverse of."""
        return answer_one(request, services.restore_type(owner=caller(request), type_id=type_id, now=timezone.now()))


class RemoveRelationshipTypeView(APIView):
    @extend_schema(operation_id="removeRelationshipType", responses={200: DONE})
    @raises(NotDeletedError)
    def delete(self, request: Request, type_id: str) -> Response:
        """Remove a deleted type for good; references to it are cleared."""
        services.remove_type(owner=caller(request), type_id=type_id, now=timezone.now())
        return Response({"success": True})
