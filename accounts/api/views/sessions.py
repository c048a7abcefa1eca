"""Sessions of browsers: registration, sign-in, the list of sessions, sign-out."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth import logout
from django.middleware.csrf import get_token
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.authentication import SessionOnly
from accounts.api.decorators import ignores_idempotency_key
from accounts.api.serializers import AccountSessionSerializer, LoginSerializer, RegistrationSerializer, UserSerializer
from accounts.api.viewsets import ApiViewSet, OpenViewSet, OwnedViewSet
from accounts.models import AccountSession, User
from accounts.models.user import verification_is_mandatory
from accounts.passwords import check_password_rules
from accounts.services.registration import RegistrationClosedError, count_registration, register_account
from accounts.services.second_factor import MfaRequiredError
from accounts.services.sessions import active_sessions, end_session, start_session
from accounts.services.sign_in import EmailUnverifiedError, InvalidCredentialsError, check_credentials, remember_device
from contacts_project.kernel.api.json import SecretResponse
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import MissingError, RateLimitedError
from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.languages import best_language
from contacts_project.kernel.ownership.account_lock import AccountGoneError
from contacts_project.kernel.texts import define_text

_NO_SESSION = define_text("no_such_session", "There is no such session.")

USER_RESPONSE = envelope("UserAnswer", user=UserSerializer())
SUCCESS_RESPONSE = envelope("SuccessAnswer", success=serializers.BooleanField())
MESSAGE_RESPONSE = envelope("MessageAnswer", message=serializers.CharField())
SIGN_IN_ERRORS = (RateLimitedError, AccountGoneError, InvalidCredentialsError, MfaRequiredError, EmailUnverifiedError)
"""Those of `find_by_credentials`, and that of an account deleted meanwhile."""


def find_by_credentials(request: Request, data: JsonMapping) -> User:
    """The account that the body of a sign-in, as LoginSerializer validates it, signs in to."""
    return check_credentials(
        request=request._request,
        email=data["email"],
        password=data["password"],
        code=data.get("code"),
        now=timezone.now(),
    )


class SignInViewSet(OpenViewSet):
    """Registration and sign-in."""

    @extend_schema(
        operation_id="getCsrfToken",
        responses=envelope("CsrfAnswer", csrfToken=serializers.CharField()),
    )
    @action(detail=False)
    def csrf(self, request: Request) -> Response:
        """The token that session-authenticated writes send as X-CSRFToken, and its cookie."""
        return SecretResponse({"csrfToken": get_token(request._request)})

    @extend_schema(operation_id="register", request=RegistrationSerializer, responses={201: USER_RESPONSE})
    @action(detail=False, methods=["post"])
    @raises(RegistrationClosedError, RateLimitedError)
    def register(self, request: Request) -> Response:
        """Make an account; signs in unless e-mail verification is mandatory."""
        data = self.read_body(RegistrationSerializer)
        profile = {key: data.get(key) for key in ("name", "surname", "nickname")}
        check_password_rules(data["password"], User(email=data["email"], **profile))
        # After the rules of the password: a body that is refused must not use up the limit of registrations.
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

    @extend_schema(operation_id="login", request=LoginSerializer, responses=USER_RESPONSE)
    @action(detail=False, methods=["post"])
    @raises(*SIGN_IN_ERRORS)
    def login(self, request: Request) -> Response:
        """Sign in by password, and by a TOTP or recovery code where the account asks for one."""
        user = find_by_credentials(request, self.read_body(LoginSerializer))
        start_session(request=request._request, user=user)
        response = Response({"user": UserSerializer(user).data})
        remember_device(request._request, response, user)
        return response


class SignedInViewSet(ApiViewSet[Any]):
    """Sign-out, and the signed-in account."""

    allowed_in_batches = False

    @extend_schema(operation_id="logout", request=None, responses=SUCCESS_RESPONSE)
    @action(detail=False, methods=["post"], permission_classes=[SessionOnly])
    @ignores_idempotency_key
    def logout(self, request: Request) -> Response:
        """End this session."""
        logout(request._request)
        return Response({"success": True})

    @extend_schema(operation_id="getSession", responses=USER_RESPONSE)
    @action(detail=False)
    def session(self, request: Request) -> Response:
        """Who is signed in; 401 when nobody is."""
        return Response({"user": UserSerializer(self.owner).data})


class SessionViewSet(OwnedViewSet[AccountSession]):
    """The signed-in browsers of the account."""

    model = AccountSession
    lookup_url_kwarg = "session_id"

    @extend_schema(
        operation_id="listSessions",
        responses=envelope("SessionsAnswer", sessions=AccountSessionSerializer(many=True)),
    )
    def list(self, request: Request) -> Response:
        """The browsers that are signed in, the last used first."""
        rows: Any = active_sessions(user=self.owner, now=timezone.now())
        context = {"session_key": request._request.session.session_key if request.auth is None else None}
        return Response({"sessions": AccountSessionSerializer(rows, many=True, context=context).data})

    @extend_schema(operation_id="endSession", responses={200: SUCCESS_RESPONSE})
    def destroy(self, request: Request, session_id: UUID) -> Response:
        """Sign that browser out, at once."""
        if not end_session(user=self.owner, session_id=session_id):
            raise MissingError(_NO_SESSION)
        return Response({"success": True})
