"""Declarations of views for the API description, in addition to drf-spectacular's `extend_schema`."""

from collections.abc import Callable
from typing import Any, TypeVar

from drf_spectacular.utils import inline_serializer
from rest_framework.serializers import Field, Serializer

H = TypeVar("H", bound=Callable[..., Any])


def envelope(name: str, *, optional: tuple[str, ...] = (), **fields: "Field[Any, Any, Any, Any]") -> "Serializer[Any]":
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
        handler.raises = errors  # type: ignore[attr-defined]
        return handler

    return declare
