"""Strict parsers for query parameters. A malformed one raises FieldError with its name."""

import re
from typing import Any, TypeVar

from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter

from contacts_project.kernel.errors import FieldError

_BOOLEANS = {"true": True, "false": False}


def read_flag(query: QueryDict, name: str, *, default: bool) -> bool:
    """Parse `true` or `false` in any case, since many client libraries write `True`. Raises FieldError."""
    word = query.get(name)
    if word is None:
        return default
    if word.lower() not in _BOOLEANS:
        raise FieldError(name, "This must be true or false.")
    return _BOOLEANS[word.lower()]


D = TypeVar("D", int, None)


def read_integer(query: QueryDict, name: str, *, default: D, low: int, high: int | None = None) -> D | int:
    """Parse a whole number in ASCII digits, from `low` to `high` inclusive. Raises FieldError."""
    text = query.get(name)
    if text is None:
        return default
    # int() also accepts signs, underscores and other scripts' digits, and raises ValueError for very long numbers.
    is_digits = re.fullmatch(r"[0-9]{1,50}", text)
    if not is_digits or int(text) < low or (high is not None and int(text) > high):
        bounds = f"at least {low}" if high is None else f"between {low} and {high}"
        raise FieldError(name, f"This must be a whole number, {bounds}.")
    return int(text)


def integer_parameter(name: str, *, low: int, high: int | None = None, **more: Any) -> OpenApiParameter:
    """Describe a parameter of `read_integer` for the API description."""
    bounds = {"minimum": low} if high is None else {"minimum": low, "maximum": high}
    return OpenApiParameter(name, {"type": "integer", **bounds}, **more)
