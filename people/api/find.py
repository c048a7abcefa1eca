"""GET /api/find."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.viewsets import ApiViewSet
from contacts_project.kernel.api.queries import integer_parameter, read_integer
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError
from people.api.person_query import read_search
from people.find.hits import MAX_QUERY_LENGTH
from people.find.results import find_people

DEFAULT_LIMIT, MAX_LIMIT = 20, 100
_QUERY = OpenApiParameter(
    "q",
    {"type": "string", "pattern": r"\S"},
    required=True,
    description="Words, an e-mail address, or digits of a number.",
)
_LIMIT = integer_parameter("limit", low=1, description=f"Default {DEFAULT_LIMIT}; above {MAX_LIMIT} counts as that.")


class FoundPersonSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    displayName = serializers.CharField()
    photo = serializers.CharField(allow_null=True)
    organization = serializers.CharField(allow_null=True)


class FoundSerializer(serializers.Serializer[Any]):
    """Somebody who may be meant."""

    person = FoundPersonSerializer()
    score = serializers.FloatField(help_text="1: each word is a whole word of the name.")
    matched = serializers.ListField(child=serializers.CharField(), help_text="The fields that matched.")


class FindViewSet(ApiViewSet[Any]):
    """Finding people."""

    @extend_schema(
        operation_id="findPeople",
        parameters=[_QUERY, _LIMIT],
        responses={200: envelope("FindAnswer", results=FoundSerializer(many=True))},
    )
    @raises(FieldError)
    def list(self, request: Request) -> Response:
        """People by name, also mistyped, e-mail, phone digits, notes, own fields and interactions."""
        query = request.query_params
        limit = min(read_integer(query, "limit", default=DEFAULT_LIMIT, low=1), MAX_LIMIT)
        text = read_search(query, max_length=MAX_QUERY_LENGTH)
        return Response({"results": find_people(self.owner, text, limit)})
