"""Two-factor sign-in: an authenticator app and recovery codes."""

import datetime as dt
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api.callers import caller
from accounts.api.permissions import SessionOnly
from accounts.api.views.access import SUCCESS_ANSWER
from accounts.fields import Secret
from accounts.models import AccountSession, User
from accounts.services import second_factor
from accounts.services.signing_in import proving
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.api.secrets import SecretResponse
from contacts_project.kernel.errors import DomainError, RateLimitedError

FRESH = dt.timedelta(minutes=15)
CODES_ANSWER = envelope("RecoveryCodesAnswer", recoveryCodes=serializers.ListField(child=serializers.CharField()))


class ProofRequiredError(DomainError):
    """A session alone does not change how the account is signed in to: somebody else may sit at it."""

    message = "Send your password, or a code of your authenticator app, as well."


class ProofSerializer(serializers.Serializer[Any]):
    password = Secret(required=False, allow_null=True)
    code = Secret(max_length=100, required=False, allow_null=True)


class CodeSerializer(serializers.Serializer[Any]):
    code = Secret(max_length=100)


def check_proof(request: Request) -> None:
    """Pass who sends the account's password or a code. Raises ProofRequiredError, RateLimitedError."""
    body = ProofSerializer(data=request.data if isinstance(request.data, dict) else {})
    body.is_valid(raise_exception=True)
    user, data = caller(request), body.validated_data
    if not (data.get("password") or data.get("code")):
        raise ProofRequiredError
    with proving(user):
        if not _proves(user, data):
            raise ProofRequiredError("The password or the code is wrong.")


def is_fresh(request: Request) -> bool:
    """Whether the caller has just signed in."""
    sessions = AccountSession.objects.owned_by(caller(request)).filter(created_at__gt=timezone.now() - FRESH)
    return sessions.filter(session_key=request._request.session.session_key).exists()


def _proves(user: User, data: dict[str, Any]) -> bool:
    if password := data.get("password"):
        return user.check_password(password)
    return second_factor.spend_code(user=user, code=data["code"], now=timezone.now())


class TotpView(APIView):
    permission_classes = [SessionOnly]

    @extend_schema(
        operation_id="startTotp",
        request=ProofSerializer,
        responses=envelope("TotpAnswer", secret=serializers.CharField(), otpauthUrl=serializers.CharField()),
    )
    @raises(ProofRequiredError, RateLimitedError, second_factor.AlreadyOnError)
    def post(self, request: Request) -> Response:
        """Make a secret for an authenticator app. It counts once a code of the app has confirmed it.

        A session older than 15 minutes sends `password` as well.
        """
        if not is_fresh(request):
            check_proof(request)
        secret, uri = second_factor.start_totp(user=caller(request))
        return SecretResponse({"secret": secret, "otpauthUrl": uri})

    @extend_schema(operation_id="stopTotp", request=ProofSerializer, responses={200: SUCCESS_ANSWER})
    @raises(ProofRequiredError, RateLimitedError)
    def delete(self, request: Request) -> Response:
        """Switch two-factor sign-in off. Needs `password` or `code`."""
        check_proof(request)
        second_factor.stop_totp(user=caller(request))
        return Response({"success": True})


class TotpConfirmView(APIView):
    permission_classes = [SessionOnly]

    @extend_schema(operation_id="confirmTotp", request=CodeSerializer, responses=CODES_ANSWER)
    @raises(RateLimitedError, second_factor.NotOnError, second_factor.AlreadyOnError)
    def post(self, request: Request) -> Response:
        """Switch two-factor sign-in on. The recovery codes are in this answer and never again."""
        body = CodeSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        user = caller(request)
        with proving(user):
            codes = second_factor.confirm_totp(user=user, code=body.validated_data["code"], now=timezone.now())
        return SecretResponse({"recoveryCodes": codes})


class RecoveryCodesView(APIView):
    permission_classes = [SessionOnly]

    @extend_schema(operation_id="renewRecoveryCodes", request=ProofSerializer, responses=CODES_ANSWER)
    @raises(ProofRequiredError, RateLimitedError, second_factor.NotOnError)
    def post(self, request: Request) -> Response:
        """Replace all recovery codes by new ones, shown this once. Needs `password` or `code`."""
        check_proof(request)
        return SecretResponse({"recoveryCodes": second_factor.renew_recovery_codes(user=caller(request))})
