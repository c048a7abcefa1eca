"""What a caller has already: strong ETags, and 304 for who asks with one (open points, sections 1 and 13).

A list has a tag of the account's revision: every write raises it inside the same transaction
(kernel.ownership.account_lock), so one number stands for everything that the account owns, and 304 needs no body. It is
read before the body is built: a write in between makes the next conditional read build anew, never the other way round.

A record has a tag of its own (`Representation.etag`), which outlives writes of other records.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

# Tags of records that a process keeps.
_MOST_KNOWN = 10_000
# An attribute of requests that are answered amid a write, which may be taken back.
WITHIN_WRITE = "is_within_write"

V = TypeVar("V", bound=Callable[..., HttpResponseBase])


def etag_of(request: Request) -> str:
    """The validator of what this account would read at this address now."""
    user: Any = request.user
    state = f"{settings.VERSION}|{user.pk}|{user.revision}|{request.get_full_path()}"
    return f'"{hashlib.sha256(state.encode()).hexdigest()[:32]}"'


def if_none_match_tags(request: Request) -> set[str]:
    """The tags of If-None-Match, by weak comparison (RFC 9110, section 13.1.2); `*` stands for any there is."""
    return {tag.strip().removeprefix("W/") for tag in request.headers.get("If-None-Match", "").split(",")}


def conditional(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Decorate a GET handler of a view or viewset: 304 when the caller's copy is current, else the ETag is set.

    A tag that matches says that the record is there; for `*` the view has to say it.
    """

    @wraps(view)
    def answer(self: Any, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        etag, known = etag_of(request), if_none_match_tags(request)
        response: HttpResponseBase
        response = Response(status=304) if etag in known else view(self, request, *args, **kwargs)
        if response.status_code == 200 and "*" in known:
            response.close()
            response = Response(status=304)
        if response.status_code in {200, 304}:
            response["ETag"] = etag
            response["Cache-Control"] = "private, no-cache"
        return response

    return revalidating(answer)


def revalidating(view: V) -> V:
    """Mark a GET handler that sends an ETag and answers 304, for the API description."""
    view.revalidates = True  # type: ignore[attr-defined]
    return view


class _KnownTags:
    """The tags of what this process has answered lately, each as of a revision of its account."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tags: OrderedDict[tuple[UUID, str], tuple[int, str]] = OrderedDict()

    def get(self, user: Any, path: str) -> str | None:
        """The tag of what `user` would read there, where nothing of the account was written since it was made."""
        revision, etag = self._tags.get((user.pk, path), (-1, None))
        return etag if revision == user.revision else None

    def keep(self, user: Any, path: str, etag: str) -> None:
        with self._lock:
            self._tags[user.pk, path] = (user.revision, etag)
            self._tags.move_to_end((user.pk, path))
            if len(self._tags) > _MOST_KNOWN:
                self._tags.popitem(last=False)


_known = _KnownTags()


def conditional_record(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Decorate a GET handler of one record that answers with its ETag: 304 when the caller's copy is current.

    Without making the answer, where this process has made it since the account was last written to. The user's row was
    read before the record: what is newer than its revision is made anew for the next caller.
    """
    return _conditional(view, remembers=True)


def conditional_status(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """The same for a record that also shows what changes without a write of the account: it is always made."""
    return _conditional(view, remembers=False)


def _conditional(view: Callable[..., HttpResponseBase], *, remembers: bool) -> Callable[..., HttpResponseBase]:
    @wraps(view)
    def answer(self: Any, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        wanted, user = if_none_match_tags(request), request.user
        etag = _known.get(user, request.path) if remembers else None
        response: HttpResponseBase | None = None
        if etag is None or etag not in wanted:
            response = view(self, request, *args, **kwargs)
            etag = response.headers["ETag"]
            if remembers and not hasattr(request._request, WITHIN_WRITE):
                _known.keep(user, request.path, etag)
        if response is None or wanted & {etag, "*"}:
            response = Response(status=304, headers={"ETag": etag})
        response.headers["Cache-Control"] = "private, no-cache"
        return response

    return revalidating(answer)
