"""Bodies of registration and sign-in."""

from typing import Any

from rest_framework import serializers

from accounts.api.serializers.fields import AccountEmail, Secret, TimeZone
from accounts.languages import CODES
from contacts_project.kernel.api.fields import Choice, Text


class RegistrationSerializer(serializers.Serializer[Any]):
    email = AccountEmail(required=True)
    password = Secret(required=True)
    name = Text(100, required=True)
    surname = Text(100)
    nickname = Text(100)
    timezone = TimeZone()
    language = Choice(CODES, required=False, allow_null=True)


class LoginSerializer(serializers.Serializer[Any]):
    email = Text(254, required=True)
    password = Secret(required=True)
    code = Secret(100, required=False, allow_null=True)
