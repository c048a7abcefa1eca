"""Requests by route, method and status, and how long they took.

Routes are templates as the API description spells them (`/api/people/{personId}`): whatever a stranger asks for that is
no route is one series, and so is every method of his own making.
"""

import re
from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest

from contacts_project.kernel.api.ids import parse_id
from contacts_project.kernel.metrics import Counter, Histogram

UNKNOWN = "unknown"
REFUSED = "refused"
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
_PARAMETER = re.compile(r"<(?:[^>:]+:)?([^>]+)>")
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

REQUESTS = Counter(
    "contacts_http_requests_total", "Requests by the template of their route.", ("route", "method", "status")
)
LATENCY = Histogram(
    "contacts_http_request_seconds", "From the request's last byte to its answer's first.", ("route",), SECONDS
)


def count_request(route: str, method: str | None, status: int, seconds: float) -> None:
    """Count one that was answered."""
    REQUESTS.count(route, method_of(method), str(status))
    LATENCY.observe(seconds, route)


def count_refusal(method: str | None, status: int) -> None:
    """Count one that the web server answered by itself: too slow, too long, malformed, or no room for it."""
    REQUESTS.count(REFUSED, method_of(method), str(status))


def method_of(method: str | None) -> str:
    return method if method in _METHODS else UNKNOWN


def ids_of(request: HttpRequest) -> list[str]:
    """The ids in the path; what else may stand there is left out: it may be anything."""
    match = request.resolver_match
    found = (parse_id(str(value)) for value in match.kwargs.values()) if match else ()
    return [str(key) for key in found if key]


def route_of(request: HttpRequest) -> str:
    """The template of the route that Django found, `/static/` for files of ours, else `unknown`."""
    match = request.resolver_match
    if match is not None:
        return _template(match.route)
    return settings.STATIC_URL if request.path.startswith(settings.STATIC_URL) else UNKNOWN


@lru_cache(maxsize=2000)
def _template(route: str) -> str:
    return "/" + _PARAMETER.sub(lambda found: f"{{{_camel_case(found[1])}}}", route)


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(part.title() for part in others)
