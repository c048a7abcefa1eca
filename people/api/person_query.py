"""Parses the query parameters of people strictly: an invalid one is a 400 error with its name."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import QueryDict
from rest_framework.exceptions import ValidationError

from contacts_project.kernel.api.fields import check_text
from contacts_project.kernel.api.json import parse_id
from contacts_project.kernel.api.paging import DEFAULT_LIMIT, read_page
from contacts_project.kernel.api.queries import read_flag
from contacts_project.kernel.errors import FieldError
from people.models import Membership

_MAX_SEARCH_LENGTH = 500


@dataclass(frozen=True)
class PeopleQuery:
    """The parsed query of the people list."""

    limit: int
    offset: int
    group_ids: list[UUID] | None
    include_details: bool
    include_all: bool

    def filter_people(self, people: Any, owner: Any) -> Any:
        """The `people` in at least one of the groups, or all without `group_ids`. Unknown ids match nobody."""
        if self.group_ids is None:
            return people
        members = Membership.objects.owned_by(owner).filter(group_id__in=self.group_ids, group__deleted_at=None)
        return people.filter(pk__in=members.values("person_id"))


def read_people_query(query: QueryDict) -> PeopleQuery:
    """Parse the query of the people list. Raises FieldError."""
    limit, offset = read_page(query, default=DEFAULT_LIMIT)
    return PeopleQuery(
        limit=limit,
        offset=offset,
        group_ids=_read_group_ids(query),
        include_details=read_flag(query, "includeDetails", default=True),
        include_all=read_flag(query, "includeAll", default=False),
    )


def read_search(query: QueryDict, *, max_length: int = _MAX_SEARCH_LENGTH) -> str:
    """The text to search for, trimmed, of 1 to `max_length` characters. Raises FieldError."""
    try:
        text = check_text(query.get("q", ""))
    except ValidationError as error:
        detail: Any = error.detail
        raise FieldError("q", str(detail[0])) from None
    if not text:
        raise FieldError("q", "At least one character is needed.")
    if len(text) > max_length:
        raise FieldError("q", f"At most {max_length} characters.")
    return text


def _read_group_ids(query: QueryDict) -> list[UUID] | None:
    text = query.get("groupIds", "").strip()
    if not text:
        return None
    return [key for key in (parse_id(part.strip()) for part in text.split(",")) if key]
