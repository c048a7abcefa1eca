"""The routes of duplicates: groups, duplicates of one person, and dismissing a pair."""

from typing import Any
from uuid import UUID

from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.viewsets import TrashViewSet
from contacts_project.kernel.api.etags import conditional
from contacts_project.kernel.api.fields import OwnedIdField
from contacts_project.kernel.api.schema import envelope
from people.duplicates.finder import find_duplicates, find_groups
from people.models import Person
from people.services.dismissals import dismiss_pair


class DismissSerializer(serializers.Serializer[Any]):
    """Two own people, in either order."""

    personAId = OwnedIdField("people.Person", source="one_id")
    personBId = OwnedIdField("people.Person", source="other_id")


class DismissalSerializer(serializers.Serializer[Any]):
    """A pair of people that are no duplicates, as the change feed shows it."""

    id = serializers.UUIDField()
    personAId = serializers.UUIDField()
    personBId = serializers.UUIDField()


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


class DuplicateViewSet(TrashViewSet[Person]):
    """Duplicates among the caller's people."""

    model = Person
    lookup_url_kwarg = "person_id"

    @extend_schema(
        operation_id="listDuplicateGroups",
        responses=envelope("DuplicateGroupsAnswer", groups=DuplicateGroupSerializer(many=True)),
    )
    @action(detail=False, url_path="duplicates")
    @conditional
    def list_groups(self, request: Request) -> HttpResponseBase:
        """Groups of people who are likely one, the most similar first; `similarity` is that of the closest pair."""
        groups = [
            {"people": [person._asdict() for person in group.people], "similarity": group.similarity}
            for group in find_groups(self.owner)
        ]
        return Response({"groups": groups})

    @extend_schema(
        operation_id="listDuplicatesOfPerson",
        responses=envelope("PersonDuplicatesAnswer", duplicates=DuplicateCandidateSerializer(many=True)),
    )
    @action(detail=True, url_path="duplicates")
    @conditional
    def list_of_person(self, request: Request, person_id: UUID) -> HttpResponseBase:
        """The people who are likely this person, the most similar first."""
        duplicates = [
            {"personId": found.person.id, "name": found.person.name, "similarity": found.similarity}
            for found in find_duplicates(self.owner, self.get_object())
        ]
        return Response({"duplicates": duplicates})

    @extend_schema(
        operation_id="dismissDuplicate",
        request=DismissSerializer,
        responses=envelope("DismissedAnswer", dismissed=serializers.BooleanField()),
    )
    @action(detail=False, methods=["post"], url_path="duplicates/dismiss")
    def dismiss(self, request: Request) -> Response:
        """Say that two people are two: they are not suggested as one any more."""
        dismiss_pair(owner=self.owner, **self.read_body(DismissSerializer))
        return Response({"dismissed": True})
