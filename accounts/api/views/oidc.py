"""Sign-in through the OpenID Connect provider, and what ways of signing in there are."""

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django_ratelimit.core import get_usage
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.views.open import OpenView
from accounts.next_paths import own_path
from accounts.oidc import flow
from accounts.oidc.provider import PROVIDER_ID, is_configured, provider_name
from accounts.services.oidc_accounts import account_for
from accounts.services.registration import registration_is_open
from accounts.services.sessions import start_session
from contacts_project.kernel.api.client_address import address_block, client_address
from contacts_project.kernel.api.errors import RateLimitedError
from contacts_project.kernel.api.schema import envelope

COOKIE = "oidc_flow"
COOKIE_PATH = "/api/auth/oidc/"
DEFAULT_NEXT = "/api/docs"
# Starts write nothing: a count in the cache, about right, is enough (docs/accounts.md, Budgets).
_STARTS_OF_ONE_ADDRESS = "60/m"


class ProviderSerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    name = serializers.CharField()


class ProvidersView(OpenView):
    @extend_schema(
        operation_id="listSignInProviders",
        tags=["auth"],
        responses=envelope(
            "ProvidersAnswer",
            providers=ProviderSerializer(many=True),
            passwordLogin=serializers.BooleanField(),
            registration=serializers.BooleanField(),
        ),
    )
    def get(self, request: Request) -> Response:
        """The ways to sign in, and whether one can register."""
        providers = [{"id": PROVIDER_ID, "name": provider_name()}] if is_configured() else []
        return Response({"providers": providers, "passwordLogin": True, "registration": registration_is_open()})


class OidcStartView(OpenView):
    @extend_schema(
        operation_id="startOidc",
        tags=["auth"],
        parameters=[OpenApiParameter("next", str, description="The path to come back to, on this service.")],
        responses={302: None},
    )
    def get(self, request: Request) -> HttpResponse:
        """Send the browser to the provider. 404 where none is set up."""
        if not is_configured():
            raise Http404
        check_start_rate(request._request)
        url, begun = flow.begin(own_path(request.query_params.get("next", ""), DEFAULT_NEXT))
        response = HttpResponseRedirect(url)
        response.set_cookie(
            COOKIE,
            begun.seal(),
            max_age=flow.FLOW_SECONDS,
            path=COOKIE_PATH,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )
        return response


class OidcCallbackView(OpenView):
    @extend_schema(
        operation_id="finishOidc",
        tags=["auth"],
        parameters=[OpenApiParameter(name, str) for name in ("code", "state", "error")],
        responses={302: None},
    )
    def get(self, request: Request) -> HttpResponse:
        """Where the provider sends the browser back to: signs in, then goes on to `next`."""
        if not is_configured():
            raise Http404
        begun = flow.unseal(request.COOKIES.get(COOKIE, ""), request.query_params.get("state", ""))
        code = request.query_params.get("code")
        if not code:
            raise flow.ProviderRefusedError
        claims = flow.finish(begun, code)
        language = request.headers.get("Accept-Language", "")
        user = account_for(claims=claims, accept_language=language, now=timezone.now())
        start_session(request=request._request, user=user)
        response = HttpResponseRedirect(begun.next_path)
        response.delete_cookie(COOKIE, path=COOKIE_PATH, samesite="Lax")
        return response


def check_start_rate(request: HttpRequest) -> None:
    """Count a start of this client address. Raises RateLimitedError."""
    usage = get_usage(
        request,
        group="oidc-start",
        key=lambda _, request: address_block(client_address(request)),
        rate=_STARTS_OF_ONE_ADDRESS,
        increment=True,
    )
    if usage and usage["should_limit"]:
        raise RateLimitedError(usage["time_left"])
