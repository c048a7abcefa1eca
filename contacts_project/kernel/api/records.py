"""One record in an answer: its ETag, 304 for who has it already, and what If-Match asks for (open points, section
13)."""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple
from uuid import UUID

from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from contacts_project.kernel.api.etags import known_tags, record_etag, revalidating

# What record_etag writes; whatever else is sent in If-Match is none of ours, and so are weak tags.
_TAGS = re.compile(r'\s*(W/)?"([^"]*)"\s*(?:,|\Z)')
_OURS = re.compile(r"([0-9a-f]{1,16})-[0-9a-f]{16}")
_MOST_KNOWN = 10_000
# An attribute of requests that are answered amid a write, which may be taken back.
WITHIN_WRITE = "is_within_write"


class Shown(NamedTuple):
    """A record as its GET shows it (a dictionary, or JSON as orjson.Fragment), and the revision of its row.

    The revision is read with the row or before the rest, so that a body may be newer than its number, never older.
    """

    revision: int
    body: Any

    @property
    def etag(self) -> str:
        return record_etag(self.revision, self.body)


def record_answer(name: str, shown: Shown, status: int = 200) -> Response:
    """`{ name: record }` with the record's ETag."""
    return Response({name: shown.body}, status=status, headers={"ETag": shown.etag})


def expected_revisions(request: Request) -> frozenset[int] | None:
    """The revisions of a record that If-Match allows; None where it allows any, with `*` or without the header.

    A tag counts by its first part, the record's own revision: that a group of a person was renamed changes the
    person's answer, and is no reason to refuse a change of the person.
    """
    header = request.headers.get("If-Match")
    if header is None or header.strip() == "*":
        return None
    strong = [tag for weak, tag in _TAGS.findall(header) if not weak]
    return frozenset(int(found[1], 16) for tag in strong if (found := _OURS.fullmatch(tag)))


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
        wanted, user = known_tags(request), request.user
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
