"""The pages of sign-in, by password or through the provider, and of sign-out.

They use the services, rate limits and cookies of POST /api/auth/login.
"""

import math
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from accounts.cookies import clear_site_data
from accounts.oidc.flow import FlowError, ProviderRefusedError
from accounts.oidc.provider import ProviderUnreachableError, is_configured, provider_name
from accounts.pages.viewers import SIGN_IN_PATH, language_of, safe_next_path, viewer_of
from accounts.services.oidc import (
    PENDING_COOKIE,
    PROVIDER_UNVERIFIED,
    PendingSignIn,
    check_pending_code,
    complete_sign_in,
    redirect_to_app_with_code,
)
from accounts.services.registration import RegistrationClosedError
from accounts.services.second_factor import MfaRequiredError
from accounts.services.sessions import start_session
from accounts.services.sign_in import EmailUnverifiedError, check_credentials, remember_device
from contacts_project.kernel.api.responses import render_page
from contacts_project.kernel.errors import DomainError, RateLimitedError
from contacts_project.kernel.texts import define_text

CODE_PATH = "/account/sign-in/code"
_CLIENT, _CLIENT_SIGN_IN = "/app", "/app/sign-in"
_HOME = "/"
# Why a sign-in through the provider has led back here, by the code of the API.
_REFUSALS = {
    "email_unverified": PROVIDER_UNVERIFIED,
    "invalid_state": FlowError.message,
    "oidc_refused": ProviderRefusedError.message,
    "rate_limited": define_text("sign_in_rate_limited", "Too many attempts. Try again in a few minutes."),
    "registration_closed": RegistrationClosedError.message,
    "unavailable": ProviderUnreachableError.message,
}
_REFUSED = DomainError.message


@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Ask for address and password, and for a code if the account has a second factor; then redirect to `next`."""
    if request.method == "POST":
        return _submit(request, safe_next_path(request.POST.get("next", ""), _HOME))
    next_path = safe_next_path(request.GET.get("next", ""), _HOME)
    if viewer_of(request):
        return redirect(next_path)
    return _sign_in_page(request, next_path, code=request.GET.get("refused", ""))


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session, and have the browser remove what the client keeps in it, since no script of ours runs here."""
    logout(request)
    return clear_site_data(redirect(_HOME))


def _submit(request: HttpRequest, next_path: str) -> HttpResponse:
    email, code = request.POST.get("email", "").strip(), request.POST.get("code", "").strip()
    try:
        user = check_credentials(
            request=request,
            email=email,
            password=request.POST.get("password", ""),
            code=code or None,
            now=timezone.now(),
        )
    except DomainError as error:
        # Once shown, the field for the code stays: the page must not reveal whether password or code was wrong.
        asks_code = isinstance(error, MfaRequiredError) or bool(code)
        response = _sign_in_page(request, next_path, error, email=email, asks_code=asks_code)
        if isinstance(error, RateLimitedError):
            response["Retry-After"] = str(error.retry_after)
        return response
    start_session(request=request, user=user)
    response = redirect(next_path)
    remember_device(request, response, user)
    return response


def _sign_in_page(
    request: HttpRequest, next_path: str, error: DomainError | None = None, *, code: str = "", **shown: object
) -> HttpResponse:
    language = language_of(request, None)
    with translation.override(language):
        refusal = str(_REFUSALS.get(code, _REFUSED)) if code else ""
        problem = translate_error(error) if error else refusal
    provider = provider_name() if is_configured() else ""
    context = {"next": next_path, "problem": problem, "provider": provider, **shown}
    # Not 401, which would have to name a scheme (RFC 9110, section 15.5.2): the browser would open its own dialog.
    status = 200 if error is None else 429 if isinstance(error, RateLimitedError) else 403
    return render_page(request, "account/sign_in.html", context, language=language, status=status)


def translate_error(error: DomainError) -> str:
    """The message for the error in the active language; the messages of the API are in English."""
    if isinstance(error, MfaRequiredError):
        return _("This account asks for a code as well. Type your password again, and the code.")
    if isinstance(error, EmailUnverifiedError):
        return _("Verify your e-mail address first: follow the link in the mail.")
    if isinstance(error, RateLimitedError):
        minutes = math.ceil(error.retry_after / 60)
        text = ngettext(
            "Too many attempts. Try again in %(minutes)d minute.",
            "Too many attempts. Try again in %(minutes)d minutes.",
            minutes,
        )
        return text % {"minutes": minutes}
    return _("The e-mail address, the password or the code is wrong.")


@require_http_methods(["GET", "HEAD", "POST"])
def ask_code(request: HttpRequest) -> HttpResponse:
    """Ask for the code of the account's second factor and complete the sign-in. Without a pending sign-in, redirect to
    the sign-in page."""
    pending = None
    try:
        pending = PendingSignIn.from_cookie(request.COOKIES.get(PENDING_COOKIE, ""))
        if request.method != "POST":
            return _code_page(request, pending)
        user = check_pending_code(pending=pending, code=request.POST.get("code", "").strip(), now=timezone.now())
        if pending.app:
            return redirect_to_app_with_code(pending.app, user)
    except FlowError:
        return redirect(SIGN_IN_PATH)
    except DomainError as error:
        return _code_page(request, pending, error)
    response = redirect(pending.next_path)
    complete_sign_in(request, response, user)
    return response


def unregistered_redirect_page(request: HttpRequest) -> HttpResponse:
    """The error page for an app whose redirect URI is not registered."""
    return render_page(request, "account/not_registered.html", {}, language=language_of(request, None), status=400)


def back_to_sign_in(next_path: str, code: str) -> HttpResponse:
    """Redirect to the sign-in page of the client or that of the pages without script, whichever has `next_path`.

    `refused` is the code of the error, for which both have a sentence.
    """
    wanted = urlsplit(next_path)
    if wanted.path == _CLIENT_SIGN_IN:  # where the client has begun it: its `next` stays
        query = dict(parse_qsl(wanted.query)) | {"refused": code}
        return redirect(f"{_CLIENT_SIGN_IN}?{urlencode(query)}")
    if wanted.path == _CLIENT or wanted.path.startswith(f"{_CLIENT}/"):
        query = {"next": next_path.removeprefix(_CLIENT) or "/", "refused": code}
        return redirect(f"{_CLIENT_SIGN_IN}?{urlencode(query)}")
    return redirect(f"{SIGN_IN_PATH}?{urlencode({'next': next_path, 'refused': code})}")


def _code_page(request: HttpRequest, pending: PendingSignIn | None, error: DomainError | None = None) -> HttpResponse:
    language = language_of(request, None)
    with translation.override(language):
        problem = (
            translate_error(error) if isinstance(error, RateLimitedError) else _("The code is wrong.") if error else ""
        )
    status = 429 if isinstance(error, RateLimitedError) else 401
    response = render_page(request, "account/code.html", {"problem": problem}, language=language, status=status)
    if pending and pending.app:
        # After the form is sent, the browser is redirected to the app: form-action applies to that redirect too.
        form_action = f"form-action 'self' {_csp_source(pending.app['redirect_uri'])}"
        policy = settings.CONTENT_SECURITY_POLICY.replace("form-action 'self'", form_action)
        response["Content-Security-Policy"] = policy
    if isinstance(error, RateLimitedError):
        response["Retry-After"] = str(error.retry_after)
    else:
        # A 401 must name a scheme (RFC 9110, section 15.5.2). For Bearer, browsers open no password dialog.
        response["WWW-Authenticate"] = "Bearer"
    return response


def _csp_source(redirect_uri: str) -> str:
    """The source expression of an app's redirect URI in a Content-Security-Policy."""
    uri = urlsplit(redirect_uri)
    # For apps on the device, the scheme alone: a policy cannot name the host [::1].
    return f"https://{uri.netloc}" if uri.scheme == "https" else f"{uri.scheme}:"
