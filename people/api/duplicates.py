"""The routes of duplicates: groups of all, those of one person, and saying that two people are two."""

from typing import Any

from django.http import Http404
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api.callers import caller
from contacts_project.kernel.api.etags import conditional
from contacts_project.kernel.api.fields import OwnedField
from contacts_project.kernel.api.ids import parse_id
from contacts_project.kernel.api.schema import envelope
from people.duplicates.finding import find_duplicates, find_groups
from people.models import Person
from people.services.dismissals import dismiss_pair


class DismissSerializer(serializers.Serializer[Any]):
    """Two own people, in either order."""

    personAId = OwnedField("people.Person", source="one")
    personBId = OwnedField("people.Person", source="other")


class DuplicateMemberSerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    name = serializers.CharField()


class DuplicateGroupSerializer(serializers.Serializer[Any]):
    people = DuplicateMemberSerializer(many=True)
    similarity = serializers.FloatField(min_value=0, max_value=1)


class DuplicateCandidateSerializer(serializers.Serializer[Any]):
    personId = serializers.CharField()
    name = serializers.CharField()
    similarity = serializers.FloatField(min_value=0, max_value=1)


class DuplicateGroupsView(APIView):
    @extend_schema(
        operation_id="listDuplicateGroups",
        responses=envelope("DuplicateGroupsAnswer", groups=DuplicateGroupSerializer(many=True)),
    )
    @conditional
    def get(self, request: Request) -> HttpResponseBase:
        """Groups of people who are likely one, the most similar first; `similarity` is that of the closest pair."""
        groups = [
            {"people": [person._asdict() for person in group.people], "similarity": group.similarity}
            for group in find_groups(caller(request))
        ]
        return Response({"groups": groups})


class PersonDuplicatesView(APIView):
    @extend_schema(
        operation_id="listDuplicatesOfPerson",
        responses=envelope("PersonDuplicatesAnswer", duplicates=DuplicateCandidateSerializer(many=True)),
    )
    @conditional
    def get(self, request: Request, person_id: str) -> HttpResponseBase:
        """The people who are likely this person, the most similar first."""
        key = parse_id(person_id)
        person = Person.objects.owned_by(request.user).active().filter(pk=key).first() if key else None
        if person is None:
            raise Http404
        duplicates = [
            {"personId": found.person.id, "name": found.person.name, "similarity": found.similarity}
            for found in find_duplicates(caller(request), person)
        ]
        return Response({"duplicates": duplicates})


class DismissDuplicateView(APIView):
    @extend_schema(
        operation_id="dismissDuplicate",
        request=DismissSerializer,
        responses=envelope("DismissedAnswer", dismissed=serializers.BooleanField()),
    )
    def post(self, request: Request) -> Response:
        """Say that two people are two: they are not suggested as one any more."""
        serializer = DismissSerializer(data=request.data, context={"request": request})
        serializer.is_valid(raise_exception=True)
        dismiss_pair(owner=caller(request), **serializer.validated_data)
        return Response({"dismissed": True})
