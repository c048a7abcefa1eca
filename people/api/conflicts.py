"""Request and response of conflicts: fields that both sides changed to different values."""

from collections.abc import Collection
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import StrictChoiceField
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.json import JsonMapping
from people.api.person_serializer import PersonChangeSerializer
from people.contents.conflicts import OF_NEITHER_SIDE, Chosen, choose_sides
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


def read_chosen(request: Request, data: JsonMapping, fields: Collection[JsonMapping]) -> Chosen:
    """What a valid ResolutionSerializer says of the fields of a conflict. Raises FieldError, InvalidError."""
    values = data.get("values") or {}
    if data["resolution"] != Resolution.MERGED or not values:
        return Chosen()
    chosen = choose_sides(values, fields)
    own = {name: value for name, value in values.items() if name not in chosen.local | chosen.remote}
    change = PersonChangeSerializer(data=own, context={"request": request})
    writable = {name for name, field in change.fields.items() if not field.read_only}
    for name in sorted(set(own) - writable):
        raise FieldError(f"values.{name}", OF_NEITHER_SIDE)  # a picture, groups
    if not change.is_valid():
        raise InvalidError({"values": change.errors})
    return chosen._replace(values=dict(change.validated_data))
