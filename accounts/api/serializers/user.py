"""The account as its owner sees it: every preference, no secret."""

from rest_framework import serializers

from accounts.api.serializers.fields import AccountEmail, TimeZone
from accounts.languages import CODES
from accounts.models import User
from accounts.models.user import Plan
from accounts.services.second_factor import has_second_factor
from contacts_project.kernel.api.fields import Choice, Moment, Text, Truth, Whole

THEMES = ["LIGHT", "DARK"]
DATE_FORMATS = ["MDY", "DMY", "YMD"]
NAME_ORDERS = ["WESTERN", "EASTERN"]
NAME_DISPLAY_FORMATS = ["FULL", "NICKNAME_PREFERRED", "SHORT"]
GRAPH_MODES = ["individuals", "bubbles"]
LEAP_DAY_RULES = ["FEB28", "MAR1"]


class UserSerializer(serializers.Serializer[User]):
    """The full profile, read only."""

    id = serializers.UUIDField()
    email = AccountEmail(required=True)
    emailVerified = Truth(source="email_verified")
    name = Text(100, required=True)
    surname = Text(100)
    nickname = Text(100)
    photo = Text(200)
    theme = Choice(THEMES)
    dateFormat = Choice(DATE_FORMATS, source="date_format")
    nameOrder = Choice(NAME_ORDERS, source="name_order")
    nameDisplayFormat = Choice(NAME_DISPLAY_FORMATS, source="name_display_format")
    graphMode = Choice(GRAPH_MODES, source="graph_mode")
    language = Choice(CODES)
    geocodingEnabled = Truth(source="geocoding_enabled")
    timezone = TimeZone(source="time_zone")
    reminderHour = Whole(0, 23, source="reminder_hour")
    leapDayRule = Choice(LEAP_DAY_RULES, source="leap_day_rule")
    defaultReminderLeadDays = Whole(0, 365, source="default_reminder_lead_days")
    emailRemindersEnabled = Truth(source="email_reminders_enabled")
    weeklyDigestEnabled = Truth(source="weekly_digest_enabled")
    weeklyDigestWeekday = Whole(0, 6, source="weekly_digest_weekday")
    plan = Choice(list(Plan.values), source="effective_plan")
    mfaEnabled = serializers.SerializerMethodField()
    hasPassword = Truth(source="has_usable_password")
    createdAt = Moment(source="created_at")
    updatedAt = Moment(source="updated_at")

    def get_mfaEnabled(self, user: User) -> bool:  # noqa: N802 - DRF builds the name from the field's
        return has_second_factor(user)
