"""Strong ETags from the account's revision: 304 without building the body (open points, section 1).

Every write of an account raises its revision inside the same transaction (kernel.ownership.account_lock),
so one number stands for everything that the account owns. It is read before the body is built: a write in between
makes the next conditional read build anew, never the other way round.
"""

import hashlib
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.conf import settings
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from contacts_project.kernel.api.json import dumps

V = TypeVar("V", bound=Callable[..., HttpResponseBase])


def etag_of(request: Request) -> str:
    """The validator of what this account would read at this address now."""
    user: Any = request.user
    state = f"{settings.VERSION}|{user.pk}|{user.revision}|{request.get_full_path()}"
    return f'"{hashlib.sha256(state.encode()).hexdigest()[:32]}"'


def record_etag(revision: int, record: Any) -> str:
    """The validator of one record: the revision that it was changed by last, and a digest of its JSON as a GET has it.

    The digest is there for what the answer repeats of other records, such as the names of groups: they change the
    representation, and leave the record's own revision as it is.
    """
    return f'"{revision:x}-{hashlib.blake2b(dumps(record), digest_size=8).hexdigest()}"'


def known_tags(request: Request) -> set[str]:
    """The tags of If-None-Match, by weak comparison (RFC 9110, section 13.1.2); `*` stands for any there is."""
    return {tag.strip().removeprefix("W/") for tag in request.headers.get("If-None-Match", "").split(",")}


def conditional(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Decorate a GET handler of a view or viewset: 304 when the caller's copy is current, else the ETag is set.

    A tag that matches says that the record is there; for `*` the view has to say it.
    """

    @wraps(view)
    def answer(self: Any, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        etag, known = etag_of(request), known_tags(request)
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
