"""Sign-in through the OpenID Connect provider, and the list of ways to sign in."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse, HttpResponseRedirect
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.serializers import UserSerializer
from accounts.api.views.second_factor import CodeSerializer
from accounts.api.views.sessions import USER_RESPONSE
from accounts.api.viewsets import OpenViewSet
from accounts.cookies import set_cookie
from accounts.oidc.app_requests import (
    AppRequest,
    RedirectUriError,
    check_app_request,
    read_app_request,
    redirect_to_app_with_error,
)
from accounts.oidc.flow import STATE_SECONDS, Flow, FlowError, ProviderRefusedError, resume_flow, used_second_factor
from accounts.oidc.provider import PROVIDER_ID, ProviderUnreachableError, is_configured, provider_name
from accounts.pages.sign_in import CODE_PATH, back_to_sign_in, unregistered_redirect_page
from accounts.pages.viewers import safe_next_path, same_site_redirect
from accounts.services.oidc import (
    FLOW_COOKIE,
    FLOW_PATH,
    PENDING_COOKIE,
    PendingSignIn,
    check_pending_code,
    complete_sign_in,
    find_or_register_account,
    link_account,
    redirect_to_app_with_code,
    set_pending_cookie,
)
from accounts.services.registration import RegistrationClosedError, registration_is_open
from accounts.services.second_factor import MfaRequiredError, has_second_factor
from accounts.services.sign_in import EmailUnverifiedError, InvalidCredentialsError
from contacts_project.kernel.api.errors import error_response, failure_of
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.client_address import address_block, client_address
from contacts_project.kernel.errors import DomainError, MissingError, RateLimitedError
from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.rate_limits import CachedRateLimit, RateLimit
from contacts_project.kernel.texts import define_text

_CODE_NEEDED = define_text(
    "oidc_code_needed", "Send a code of your authenticator app, or a recovery code, to POST %(path)s."
)

DEFAULT_NEXT, CLIENT_PATH = "/api/docs", "/app/"
CODE_ENDPOINT = "/api/auth/oidc/second-factor"
_START_ATTEMPTS = CachedRateLimit("oidc-start", 60, 60)
# Callbacks with a code that the provider does not confirm. Each costs a request to the provider.
_CALLBACK_ATTEMPTS = RateLimit("oidc-callback", 10, 15 * 60)


class ProviderSerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    name = serializers.CharField()


class OidcViewSet(OpenViewSet):
    """Sign-in through the provider, and the list of ways to sign in."""

    @extend_schema(
        operation_id="listSignInProviders",
        responses=envelope(
            "ProvidersAnswer",
            providers=ProviderSerializer(many=True),
            passwordLogin=serializers.BooleanField(),
            registration=serializers.BooleanField(),
        ),
    )
    @action(detail=False)
    def providers(self, request: Request) -> Response:
        """The ways to sign in, and whether one can register."""
        return Response(
            {"providers": sign_in_providers(), "passwordLogin": True, "registration": registration_is_open()}
        )

    @extend_schema(
        operation_id="startOidc",
        parameters=[
            OpenApiParameter("next", str, description="The path to come back to, on this service."),
            OpenApiParameter("redirect_uri", str, description="Of an app: one that the operator has registered."),
            OpenApiParameter("state", str, description="Of an app: 1 to 512 characters that come back to it."),
            OpenApiParameter("code_challenge", str, description="Of an app: RFC 7636, section 4.2."),
            OpenApiParameter("code_challenge_method", str, enum=["S256"]),
        ],
        responses={302: None, (400, "text/html"): OpenApiResponse(OpenApiTypes.STR, description="To a browser.")},
    )
    @action(detail=False, url_path="oidc/start")
    @raises(MissingError, RateLimitedError, RedirectUriError, ProviderUnreachableError)
    def start(self, request: Request) -> HttpResponse:
        """Send the browser to the provider. 404 where none is set up.

        With `redirect_uri` the sign-in is an app's (RFC 8252): the browser ends there, with `code` for
        POST /api/auth/oidc/token, or with `error` as RFC 6749 has it; `state` and a challenge by S256 are obligatory.
        A browser whose sign-in is refused goes back to the sign-in page, which says why.
        """
        if not is_configured():
            raise MissingError
        try:
            app = read_app_request(request.query_params)
        except RedirectUriError:
            if not _is_browser(request):
                raise
            return unregistered_redirect_page(request._request)
        next_path = safe_next_path(request.query_params.get("next", ""), DEFAULT_NEXT)
        return _report_errors(request, app, next_path, lambda: self._start_flow(request, app, next_path))

    def _start_flow(self, request: Request, app: AppRequest | None, next_path: str) -> HttpResponse:
        _START_ATTEMPTS.hit(address_block(client_address(request._request)))
        if app:
            check_app_request(app, request.query_params.get("code_challenge_method", ""))
        from accounts.oidc import code_flow  # noqa: PLC0415 - Authlib takes a twentieth of the start-up time

        url, flow = code_flow.start_flow(next_path, app)
        response = HttpResponseRedirect(url)
        set_cookie(response, FLOW_COOKIE, flow.to_cookie(), seconds=STATE_SECONDS, path=FLOW_PATH)
        return response

    @extend_schema(
        operation_id="finishOidc",
        parameters=[OpenApiParameter(name, str) for name in ("code", "state", "error")],
        responses={302: None, (200, "text/html"): OpenApiResponse(OpenApiTypes.STR, description="Leads on to `next`.")},
    )
    @action(detail=False, url_path="oidc/callback")
    @raises(
        MissingError,
        RateLimitedError,
        FlowError,
        ProviderRefusedError,
        MfaRequiredError,
        ProviderUnreachableError,
        InvalidCredentialsError,
        EmailUnverifiedError,
        RegistrationClosedError,
    )
    def callback(self, request: Request) -> HttpResponse:
        """Where the provider sends the browser back to: signs in, then goes on to `next`.

        Where the account has a second factor and the provider's `amr` shows none, a browser goes to a page that asks
        for the code; any other client gets 401 `mfa_required` and sends it to POST /api/auth/oidc/second-factor.
        A sign-in that an app has begun goes back to the app, whatever came of it, and signs no browser in. A browser
        that is refused goes back to the sign-in page, which says why; any other client gets the error.
        """
        if not is_configured():
            raise MissingError
        try:
            flow = resume_flow(request.COOKIES.get(FLOW_COOKIE, ""), request.query_params.get("state", ""))
        except FlowError as error:  # nobody knows any more where it was to lead
            return _report_to_browser(request, CLIENT_PATH, error)
        return _report_errors(request, flow.app, flow.next_path, lambda: self._finish_flow(request, flow))

    def _finish_flow(self, request: Request, flow: Flow) -> HttpResponse:
        from accounts.oidc import code_flow  # noqa: PLC0415 - as above

        code = request.query_params.get("code")
        if not code:
            raise ProviderRefusedError
        address = address_block(client_address(request._request))
        with (
            external_wait()
        ):  # before the rate limit: a request that is refused because too many are waiting must not count
            _CALLBACK_ATTEMPTS.hit(address)
            claims = code_flow.exchange_code(flow, code)
        _CALLBACK_ATTEMPTS.undo(address)
        language = request.headers.get("Accept-Language", "")
        user = find_or_register_account(claims=claims, accept_language=language, now=timezone.now())
        if has_second_factor(user) and not used_second_factor(claims):
            return _ask_for_code(request, PendingSignIn.of(user, claims, flow))
        link_account(user=user, issuer=claims["iss"], subject=claims["sub"])
        if flow.app:
            return redirect_to_app_with_code(flow.app, user)
        response = same_site_redirect(request._request, flow.next_path)
        complete_sign_in(request._request, response, user)
        return response

    @extend_schema(operation_id="finishOidcWithCode", request=CodeSerializer, responses=USER_RESPONSE)
    @action(detail=False, methods=["post"], url_path="oidc/second-factor")
    @raises(RateLimitedError, FlowError, InvalidCredentialsError)
    def second_factor(self, request: Request) -> Response:
        """Finish a sign-in through the provider that was answered by `mfa_required`: a TOTP or recovery code."""
        pending = PendingSignIn.from_cookie(request.COOKIES.get(PENDING_COOKIE, ""))
        if pending.app:  # the sign-in of an app continues on the page for the code, which leads back to the app
            raise FlowError
        data = self.read_body(CodeSerializer)
        user = check_pending_code(pending=pending, code=data["code"], now=timezone.now())
        response = Response({"user": UserSerializer(user).data})
        complete_sign_in(request._request, response, user)
        return response


def sign_in_providers() -> list[dict[str, str]]:
    """The providers as responses list them."""
    return [{"id": PROVIDER_ID, "name": provider_name()}] if is_configured() else []


def _ask_for_code(request: Request, pending: PendingSignIn) -> HttpResponse:
    if pending.app or _is_browser(request):
        response: HttpResponse = HttpResponseRedirect(CODE_PATH)
    else:
        error = MfaRequiredError(_CODE_NEEDED.format(path=CODE_ENDPOINT))
        response = error_response(error)
    set_pending_cookie(response, pending)
    return response


def _is_browser(request: Request) -> bool:
    return "text/html" in request.headers.get("Accept", "")


def _report_errors(
    request: Request, app: AppRequest | None, next_path: str, make: Callable[[], HttpResponse]
) -> HttpResponse:
    """Return the response of `make`. A DomainError becomes a redirect: to the app that has begun the sign-in, or in a
    browser back to the sign-in page; any other client gets the error itself.

    To an app, RateLimitedError stays a 429: it has to wait, and the sign-in can be repeated.
    """
    try:
        return make()
    except DomainError as error:
        if app is None:
            return _report_to_browser(request, next_path, error)
        if isinstance(error, RateLimitedError):
            raise
        return redirect_to_app_with_error(app, error)


def _report_to_browser(request: Request, next_path: str, error: DomainError) -> HttpResponse:
    """Lead a browser back to the sign-in page; raise the error for any other client."""
    if not _is_browser(request):
        raise error
    return back_to_sign_in(next_path, failure_of(type(error)).code or "")
