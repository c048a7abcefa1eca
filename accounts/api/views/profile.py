"""The profile, and the password."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api.callers import caller
from accounts.api.serializers.profile import PasswordSerializer, ProfileSerializer
from accounts.api.serializers.user import UserSerializer
from accounts.api.views.access import MESSAGE_ANSWER, USER_ANSWER
from accounts.models import ApiToken
from accounts.services.passwords import change_password, check_password_rules
from accounts.services.profile import update_profile
from accounts.services.sessions import renew_session
from accounts.services.signing_in import proving
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import RateLimitedError


class ProfileView(APIView):
    @extend_schema(operation_id="getProfile", responses=USER_ANSWER)
    def get(self, request: Request) -> Response:
        """The account with every preference."""
        return Response({"user": UserSerializer(caller(request)).data})

    @extend_schema(
        operation_id="updateProfile",
        request=ProfileSerializer,
        responses=envelope("ProfileAnswer", user=UserSerializer(), emailChanged=serializers.BooleanField()),
    )
    @raises(RateLimitedError)
    def put(self, request: Request) -> Response:
        """Change names and address. A new address has to be verified: a mail is sent to it."""
        body = ProfileSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        user, changed = update_profile(user=caller(request), **body.validated_data)
        return Response({"user": UserSerializer(user).data, "emailChanged": changed})


class PasswordView(APIView):
    @extend_schema(operation_id="changePassword", request=PasswordSerializer, responses=MESSAGE_ANSWER)
    @raises(RateLimitedError)
    def put(self, request: Request) -> Response:
        """Change the password; every other session ends."""
        body = PasswordSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        user, data = caller(request), body.validated_data
        check_password_rules(data["newPassword"], user, "newPassword")
        here = None if isinstance(request.auth, ApiToken) else request._request.session.session_key
        with proving(user):
            user = change_password(
                user=user, current=data["currentPassword"], new=data["newPassword"], keep_session=here
            )
        if here:
            renew_session(request=request._request, user=user)
        return Response({"message": "The password has been changed. Every other session has been signed out."})
