"""Request bodies of the profile and the password, and the list of sessions."""

from typing import Any

from rest_framework import serializers

from accounts.fields import AccountEmailField, SecretField
from accounts.models import AccountSession
from contacts_project.kernel.api.fields import StrictCharField, StrictDateTimeField


class ProfileSerializer(serializers.Serializer[Any]):
    name = StrictCharField(max_length=100)
    surname = StrictCharField(max_length=100, required=False, allow_null=True)
    nickname = StrictCharField(max_length=100, required=False, allow_null=True)
    email = AccountEmailField()


class PasswordSerializer(serializers.Serializer[Any]):
    currentPassword = SecretField()
    newPassword = SecretField()


class AccountSessionSerializer(serializers.Serializer[AccountSession]):
    """A signed-in browser; `current` is the one that asks."""

    id = serializers.UUIDField()
    createdAt = StrictDateTimeField(source="created_at")
    lastUsedAt = StrictDateTimeField(source="last_used_at")
    userAgent = StrictCharField(max_length=500, required=False, allow_null=True, source="user_agent")
    ip = StrictCharField(max_length=45, required=False, allow_null=True)
    current = serializers.SerializerMethodField()

    def get_current(self, session: AccountSession) -> bool:
        return bool(session.session_key == self.context["session_key"])
