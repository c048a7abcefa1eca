"""The routes of merging: two people into one, and back."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.viewsets import OwnedViewSet
from contacts_project.kernel.api.fields import OwnedField
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import PlanLimitError
from people.api.person_serializer import PersonChangeSerializer, PersonSerializer
from people.merging.merge import AlreadyUndoneError, merge_people, undo_merge
from people.merging.related_rows import UndoConflictError
from people.merging.scalars import OVERRIDABLE_COLUMNS
from people.models import MergeRecord
from people.projection import serialize_people


class FieldOverridesSerializer(PersonChangeSerializer):
    """Single-valued Person fields with the values that the merged person is to have; null clears."""

    def get_fields(self) -> "dict[str, serializers.Field[Any, Any, Any, Any]]":
        return {name: field for name, field in super().get_fields().items() if name in OVERRIDABLE_COLUMNS}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        # DRF ignores unknown keys, and the merge would go ahead without the override.
        if isinstance(data, dict) and (unknown := set(data) - set(OVERRIDABLE_COLUMNS)):
            raise serializers.ValidationError({key: ["This field cannot be overridden."] for key in sorted(unknown)})
        values: dict[str, Any] = super().to_internal_value(data)
        return values


class MergeSerializer(serializers.Serializer[Any]):
    """The secondary goes into the primary."""

    primaryId = OwnedField("people.Person", source="primary")
    secondaryId = OwnedField("people.Person", source="secondary")
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
    def create(self, request: Request) -> Response:
        """Merge the secondary into the primary. The secondary goes to the trash; `mergeId` undoes it all."""
        data = self.read_body(MergeSerializer)
        record = merge_people(
            owner=self.owner,
            primary=data["primary"],
            secondary=data["secondary"],
            overrides=data.get("overrides") or {},
            now=timezone.now(),
        )
        return Response({"person": self._serialize_pair(record)[0], "mergeId": str(record.pk)})

    @extend_schema(
        operation_id="undoMerge",
        request=None,
        responses=envelope("UndoMergeAnswer", person=PersonSerializer(), secondary=PersonSerializer()),
    )
    @action(detail=True, methods=["post"])
    @raises(AlreadyUndoneError, UndoConflictError, PlanLimitError)
    def undo(self, request: Request, merge_id: UUID) -> Response:
        """Put both people back as they were before the merge: `person` is the primary again."""
        primary, secondary = self._serialize_pair(undo_merge(owner=self.owner, merge_id=merge_id, now=timezone.now()))
        return Response({"person": primary, "secondary": secondary})

    def _serialize_pair(self, record: MergeRecord) -> tuple[Any, Any]:
        people = serialize_people(self.owner, [key for key in (record.primary_id, record.secondary_id) if key])
        return people[0], people[1]
