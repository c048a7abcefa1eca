"""What the lists of one share have in common: they are reached through the account's membership, and come in pages."""

from typing import Any
from uuid import UUID

from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from accounts.api.viewsets import OwnedViewSet
from contacts_project.kernel.api.queries import DEFAULT_LIMIT, MAX_LIMIT, integer_parameter, read_integer
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.ids import parse_id
from people.api.interactions import NO_CURSOR
from sharing.models import ShareMembership

PAGE_PARAMETERS = [
    integer_parameter("limit", low=1, description=f"Default {DEFAULT_LIMIT}; above {MAX_LIMIT} counts as that."),
    OpenApiParameter("cursor", str, description="Of the page before."),
]


def page_fields() -> Any:
    """What a page has besides its rows, for the API description."""
    return {
        "cursor": serializers.CharField(
            allow_null=True, help_text="Where the next page begins; null if there is none."
        ),
        "hasMore": serializers.BooleanField(),
    }


def read_cursor(query: QueryDict) -> tuple[int, UUID | None]:
    """The limit, and the id after which the page begins. Raises FieldError."""
    limit = min(read_integer(query, "limit", default=DEFAULT_LIMIT, low=1), MAX_LIMIT)
    cursor = query.get("cursor")
    if not cursor:
        return limit, None
    if (key := parse_id(cursor)) is None:
        raise FieldError("cursor", NO_CURSOR)
    return limit, key


def describe_page(cursor: UUID | None) -> dict[str, object]:
    """`cursor` and `hasMore` of a page."""
    return {"cursor": None if cursor is None else str(cursor), "hasMore": cursor is not None}


class ShareListViewSet(OwnedViewSet[ShareMembership]):
    """Routes below one share of the account. Not found, foreign, or left: MissingError."""

    model = ShareMembership
    lookup_url_kwarg = "share_id"

    def get_object(self) -> ShareMembership:
        return ShareMembership.objects.owned_by(self.owner).find_share(self.kwargs["share_id"])
