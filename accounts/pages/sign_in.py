"""The sign-in and sign-out pages, with the services, rate limits and cookies of POST /api/auth/login."""

import math

from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from accounts.cookies import clear_site_data
from accounts.oidc.cookie_state import FlowError
from accounts.oidc.documents import ProviderUnreachableError
from accounts.oidc.flow import ProviderRefusedError
from accounts.oidc.provider import is_configured, provider_name
from accounts.pages.next_paths import safe_next_path
from accounts.pages.viewers import language_of, viewer_of
from accounts.services.oidc import PROVIDER_UNVERIFIED
from accounts.services.registration import RegistrationClosedError
from accounts.services.second_factor import MfaRequiredError
from accounts.services.sessions import start_session
from accounts.services.sign_in import EmailUnverifiedError, check_credentials, remember_device
from contacts_project.kernel.errors import DomainError, RateLimitedError
from contacts_project.kernel.pages import render_page
from contacts_project.kernel.texts import define_text

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
        return _try(request, safe_next_path(request.POST.get("next", ""), _HOME))
    next_path = safe_next_path(request.GET.get("next", ""), _HOME)
    return redirect(next_path) if viewer_of(request) else _page(request, next_path, code=request.GET.get("refused", ""))


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session, and have the browser remove what the client keeps in it, since no script of ours runs here."""
    logout(request)
    return clear_site_data(redirect(_HOME))


def _try(request: HttpRequest, next_path: str) -> HttpResponse:
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
        response = _page(request, next_path, error, email=email, asks_code=asks_code)
        if isinstance(error, RateLimitedError):
            response["Retry-After"] = str(error.retry_after)
        return response
    start_session(request=request, user=user)
    response = redirect(next_path)
    remember_device(request, response, user)
    return response


def _page(
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
