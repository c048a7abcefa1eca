"""Routes of shares: what up to eight accounts keep together, as one of them sees it."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import if_match, sends_etag
from accounts.api.viewsets import OwnedViewSet
from accounts.vocabularies import DateReminders
from contacts_project.kernel.api.errors import NOT_A_LIST, InvalidError
from contacts_project.kernel.api.etags import conditional_status
from contacts_project.kernel.api.fields import (
    ClientIdField,
    OwnedIdField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
)
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError, MissingError
from contacts_project.kernel.json import Representation
from contacts_project.kernel.ownership.client_ids import IdTakenError
from contacts_project.kernel.text_forms import NOT_A_CHOICE
from people.api.conflicts import ConflictFieldSerializer
from sharing.models import Newcomers, PrivateField, ShareMembership, ShareState
from sharing.models.neutral import MAX_NAME_LENGTH
from sharing.projection import list_shares, represent_share
from sharing.services import shares as service
from sharing.services.leaving import People, leave_share, remove_member


class ShareMemberSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    you = serializers.BooleanField()
    host = serializers.BooleanField()
    joinedAt = serializers.DateTimeField()


class ShareSerializer(serializers.Serializer[Any]):
    """People that several accounts keep together, as this account sees it."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    groupId = serializers.UUIDField(allow_null=True)
    private = serializers.ListField(
        child=serializers.ChoiceField(list(PrivateField.values)), help_text="What does not travel from here."
    )
    reminders = serializers.ChoiceField(
        list(DateReminders.values), help_text="Which dates that arrive get a reminder here."
    )
    newcomers = serializers.ChoiceField(list(Newcomers.values))
    state = serializers.ChoiceField(list(ShareState.values))
    members = ShareMemberSerializer(many=True)
    peopleCount = serializers.IntegerField(help_text="People of the share, whoever has them.")
    waitingCount = serializers.IntegerField()
    conflictCount = serializers.IntegerField()
    lastChangeAt = serializers.DateTimeField(allow_null=True)
    createdAt = serializers.DateTimeField()
    updatedAt = serializers.DateTimeField()


class LeaveShareSerializer(serializers.Serializer[Any]):
    people = StrictChoiceField(
        list(People.values),
        required=False,
        default=People.KEEP.value,
        help_text="trash: those that the share made here, and nobody has edited since.",
    )


class ShareConflictSerializer(serializers.Serializer[Any]):
    """Fields that this account and another member have changed to different values."""

    id = serializers.UUIDField()
    shareId = serializers.UUIDField()
    personId = serializers.UUIDField(allow_null=True)
    personName = serializers.CharField()
    fields = ConflictFieldSerializer(many=True)  # type: ignore[assignment]  # hides Serializer.fields
    by = serializers.CharField(allow_null=True)
    createdAt = serializers.DateTimeField()


@extend_schema_field({"type": "array", "items": {"type": "string", "enum": list(PrivateField.values)}})
class PrivateFieldsField(serializers.Field[list[str], Any, list[str], Any]):
    """Names of fields, each once, in the order of PrivateField."""

    def to_internal_value(self, data: object) -> list[str]:
        if not isinstance(data, list):
            raise InvalidError(NOT_A_LIST)
        choices = list(PrivateField.values)
        refusal = NOT_A_CHOICE.format(choices=choices)
        unknown = {str(i): [refusal] for i, n in enumerate(data) if not (isinstance(n, str) and n in choices)}
        if unknown:
            raise InvalidError(unknown)
        return [name for name in choices if name in data]

    def to_representation(self, value: list[str]) -> list[str]:
        return value


class MembershipSettingsSerializer(serializers.Serializer[Any]):
    """What a member decides for itself."""

    private = PrivateFieldsField(required=False)
    reminders = StrictChoiceField(list(DateReminders.values), required=False)
    newcomers = StrictChoiceField(list(Newcomers.values), required=False)


class CreateShareSerializer(MembershipSettingsSerializer):
    id = ClientIdField(required=False)
    name = StrictCharField(max_length=MAX_NAME_LENGTH)
    groupId = OwnedIdField("people.Group", source="group_id")


class UpdateShareSerializer(MembershipSettingsSerializer):
    """What is left out stays."""

    name = StrictCharField(max_length=MAX_NAME_LENGTH, required=False, help_text="Only the host may change it.")
    paused = StrictBooleanField(required=False)


RECORD = envelope("ShareAnswer", share=ShareSerializer())


class ShareViewSet(OwnedViewSet[ShareMembership]):
    """The account's shares."""

    model = ShareMembership
    lookup_url_kwarg = "share_id"
    record_name, record_serializer = "share", ShareSerializer

    def get_object(self) -> ShareMembership:
        return ShareMembership.objects.owned_by(self.owner).find_share(self.kwargs["share_id"])

    def get_record(self, row_id: UUID) -> Representation:
        """By the id of the share, which is what clients know."""
        return represent_share(self.owner, row_id)

    def current_record(self) -> Representation:
        return represent_share(self.owner, self.kwargs["share_id"])

    def stored_revision(self) -> int | None:
        rows = ShareMembership.objects.owned_by(self.owner).current().filter(share=self.kwargs["share_id"])
        revision: int | None = rows.values_list("revision", flat=True).first()
        return revision

    @extend_schema(operation_id="listShares", responses=envelope("SharesAnswer", shares=ShareSerializer(many=True)))
    def list(self, request: Request) -> Response:
        """The account's shares, the first one first."""
        return Response({"shares": list_shares(self.owner)})

    @extend_schema(operation_id="createShare", request=CreateShareSerializer, responses={201: RECORD})
    @raises(FieldError, IdTakenError, service.AlreadySharedError, service.TooManySharesError)
    @sends_etag
    def create(self, request: Request) -> Response:
        """Share a group, as its host. Nobody else is in it yet."""
        data = self.read_body(CreateShareSerializer)
        key = service.create_share(owner=self.owner, data=data, now=timezone.now())
        return self.record_response(key, 201)

    @extend_schema(operation_id="getShare", responses=RECORD)
    @raises(MissingError)
    @conditional_status
    def retrieve(self, request: Request, share_id: UUID) -> Response:
        """One share."""
        return self.record_response(self.get_object().share_id)

    @extend_schema(operation_id="updateShare", request=UpdateShareSerializer, responses={200: RECORD})
    @raises(FieldError, MissingError, service.NotHostError, service.GroupDeletedError)
    @sends_etag
    @if_match
    def update(self, request: Request, share_id: UUID) -> Response:
        """Change what travels from here, what arrives and how; pause, or go on."""
        key = self.get_object().share_id
        data = self.read_body(UpdateShareSerializer)
        service.update_share(owner=self.owner, share_id=key, data=data, now=timezone.now())
        return self.record_response(key)

    @extend_schema(
        operation_id="leaveShare",
        request=LeaveShareSerializer,
        responses={
            200: envelope(
                "ShareLeft",
                success=serializers.BooleanField(),
                kept=serializers.IntegerField(),
                trashed=serializers.IntegerField(),
            )
        },
    )
    @action(detail=True, methods=["delete"])
    @raises(FieldError, MissingError)
    def membership(self, request: Request, share_id: UUID) -> Response:
        """Leave a share. Its people stay; with `trash` those go that the share made here and nobody has edited."""
        key = self.get_object().share_id
        data = self.read_body(LeaveShareSerializer)
        left = leave_share(owner=self.owner, share_id=key, people=data["people"], now=timezone.now())
        return Response({"success": True, "kept": left.kept, "trashed": left.trashed})

    @extend_schema(
        operation_id="removeShareMember",
        responses={200: envelope("ShareMemberRemoved", success=serializers.BooleanField())},
    )
    @action(detail=True, methods=["delete"], url_path="members/<id:member_id>")
    @raises(FieldError, MissingError, service.NotHostError)
    def remove_member(self, request: Request, share_id: UUID, member_id: UUID) -> Response:
        """As the host, remove another member, who keeps all people."""
        key = self.get_object().share_id
        remove_member(owner=self.owner, share_id=key, member_id=member_id, now=timezone.now())
        return Response({"success": True})
