"""Groups: fields, responses, routes."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import if_match, sends_etag
from accounts.api.viewsets import TrashViewSet
from contacts_project.kernel.api.etags import conditional, conditional_record
from contacts_project.kernel.api.fields import ClientIdField, ColorField, OwnedIdField, OwnedListField, StrictCharField
from contacts_project.kernel.api.queries import read_flag
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError, NotDeletedError, PlanLimitError
from contacts_project.kernel.json import Representation
from contacts_project.kernel.ownership.client_ids import IdTakenError
from contacts_project.kernel.texts import define_text
from people.api.transferred_fields import ContactRuleSerializer, RuleSerializer
from people.models import Group
from people.projection.records import list_groups, represent_group, serialize_groups
from people.services import groups as service
from people.services.groups import add_member, apply_rule, remove_member

_DELETED = define_text("group_deleted", "The group was deleted.")


class GroupChangeSerializer(RuleSerializer):
    """The body of a change: what it leaves out stays."""

    name = StrictCharField(max_length=100, required=False)
    description = StrictCharField(max_length=500, required=False, allow_null=True)
    color = ColorField(required=False, allow_null=True)


class GroupCreateSerializer(GroupChangeSerializer):
    """The body of a new group, which may start with members."""

    id = ClientIdField(required=False)
    name = StrictCharField(max_length=100)
    peopleIds = OwnedListField("people.Person", required=False)


class GroupSerializer(serializers.Serializer[Any]):
    """A group in an answer."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    description = serializers.CharField(allow_null=True)
    color = ColorField()
    contactReminder = ContactRuleSerializer(allow_null=True)
    leadDays = serializers.IntegerField(allow_null=True)
    memberCount = serializers.IntegerField()
    deletedAt = serializers.DateTimeField(allow_null=True)
    createdAt = serializers.DateTimeField()
    updatedAt = serializers.DateTimeField()


class MemberSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()


class GroupWithPeopleSerializer(GroupSerializer):
    """One group, with the display names of its members."""

    people = MemberSerializer(many=True)


class MemberAddSerializer(serializers.Serializer[Any]):
    personId = OwnedIdField("people.Person")


_RECORD = envelope("GroupAnswer", group=GroupWithPeopleSerializer())
_WITHOUT_PEOPLE = envelope("GroupMemberAdded", group=GroupSerializer())
_LIST = envelope("GroupsAnswer", groups=GroupSerializer(many=True))
_MESSAGE = envelope("GroupDeleted", message=serializers.CharField())
_SUCCESS = envelope("GroupRemoved", success=serializers.BooleanField())
_AFFECTED = envelope("GroupRuleApplied", affectedCount=serializers.IntegerField(help_text="People who have changed."))
_DELETE_PEOPLE = OpenApiParameter("deletePeople", bool, description="Move the members to the trash too.")


class GroupViewSet(TrashViewSet[Group]):
    """The caller's groups."""

    model = Group
    lookup_url_kwarg = "group_id"
    record_name, record_serializer = "group", GroupWithPeopleSerializer

    def get_record(self, row_id: UUID) -> Representation:
        return represent_group(self.owner, row_id)

    @extend_schema(operation_id="listGroups", responses=_LIST)
    @conditional
    def list(self, request: Request) -> Response:
        """Every group by name, each with the number of its members."""
        return Response({"groups": list_groups(self.owner)})

    @extend_schema(operation_id="createGroup", request=GroupCreateSerializer, responses={201: _RECORD})
    @raises(PlanLimitError, IdTakenError)
    @sends_etag
    def create(self, request: Request) -> Response:
        """Make a group; without a colour it gets one by its name."""
        data = self.read_body(GroupCreateSerializer)
        people = data.pop("peopleIds", [])
        group = service.create_group(owner=self.owner, data=data, people=people, now=timezone.now())
        return self.record_response(group.pk, 201)

    @extend_schema(operation_id="getGroup", responses=_RECORD)
    @conditional_record
    def retrieve(self, request: Request, group_id: UUID) -> Response:
        """One group with its people."""
        return self.record_response(self.get_object().pk)

    @extend_schema(operation_id="updateGroup", request=GroupChangeSerializer, responses={200: _RECORD})
    @sends_etag
    @if_match
    def update(self, request: Request, group_id: UUID) -> Response:
        """Change a group; what the body leaves out stays."""
        group = self.get_object()
        data = self.read_body(GroupChangeSerializer)
        return self.record_response(service.update_group(group=group, data=data).pk)

    @extend_schema(operation_id="deleteGroup", parameters=[_DELETE_PEOPLE], responses={200: _MESSAGE})
    @if_match
    def destroy(self, request: Request, group_id: UUID) -> Response:
        """Move a group to the trash; with deletePeople=true, its members too."""
        with_people = read_flag(request.query_params, "deletePeople", default=False)
        service.delete_group(group=self.get_object(), with_people=with_people, now=timezone.now())
        return Response({"message": _DELETED})

    @extend_schema(operation_id="restoreGroup", request=None, responses={200: _RECORD})
    @action(detail=True, methods=["post"])
    @raises(FieldError, NotDeletedError, PlanLimitError)
    @sends_etag
    @if_match
    def restore(self, request: Request, group_id: UUID) -> Response:
        """Take a group out of the trash, with the members it had."""
        return self.record_response(service.restore_group(group=self.get_object(), now=timezone.now()).pk)

    @extend_schema(operation_id="removeGroup", responses={200: _SUCCESS})
    @action(detail=True, methods=["delete"])
    @raises(NotDeletedError)
    @if_match
    def permanent(self, request: Request, group_id: UUID) -> Response:
        """Remove a deleted group for good; its people stay."""
        service.remove_group(group=self.get_object())
        return Response({"success": True})

    @extend_schema(operation_id="applyGroupRule", request=None, responses={200: _AFFECTED})
    @action(detail=True, methods=["post"], url_path="apply-rule")
    @raises(PlanLimitError)
    @if_match
    def apply_rule(self, request: Request, group_id: UUID) -> Response:
        """Write the group's rule to all members; what a person has set for itself stays."""
        return Response({"affectedCount": apply_rule(group=self.get_object(), now=timezone.now())})

    @extend_schema(operation_id="addGroupMember", request=MemberAddSerializer, responses={200: _WITHOUT_PEOPLE})
    @action(detail=True, methods=["post"], url_path="members")
    @if_match
    def add_member(self, request: Request, group_id: UUID) -> Response:
        """Put a person in the group; one that is in it already stays so."""
        group = self.get_object()
        person_id = self.read_body(MemberAddSerializer)["personId"]
        add_member(group=group, person_id=person_id, now=timezone.now())
        return Response({"group": serialize_groups([self.get_object()])[0]})

    @extend_schema(operation_id="removeGroupMember", responses={200: _SUCCESS})
    @action(detail=True, methods=["delete"], url_path="members/<id:person_id>")
    @if_match
    def remove_member(self, request: Request, group_id: UUID, person_id: UUID) -> Response:
        """Take a person out of the group."""
        remove_member(group=self.get_object(), person_id=person_id, now=timezone.now())
        return Response({"success": True})
