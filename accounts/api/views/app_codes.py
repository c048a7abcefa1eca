"""The last step of an app's sign-in through the provider: it exchanges its code for a device token."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.route_marks import ignores_idempotency_key
from accounts.api.serializers.access import AppCodeSerializer
from accounts.api.views.api_tokens import NEW_TOKEN_RESPONSE, new_token_response
from accounts.api.viewsets import OpenViewSet
from accounts.services.sign_in import InvalidCredentialsError
from accounts.services.tokens import InvalidGrantError, TooManyTokensError, exchange_app_code
from contacts_project.kernel.api.schema import raises
from contacts_project.kernel.errors import RateLimitedError
from contacts_project.kernel.ownership.account_lock import AccountGoneError


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
