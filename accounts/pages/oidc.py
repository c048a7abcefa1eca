"""What a browser sees of a sign-in through the provider after it has come back from there."""

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.oidc.cookie_state import FlowError
from accounts.pages.sign_in import in_words
from accounts.pages.viewers import SIGN_IN_PATH, language_of
from accounts.services.oidc_sign_in import (
    PENDING_COOKIE,
    PendingSignIn,
    complete_sign_in,
    finish_with_code,
    lead_back_signed_in,
)
from contacts_project.kernel.errors import DomainError, RateLimitedError
from contacts_project.kernel.pages import render_page

CODE_PATH = "/account/sign-in/code"


@require_http_methods(["GET", "HEAD", "POST"])
def ask_code(request: HttpRequest) -> HttpResponse:
    """Ask for the code of the account's second factor; then go on. Without a sign-in that waits for it, start anew."""
    pending = None
    try:
        pending = PendingSignIn.from_cookie(request.COOKIES.get(PENDING_COOKIE, ""))
        if request.method != "POST":
            return _code_page(request, pending)
        user = finish_with_code(pending=pending, code=request.POST.get("code", "").strip(), now=timezone.now())
        if pending.app:
            return lead_back_signed_in(pending.app, user)
    except FlowError:
        return redirect(SIGN_IN_PATH)
    except DomainError as error:
        return _code_page(request, pending, error)
    response = redirect(pending.next_path)
    complete_sign_in(request, response, user)
    return response


def show_unregistered(request: HttpRequest) -> HttpResponse:
    """An app has asked to be led back to an address that nobody has registered: nobody is led there."""
    return render_page(request, "account/not_registered.html", {}, language=language_of(request, None), status=400)


def _code_page(request: HttpRequest, pending: PendingSignIn | None, error: DomainError | None = None) -> HttpResponse:
    language = language_of(request, None)
    with translation.override(language):
        problem = in_words(error) if isinstance(error, RateLimitedError) else _("The code is wrong.") if error else ""
    status = 429 if isinstance(error, RateLimitedError) else 401
    response = render_page(request, "account/code.html", {"problem": problem}, language=language, status=status)
    if pending and pending.app:
        # The form's answer leads to the app.
        own = f"form-action 'self' {_source_of(pending.app['redirect_uri'])}"
        response["Content-Security-Policy"] = settings.CONTENT_SECURITY_POLICY.replace("form-action 'self'", own)
    if isinstance(error, RateLimitedError):
        response["Retry-After"] = str(error.retry_after)
    else:
        response["WWW-Authenticate"] = "Bearer"  # for Basic and Digest alone would the browser ask in its own window
    return response


def _source_of(redirect_uri: str) -> str:
    """How a policy names where an app is reached: its scheme alone on this machine, where [::1] has no other name."""
    parts = urlsplit(redirect_uri)
    return f"https://{parts.netloc}" if parts.scheme == "https" else f"{parts.scheme}:"
