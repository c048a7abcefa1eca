"""What views declare of themselves for the API description, in addition to drf-spectacular's `extend_schema`.

The decorators of an action leave marks on it. The same marks say how If-Match, Idempotency-Key and batches treat it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

from drf_spectacular.utils import inline_serializer
from rest_framework.serializers import CharField, DictField, Field, Serializer

H = TypeVar("H", bound=Callable[..., Any])
AnyField: TypeAlias = "Field[Any, Any, Any, Any]"
"""A field of any value: those of a serializer have nothing else in common."""


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


def envelope(name: str, *, optional: tuple[str, ...] = (), **fields: AnyField) -> "Serializer[Any]":
    """The schema of a response such as `{ person: Person }`. `name` must be unique among all responses.

    `optional` are the fields that not every such response contains.
    """
    serializer: Any = inline_serializer(name=name, fields=fields)
    type(serializer).optional = optional
    return serializer  # type: ignore[no-any-return]


def raises(*errors: type[Exception]) -> Callable[[H], H]:
    """Decorator that declares the errors a handler raises in addition to those of every such request.

    The API description derives their status and code from the tables of errors.
    """

    def declare(handler: H) -> H:
        return mark(handler, raises=errors)

    return declare


class RemarkSerializer(Serializer[Any]):
    """A text about one item of a receipt."""

    code = CharField()
    params = DictField()
    text = CharField()
