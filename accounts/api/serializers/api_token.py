"""API tokens in request bodies and responses."""

import datetime as dt
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import Model
from django.utils import timezone
from rest_framework import serializers

from accounts.models import ApiToken
from accounts.vocabularies import TokenKind, TokenScope
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import (
    OwnedIdsField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictDateTimeField,
)
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import define_text

_PAST = define_text("not_in_the_future", "This must be in the future.")

SCOPES = list(TokenScope.values)


_MAX_GROUPS = 100


class BookGroupsField(OwnedIdsField):
    """Own, active groups, and those that the token has already: one in the trash counts again when it is restored."""

    def find_rows(self, ids: list[UUID]) -> Mapping[UUID, Model | UUID]:
        kept = map(UUID, self.context["request"].parser_context["view"].kept_group_ids())
        return {**super().find_rows(ids), **{key: key for key in kept}}


class BookSerializer(serializers.Serializer[Any]):
    """Whom a device gets: everybody for whom each condition holds that is named."""

    #: Responses have the conditions that were sent.
    optional = ("groupIds", "favourites", "reachable")

    groupIds = BookGroupsField(
        "people.Group", required=False, max_items=_MAX_GROUPS, help_text="Who is in any of these groups. Empty: nobody."
    )
    favourites = StrictBooleanField(required=False, help_text="Only favourites.")
    reachable = StrictBooleanField(required=False, help_text="Only with a phone number, e-mail or address.")

    def to_internal_value(self, data: object) -> JsonObject:
        """As it is stored: JSON."""
        value = super().to_internal_value(data)
        ids = value.get("groupIds")
        return {**value, "groupIds": [str(key) for key in ids]} if ids is not None else dict(value)


class ApiTokenSerializer(serializers.Serializer[ApiToken]):
    """A token as listed: never its text."""

    id = serializers.UUIDField()
    name = StrictCharField(max_length=100)
    prefix = StrictCharField(max_length=12)
    scope = StrictChoiceField(SCOPES)
    kind = StrictChoiceField(TokenKind.values)
    groupCards: serializers.Field[Any, Any, Any, Any] = serializers.SerializerMethodField()
    book = BookSerializer(allow_null=True)
    alarms = StrictBooleanField()
    lastUsedAt = StrictDateTimeField(source="last_used_at", allow_null=True)
    expiresAt = StrictDateTimeField(source="expires_at", allow_null=True)
    createdAt = StrictDateTimeField(source="created_at")
    updatedAt = StrictDateTimeField(source="updated_at")

    def get_groupCards(self, row: ApiToken) -> bool:  # noqa: N802 - DRF builds the name from the field's
        return bool(row.group_cards)


class NewApiTokenSerializer(ApiTokenSerializer):
    """A token as answered once, when it is made."""

    token = serializers.CharField()


class DeviceSettingsSerializer(serializers.Serializer[Any]):
    """What a phone or program gets that signs in with the token as an app password."""

    groupCards = StrictBooleanField(
        source="group_cards",
        required=False,
        help_text="Groups are cards of their own. By default true where the first request is from an Apple program.",
    )
    book = BookSerializer(required=False, allow_null=True, help_text="Null: everybody.")
    alarms = StrictBooleanField(required=False, help_text="Whether the events of its calendar have alarms.")


class ApiTokenChangeSerializer(DeviceSettingsSerializer):
    """The body of a change: what it leaves out stays."""

    name = StrictCharField(max_length=100, required=False)


class ApiTokenBodySerializer(DeviceSettingsSerializer):
    name = StrictCharField(max_length=100)
    scope = StrictChoiceField(SCOPES, required=False, default=TokenScope.READ_WRITE.value)
    expiresAt = StrictDateTimeField(source="expires_at", required=False, allow_null=True)

    def validate_expiresAt(self, value: dt.datetime | None) -> dt.datetime | None:  # noqa: N802 - DRF builds the name from the field's
        if value is not None and value <= timezone.now():
            raise InvalidError(_PAST)
        return value
