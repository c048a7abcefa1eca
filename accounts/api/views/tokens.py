"""API tokens: those that the account makes, and those of apps that sign in by password or through the provider."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.authentication import BaseAuthentication
from rest_framework.decorators import action
from rest_framework.permissions import AllowAny, BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.authentication import BearerAuthentication, IsAuthenticatedInScope, SessionOnly
from accounts.api.decorators import ignores_idempotency_key
from accounts.api.serializers import (
    ApiTokenBodySerializer,
    ApiTokenChangeSerializer,
    ApiTokenSerializer,
    AppCodeSerializer,
    DeviceSignInSerializer,
    NewApiTokenSerializer,
)
from accounts.api.views.sessions import SIGN_IN_ERRORS, SUCCESS_RESPONSE, find_by_credentials
from accounts.api.viewsets import ApiViewSet, OpenViewSet, OwnedViewSet
from accounts.models import ApiToken
from accounts.services.sign_in import InvalidCredentialsError
from accounts.services.tokens import (
    NO_SUCH_TOKEN,
    InvalidGrantError,
    TooManyTokensError,
    create_api_token,
    create_device_token,
    exchange_app_code,
    revoke_tokens,
    update_api_token,
)
from contacts_project.kernel.api.json import SecretResponse
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import MissingError, RateLimitedError
from contacts_project.kernel.ownership.account_lock import AccountGoneError

NEW_TOKEN_RESPONSE = envelope("NewApiTokenAnswer", apiToken=NewApiTokenSerializer())


def new_token_response(row: ApiToken, text: str) -> Response:
    """The 201 response with the token's text, which is not stored and cannot be shown again."""
    return SecretResponse({"apiToken": {**ApiTokenSerializer(row).data, "token": text}}, status=status.HTTP_201_CREATED)


class ApiTokenViewSet(OwnedViewSet[ApiToken]):
    """API tokens. Only a session may manage them: a leaked token must not be able to create others."""

    model = ApiToken
    lookup_url_kwarg = "token_id"
    permission_classes = (SessionOnly,)

    @extend_schema(
        operation_id="listApiTokens",
        responses=envelope("ApiTokensAnswer", tokens=ApiTokenSerializer(many=True)),
    )
    def list(self, request: Request) -> Response:
        """All tokens of the account, newest first."""
        rows: Any = self.get_queryset().order_by("-created_at", "-id")
        return Response({"tokens": ApiTokenSerializer(rows, many=True).data})

    @extend_schema(
        operation_id="createApiToken",
        request=ApiTokenBodySerializer,
        responses={201: NEW_TOKEN_RESPONSE},
    )
    @raises(TooManyTokensError)
    @ignores_idempotency_key
    def create(self, request: Request) -> Response:
        """Make a token. Its text is in this answer and never again."""
        data = self.read_body(ApiTokenBodySerializer)
        key = request._request.session.session_key
        row, text = create_api_token(owner=self.owner, session_key=key, **data)
        return new_token_response(row, text)

    @extend_schema(
        operation_id="updateApiToken",
        request=ApiTokenChangeSerializer,
        responses=envelope("ApiTokenAnswer", apiToken=ApiTokenSerializer()),
    )
    def update(self, request: Request, token_id: UUID) -> Response:
        """Change the name of a token, and what the device gets that signs in with it; the rest stays."""
        data = self.read_body(ApiTokenChangeSerializer)
        row = update_api_token(owner=self.owner, token_id=token_id, data=data)
        return Response({"apiToken": ApiTokenSerializer(row).data})

    def kept_group_ids(self) -> Sequence[str]:
        """The groups of the token's book as it is, for the body of a change."""
        token_id = self.kwargs.get(self.lookup_url_kwarg)
        row = self.get_queryset().with_id(token_id).first() if token_id else None
        return (row.book or {}).get("groupIds", ()) if row else ()

    @extend_schema(operation_id="deleteApiToken", responses={200: SUCCESS_RESPONSE})
    def destroy(self, request: Request, token_id: UUID) -> Response:
        """Revoke a token, at once."""
        if not revoke_tokens(self.owner, self.get_queryset().with_id(token_id)):
            raise MissingError(NO_SUCH_TOKEN)
        return Response({"success": True})


class DeviceTokenViewSet(ApiViewSet[ApiToken]):
    """POST ignores credentials, so that an expired token cannot prevent sign-in; DELETE ends the token sent."""

    allowed_in_batches = False

    def get_authenticators(self) -> list[BaseAuthentication]:
        return [] if self._is_sign_in else [BearerAuthentication()]

    def get_permissions(self) -> list[BasePermission]:
        return [AllowAny()] if self._is_sign_in else [IsAuthenticatedInScope()]

    @property
    def _is_sign_in(self) -> bool:
        return getattr(self.request, "method", None) == "POST"  # the schema generator has no request

    @extend_schema(
        operation_id="createDeviceToken", request=DeviceSignInSerializer, responses={201: NEW_TOKEN_RESPONSE}
    )
    @action(detail=False, methods=["post"])
    @raises(*SIGN_IN_ERRORS, TooManyTokensError)
    @ignores_idempotency_key
    def token(self, request: Request) -> Response:
        """Sign an app in, as `login` does a browser. The text of its token is in this answer and never again."""
        data = self.read_body(DeviceSignInSerializer)
        user = find_by_credentials(request, data)
        row, text = create_device_token(owner=user, name=data["name"], scope=data["scope"])
        return new_token_response(row, text)

    @extend_schema(operation_id="deleteDeviceToken", request=None, responses={200: SUCCESS_RESPONSE})
    @token.mapping.delete
    def delete_token(self, request: Request) -> Response:
        """End the API token that this is sent with."""
        revoke_tokens(self.owner, ApiToken.objects.owned_by(self.owner).with_id(request.auth.pk))
        return Response({"success": True})


class AppCodeViewSet(OpenViewSet):
    """Needs no authentication: the code and its verifier are the credential."""

    @extend_schema(operation_id="exchangeAppCode", request=AppCodeSerializer, responses={201: NEW_TOKEN_RESPONSE})
    @action(detail=False, methods=["post"], url_path="oidc/token")
    @raises(RateLimitedError, InvalidGrantError, InvalidCredentialsError, AccountGoneError, TooManyTokensError)
    @ignores_idempotency_key
    def token(self, request: Request) -> Response:
        """Exchange the code that a browser brought to an app, within a minute, for a token of its device.

        The text of the token is in this answer and never again. A second exchange is 400 `invalid_grant`, and ends the
        token that the first one gave.
        """
        asked_at = timezone.now()
        data = self.read_body(AppCodeSerializer)
        row, text = exchange_app_code(
            request=request._request,
            code=data["code"],
            verifier=data["codeVerifier"],
            name=data["name"],
            scope=data["scope"],
            asked_at=asked_at,
        )
        return new_token_response(row, text)
