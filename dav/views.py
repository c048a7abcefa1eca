"""One view for all that is below /dav/: authentication, the resource that the path names, and a function a method."""

from collections.abc import Callable
from contextlib import suppress

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.views.decorators.csrf import csrf_exempt

from contacts_project.kernel.api.body_limit import BodyLimit, limit_body
from contacts_project.kernel.errors import RateLimitedError
from contacts_project.kernel.external_waits import account_of_request
from contacts_project.kernel.ownership.account_lock import AccountGoneError
from dav.authentication import CHALLENGE, UnauthorizedError, authenticate
from dav.cards.put_body import TOO_LONG
from dav.methods import READERS, WRITERS
from dav.preconditions import DavStatusError
from dav.resources.tree import RootResource, find_resource
from dav.resources.uris import ROOT, DavPath, read_path
from dav.services.refusals import handle_refusal
from dav.xml import card

CLASSES = "1, 3, access-control, addressbook, calendar-access, extended-mkcol"
_GUESSED_METHODS = frozenset({"OPTIONS", "PROPFIND", "REPORT"})
_ALLOW = "OPTIONS, GET, HEAD, PROPFIND, REPORT, PROPPATCH, PUT, DELETE, MOVE, COPY, MKCOL"


@csrf_exempt
def dav_view(request: HttpRequest, path: str = "") -> HttpResponseBase:
    """Every request below /dav/, and PROPFIND of the paths that clients guess."""
    place = read_path(request.path) or DavPath(())
    try:
        response = _respond(request, place)
    except RateLimitedError as error:
        response = DavStatusError(429, words=str(error.message)).to_response()
        response["Retry-After"] = str(error.retry_after)
    except DavStatusError as error:
        response = error.to_response()
    except AccountGoneError:  # deleted since its password was read
        response = UnauthorizedError().to_response()
    if response.status_code == 401:
        response["WWW-Authenticate"] = CHALLENGE
    response["DAV"] = CLASSES
    patch_vary_headers(response, ["Accept", "Authorization", "Brief", "Prefer"])
    return response


def _refuse_body(request: HttpRequest, limit: int) -> HttpResponseBase:
    """The response to a body of which nothing was read. The owner is told of a card that did not come through."""
    place = read_path(request.path) or DavPath(())
    error = DavStatusError(403, card("max-resource-size"), TOO_LONG) if request.method == "PUT" else DavStatusError(413)
    with suppress(DavStatusError, RateLimitedError, AccountGoneError):
        handle_refusal(authenticate(request), place, str(request.method), error)
    return error.to_response()


limit_body(dav_view, BodyLimit(lambda: settings.MAX_DAV_BYTES, refuse=_refuse_body))


def with_dav_methods(view: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """The view of a page at a path that clients guess: it answers browsers, and this module the methods of WebDAV."""

    def page_or_dav(request: HttpRequest) -> HttpResponseBase:
        return dav_view(request) if request.method in _GUESSED_METHODS else view(request)

    return csrf_exempt(page_or_dav)


def well_known(request: HttpRequest) -> HttpResponse:
    """RFC 6764, 5: where the service is, for every method. Relative, so that it is right behind any proxy."""
    return HttpResponse(status=301, headers={"Location": ROOT})


well_known = csrf_exempt(well_known)


def _respond(request: HttpRequest, place: DavPath) -> HttpResponseBase:
    method = str(request.method)
    if method == "OPTIONS":
        # Without sign-in, since some clients ask before they have one, and drop the account if the answer differs.
        return HttpResponse(headers={"Allow": _ALLOW})
    if method not in {*READERS, *WRITERS}:
        # RFC 9110, 15.5.6.
        response = DavStatusError(405, words=f"{method} is not possible here.").to_response()
        response["Allow"] = _ALLOW
        return response
    device = authenticate(request)
    account_of_request.set(device.owner.pk)
    if method in WRITERS:
        try:
            return WRITERS[method](request, place, device)
        except DavStatusError as error:
            handle_refusal(device, place, method, error)
            raise
    # The paths that clients guess answer as the root does, each under its own name.
    is_guessed = not f"{request.path}/".startswith(ROOT)
    return READERS[method](request, RootResource(device, request.path) if is_guessed else find_resource(device, place))
