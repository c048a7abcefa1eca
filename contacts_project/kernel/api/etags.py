"""Conditional GET: strong ETags, and 304 for a caller that already has the current state.

The ETag of a list contains the account's revision. Every write raises it in its own transaction
(kernel.ownership.account_lock), so one number covers everything that the account owns, and a 304 needs no body. The
revision is read before the body is built: a write in between makes the next conditional GET build the body again, but
never keeps a client on old data.

A record has an ETag of its own (`Representation.etag`), which stays the same when other records change.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from contacts_project.kernel.api.schema import mark

# Entries in the cache of a process.
_ETAG_CACHE_SIZE = 10_000
# An attribute of requests that run inside an open write (a batch), which may still be rolled back.
WITHIN_WRITE = "is_within_write"

V = TypeVar("V", bound=Callable[..., HttpResponseBase])


def list_etag(request: Request, more: str = "") -> str:
    """The ETag of what this account would read at this URL now. `more`: what else decides, such as the day.

    It contains the version of the service, since a new version may render the same rows differently.
    """
    user: Any = request.user
    state = f"{settings.VERSION}|{user.pk}|{user.revision}|{request.get_full_path()}|{more}"
    return f'"{hashlib.sha256(state.encode()).hexdigest()[:32]}"'


def if_none_match_tags(request: Request | HttpRequest) -> set[str]:
    """The ETags of If-None-Match for weak comparison (RFC 9110, section 13.1.2). May contain `*`."""
    return {tag.strip().removeprefix("W/") for tag in request.headers.get("If-None-Match", "").split(",")}


def conditional(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Decorate the GET handler of a list: answer 304 when the caller's copy is current, else add the ETag.

    A viewset whose lists change without a write of the account says by `list_state(request)` what they depend on.

    With a matching ETag the handler does not run. `*` matches any existing representation (RFC 9110, section 13.1.2),
    so there the handler runs to find out whether there is one.
    """

    @wraps(view)
    def handler(self: Any, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        more = self.list_state(request) if hasattr(self, "list_state") else ""
        etag, sent = list_etag(request, more), if_none_match_tags(request)
        response: HttpResponseBase
        response = Response(status=304) if etag in sent else view(self, request, *args, **kwargs)
        if response.status_code == 200 and "*" in sent:
            response.close()  # it may be streamed from an open cursor
            response = Response(status=304)
        if response.status_code in {200, 304}:
            response["ETag"] = etag
            response["Cache-Control"] = "private, no-cache"
        return response

    return revalidating(handler)


def revalidating(view: V) -> V:
    """Mark a GET handler as one that sends an ETag and answers 304, for the API description."""
    return mark(view, revalidates=True)


class _ETagCache:
    """The ETags of the records that this process has sent lately, each with the account's revision at that time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._etags: OrderedDict[tuple[UUID, str], tuple[int, str]] = OrderedDict()

    def get(self, user: Any, path: str) -> str | None:
        """The ETag of what `user` would read at `path`, or None if the account has been written to since."""
        # Without the lock: reading one key of a dictionary is atomic.
        revision, etag = self._etags.get((user.pk, path), (-1, None))
        return etag if revision == user.revision else None

    def put(self, user: Any, path: str, etag: str) -> None:
        with self._lock:
            self._etags[user.pk, path] = (user.revision, etag)
            self._etags.move_to_end((user.pk, path))
            if len(self._etags) > _ETAG_CACHE_SIZE:
                self._etags.popitem(last=False)


_etag_cache = _ETagCache()


def conditional_record(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Decorate the GET handler of one record, which sets its ETag: answer 304 when the caller's copy is current.

    If this process has sent the record since the account was last written to, the handler does not run. The user's row
    (and so the account's revision) was read before the record: an entry in the cache can be newer than its revision,
    which costs one more run of the handler, but never older.
    """
    return _conditional(view, uses_cache=True)


def conditional_status(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """The same for a record that also shows what changes without a write of the account: its handler always runs."""
    return _conditional(view, uses_cache=False)


def _conditional(view: Callable[..., HttpResponseBase], *, uses_cache: bool) -> Callable[..., HttpResponseBase]:
    @wraps(view)
    def handler(self: Any, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        sent, user = if_none_match_tags(request), request.user
        etag = _etag_cache.get(user, request.path) if uses_cache else None
        response: HttpResponseBase | None = None
        if etag is None or etag not in sent:
            response = view(self, request, *args, **kwargs)
            etag = response.headers["ETag"]
            # A revision that is rolled back is given out again, for other content.
            if uses_cache and not hasattr(request._request, WITHIN_WRITE):
                _etag_cache.put(user, request.path, etag)
        if response is None or sent & {etag, "*"}:
            response = Response(status=304, headers={"ETag": etag})
        response.headers["Cache-Control"] = "private, no-cache"
        return response

    return revalidating(handler)
