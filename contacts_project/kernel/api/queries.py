"""Query parameters, where everything is text: read strictly, refused by name."""

import re
from typing import Any, TypeVar

from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter

from contacts_project.kernel.errors import FieldError

_WORDS = {"true": True, "false": False}


def read_flag(query: QueryDict, name: str, *, default: bool) -> bool:
    """`true` or `false`, in any case, as many client libraries write their own `True`. Raises FieldError."""
    word = query.get(name)
    if word is None:
        return default
    if word.lower() not in _WORDS:
        raise FieldError(name, "This must be true or false.")
    return _WORDS[word.lower()]


D = TypeVar("D", int, None)


def read_integer(query: QueryDict, name: str, *, default: D, low: int, high: int | None = None) -> D | int:
    """A whole number in plain digits, from `low` to `high`. Raises FieldError."""
    text = query.get(name)
    if text is None:
        return default
    is_digits = re.fullmatch(r"[0-9]{1,50}", text)  # int() would refuse some thousand digits by itself
    if not is_digits or int(text) < low or (high is not None and int(text) > high):
        bounds = f"at least {low}" if high is None else f"between {low} and {high}"
        raise FieldError(name, f"This must be a whole number, {bounds}.")
    return int(text)


def integer_parameter(name: str, *, low: int, high: int | None = None, **more: Any) -> OpenApiParameter:
    """The description of what `read_integer` reads."""
    bounds = {"minimum": low} if high is None else {"minimum": low, "maximum": high}
    return OpenApiParameter(name, {"type": "integer", **bounds}, **more)
