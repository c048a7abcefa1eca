"""Routes of suggested relationships."""

from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.viewsets import ApiViewSet
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.etags import conditional
from contacts_project.kernel.api.fields import OwnedIdField
from contacts_project.kernel.api.schema import envelope
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import define_text
from people.counts import SUGGESTIONS, remember_search
from people.models import Person
from relationships.api.serializers import SuggestionErrorSerializer, SuggestionIdsSerializer, SuggestionSerializer
from relationships.services import suggestions as services

_ONE_ID = define_text("one_id_alone", "This goes with one id alone.")

LIST = envelope("RelationshipSuggestions", suggestions=SuggestionSerializer(many=True))
ACCEPTED = envelope(
    "SuggestionsAccepted", accepted=serializers.IntegerField(), errors=SuggestionErrorSerializer(many=True)
)
DISMISSED = envelope(
    "SuggestionsDismissed", dismissed=serializers.IntegerField(), errors=SuggestionErrorSerializer(many=True)
)


@extend_schema_serializer(component_name="Accept")  # otherwise it would inherit "Answer"
class AcceptSerializer(SuggestionIdsSerializer):
    relatedPersonId = OwnedIdField(
        "people.Person",
        source="related_person_id",
        required=False,
        allow_null=True,
        help_text="Whom the one suggestion means, where it is another or nobody yet.",
    )

    def validate(self, attrs: JsonObject) -> JsonObject:
        if attrs.get("related_person_id") and len(attrs["ids"]) > 1:
            raise InvalidError({"relatedPersonId": [_ONE_ID]})
        return attrs


class SuggestionViewSet(ApiViewSet[Person]):
    """Likely relationships, which the account accepts or dismisses."""

    @extend_schema(operation_id="listRelationshipSuggestions", responses=LIST)
    @conditional
    def list(self, request: Request) -> HttpResponseBase:
        """Likely relationships, by cards, common parents, a spouse's children, addresses: 200 of each reason."""
        suggestions = services.list_suggestions(self.owner)
        remember_search(self.owner.pk, SUGGESTIONS, len(suggestions))
        return Response({"suggestions": suggestions})

    @extend_schema(operation_id="acceptRelationshipSuggestions", request=AcceptSerializer, responses={200: ACCEPTED})
    @action(detail=False, methods=["post"])
    def accept(self, request: Request) -> Response:
        """Make the relationships; a name that nobody has makes a person."""
        body = {"related_person_id": None, **self.read_body(AcceptSerializer)}
        accepted, errors = services.accept_suggestions(owner=self.owner, now=timezone.now(), **body)
        return Response({"accepted": accepted, "errors": errors})

    @extend_schema(
        operation_id="dismissRelationshipSuggestions", request=SuggestionIdsSerializer, responses={200: DISMISSED}
    )
    @action(detail=False, methods=["post"])
    def dismiss(self, request: Request) -> Response:
        """Never suggest these again."""
        dismissed, errors = services.dismiss_suggestions(owner=self.owner, **self.read_body(SuggestionIdsSerializer))
        return Response({"dismissed": dismissed, "errors": errors})
