"""Two-factor sign-in: an authenticator app and recovery codes."""

import datetime as dt
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.authentication import SessionOnly
from accounts.api.decorators import ignores_idempotency_key
from accounts.api.views.sessions import SUCCESS_RESPONSE
from accounts.api.viewsets import ApiViewSet
from accounts.fields import SecretField
from accounts.models import AccountSession, User
from accounts.services import second_factor
from accounts.services.sign_in import reauthentication
from contacts_project.kernel.api.json import SecretResponse
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import DomainError, RateLimitedError
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import define_text

_WRONG_PROOF = define_text("wrong_proof", "The password or the code is wrong.")

# A session younger than this starts TOTP without a password.
RECENT_SIGN_IN = dt.timedelta(minutes=15)
CODES_RESPONSE = envelope("RecoveryCodesAnswer", recoveryCodes=serializers.ListField(child=serializers.CharField()))


class ProofRequiredError(DomainError):
    """A change of the second factor needs more than a session, which somebody else may be using."""

    message = define_text("proof_required", "Send your password, or a code of your authenticator app, as well.")


class ProofSerializer(serializers.Serializer[Any]):
    password = SecretField(required=False, allow_null=True)
    code = SecretField(max_length=100, required=False, allow_null=True)


class CodeSerializer(serializers.Serializer[Any]):
    code = SecretField(max_length=100)


def _is_proof_valid(user: User, data: JsonObject) -> bool:
    if password := data.get("password"):
        return user.check_password(password)
    return second_factor.consume_code(user=user, code=data["code"], now=timezone.now())


class SecondFactorViewSet(ApiViewSet[Any]):
    """An authenticator app and recovery codes. Only for sessions, not for tokens."""

    permission_classes = (SessionOnly,)

    @extend_schema(
        operation_id="startTotp",
        request=ProofSerializer,
        responses=envelope("TotpAnswer", secret=serializers.CharField(), otpauthUrl=serializers.CharField()),
    )
    @action(detail=False, methods=["post"])
    @raises(ProofRequiredError, RateLimitedError, second_factor.MfaEnabledError)
    @ignores_idempotency_key
    def totp(self, request: Request) -> Response:
        """Make a secret for an authenticator app. It counts once a code of the app has confirmed it.

        A session older than 15 minutes sends `password` as well.
        """
        data = self.read_body(ProofSerializer)
        if not self._has_just_signed_in():
            self._check_proof(data)
        secret, uri = second_factor.start_totp(user=self.owner)
        return SecretResponse({"secret": secret, "otpauthUrl": uri})

    @extend_schema(operation_id="stopTotp", request=ProofSerializer, responses={200: SUCCESS_RESPONSE})
    @totp.mapping.delete
    @raises(ProofRequiredError, RateLimitedError)
    def stop_totp(self, request: Request) -> Response:
        """Switch two-factor sign-in off. Needs `password` or `code`."""
        self._check_proof(self.read_body(ProofSerializer))
        second_factor.stop_totp(user=self.owner)
        return Response({"success": True})

    @extend_schema(operation_id="confirmTotp", request=CodeSerializer, responses=CODES_RESPONSE)
    @action(detail=False, methods=["post"], url_path="totp/confirm")
    @raises(RateLimitedError, second_factor.MfaNotEnabledError, second_factor.MfaEnabledError)
    @ignores_idempotency_key
    def confirm_totp(self, request: Request) -> Response:
        """Switch two-factor sign-in on. The recovery codes are in this answer and never again."""
        data = self.read_body(CodeSerializer)
        user = self.owner
        with reauthentication(user):
            codes = second_factor.confirm_totp(user=user, code=data["code"], now=timezone.now())
        return SecretResponse({"recoveryCodes": codes})

    @extend_schema(operation_id="renewRecoveryCodes", request=ProofSerializer, responses=CODES_RESPONSE)
    @action(detail=False, methods=["post"], url_path="recovery-codes")
    @raises(ProofRequiredError, RateLimitedError, second_factor.MfaNotEnabledError)
    @ignores_idempotency_key
    def recovery_codes(self, request: Request) -> Response:
        """Replace all recovery codes by new ones, shown this once. Needs `password` or `code`."""
        self._check_proof(self.read_body(ProofSerializer))
        return SecretResponse({"recoveryCodes": second_factor.renew_recovery_codes(user=self.owner)})

    def _check_proof(self, data: JsonObject) -> None:
        """Check the password or the code in the body. Raises ProofRequiredError, RateLimitedError."""
        if not (data.get("password") or data.get("code")):
            raise ProofRequiredError
        with reauthentication(self.owner):
            if not _is_proof_valid(self.owner, data):
                raise ProofRequiredError(_WRONG_PROOF)

    def _has_just_signed_in(self) -> bool:
        sessions = AccountSession.objects.owned_by(self.owner).filter(created_at__gt=timezone.now() - RECENT_SIGN_IN)
        return sessions.filter(session_key=self.request._request.session.session_key).exists()
