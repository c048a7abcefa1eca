"""Register, sign in, sign out, and who is signed in."""

from typing import Any

from django.conf import settings
from django.contrib.auth import logout
from django.middleware.csrf import get_token
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api.callers import caller
from accounts.api.permissions import SessionOnly
from accounts.api.serializers.access import LoginSerializer, RegistrationSerializer
from accounts.api.serializers.user import UserSerializer
from accounts.api.views.open import OpenView
from accounts.languages import best_language
from accounts.models import User
from accounts.services.addresses import verification_is_mandatory
from accounts.services.known_devices import remember_device
from accounts.services.passwords import check_password_rules
from accounts.services.registration import RegistrationClosedError, count_registration, register_account
from accounts.services.second_factor import MfaRequiredError
from accounts.services.sessions import start_session
from accounts.services.signing_in import EmailUnverifiedError, InvalidCredentialsError, check_credentials
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.api.secrets import SecretResponse
from contacts_project.kernel.errors import RateLimitedError
from contacts_project.kernel.ownership.writing import AccountGoneError

USER_ANSWER = envelope("UserAnswer", user=UserSerializer())
SUCCESS_ANSWER = envelope("SuccessAnswer", success=serializers.BooleanField())
MESSAGE_ANSWER = envelope("MessageAnswer", message=serializers.CharField())


class CsrfView(OpenView):
    @extend_schema(
        operation_id="getCsrfToken",
        responses=envelope("CsrfAnswer", csrfToken=serializers.CharField()),
    )
    def get(self, request: Request) -> Response:
        """The token that session-authenticated writes send as X-CSRFToken, and its cookie."""
        return SecretResponse({"csrfToken": get_token(request._request)})


class RegisterView(OpenView):
    @extend_schema(operation_id="register", request=RegistrationSerializer, responses={201: USER_ANSWER})
    @raises(RegistrationClosedError, RateLimitedError)
    def post(self, request: Request) -> Response:
        """Make an account; signs in unless e-mail verification is mandatory."""
        body = RegistrationSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        data: dict[str, Any] = body.validated_data
        profile = {key: data.get(key) for key in ("name", "surname", "nickname")}
        check_password_rules(data["password"], User(email=data["email"], **profile))
        count_registration(request._request)
        user = register_account(
            email=data["email"],
            password=data["password"],
            time_zone=data.get("timezone") or settings.ACCOUNT_TIME_ZONE,
            language=data.get("language") or best_language(request.headers.get("Accept-Language", "")),
            **profile,
        )
        response = Response({"user": UserSerializer(user).data}, status=status.HTTP_201_CREATED)
        if not verification_is_mandatory():
            start_session(request=request._request, user=user)
            remember_device(request._request, response, user)
        return response


class LoginView(OpenView):
    @extend_schema(operation_id="login", request=LoginSerializer, responses=USER_ANSWER)
    @raises(RateLimitedError, AccountGoneError, InvalidCredentialsError, MfaRequiredError, EmailUnverifiedError)
    def post(self, request: Request) -> Response:
        """Sign in by password, and by a TOTP or recovery code where the account asks for one."""
        body = LoginSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        data = body.validated_data
        user = check_credentials(
            request=request._request,
            email=data["email"],
            password=data["password"],
            code=data.get("code"),
            now=timezone.now(),
        )
        start_session(request=request._request, user=user)
        response = Response({"user": UserSerializer(user).data})
        remember_device(request._request, response, user)
        return response


class LogoutView(APIView):
    permission_classes = [SessionOnly]

    @extend_schema(operation_id="logout", request=None, responses=SUCCESS_ANSWER)
    def post(self, request: Request) -> Response:
        """End this session."""
        logout(request._request)
        return Response({"success": True})


class SessionView(APIView):
    @extend_schema(operation_id="getSession", responses=USER_ANSWER)
    def get(self, request: Request) -> Response:
        """Who is signed in; 401 when nobody is."""
        return Response({"user": UserSerializer(caller(request)).data})
