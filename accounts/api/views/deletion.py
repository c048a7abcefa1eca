"""Delete the account."""

from typing import Any

from django.contrib.auth import logout
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.route_marks import left_out_of_batches
from accounts.api.views.access import MESSAGE_ANSWER
from accounts.api.viewsets import ApiViewSet
from accounts.fields import Secret
from accounts.services.credentials import proving
from accounts.services.deletion import check_deletion_password, delete_account
from contacts_project.kernel.api.schema import raises
from contacts_project.kernel.errors import RateLimitedError

CONFIRMATION = "DELETE"


class DeletionSerializer(serializers.Serializer[Any]):
    password = Secret(required=False, allow_null=True)
    confirmationText = serializers.CharField(trim_whitespace=False)

    def validate_confirmationText(self, value: str) -> str:  # noqa: N802 - DRF builds the name from the field's
        if value != CONFIRMATION:
            raise serializers.ValidationError(f"Type {CONFIRMATION} to confirm.")
        return value


class DeletionViewSet(ApiViewSet[Any]):
    """The end of the account."""

    @extend_schema(operation_id="deleteAccount", request=DeletionSerializer, responses={200: MESSAGE_ANSWER})
    @action(detail=False, methods=["delete"], url_path="delete")
    @raises(RateLimitedError)
    @left_out_of_batches
    def delete_account(self, request: Request) -> Response:
        """Delete the account with everything it owns, at once and for good."""
        data = self.read_body(DeletionSerializer)
        user = self.owner
        with proving(user):
            check_deletion_password(user, data.get("password"))
        delete_account(user=user)
        if request.auth is None:  # beside a token, the browser's session may be anybody's
            logout(request._request)
        return Response({"message": "The account and all its data have been deleted."})
