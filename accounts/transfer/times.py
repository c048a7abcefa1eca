"""The times of creation and deletion in records of the document."""

import datetime as dt
from typing import Any

from rest_framework import serializers

from contacts_project.kernel.api.fields import StrictDateTimeField
from contacts_project.kernel.json import JsonObject

_EARLIEST = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class TimestampsSerializer(serializers.Serializer[Any]):
    """The timestamps that every record has. A record without `createdAt` is imported as created now."""

    createdAt = StrictDateTimeField(source="created_at", required=False, allow_null=True)
    deletedAt = StrictDateTimeField(source="deleted_at", required=False, allow_null=True)


def times_of(data: JsonObject, now: dt.datetime) -> JsonObject:
    """The values of created_at and deleted_at, moved to lie between 1970 and `now`."""
    deleted_at = data.get("deleted_at")
    return {
        "created_at": max(_EARLIEST, min(data.get("created_at") or now, now)),
        "deleted_at": max(_EARLIEST, min(deleted_at, now)) if deleted_at else None,
    }
