"""Bodies that change the account itself."""

from typing import Any

from rest_framework import serializers

from accounts.api.serializers.fields import AccountEmail, Secret
from accounts.models import AccountSession
from contacts_project.kernel.api.fields import Moment, Text


class ProfileSerializer(serializers.Serializer[Any]):
    name = Text(100, required=True)
    surname = Text(100)
    nickname = Text(100)
    email = AccountEmail(required=True)


class PasswordSerializer(serializers.Serializer[Any]):
    currentPassword = Secret(required=True)
    newPassword = Secret(required=True)


class AccountSessionSerializer(serializers.Serializer[AccountSession]):
    """A signed-in browser; `current` is the one that asks."""

    id = serializers.UUIDField()
    createdAt = Moment(source="created_at")
    lastUsedAt = Moment(source="last_used_at")
    userAgent = Text(500, source="user_agent")
    ip = Text(45)
    current = serializers.SerializerMethodField()

    def get_current(self, session: AccountSession) -> bool:
        return bool(session.session_key == self.context["session_key"])
