"""What a handler is: whether a request of it may be carried out once for a key, and be one of many in POST /api/batch.

All that both ask about a handler is declared here, and read here:

    mark                    under an Idempotency-Key        in a batch        in an atomic batch
    (none)                  one transaction with its key    yes               yes
    in_own_transactions     done, then kept                 yes               no
    not_in_atomic_batches   one transaction with its key    yes               no
    left_out_of_batches     as the others say               no                no
    ignores_idempotency_key nothing is kept                 as the others say

`keeps_answers` and `in_batches` of a viewset (accounts.api.viewsets) say no for all of its handlers.
"""

from collections.abc import Callable
from typing import Any, TypeVar

H = TypeVar("H", bound=Callable[..., Any])


def in_own_transactions(handler: H) -> H:
    """Mark an action that commits by itself, or waits for other machines."""
    handler.has_own_transactions = True  # type: ignore[attr-defined]
    return handler


def not_in_atomic_batches(handler: H) -> H:
    """Mark an action that must not run inside another's transaction: it waits for other machines, removes a file, or
    takes locks that come before the account's."""
    handler.is_not_atomic = True  # type: ignore[attr-defined]
    return handler


def left_out_of_batches(handler: H) -> H:
    """Mark an action that takes a file, answers no plain JSON, or changes how the account is signed in to."""
    handler.is_left_out_of_batches = True  # type: ignore[attr-defined]
    return handler


def ignores_idempotency_key(handler: H) -> H:
    """Mark an action of which no answer is kept: it shows a secret, streams, or changes nothing."""
    handler.ignores_idempotency_key = True  # type: ignore[attr-defined]
    return handler


def takes_key(method: str | None, handler: Any) -> bool:
    """Whether a route keeps its answers."""
    return method == "POST" and not getattr(handler, "ignores_idempotency_key", False)


def commits_by_itself(handler: Any) -> bool:
    """Whether it is no single transaction, so that none can hold the keeping of its answer."""
    return getattr(handler, "has_own_transactions", False)


def is_in_batches(handler: Any) -> bool:
    """Whether it may be one of many."""
    return not getattr(handler, "is_left_out_of_batches", False)


def is_atomic(handler: Any) -> bool:
    """Whether it can be undone with others."""
    return not (commits_by_itself(handler) or getattr(handler, "is_not_atomic", False))
