"""Deletion of the account."""

from typing import Any

from django.contrib.auth import logout
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.route_marks import excluded_from_batches
from accounts.api.views.access import MESSAGE_RESPONSE
from accounts.api.viewsets import ApiViewSet
from accounts.fields import SecretField
from accounts.services.deletion import check_deletion_password, delete_account
from accounts.services.sign_in import reauthentication
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.schema import raises
from contacts_project.kernel.errors import RateLimitedError
from contacts_project.kernel.texts import define_text

_DELETED = define_text("account_deleted", "The account and all its data have been deleted.")

_CONFIRM = define_text("confirmation_needed", "Type %(word)s to confirm.")

CONFIRMATION = "DELETE"


@extend_schema_field({"type": "string", "const": CONFIRMATION})
class ConfirmationField(serializers.Field[str, Any, str, Any]):
    """The word that the client must send to confirm."""

    def to_internal_value(self, data: object) -> str:
        if data != CONFIRMATION:
            raise InvalidError(_CONFIRM.format(word=CONFIRMATION))
        return CONFIRMATION


class DeletionSerializer(serializers.Serializer[Any]):
    password = SecretField(required=False, allow_null=True)
    confirmationText = ConfirmationField()


class DeletionViewSet(ApiViewSet[Any]):
    """Deletion of the account."""

    @extend_schema(operation_id="deleteAccount", request=DeletionSerializer, responses={200: MESSAGE_RESPONSE})
    @action(detail=False, methods=["delete"], url_path="delete")
    @raises(RateLimitedError)
    @excluded_from_batches
    def delete_account(self, request: Request) -> Response:
        """Delete the account with everything it owns, at once and for good."""
        data = self.read_body(DeletionSerializer)
        user = self.owner
        with reauthentication(user):
            check_deletion_password(user, data.get("password"))
        delete_account(user=user)
        if request.auth is None:  # a request with a token may also carry the session cookie of another account
            logout(request._request)
        return Response({"message": _DELETED})
