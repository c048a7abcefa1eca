"""The devices of an account as their owner sees them, with a constant number of statements."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable
from typing import TypeVar
from uuid import UUID

from django.db.models import Count, F, Min, QuerySet, Window
from django.db.models.functions import RowNumber

from accounts.models import ApiToken, User
from contacts_project.kernel.json import JsonObject, format_timestamp
from contacts_project.kernel.texts import Text, describe_remarks
from dav.models import Device, Refusal, ReplacedValue
from dav.services.deletions import standing_deletions
from dav.services.history import PHOTO, RETENTION

#: How many refusals and values of each device are shown, the latest first.
MAX_SHOWN = 50


Row = TypeVar("Row", Refusal, ReplacedValue)


def list_devices(owner: User, now: dt.datetime) -> list[JsonObject]:
    """Each device as GET /api/user/devices shows it, the last seen first."""
    rows = Device.objects.owned_by(owner).select_related("token").order_by("-last_seen_at", "id")
    refusals = Refusal.objects.owned_by(owner)
    since = dict(refusals.order_by().values("token").annotate(first=Min("created_at")).values_list("token", "first"))
    refused = _grouped(_latest(refusals))
    values = ReplacedValue.objects.owned_by(owner).filter(created_at__gt=now - RETENTION, person__deleted_at=None)
    replaced = _grouped(_latest(values.select_related("person")))
    deleted = standing_deletions(owner, now).order_by().values("token_id").annotate(number=Count("pk"))
    numbers = dict(deleted.values_list("token_id", "number"))
    return [
        {
            **_settings(row.token),
            "userAgent": row.user_agent,
            "lastSeenAt": format_timestamp(row.last_seen_at),
            "refusedSince": format_timestamp(since[row.token_id]) if row.token_id in since else None,
            "refused": [_refusal(each) for each in refused[row.token_id]],
            "replaced": [_replaced(owner, each) for each in replaced[row.token_id]],
            "deleted": numbers.get(row.token_id, 0),
        }
        for row in rows
    ]


def _latest(rows: QuerySet[Row]) -> QuerySet[Row]:
    """The latest rows of each token."""
    place = Window(RowNumber(), partition_by=[F("token")], order_by=[F("created_at").desc(), F("id").desc()])
    return rows.annotate(place=place).filter(place__lte=MAX_SHOWN).order_by("-created_at", "-id")


def _grouped(rows: Iterable[Row]) -> defaultdict[UUID, list[Row]]:
    grouped: defaultdict[UUID, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row.token_id].append(row)
    return grouped


def _settings(token: ApiToken) -> JsonObject:
    return {
        "tokenId": str(token.pk),
        "name": token.name,
        "scope": token.scope,
        "groupCards": bool(token.group_cards),
        "book": token.book,
        "alarms": token.alarms,
    }


def _refusal(row: Refusal) -> JsonObject:
    person = {"personId": str(row.person_id)} if row.person_id else {}
    reason = describe_remarks([Text.from_stored(row.reason)])
    return {"href": row.href, **person, **reason, "at": format_timestamp(row.created_at)}


def _replaced(owner: User, row: ReplacedValue) -> JsonObject:
    return {
        "id": str(row.pk),
        "personId": str(row.person_id),
        "personName": row.person.display_name_for(owner),
        "property": row.property,
        # The name of a stored file says nothing to anybody.
        "value": None if row.property == PHOTO else row.value,
        "at": format_timestamp(row.created_at),
    }
