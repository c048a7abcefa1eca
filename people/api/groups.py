"""Groups: fields, answers, routes."""

from typing import Any

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.api.callers import caller
from contacts_project.kernel.api.etags import conditional
from contacts_project.kernel.api.fields import ColorField, OwnedField, OwnedListField, StrictCharField
from contacts_project.kernel.api.ids import parse_id
from contacts_project.kernel.api.queries import read_flag
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError, NotDeletedError, PlanLimitError
from people.models import Group
from people.projection.groups import group_answer, group_answers, listed_groups
from people.services import group_lifecycle as service
from people.services.groups import add_member, remove_member


class GroupChangeSerializer(serializers.Serializer[Any]):
    """The body of a change: what it leaves out stays."""

    name = StrictCharField(max_length=100, required=False)
    description = StrictCharField(max_length=500, required=False, allow_null=True)
    color = ColorField(required=False, allow_null=True)


class GroupCreateSerializer(GroupChangeSerializer):
    """The body of a new group, which may start with members."""

    name = StrictCharField(max_length=100)
    peopleIds = OwnedListField("people.Person", required=False)


class GroupSerializer(serializers.Serializer[Any]):
    """A group in an answer."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    description = serializers.CharField(allow_null=True)
    color = ColorField()
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
    personId = OwnedField("people.Person")


_ONE = envelope("GroupAnswer", group=GroupWithPeopleSerializer())
_BARE = envelope("GroupMemberAdded", group=GroupSerializer())
_LIST = envelope("GroupsAnswer", groups=GroupSerializer(many=True))
_MESSAGE = envelope("GroupDeleted", message=serializers.CharField())
_SUCCESS = envelope("GroupRemoved", success=serializers.BooleanField())
_DELETE_PEOPLE = OpenApiParameter("deletePeople", bool, description="Move the members to the trash too.")


class GroupViewSet(ViewSet):
    """The caller's groups."""

    def active(self, group_id: str) -> Group:
        return _found(Group.objects.owned_by(self.request.user).active(), group_id)

    def any(self, group_id: str) -> Group:
        """In the trash or not."""
        return _found(service.restorable(self.request.user, timezone.now()), group_id)

    def answer(self, group: Group, status: int = 200) -> Response:
        return Response({"group": group_answer(caller(self.request), group.pk)}, status)

    def body(self, of: type["serializers.Serializer[Any]"]) -> dict[str, Any]:
        serializer = of(data=self.request.data, context={"request": self.request})
        serializer.is_valid(raise_exception=True)
        return dict(serializer.validated_data)

    @extend_schema(operation_id="listGroups", responses=_LIST)
    @conditional
    def read_all(self, request: Request) -> Response:
        """Every group by name, each with the number of its members."""
        return Response({"groups": listed_groups(caller(request))})

    @extend_schema(operation_id="createGroup", request=GroupCreateSerializer, responses={201: _ONE})
    @raises(PlanLimitError)
    def create(self, request: Request) -> Response:
        """Make a group; without a colour it gets one by its name."""
        data = self.body(GroupCreateSerializer)
        people = data.pop("peopleIds", [])
        group = service.create_group(owner=caller(request), data=data, people=people, now=timezone.now())
        return self.answer(group, 201)

    @extend_schema(operation_id="getGroup", responses=_ONE)
    @conditional
    def read(self, request: Request, group_id: str) -> Response:
        """One group with its people."""
        return self.answer(self.active(group_id))

    @extend_schema(operation_id="updateGroup", request=GroupChangeSerializer, responses={200: _ONE})
    def update(self, request: Request, group_id: str) -> Response:
        """Change a group; what the body leaves out stays."""
        group = self.active(group_id)
        data = self.body(GroupChangeSerializer)
        return self.answer(service.update_group(group=group, data=data, now=timezone.now()))

    @extend_schema(operation_id="deleteGroup", parameters=[_DELETE_PEOPLE], responses={200: _MESSAGE})
    def destroy(self, request: Request, group_id: str) -> Response:
        """Move a group to the trash; with deletePeople=true, its members too."""
        with_people = read_flag(request.query_params, "deletePeople", default=False)
        service.delete_group(group=self.active(group_id), with_people=with_people, now=timezone.now())
        return Response({"message": "The group was deleted."})

    @extend_schema(operation_id="restoreGroup", request=None, responses={200: _ONE})
    @raises(FieldError, NotDeletedError, PlanLimitError)
    def restore(self, request: Request, group_id: str) -> Response:
        """Take a group out of the trash, with the members it had."""
        return self.answer(service.restore_group(group=self.any(group_id), now=timezone.now()))

    @extend_schema(operation_id="removeGroup", responses={200: _SUCCESS})
    @raises(NotDeletedError)
    def permanent(self, request: Request, group_id: str) -> Response:
        """Remove a deleted group for good; its people stay."""
        service.remove_group(group=self.any(group_id))
        return Response({"success": True})

    @extend_schema(operation_id="addGroupMember", request=MemberAddSerializer, responses={200: _BARE})
    def add_member(self, request: Request, group_id: str) -> Response:
        """Put a person in the group; one that is in it already stays so."""
        group = self.active(group_id)
        person = self.body(MemberAddSerializer)["personId"]
        add_member(group=group, person=person, now=timezone.now())
        rows = Group.objects.owned_by(request.user).filter(pk=group.pk)
        return Response({"group": group_answers(rows)[0]})

    @extend_schema(operation_id="removeGroupMember", responses={200: _SUCCESS})
    def remove_member(self, request: Request, group_id: str, person_id: str) -> Response:
        """Take a person out of the group."""
        group, key = self.active(group_id), parse_id(person_id)
        if key is None:
            raise Http404
        remove_member(group=group, person_id=key, now=timezone.now())
        return Response({"success": True})


def _found(rows: Any, group_id: str) -> Group:
    key = parse_id(group_id)
    group: Group | None = rows.filter(pk=key).first() if key else None
    if group is None:
        raise Http404
    return group
