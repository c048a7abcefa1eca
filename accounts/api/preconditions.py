"""If-Match: a write of one record that is refused where the record has changed since the caller read it."""

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar

from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import User
from contacts_project.kernel.api.errors import refusal
from contacts_project.kernel.api.json import Representation
from contacts_project.kernel.errors import StaleError
from contacts_project.kernel.ownership.account_lock import AccountWrite, checked_write

# What `Representation.etag` writes; whatever else is sent in If-Match is none of ours, and so are weak tags.
_TAGS = re.compile(r'\s*(W/)?"([^"]*)"\s*(?:,|\Z)')
_OURS = re.compile(r"([0-9a-f]{1,16})-[0-9a-f]{16}")

H = TypeVar("H", bound=Callable[..., Any])


class RecordView(Protocol):
    """A viewset whose paths name one record."""

    @property
    def owner(self) -> User: ...

    def stored_revision(self) -> int | None:
        """The revision of the row that the path names, now; None where there is none."""

    def current(self) -> Representation:
        """The record as its GET shows it. Raises MissingError where this action does not reach it."""


def if_match(handler: H) -> H:
    """Mark a handler that writes the record of its path: ApiViewSet puts it under the condition of an If-Match."""
    handler.takes_if_match = True  # type: ignore[attr-defined]
    return handler


def under_if_match(view: RecordView, handler: Callable[..., Any], request: Request) -> Callable[..., Any]:
    """The handler, or 412 with what the record is now where If-Match does not allow its revision.

    The revision is compared before the handler runs, so that what is stale already costs nothing more, and again
    under the lock of the first write that it opens: of two writes with one tag the second finds another revision. It
    is not read again where nobody has written to the account since the caller's row was read.
    """
    expected = _expected_revisions(request)
    if expected is None:
        return handler
    seen = view.owner.revision

    def check(write: AccountWrite | None = None) -> None:
        if write and write.is_fresh and write.revision == seen + 1:
            return
        revision = view.stored_revision()
        if revision is not None and revision not in expected:
            raise StaleError

    @wraps(handler)
    def answer(*args: Any, **kwargs: Any) -> Any:
        try:
            check()
            with checked_write(view.owner.pk, check):
                return handler(*args, **kwargs)
        except StaleError as error:
            return _stale(error, view.current())

    return answer


def _expected_revisions(request: Request) -> frozenset[int] | None:
    """The revisions of a record that If-Match allows; None where it allows any, with `*` or without the header.

    A tag counts by its first part, the record's own revision: that a group of a person was renamed changes the
    person's answer, and is no reason to refuse a change of the person.
    """
    header = request.headers.get("If-Match")
    if header is None or header.strip() == "*":
        return None
    strong = [tag for weak, tag in _TAGS.findall(header) if not weak]
    return frozenset(int(found[1], 16) for tag in strong if (found := _OURS.fullmatch(tag)))


def _stale(error: StaleError, current: Representation) -> Response:
    response = refusal(error)
    response.data["current"] = current.body
    response["ETag"] = current.etag
    return response


def sends_etag(handler: H) -> H:
    """Mark a handler that answers with the ETag of the record that it made or changed, for the API description."""
    handler.sends_etag = True  # type: ignore[attr-defined]
    return handler
