"""Sign-in and sign-out of an app by a device token, without session, cookie or CSRF token."""

from drf_spectacular.utils import extend_schema
from rest_framework.authentication import BaseAuthentication
from rest_framework.decorators import action
from rest_framework.permissions import AllowAny, BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.authentication import BearerAuthentication, IsAuthenticatedInScope
from accounts.api.route_marks import ignores_idempotency_key
from accounts.api.serializers.access import DeviceSignInSerializer
from accounts.api.views.access import SIGN_IN_ERRORS, SUCCESS_RESPONSE, find_by_credentials
from accounts.api.views.api_tokens import NEW_TOKEN_RESPONSE, new_token_response
from accounts.api.viewsets import ApiViewSet
from accounts.models import ApiToken
from accounts.services.tokens import TooManyTokensError, create_device_token, revoke_tokens
from contacts_project.kernel.api.schema import raises


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
