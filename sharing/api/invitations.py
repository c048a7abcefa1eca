"""Routes of invitations: those of a share for its host, and those that an account or the holder of a link received."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import permissions, serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.authentication import IsAuthenticatedInScope
from accounts.api.decorators import excluded_from_batches
from accounts.api.viewsets import ApiViewSet
from accounts.models import User
from accounts.services.sign_in import EmailUnverifiedError
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import OwnedIdField, StrictBooleanField, StrictCharField, StrictEmailField
from contacts_project.kernel.api.json import representation_response
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError, MissingError, PlanLimitError, RateLimitedError
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import define_text
from sharing.api.pages import ShareListViewSet
from sharing.api.shares import RECORD, MembershipSettingsSerializer
from sharing.api.waiting import ShareCandidateSerializer
from sharing.models import InvitationState
from sharing.models.neutral import MAX_EMAIL_LENGTH
from sharing.projection import represent_share
from sharing.services import invitations as service
from sharing.services.joining import AlreadyMemberError, ShareFullError, accept, rehearse
from sharing.services.shares import AlreadySharedError, NotHostError, TooManySharesError

_MAX_TOKEN_LENGTH = 200
_MAX_GROUP_NAME_LENGTH = 100
_ONE_GROUP = define_text("one_share_group", "Name either a group or a new name, not both.")


class ShareInvitationSerializer(serializers.Serializer[Any]):
    """An invitation as the host sees it."""

    id = serializers.UUIDField()
    email = serializers.CharField()
    state = serializers.ChoiceField(list(InvitationState.values))
    expiresAt = serializers.DateTimeField()
    createdAt = serializers.DateTimeField()


class ReceivedInvitationSerializer(serializers.Serializer[Any]):
    """An open invitation as the invited person sees it."""

    id = serializers.UUIDField()
    shareName = serializers.CharField()
    peopleCount = serializers.IntegerField()
    expiresAt = serializers.DateTimeField()

    def get_fields(self) -> dict[str, Any]:
        # Not an attribute of the class: `from` is a keyword of Python.
        return {**super().get_fields(), "from": serializers.CharField(help_text="The host's display name.")}


class InviteSerializer(serializers.Serializer[Any]):
    email = StrictEmailField(max_length=MAX_EMAIL_LENGTH)


class LinkSerializer(serializers.Serializer[Any]):
    """The token of the link, where the account's proven address is another one."""

    token = StrictCharField(max_length=_MAX_TOKEN_LENGTH, required=False, allow_null=True)


class DeclineInvitationSerializer(LinkSerializer):
    block = StrictBooleanField(
        required=False, default=False, help_text="Neither show nor mail what this member sends from now on."
    )


class AcceptInvitationSerializer(MembershipSettingsSerializer, LinkSerializer):
    """Neither group named: a new one named as the share."""

    groupId = OwnedIdField("people.Group", source="group_id", required=False, allow_null=True)
    groupName = StrictCharField(max_length=_MAX_GROUP_NAME_LENGTH, required=False, allow_null=True)
    dryRun = StrictBooleanField(required=False, default=False)

    def validate(self, attrs: JsonObject) -> JsonObject:
        if attrs.get("group_id") and attrs.get("groupName"):
            raise InvalidError({"groupName": [_ONE_GROUP]})
        return attrs


class ShareNewPersonSerializer(serializers.Serializer[Any]):
    sharedId = serializers.UUIDField()
    name = serializers.CharField()


class ShareLinkSerializer(ShareNewPersonSerializer):
    personId = serializers.UUIDField()
    personName = serializers.CharField()


class ShareUnsureSerializer(ShareNewPersonSerializer):
    candidates = ShareCandidateSerializer(many=True)


_REHEARSAL = envelope(
    "ShareRehearsal",
    link=ShareLinkSerializer(many=True),
    unsure=ShareUnsureSerializer(many=True),
    new=ShareNewPersonSerializer(many=True),
    differing=serializers.IntegerField(help_text="Of those under `link`: whose fields differ."),
)
_SUCCESS = {200: envelope("ShareInvitationEnded", success=serializers.BooleanField())}


class InvitationsOfShareViewSet(ShareListViewSet):
    """The invitations of a share; its host alone sees them."""

    @extend_schema(
        operation_id="listShareInvitations",
        responses=envelope("ShareInvitationsAnswer", invitations=ShareInvitationSerializer(many=True)),
    )
    @action(detail=True)
    @raises(MissingError, NotHostError)
    def invitations(self, request: Request, share_id: UUID) -> Response:
        """The invitations to a share, the newest first."""
        key = self.get_object().share_id
        return Response({"invitations": service.list_invitations(owner=self.owner, share_id=key, now=timezone.now())})

    @extend_schema(
        operation_id="inviteToShare",
        request=InviteSerializer,
        responses={201: envelope("ShareInvitationAnswer", invitation=ShareInvitationSerializer())},
    )
    @invitations.mapping.post
    @raises(FieldError, MissingError, NotHostError, EmailUnverifiedError, RateLimitedError)
    @excluded_from_batches
    def invite(self, request: Request, share_id: UUID) -> Response:
        """Invite an address by mail, whether or not it has an account. 20 a day."""
        key, now = self.get_object().share_id, timezone.now()
        data = self.read_body(InviteSerializer)
        invitation = service.invite(owner=self.owner, share_id=key, email=data["email"], now=now)
        return Response({"invitation": service.describe_invitation(invitation, now)}, 201)

    @extend_schema(operation_id="revokeShareInvitation", responses=_SUCCESS)
    @action(detail=True, methods=["delete"], url_path="invitations/<id:invitation_id>")
    @raises(MissingError, NotHostError)
    @excluded_from_batches
    def revoke(self, request: Request, share_id: UUID, invitation_id: UUID) -> Response:
        """End an open invitation; one that has ended stays as it is."""
        service.revoke_invitation(
            owner=self.owner, share_id=self.get_object().share_id, invitation_id=invitation_id, now=timezone.now()
        )
        return Response({"success": True})


class IsSignedInOrHasLink(IsAuthenticatedInScope):
    """Whoever has the link may see who invites to what before signing in."""

    def has_permission(self, request: Request, view: object) -> bool:
        has_link = request.method in permissions.SAFE_METHODS and bool(request.query_params.get("token"))
        return has_link or super().has_permission(request, view)


class ReceivedInvitationViewSet(ApiViewSet[Any]):
    """Invitations to the account's proven address, or that of a link. No account owns them."""

    permission_classes = (IsSignedInOrHasLink,)
    lookup_url_kwarg = "invitation_id"
    lookup_value_converter = "id"

    @extend_schema(
        operation_id="listReceivedShareInvitations",
        parameters=[OpenApiParameter("token", str, description="Of a link: then the invitation of that alone.")],
        responses=envelope("ReceivedShareInvitations", invitations=ReceivedInvitationSerializer(many=True)),
    )
    def list(self, request: Request) -> Response:
        """The open invitations to the account's proven address, or that of a link, which needs no signing in."""
        owner = request.user if isinstance(request.user, User) else None
        token = request.query_params.get("token")
        return Response({"invitations": service.list_received(owner=owner, token=token, now=timezone.now())})

    @extend_schema(
        operation_id="acceptShareInvitation",
        request=AcceptInvitationSerializer,
        responses={200: _REHEARSAL, 201: RECORD},
    )
    @action(detail=True, methods=["post"])
    @raises(
        FieldError,
        MissingError,
        PlanLimitError,
        service.InvitationEndedError,
        AlreadyMemberError,
        ShareFullError,
        TooManySharesError,
        AlreadySharedError,
    )
    @excluded_from_batches
    def accept(self, request: Request, invitation_id: UUID) -> Response:
        """Join the share of an invitation: everybody of it waits to be answered. With `dryRun` what would be asked."""
        data = self.read_body(AcceptInvitationSerializer)
        run = rehearse if data["dryRun"] else accept
        answer = run(owner=self.owner, invitation_id=invitation_id, data=data, now=timezone.now())
        if isinstance(answer, UUID):
            return representation_response("share", represent_share(self.owner, answer), 201)
        return Response(answer)

    @extend_schema(operation_id="declineShareInvitation", request=DeclineInvitationSerializer, responses=_SUCCESS)
    @action(detail=True, methods=["post"])
    @raises(FieldError, MissingError, service.InvitationEndedError)
    @excluded_from_batches
    def decline(self, request: Request, invitation_id: UUID) -> Response:
        """Decline an invitation, and with `block` whatever this member sends from now on."""
        data = self.read_body(DeclineInvitationSerializer)
        service.decline(
            owner=self.owner,
            invitation_id=invitation_id,
            token=data.get("token"),
            block=data["block"],
            now=timezone.now(),
        )
        return Response({"success": True})
