"""The account, its sessions and tokens in bodies of requests and in responses."""

import datetime as dt
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import Model
from django.utils import timezone
from rest_framework import serializers

from accounts.fields import AccountEmailField, QuietHoursSerializer, SavedListsField, SecretField, TimeZoneField
from accounts.models import AccountSession, ApiToken, User
from accounts.models.user import Plan
from accounts.services.second_factor import has_second_factor
from accounts.vocabularies import (
    DateFormat,
    DateReminders,
    GraphMode,
    LeapDayRule,
    NameDisplayFormat,
    NameOrder,
    NameSort,
    Theme,
    TokenKind,
    TokenScope,
)
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import (
    OwnedIdsField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictDateTimeField,
    StrictIntegerField,
)
from contacts_project.kernel.json import JsonObject, Representation
from contacts_project.kernel.languages import CODES
from contacts_project.kernel.texts import define_text

_PAST = define_text("not_in_the_future", "This must be in the future.")

SCOPES = list(TokenScope.values)
_MAX_GROUPS = 100


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


class UserSerializer(serializers.Serializer[User]):
    """The full profile, read only."""

    id = serializers.UUIDField()
    email = AccountEmailField()
    emailVerified = StrictBooleanField(source="email_verified")
    name = StrictCharField(max_length=100)
    surname = StrictCharField(max_length=100, required=False, allow_null=True)
    nickname = StrictCharField(max_length=100, required=False, allow_null=True)
    photo = StrictCharField(max_length=200, required=False, allow_null=True)
    theme = StrictChoiceField(Theme.values)
    dateFormat = StrictChoiceField(DateFormat.values, source="date_format")
    nameOrder = StrictChoiceField(NameOrder.values, source="name_order")
    nameSort = StrictChoiceField(NameSort.values, source="name_sort")
    nameDisplayFormat = StrictChoiceField(NameDisplayFormat.values, source="name_display_format")
    graphMode = StrictChoiceField(GraphMode.values, source="graph_mode")
    savedLists = SavedListsField(source="saved_lists")
    language = StrictChoiceField(CODES)
    geocodingEnabled = StrictBooleanField(source="geocoding_enabled")
    timezone = TimeZoneField(required=False, allow_null=True, source="time_zone")
    reminderHour = StrictIntegerField(min_value=0, max_value=23, source="reminder_hour")
    quietHours = QuietHoursSerializer(allow_null=True, source="quiet_hours")
    leapDayRule = StrictChoiceField(LeapDayRule.values, source="leap_day_rule")
    defaultReminderLeadDays = StrictIntegerField(min_value=0, max_value=365, source="default_reminder_lead_days")
    dateReminderDefault = StrictChoiceField(DateReminders.values, source="date_reminder_default")
    mePersonId = serializers.UUIDField(
        source="me_person_id", allow_null=True, help_text="The person that the user is; null while it is in the trash."
    )
    emailRemindersEnabled = StrictBooleanField(source="email_reminders_enabled")
    weeklyDigestEnabled = StrictBooleanField(source="weekly_digest_enabled")
    weeklyDigestWeekday = StrictIntegerField(min_value=0, max_value=6, source="weekly_digest_weekday")
    plan = StrictChoiceField(list(Plan.values), source="effective_plan")
    mfaEnabled = serializers.SerializerMethodField()
    hasPassword = StrictBooleanField(source="has_usable_password")
    createdAt = StrictDateTimeField(source="created_at")
    updatedAt = StrictDateTimeField(source="updated_at")

    def get_mfaEnabled(self, user: User) -> bool:  # noqa: N802 - DRF builds the name from the field's
        return has_second_factor(user)


def profile_record(user: User) -> Representation:
    """The profile, with the revision of the columns that it contains."""
    return Representation(user.settings_revision, dict(UserSerializer(user).data))


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


class NewDeviceSerializer(serializers.Serializer[Any]):
    """What a device is called among the tokens of the account, and what it may do."""

    name = StrictCharField(max_length=100)
    scope = StrictChoiceField(SCOPES, required=False, default=TokenScope.READ_WRITE.value)


class AppCodeSerializer(NewDeviceSerializer):
    code = SecretField()
    codeVerifier = SecretField(max_length=128)


class DeviceSignInSerializer(NewDeviceSerializer, LoginSerializer):
    pass
