"""Declarations of views for the API description, in addition to drf-spectacular's `extend_schema`."""

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from drf_spectacular.utils import inline_serializer
from rest_framework.serializers import CharField, DictField, Field, Serializer

from contacts_project.kernel.api.marks import mark

H = TypeVar("H", bound=Callable[..., Any])


AnyField: TypeAlias = "Field[Any, Any, Any, Any]"
"""A field of any value: those of a serializer have nothing else in common."""


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
