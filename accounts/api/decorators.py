"""Decorators of viewset actions: what If-Match, Idempotency-Key and POST /api/batch do with an action.

If-Match (RFC 9110, section 13.1.1) makes a write of one record fail if the record changed since the caller read it. An
action that takes it is marked by `if_match`.

    decorator               with an Idempotency-Key                in a batch        in an atomic batch
    (none)                  response stored in its transaction     yes               yes
    in_own_transactions     response stored after the action       yes               no
    not_in_atomic_batches   response stored in its transaction     yes               no
    excluded_from_batches   as the others declare                  no                no
    ignores_idempotency_key response not stored                    as the others declare

`accepts_idempotency_keys = False` and `allowed_in_batches = False` on a viewset (accounts.api.viewsets) switch both off
for all of its actions.
"""

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar

from django.http.response import HttpResponseBase
from rest_framework.request import Request

from accounts.models import User
from contacts_project.kernel.api.errors import error_response
from contacts_project.kernel.api.schema import mark, marks_of
from contacts_project.kernel.errors import StaleError
from contacts_project.kernel.json import Representation
from contacts_project.kernel.ownership.account_lock import AccountWrite, checked_write

H = TypeVar("H", bound=Callable[..., Any])

_ENTITY_TAGS = re.compile(r'(W/)?"([^"]*)"\s*+(?:,|\Z)')
_RECORD_TAG = re.compile(r"([0-9a-f]{1,16})-[0-9a-f]{16}")  # the format of `Representation.etag`


def in_own_transactions(handler: H) -> H:
    """Mark an action that commits by itself, or waits for other machines."""
    return mark(handler, has_own_transactions=True)


def not_in_atomic_batches(handler: H) -> H:
    """Mark an action that must not run inside another transaction: it waits for other machines, deletes a file, or
    takes a lock that has to be taken before the account lock."""
    return mark(handler, is_not_atomic=True)


def excluded_from_batches(handler: H) -> H:
    """Mark an action that takes a file, does not respond with plain JSON, or changes how the account signs in."""
    return mark(handler, is_excluded_from_batches=True)


def reads_one_record(handler: H) -> H:
    """Mark a GET action of one record, or one number, that is not named `retrieve`: an atomic batch that writes may
    contain it."""
    return mark(handler, is_of_one_record=True)


def ignores_idempotency_key(handler: H) -> H:
    """Mark a POST action whose response is never stored: it contains a secret, is streamed, or nothing is changed."""
    return mark(handler, ignores_idempotency_key=True)


def is_of_one_record(handler: object) -> bool:
    """Whether a GET action reads one record."""
    return getattr(handler, "__name__", "") == "retrieve" or marks_of(handler).is_of_one_record


def accepts_idempotency_key(method: str | None, handler: object) -> bool:
    """Whether the response is stored under an Idempotency-Key."""
    return method == "POST" and not marks_of(handler).ignores_idempotency_key


def commits_by_itself(handler: object) -> bool:
    """Whether the action is more than one transaction, so that its response cannot be stored in the same one."""
    return marks_of(handler).has_own_transactions


def is_allowed_in_batch(handler: object) -> bool:
    return not marks_of(handler).is_excluded_from_batches


def is_allowed_in_atomic_batch(handler: object) -> bool:
    """Whether the action can be rolled back together with others."""
    return not (commits_by_itself(handler) or marks_of(handler).is_not_atomic)


def if_match(handler: H) -> H:
    """Mark a handler that writes the record of its path. ApiViewSet.initial then applies If-Match to it."""
    return mark(handler, takes_if_match=True)


def sends_etag(handler: H) -> H:
    """Mark a handler whose response has the ETag of the record that it created or changed, for the API description."""
    return mark(handler, sends_etag=True)


class RecordView(Protocol):
    """A viewset whose paths name one record."""

    @property
    def owner(self) -> User: ...

    def stored_revision(self) -> int | None:
        """The current revision of the row that the path names; None if there is no such row."""

    def current_record(self) -> Representation:
        """The record as its GET returns it. Raises MissingError where this action does not find it."""


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
