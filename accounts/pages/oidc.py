"""The pages of a sign-in through the provider, after the browser has come back from there."""

from urllib.parse import parse_qsl, urlencode, urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.oidc.cookie_state import FlowError
from accounts.pages.sign_in import translate_error
from accounts.pages.viewers import SIGN_IN_PATH, language_of
from accounts.services.oidc import (
    PENDING_COOKIE,
    PendingSignIn,
    check_pending_code,
    complete_sign_in,
    redirect_to_app_with_code,
)
from contacts_project.kernel.errors import DomainError, RateLimitedError
from contacts_project.kernel.pages import render_page

CODE_PATH = "/account/sign-in/code"
_CLIENT, _CLIENT_SIGN_IN = "/app", "/app/sign-in"


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
