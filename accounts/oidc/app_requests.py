"""The sign-in that an app asks for in the user's browser: an authorization request with PKCE (RFC 6749, 7636, 8252)."""

import re
from collections.abc import Mapping
from typing import TypedDict
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpResponse

from accounts.oidc.app_redirects import is_registered
from contacts_project.kernel.errors import DomainError, UnavailableError

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_STATE = re.compile(r"[\x20-\x7e]{1,512}")


class RedirectUriError(DomainError):
    """The redirect URI is none that the operator has registered: nobody is sent there, not even with an error."""

    message = "This address is not registered for apps that sign in here (OIDC_APP_REDIRECT_URIS)."


class AppRequestError(DomainError):
    """The app asks for something else than a code with a challenge by S256."""


class AppRequest(TypedDict):
    """What is remembered of it, as JSON."""

    redirect_uri: str
    state: str
    code_challenge: str


def read_app_request(query: Mapping[str, str]) -> AppRequest | None:
    """The app's part of a sign-in; None where a browser signs in for itself. Raises RedirectUriError."""
    if "redirect_uri" not in query and "code_challenge" not in query:
        return None
    uri = query.get("redirect_uri", "")
    if not is_registered(uri, settings.OIDC_APP_REDIRECT_URIS):
        raise RedirectUriError
    return AppRequest(redirect_uri=uri, state=query.get("state", ""), code_challenge=query.get("code_challenge", ""))


def check_app_request(app: AppRequest, method: str) -> None:
    """Raises AppRequestError: PKCE by S256 and a state are obligatory."""
    if not _STATE.fullmatch(app["state"]):
        raise AppRequestError("state must be 1 to 512 printable ASCII characters.")
    if method != "S256" or not _CHALLENGE.fullmatch(app["code_challenge"]):
        raise AppRequestError("code_challenge must be a SHA-256 in base64url, and code_challenge_method S256.")


def lead_back(app: AppRequest, **answer: str) -> HttpResponse:
    """Send the browser on to the app, with the answer and the app's state (RFC 6749, section 4.1.2)."""
    joint = "&" if "?" in app["redirect_uri"] else "?"
    location = f"{app['redirect_uri']}{joint}{urlencode({**answer, 'state': app['state']})}"
    # Django's own redirects know no schemes of apps. An address that is registered is safe as it stands.
    return HttpResponse(status=302, headers={"Location": location, "Cache-Control": "no-store"})


def lead_back_refused(app: AppRequest, error: DomainError) -> HttpResponse:
    """The same with what came in the way (section 4.1.2.1)."""
    if isinstance(error, AppRequestError):
        code = "invalid_request"
    else:
        code = "temporarily_unavailable" if isinstance(error, UnavailableError) else "access_denied"
    return lead_back(app, error=code, error_description=error.message.replace('"', "'"))
