"""API tokens in request bodies and responses."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from accounts.models import ApiToken
from accounts.vocabularies import TokenKind, TokenScope
from contacts_project.kernel.api.fields import StrictCharField, StrictChoiceField, StrictDateTimeField

SCOPES = list(TokenScope.values)


class ApiTokenSerializer(serializers.Serializer[ApiToken]):
    """A token as listed: never its text."""

    id = serializers.UUIDField()
    name = StrictCharField(max_length=100)
    prefix = StrictCharField(max_length=12)
    scope = StrictChoiceField(SCOPES)
    kind = StrictChoiceField(TokenKind.values)
    lastUsedAt = StrictDateTimeField(source="last_used_at", allow_null=True)
    expiresAt = StrictDateTimeField(source="expires_at", allow_null=True)
    createdAt = StrictDateTimeField(source="created_at")
    updatedAt = StrictDateTimeField(source="updated_at")


class NewApiTokenSerializer(ApiTokenSerializer):
    """A token as answered once, when it is made."""

    token = serializers.CharField()


class ApiTokenBodySerializer(serializers.Serializer[Any]):
    name = StrictCharField(max_length=100)
    scope = StrictChoiceField(SCOPES, required=False, default=TokenScope.READ_WRITE.value)
    expiresAt = StrictDateTimeField(source="expires_at", required=False, allow_null=True)

    def validate_expiresAt(self, value: Any) -> Any:  # noqa: N802 - DRF builds the name from the field's
        if value is not None and value <= timezone.now():
            raise serializers.ValidationError("This must be in the future.")
        return value
