"""What the decorators of an action say of it: for If-Match, Idempotency-Key, batches and the API description."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

H = TypeVar("H", bound=Callable[..., Any])


@dataclass(frozen=True)
class RouteMarks:
    """The marks of one action. The decorators that set them say what they mean."""

    raises: tuple[type[Exception], ...] = ()
    revalidates: bool = False
    takes_if_match: bool = False
    sends_etag: bool = False
    has_own_transactions: bool = False
    is_not_atomic: bool = False
    is_excluded_from_batches: bool = False
    is_of_one_record: bool = False
    ignores_idempotency_key: bool = False


_NONE = RouteMarks()


def mark(handler: H, **marks: Any) -> H:
    """Add to the marks of a handler. Raises TypeError for one that there is not."""
    # On the function: `functools.wraps` takes it over to one that wraps it, and a bound method shows it.
    handler.marks = replace(marks_of(handler), **marks)  # type: ignore[attr-defined]
    return handler


def marks_of(handler: object) -> RouteMarks:
    marks: RouteMarks = getattr(handler, "marks", _NONE)
    return marks
