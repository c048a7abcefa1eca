"""API tokens of the account."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.authentication import SessionOnly
from accounts.api.route_marks import ignores_idempotency_key
from accounts.api.serializers.api_token import (
    ApiTokenBodySerializer,
    ApiTokenChangeSerializer,
    ApiTokenSerializer,
    NewApiTokenSerializer,
)
from accounts.api.views.access import SUCCESS_RESPONSE
from accounts.api.viewsets import OwnedViewSet
from accounts.models import ApiToken
from accounts.services.tokens import (
    NO_SUCH_TOKEN,
    TooManyTokensError,
    create_api_token,
    revoke_tokens,
    update_api_token,
)
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.api.secrets import SecretResponse
from contacts_project.kernel.errors import MissingError

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
