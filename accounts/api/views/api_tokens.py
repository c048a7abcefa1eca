"""API tokens of the account."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api.callers import caller
from accounts.api.permissions import SessionOnly
from accounts.api.serializers.api_token import ApiTokenBodySerializer, ApiTokenSerializer, NewApiTokenSerializer
from accounts.api.views.access import SUCCESS_ANSWER
from accounts.models import ApiToken
from accounts.services.api_tokens import create_api_token
from contacts_project.kernel.api.ids import parse_id
from contacts_project.kernel.api.schema import envelope
from contacts_project.kernel.api.secrets import SecretResponse


class ApiTokenListView(APIView):
    permission_classes = [SessionOnly]

    @extend_schema(
        operation_id="listApiTokens",
        responses=envelope("ApiTokensAnswer", tokens=ApiTokenSerializer(many=True)),
    )
    def get(self, request: Request) -> Response:
        """All tokens of the account, newest first."""
        rows: Any = ApiToken.objects.owned_by(caller(request)).order_by("-created_at", "-id")
        return Response({"tokens": ApiTokenSerializer(rows, many=True).data})

    @extend_schema(
        operation_id="createApiToken",
        request=ApiTokenBodySerializer,
        responses={201: envelope("NewApiTokenAnswer", apiToken=NewApiTokenSerializer())},
    )
    def post(self, request: Request) -> Response:
        """Make a token. Its text is in this answer and never again."""
        body = ApiTokenBodySerializer(data=request.data)
        body.is_valid(raise_exception=True)
        key = request._request.session.session_key
        row, text = create_api_token(owner=caller(request), session_key=key, **body.validated_data)
        answer = {"apiToken": {**ApiTokenSerializer(row).data, "token": text}}
        return SecretResponse(answer, status=status.HTTP_201_CREATED)


class ApiTokenView(APIView):
    permission_classes = [SessionOnly]

    @extend_schema(operation_id="deleteApiToken", responses={200: SUCCESS_ANSWER})
    def delete(self, request: Request, token_id: str) -> Response:
        """Revoke a token, at once."""
        key = parse_id(token_id)
        if key is None or not ApiToken.objects.owned_by(caller(request)).filter(pk=key).delete()[0]:
            raise NotFound("There is no such token.")
        return Response({"success": True})
