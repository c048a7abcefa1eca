"""Bodies of registration and sign-in."""

from typing import Any

from rest_framework import serializers

from accounts.api.serializers.api_token import SCOPES
from accounts.fields import AccountEmailField, SecretField, TimeZoneField
from accounts.vocabularies import TokenScope
from contacts_project.kernel.api.fields import StrictCharField, StrictChoiceField
from contacts_project.kernel.languages import CODES


class RegistrationSerializer(serializers.Serializer[Any]):
    email = AccountEmailField()
    password = SecretField()
    name = StrictCharField(max_length=100)
    surname = StrictCharField(max_length=100, required=False, allow_null=True)
    nickname = StrictCharField(max_length=100, required=False, allow_null=True)
    timezone = TimeZoneField(required=False, allow_null=True)
    language = StrictChoiceField(CODES, required=False, allow_null=True)


class LoginSerializer(serializers.Serializer[Any]):
    email = StrictCharField(max_length=254)
    password = SecretField()
    code = SecretField(max_length=100, required=False, allow_null=True)


class NewDeviceSerializer(serializers.Serializer[Any]):
    """What a device is called among the tokens of the account, and what it may do."""

    name = StrictCharField(max_length=100)
    scope = StrictChoiceField(SCOPES, required=False, default=TokenScope.READ_WRITE.value)


class AppCodeSerializer(NewDeviceSerializer):
    code = SecretField()
    codeVerifier = SecretField(max_length=128)


class DeviceSignInSerializer(NewDeviceSerializer, LoginSerializer):
    pass
