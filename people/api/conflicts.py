"""Request and response of conflicts: fields that both sides changed to different values."""

from collections.abc import Collection
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import StrictChoiceField
from contacts_project.kernel.json import JsonMapping, JsonObject
from people.api.person_serializer import PersonChangeSerializer
from people.contents.conflicts import check_values
from people.vocabularies import Resolution

_RESOLUTIONS = [Resolution.KEEP_LOCAL.value, Resolution.KEEP_REMOTE.value, Resolution.MERGED.value]


class ConflictFieldSerializer(serializers.Serializer[Any]):
    """One field: what it said when both agreed, and what each side says now."""

    field = serializers.CharField()
    base = serializers.JSONField()
    local = serializers.JSONField()
    remote = serializers.JSONField()


class ResolutionSerializer(serializers.Serializer[Any]):
    """The decision. `values` go with `merged`: what the named fields shall say."""

    resolution = StrictChoiceField(_RESOLUTIONS)
    values = serializers.DictField(required=False)


def read_values(request: Request, data: JsonMapping, in_conflict: Collection[str]) -> JsonObject:
    """The values of a valid ResolutionSerializer, by column in PersonWriter's form. Raises FieldError, InvalidError."""
    given = data.get("values") or {}
    if data["resolution"] != Resolution.MERGED or not given:
        return {}
    check_values(given, in_conflict)
    change = PersonChangeSerializer(data=given, context={"request": request})
    if not change.is_valid():
        raise InvalidError({"values": change.errors})
    return dict(change.validated_data)
