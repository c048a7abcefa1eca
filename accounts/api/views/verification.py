"""Verification of addresses and reset of passwords by mailed tokens."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.views.sessions import MESSAGE_RESPONSE
from accounts.api.viewsets import OpenViewSet, session_user
from accounts.fields import AccountEmailField, SecretField
from accounts.models import MailKind
from accounts.passwords import check_password_rules
from accounts.services.addresses import (
    AddressTakenError,
    SignInRequiredError,
    reset_password,
    take_back_email,
    verify_email,
)
from accounts.services.mail import LinkPurpose, queue_mail, read_link_token
from accounts.services.sign_in import remember_device
from contacts_project.kernel.api.schema import raises
from contacts_project.kernel.client_address import address_block, client_address
from contacts_project.kernel.errors import RateLimitedError
from contacts_project.kernel.ownership.account_lock import AccountGoneError
from contacts_project.kernel.rate_limits import RateLimit
from contacts_project.kernel.texts import define_text

_VERIFIED = define_text("email_verified", "The e-mail address has been verified.")
_TAKEN_BACK = define_text(
    "address_taken_back", "The address is back, and all sessions have ended. A mail says how to go on."
)
_VERIFICATION_SENT = define_text("verification_sent", "If this address waits to be verified, a mail is on its way.")
_RESET_SENT = define_text("reset_sent", "If there is an account with this address, a mail is on its way.")
_PASSWORD_SET = define_text("password_set", "The password has been set. Sign in with it.")

# Requests for mails of one client address, to any mailboxes. The sender of mails limits those to one mailbox.
_MAIL_REQUESTS = RateLimit("mail-orders", 100, 15 * 60)


class TokenSerializer(serializers.Serializer[Any]):
    token = SecretField()


class MailboxSerializer(serializers.Serializer[Any]):
    email = AccountEmailField()


class VerificationSerializer(TokenSerializer):
    password = SecretField(required=False, allow_null=True)


class ResetSerializer(TokenSerializer):
    password = SecretField()


class VerificationViewSet(OpenViewSet):
    """Verification by mailed tokens, and requests for such mails."""

    @extend_schema(operation_id="verifyEmail", request=VerificationSerializer, responses=MESSAGE_RESPONSE)
    @action(detail=False, methods=["post"], url_path="verify-email")
    @raises(SignInRequiredError, AccountGoneError, RateLimitedError)
    def verify_email(self, request: Request) -> Response:
        """Verify the address that this token was mailed to.

        An account that has a verified address changes it in a session of the account, or with its `password`: else 401
        `sign_in_required`, and the link stays good.
        """
        data = self.read_body(VerificationSerializer)
        verify_email(
            token=data["token"],
            signed_in=session_user(request),
            password=data.get("password"),
            now=timezone.now(),
        )
        return Response({"message": _VERIFIED})

    @extend_schema(operation_id="takeBackEmail", request=TokenSerializer, responses=MESSAGE_RESPONSE)
    @action(detail=False, methods=["post"], url_path="take-back-email")
    @raises(AddressTakenError)
    def take_back_email(self, request: Request) -> Response:
        """Take a change of the account's address back, by the token mailed to the old one; everybody is signed out."""
        take_back_email(token=self.read_body(TokenSerializer)["token"], now=timezone.now())
        return Response({"message": _TAKEN_BACK})

    @extend_schema(operation_id="resendVerification", request=MailboxSerializer, responses=MESSAGE_RESPONSE)
    @action(detail=False, methods=["post"], url_path="resend-verification")
    @raises(RateLimitedError)
    def resend_verification(self, request: Request) -> Response:
        """Mail the verification link again. The answer is the same for any address."""
        self._queue(MailKind.VERIFY)
        return Response({"message": _VERIFICATION_SENT})

    @extend_schema(operation_id="forgotPassword", request=MailboxSerializer, responses=MESSAGE_RESPONSE)
    @action(detail=False, methods=["post"], url_path="forgot-password")
    @raises(RateLimitedError)
    def forgot_password(self, request: Request) -> Response:
        """Mail a link to set a new password. The answer is the same for any address."""
        self._queue(MailKind.RESET)
        return Response({"message": _RESET_SENT})

    @extend_schema(operation_id="resetPassword", request=ResetSerializer, responses=MESSAGE_RESPONSE)
    @action(detail=False, methods=["post"], url_path="reset-password")
    def reset_password(self, request: Request) -> Response:
        """Set a new password by a mailed token; all sessions, API tokens and known devices of the account end."""
        data = self.read_body(ResetSerializer)
        check_password_rules(data["password"], read_link_token(data["token"], LinkPurpose.RESET))
        user = reset_password(token=data["token"], password=data["password"], now=timezone.now())
        response = Response({"message": _PASSWORD_SET})
        remember_device(request._request, response, user)
        return response

    def _queue(self, kind: MailKind) -> None:
        """Enqueue a mail to the address in the body, whether or not an account has it. Raises RateLimitedError."""
        email = self.read_body(MailboxSerializer)["email"]
        _MAIL_REQUESTS.hit(address_block(client_address(self.request._request)))
        queue_mail(kind=kind, address=email)
