"""What views say of themselves for the API description, beside drf-spectacular's `extend_schema`."""

from collections.abc import Callable
from typing import Any, TypeVar

from drf_spectacular.utils import inline_serializer
from rest_framework.serializers import Field, Serializer

H = TypeVar("H", bound=Callable[..., Any])


def envelope(name: str, *, optional: tuple[str, ...] = (), **fields: "Field[Any, Any, Any, Any]") -> "Serializer[Any]":
    """The schema of an answer such as `{ person: Person }`; `name` is unique among all answers.

    `optional` names what not every such answer holds.
    """
    answer: Any = inline_serializer(name=name, fields=fields)
    type(answer).optional = optional
    return answer  # type: ignore[no-any-return]


def raises(*errors: type[Exception]) -> Callable[[H], H]:
    """Decorate a handler: the refusals of its own, beside those of every such request, with their status and code."""

    def declare(handler: H) -> H:
        handler.raises = errors  # type: ignore[attr-defined]
        return handler

    return declare
