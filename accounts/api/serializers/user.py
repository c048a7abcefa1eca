"""The account as its owner sees it: every preference, no secret."""

from rest_framework import serializers

from accounts.fields import AccountEmailField, QuietHoursSerializer, TimeZoneField
from accounts.models import User
from accounts.models.user import Plan
from accounts.services.second_factor import has_second_factor
from accounts.vocabularies import DateFormat, GraphMode, LeapDayRule, NameDisplayFormat, NameOrder, Theme
from contacts_project.kernel.api.fields import (
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictDateTimeField,
    StrictIntegerField,
)
from contacts_project.kernel.json import Representation
from contacts_project.kernel.languages import CODES


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
    nameDisplayFormat = StrictChoiceField(NameDisplayFormat.values, source="name_display_format")
    graphMode = StrictChoiceField(GraphMode.values, source="graph_mode")
    language = StrictChoiceField(CODES)
    geocodingEnabled = StrictBooleanField(source="geocoding_enabled")
    timezone = TimeZoneField(required=False, allow_null=True, source="time_zone")
    reminderHour = StrictIntegerField(min_value=0, max_value=23, source="reminder_hour")
    quietHours = QuietHoursSerializer(allow_null=True, source="quiet_hours")
    leapDayRule = StrictChoiceField(LeapDayRule.values, source="leap_day_rule")
    defaultReminderLeadDays = StrictIntegerField(min_value=0, max_value=365, source="default_reminder_lead_days")
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
