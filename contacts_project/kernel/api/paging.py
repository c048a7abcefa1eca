"""Pages of lists: parameters `limit` and `offset`, and `pagination` in responses."""

from typing import Any, TypeVar

from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from contacts_project.kernel.api.queries import integer_parameter, read_integer
from contacts_project.kernel.json import JsonObject

DEFAULT_LIMIT, MAX_LIMIT = 100, 500
_MAX_OFFSET = 2**53 - 1  # the largest integer that JSON parsers keep exactly, and within the range of databases

D = TypeVar("D", int, None)


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
