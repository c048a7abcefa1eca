"""If-Match (RFC 9110, section 13.1.1): a write of one record fails if the record changed since the caller read it."""

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar

from django.http.response import HttpResponseBase
from rest_framework.request import Request

from accounts.models import User
from contacts_project.kernel.api.errors import error_response
from contacts_project.kernel.api.marks import mark
from contacts_project.kernel.errors import StaleError
from contacts_project.kernel.json import Representation
from contacts_project.kernel.ownership.account_lock import AccountWrite, checked_write

_ENTITY_TAGS = re.compile(r'(W/)?"([^"]*)"\s*+(?:,|\Z)')
_RECORD_TAG = re.compile(r"([0-9a-f]{1,16})-[0-9a-f]{16}")  # the format of `Representation.etag`

H = TypeVar("H", bound=Callable[..., Any])


class RecordView(Protocol):
    """A viewset whose paths name one record."""

    @property
    def owner(self) -> User: ...

    def stored_revision(self) -> int | None:
        """The current revision of the row that the path names; None if there is no such row."""

    def current_record(self) -> Representation:
        """The record as its GET returns it. Raises MissingError where this action does not find it."""


def if_match(handler: H) -> H:
    """Mark a handler that writes the record of its path. ApiViewSet.initial then applies If-Match to it."""
    return mark(handler, takes_if_match=True)


def require_if_match(
    view: RecordView, handler: Callable[..., HttpResponseBase], request: Request
) -> Callable[..., HttpResponseBase]:
    """Wrap the handler to answer 412 with the current record if If-Match does not list the record's revision.

    The revision is compared twice: before the handler, so that a stale request costs nothing more, and again under the
    account lock of the first write that the handler opens, so that of two concurrent writes with the same tag the
    second fails.
    """
    expected = _expected_revisions(request)
    if expected is None:
        return handler
    account_revision = view.owner.revision

    def check(write: AccountWrite | None = None) -> None:
        # Under the lock: if no other write came since the account was loaded, the first check still holds, and the
        # query is saved.
        if write and write.is_fresh and write.revision == account_revision + 1:
            return
        revision = view.stored_revision()
        # A missing row is not stale: the handler answers 404.
        if revision is not None and revision not in expected:
            raise StaleError

    @wraps(handler)
    def checked_handler(*args: object, **kwargs: object) -> HttpResponseBase:
        try:
            check()
            with checked_write(view.owner.pk, check):
                return handler(*args, **kwargs)
        except StaleError as error:
            current = view.current_record()
            response = error_response(error)
            response.data["current"] = current.body
            response["ETag"] = current.etag
            return response

    return checked_handler


def _expected_revisions(request: Request) -> frozenset[int] | None:
    """The record revisions that If-Match allows; None if it allows any (`*`, or no header).

    Only the first part of a tag counts, the record's own revision: renaming a group changes the representation of its
    members, but is no reason to refuse a change of one of them.
    """
    header = request.headers.get("If-Match")
    if header is None or header.strip() == "*":
        return None
    # If-Match uses strong comparison, so weak tags never match. Neither do tags that this service did not issue.
    strong = [tag for weak, tag in _ENTITY_TAGS.findall(header) if not weak]
    return frozenset(int(match[1], 16) for tag in strong if (match := _RECORD_TAG.fullmatch(tag)))


def sends_etag(handler: H) -> H:
    """Mark a handler whose response has the ETag of the record that it created or changed, for the API description."""
    return mark(handler, sends_etag=True)
