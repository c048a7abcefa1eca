"""Cursor pagination of interactions, newest first.

A cursor encodes the instant and id of the last interaction of a page, so that newly added ones do not shift the pages.
"""

import datetime as dt
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

import orjson
from django.db.models import Q, QuerySet

from accounts.models import User
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.texts import define_text
from people.dates.recurrence import end_of_day, fire_at
from people.dates.schedule import calendar_from_user
from people.models import Interaction, Participation, Person

NO_CURSOR = define_text("unknown_page_cursor", "This is no cursor that was given out here: begin anew, without one.")


@dataclass(frozen=True)
class Page:
    """The ids of interactions in order, and the cursor of the next page (None on the last one)."""

    ids: list[UUID]
    cursor: str | None


def load_page(
    owner: User,
    *,
    person: Person | None,
    first: dt.date | None,
    last: dt.date | None,
    cursor: str | None,
    limit: int,
) -> Page:
    """The next `limit` interactions of one person or all, from the day `first` to `last` in the account's time zone.

    Uses one statement, which reads only the index entries of the page. Raises FieldError.
    """
    rows: Any
    if person is not None:
        of_one = Participation.objects.owned_by(owner).filter(person=person, interaction__deleted_at=None)
        rows, key = of_one, "interaction"
    else:
        rows, key = Interaction.objects.owned_by(owner).active().with_active_people(), "pk"
    rows = _filter_days(owner, rows, first, last)
    if cursor is not None:
        at, interaction_id = _parse_cursor(cursor)
        # The entries behind the cursor in the order (at, id). `at <=` is a range of the index.
        rows = rows.filter(at__lte=at).exclude(Q(at=at) & Q(**{f"{key}__gte": interaction_id}))
    # One row more than a page, to see whether there is another page.
    found = list(rows.order_by("-at", f"-{key}").values_list("at", key)[: limit + 1])
    ids = [interaction_id for _, interaction_id in found[:limit]]
    return Page(ids, _format_cursor(*found[limit - 1]) if len(found) > limit else None)


Row = TypeVar("Row", Interaction, Participation)


def _filter_days(owner: User, rows: QuerySet[Row], first: dt.date | None, last: dt.date | None) -> QuerySet[Row]:
    zone = calendar_from_user(owner).zone
    try:
        if first is not None:
            rows = rows.filter(at__gte=fire_at(first, zone, 0))
        if last is not None:
            rows = rows.filter(at__lt=end_of_day(last, zone))
    except OverflowError:  # 1 January of year 1 or 31 December 9999: there are no interactions beyond
        pass
    return rows


def _format_cursor(at: dt.datetime, interaction_id: UUID) -> str:
    microseconds = (at - _EPOCH) // dt.timedelta(microseconds=1)
    return urlsafe_b64encode(orjson.dumps([microseconds, interaction_id.hex])).decode().rstrip("=")


def _parse_cursor(text: str) -> tuple[dt.datetime, UUID]:
    try:
        microseconds, interaction_id = orjson.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        return _EPOCH + dt.timedelta(microseconds=int(microseconds)), UUID(interaction_id)
    except (ValueError, TypeError, AttributeError, OverflowError):
        raise FieldError("cursor", NO_CURSOR) from None


_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
