"""Query parameters, among them those of a page. The parsers are strict: FieldError has the name of a malformed one."""

import re
from collections.abc import Sequence
from typing import Any, TypeVar

from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.text_forms import NOT_A_BOOLEAN, NOT_A_CHOICE
from contacts_project.kernel.texts import define_text

_TOO_LOW = define_text("integer_too_low", "This must be a whole number, at least %(low)s.")
_OUT_OF_RANGE = define_text("integer_out_of_range", "This must be a whole number, between %(low)s and %(high)s.")
_BOOLEANS = {"true": True, "false": False}
DEFAULT_LIMIT, MAX_LIMIT = 100, 500
_MAX_OFFSET = 2**53 - 1  # the largest integer that JSON parsers keep exactly, and within the range of databases

F = TypeVar("F", bool, None)
D = TypeVar("D", int, None)


def read_flag(query: QueryDict, name: str, *, default: F) -> F | bool:
    """Parse `true` or `false` in any case, since many client libraries write `True`. Raises FieldError."""
    word = query.get(name)
    if word is None:
        return default
    if word.lower() not in _BOOLEANS:
        raise FieldError(name, NOT_A_BOOLEAN)
    return _BOOLEANS[word.lower()]


def read_choice(query: QueryDict, name: str, *, choices: Sequence[str], default: str) -> str:
    """One of the choices, which are case-sensitive. Raises FieldError."""
    word = query.get(name, default)
    if word not in choices:
        raise FieldError(name, NOT_A_CHOICE.format(choices=list(choices)))
    return word


def read_integer(query: QueryDict, name: str, *, default: D, low: int, high: int | None = None) -> D | int:
    """Parse a whole number in ASCII digits, from `low` to `high` inclusive. Raises FieldError."""
    text = query.get(name)
    if text is None:
        return default
    # int() also accepts signs, underscores and other scripts' digits, and raises ValueError for very long numbers.
    is_digits = re.fullmatch(r"[0-9]{1,50}", text)
    if not is_digits or int(text) < low or (high is not None and int(text) > high):
        bounds = _TOO_LOW.format(low=low) if high is None else _OUT_OF_RANGE.format(low=low, high=high)
        raise FieldError(name, bounds)
    return int(text)


def integer_parameter(name: str, *, low: int, high: int | None = None, **more: Any) -> OpenApiParameter:
    """Describe a parameter of `read_integer` for the API description."""
    bounds = {"minimum": low} if high is None else {"minimum": low, "maximum": high}
    return OpenApiParameter(name, {"type": "integer", **bounds}, **more)


def read_page(query: QueryDict, *, default: D) -> tuple[D | int, int]:
    """Parse limit and offset. A limit above MAX_LIMIT is reduced to it. Raises FieldError."""
    limit: D | int = read_integer(query, "limit", default=default, low=1)
    offset = read_integer(query, "offset", default=0, low=0, high=_MAX_OFFSET)
    return limit if limit is None else min(limit, MAX_LIMIT), offset


def pagination(*, total: int, limit: int, offset: int) -> JsonObject:
    """The `pagination` of a response."""
    return {"total": total, "limit": limit, "offset": offset, "hasMore": offset + limit < total}


class PaginationSerializer(serializers.Serializer[Any]):
    """Clients advance `offset` by `limit` while `hasMore` is true."""

    total = serializers.IntegerField()
    limit = serializers.IntegerField()
    offset = serializers.IntegerField()
    hasMore = serializers.BooleanField()


def page_parameters(default: str) -> list[OpenApiParameter]:
    """Describe `limit` and `offset` for the API description. `default` is the text for a missing limit."""
    return [
        integer_parameter("limit", low=1, description=f"Default {default}; above {MAX_LIMIT} counts as that."),
        integer_parameter("offset", low=0, high=_MAX_OFFSET, description="Records to skip, default 0."),
    ]
