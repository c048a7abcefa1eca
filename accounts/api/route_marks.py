"""Marks on viewset actions: how an action behaves with an Idempotency-Key, and whether POST /api/batch may run it.

    mark                    with an Idempotency-Key                in a batch        in an atomic batch
    (none)                  response stored in its transaction     yes               yes
    in_own_transactions     response stored after the action       yes               no
    not_in_atomic_batches   response stored in its transaction     yes               no
    excluded_from_batches   as the other marks declare             no                no
    ignores_idempotency_key response not stored                    as the other marks declare

`accepts_idempotency_keys = False` and `allowed_in_batches = False` on a viewset (accounts.api.viewsets) switch both off
for all of its actions.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from contacts_project.kernel.api.marks import mark, marks_of

H = TypeVar("H", bound=Callable[..., Any])


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
