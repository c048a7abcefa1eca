"""The account itself: its profile, its password, its deletion."""

from typing import Any

from django.contrib.auth import logout
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import excluded_from_batches, if_match, not_in_atomic_batches, reads_one_record, sends_etag
from accounts.api.serializers import PasswordSerializer, ProfileSerializer, UserSerializer, profile_record
from accounts.api.views.sessions import MESSAGE_RESPONSE, USER_RESPONSE
from accounts.api.viewsets import ApiViewSet, SettingsViewSet
from accounts.fields import SecretField
from accounts.models import ApiToken
from accounts.passwords import check_password_rules
from accounts.services.deletion import check_deletion_password, delete_account
from accounts.services.profile import change_password, update_profile
from accounts.services.sessions import renew_session
from accounts.services.sign_in import reauthentication
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.etags import conditional_status
from contacts_project.kernel.api.json import representation_response
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import RateLimitedError
from contacts_project.kernel.texts import define_text

_CHANGED = define_text("password_changed", "The password has been changed. Every other session has been signed out.")
_DELETED = define_text("account_deleted", "The account and all its data have been deleted.")
_CONFIRM = define_text("confirmation_needed", "Type %(word)s to confirm.")

CONFIRMATION = "DELETE"


class ProfileViewSet(SettingsViewSet):
    """The account itself."""

    @extend_schema(operation_id="getProfile", responses=USER_RESPONSE)
    @action(detail=False)
    @reads_one_record
    @conditional_status
    def profile(self, request: Request) -> Response:
        """The account with every preference."""
        return representation_response("user", profile_record(self.owner))

    @extend_schema(
        operation_id="updateProfile",
        request=ProfileSerializer,
        responses=envelope("ProfileAnswer", user=UserSerializer(), emailChanged=serializers.BooleanField()),
    )
    @profile.mapping.put
    @raises(RateLimitedError)
    @sends_etag
    @if_match
    @not_in_atomic_batches
    def update_profile(self, request: Request) -> Response:
        """Change names and address. A new address has to be verified: a mail is sent to it."""
        data = self.read_body(ProfileSerializer)
        user, changed = update_profile(user=self.owner, **data)
        profile = profile_record(user)
        return Response({"user": profile.body, "emailChanged": changed}, headers={"ETag": profile.etag})

    @extend_schema(operation_id="changePassword", request=PasswordSerializer, responses=MESSAGE_RESPONSE)
    @action(detail=False, methods=["put"])
    @raises(RateLimitedError)
    @excluded_from_batches
    def password(self, request: Request) -> Response:
        """Change the password; every other session ends."""
        data = self.read_body(PasswordSerializer)
        user = self.owner
        check_password_rules(data["newPassword"], user, "newPassword")
        # A request with a token belongs to no session, even if it carries the cookie of one.
        current_session = None if isinstance(request.auth, ApiToken) else request._request.session.session_key
        with reauthentication(user):
            user = change_password(
                user=user, current=data["currentPassword"], new=data["newPassword"], keep_session=current_session
            )
        if current_session:
            renew_session(request=request._request, user=user)
        return Response({"message": _CHANGED})


@extend_schema_field({"type": "string", "const": CONFIRMATION})
class ConfirmationField(serializers.Field[str, Any, str, Any]):
    """The word that the client must send to confirm."""

    def to_internal_value(self, data: object) -> str:
        if data != CONFIRMATION:
            raise InvalidError(_CONFIRM.format(word=CONFIRMATION))
        return CONFIRMATION


class DeletionSerializer(serializers.Serializer[Any]):
    password = SecretField(required=False, allow_null=True)
    confirmationText = ConfirmationField()


class DeletionViewSet(ApiViewSet[Any]):
    """Deletion of the account."""

    @extend_schema(operation_id="deleteAccount", request=DeletionSerializer, responses={200: MESSAGE_RESPONSE})
    @action(detail=False, methods=["delete"], url_path="delete")
    @raises(RateLimitedError)
    @excluded_from_batches
    def delete_account(self, request: Request) -> Response:
        """Delete the account with everything it owns, at once and for good."""
        data = self.read_body(DeletionSerializer)
        user = self.owner
        with reauthentication(user):
            check_deletion_password(user, data.get("password"))
        delete_account(user=user)
        if request.auth is None:  # a request with a token may also carry the session cookie of another account
            logout(request._request)
        return Response({"message": _DELETED})
