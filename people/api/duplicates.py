"""The routes of duplicates: find them, merge two people into one and back, or say that they are two."""

from typing import Any
from uuid import UUID

from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import sends_etag
from accounts.api.viewsets import OwnedViewSet, TrashViewSet
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.etags import conditional
from contacts_project.kernel.api.fields import LockedIdField, OwnedIdField
from contacts_project.kernel.api.schema import AnyField, envelope, raises
from contacts_project.kernel.errors import PlanLimitError
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import define_text
from people.api.person_serializer import PersonChangeSerializer, PersonSerializer
from people.counts import DUPLICATES, remember_search
from people.duplicates.finder import find_duplicates, find_groups
from people.merging.fields import OVERRIDABLE_COLUMNS
from people.merging.merge import list_merges, merge_people
from people.merging.related_rows import UndoConflictError
from people.merging.undo import MergeUndoneError, undo_merge
from people.models import MergeRecord, Person
from people.projection.people import represent_people, represent_person
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
        remember_search(self.owner.pk, DUPLICATES, len(groups))
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


_NOT_OVERRIDABLE = define_text("not_overridable", "This field cannot be overridden.")


class FieldOverridesSerializer(PersonChangeSerializer):
    """Single-valued Person fields with the values that the merged person is to have; null clears."""

    def get_fields(self) -> dict[str, AnyField]:
        return {name: field for name, field in super().get_fields().items() if name in OVERRIDABLE_COLUMNS}

    def to_internal_value(self, data: object) -> JsonObject:
        # DRF ignores unknown keys, and the merge would go ahead without the override.
        if isinstance(data, dict) and (unknown := set(data) - set(OVERRIDABLE_COLUMNS)):
            raise InvalidError({key: [_NOT_OVERRIDABLE] for key in sorted(unknown)})
        values: dict[str, Any] = super().to_internal_value(data)
        return values


class MergeSerializer(serializers.Serializer[Any]):
    """The secondary goes into the primary."""

    primaryId = LockedIdField(source="primary_id")
    secondaryId = LockedIdField(source="secondary_id")
    fieldOverrides = FieldOverridesSerializer(required=False, allow_null=True, source="overrides")


class MergeViewSet(OwnedViewSet[MergeRecord]):
    """Merging of two people, and undoing it."""

    model = MergeRecord
    lookup_url_kwarg = "merge_id"

    @extend_schema(
        operation_id="mergePeople",
        request=MergeSerializer,
        responses={200: envelope("MergeAnswer", person=PersonSerializer(), mergeId=serializers.UUIDField())},
    )
    @raises(PlanLimitError)
    @sends_etag
    def create(self, request: Request) -> Response:
        """Merge the secondary into the primary. The secondary goes to the trash; `mergeId` undoes it all."""
        data = self.read_body(MergeSerializer)
        record = merge_people(
            owner=self.owner,
            primary_id=data["primary_id"],
            secondary_id=data["secondary_id"],
            overrides=data.get("overrides") or {},
            now=timezone.now(),
        )
        person = represent_person(self.owner, data["primary_id"])
        return Response({"person": person.body, "mergeId": str(record.pk)}, headers={"ETag": person.etag})

    @extend_schema(
        operation_id="undoMerge",
        request=None,
        responses=envelope("UndoMergeAnswer", person=PersonSerializer(), secondary=PersonSerializer()),
    )
    @action(detail=True, methods=["post"])
    @raises(MergeUndoneError, UndoConflictError, PlanLimitError)
    @sends_etag
    def undo(self, request: Request, merge_id: UUID) -> Response:
        """Put both people back as they were before the merge: `person` is the primary again."""
        record = undo_merge(owner=self.owner, merge_id=merge_id, now=timezone.now())
        ids = [key for key in (record.primary_id, record.secondary_id) if key]
        found = represent_people(self.owner, ids)
        person, secondary = (found[key] for key in ids)
        return Response({"person": person.body, "secondary": secondary.body}, headers={"ETag": person.etag})


class MergedPersonSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()


_MERGED = envelope(
    "Merge",
    mergeId=serializers.UUIDField(),
    primary=MergedPersonSerializer(allow_null=True),
    secondary=MergedPersonSerializer(allow_null=True),
    mergedAt=serializers.DateTimeField(),
    undoneAt=serializers.DateTimeField(allow_null=True),
    undoable=serializers.BooleanField(),
)


class MergeListViewSet(OwnedViewSet[MergeRecord]):
    """What was merged."""

    model = MergeRecord

    @extend_schema(
        operation_id="listMerges",
        responses=envelope("Merges", merges=serializers.ListField(child=_MERGED)),
    )
    def list(self, request: Request) -> Response:
        """The merges of the retention period, newest first. A person who was removed for good is null."""
        return Response({"merges": list_merges(owner=self.owner, now=timezone.now())})
