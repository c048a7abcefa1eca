"""How a handler says that POST /api/batch must not call it (accounts.api.batch_rules reads it)."""

from collections.abc import Callable
from typing import Any, TypeVar

H = TypeVar("H", bound=Callable[..., Any])


def left_out_of_batches(handler: H) -> H:
    """Mark an action that answers something else than JSON, or changes how the account is signed in to."""
    handler.is_left_out_of_batches = True  # type: ignore[attr-defined]
    return handler


def not_in_atomic_batches(handler: H) -> H:
    """Mark an action that must not run inside another's transaction: it waits for other machines, removes a file, or
    takes locks that come before the account's. `in_own_transactions` says so, too."""
    handler.is_not_atomic = True  # type: ignore[attr-defined]
    return handler
