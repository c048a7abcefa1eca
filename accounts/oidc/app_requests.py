"""Authorization requests of apps, made in the user's browser, with PKCE (RFC 6749, 7636, 8252)."""

import re
from collections.abc import Mapping
from typing import TypedDict
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpResponse

from accounts.oidc.app_redirects import is_registered
from contacts_project.kernel.errors import DomainError, UnavailableError
from contacts_project.kernel.texts import define_text

_BAD_STATE = define_text("oidc_state", "state must be 1 to 512 printable ASCII characters.")
_BAD_CHALLENGE = define_text(
    "oidc_code_challenge", "code_challenge must be a SHA-256 in base64url, and code_challenge_method S256."
)

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_STATE = re.compile(r"[\x20-\x7e]{1,512}")


class RedirectUriError(DomainError):
    """The redirect URI is not registered. The browser is not redirected there, not even with an error."""

    message = define_text(
        "redirect_uri_unknown", "This address is not registered for apps that sign in here (OIDC_APP_REDIRECT_URIS)."
    )


class AppRequestError(DomainError):
    """The app's request lacks a valid `state` or S256 challenge."""


class AppRequest(TypedDict):
    """The parameters of an app's request, as stored in the cookie of the flow."""

    redirect_uri: str
    state: str
    code_challenge: str


def read_app_request(query: Mapping[str, str]) -> AppRequest | None:
    """The app's request; None if the browser itself signs in. Raises RedirectUriError."""
    if "redirect_uri" not in query and "code_challenge" not in query:
        return None
    uri = query.get("redirect_uri", "")
    if not is_registered(uri, settings.OIDC_APP_REDIRECT_URIS):
        raise RedirectUriError
    return AppRequest(redirect_uri=uri, state=query.get("state", ""), code_challenge=query.get("code_challenge", ""))


def check_app_request(app: AppRequest, method: str) -> None:
    """Raises AppRequestError unless the request has a `state` and a PKCE challenge with the method S256."""
    if not _STATE.fullmatch(app["state"]):
        raise AppRequestError(_BAD_STATE)
    if method != "S256" or not _CHALLENGE.fullmatch(app["code_challenge"]):
        raise AppRequestError(_BAD_CHALLENGE)


def redirect_to_app(app: AppRequest, **parameters: str) -> HttpResponse:
    """Redirect the browser to the app, with `parameters` and the app's `state` (RFC 6749, section 4.1.2)."""
    separator = "&" if "?" in app["redirect_uri"] else "?"
    location = f"{app['redirect_uri']}{separator}{urlencode({**parameters, 'state': app['state']})}"
    # HttpResponseRedirect refuses private-use schemes. The URI is safe, because it is registered.
    return HttpResponse(status=302, headers={"Location": location, "Cache-Control": "no-store"})


def redirect_to_app_with_error(app: AppRequest, error: DomainError) -> HttpResponse:
    """Redirect the browser to the app with an error (section 4.1.2.1)."""
    if isinstance(error, AppRequestError):
        code = "invalid_request"
    else:
        code = "temporarily_unavailable" if isinstance(error, UnavailableError) else "access_denied"
    return redirect_to_app(app, error=code, error_description=str(error.message).replace('"', "'"))
