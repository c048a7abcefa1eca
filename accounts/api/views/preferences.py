"""PUT /api/user/<preference>: a table of the preferences, from which the views and their schemas are built.

The quiet hours have a view of their own: their response has no `user` around it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.urls import URLPattern, path
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import if_match, sends_etag
from accounts.api.serializers import profile_record
from accounts.api.viewsets import SettingsViewSet
from accounts.fields import QuietHoursSerializer, SavedListsField, TimeZoneField
from accounts.models import User
from accounts.services.profile import change_preferences
from accounts.vocabularies import (
    DateFormat,
    DateReminders,
    GraphMode,
    LeapDayRule,
    NameDisplayFormat,
    NameOrder,
    NameSort,
    Theme,
)
from contacts_project.kernel.api.fields import StrictBooleanField, StrictChoiceField, StrictIntegerField
from contacts_project.kernel.api.schema import AnyField, envelope
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.languages import CODES


@dataclass(frozen=True)
class PreferenceValue:
    """One value of a preference: its name in the body, its field of User, its name in the response."""

    name: str
    column: str
    response_name: str
    field_class: type[serializers.Field[Any, Any, Any, Any]]
    limits: dict[str, Any] = field(default_factory=dict)

    def build_field(self) -> AnyField:
        """The field for a body. Its source is the field of User."""
        # DRF refuses a `source` that is equal to the name of the field.
        options: dict[str, Any] = {} if self.column == self.name else {"source": self.column}
        return self.field_class(**self.limits, required=True, **options)


def choice(name: str, column: str, words: list[str]) -> PreferenceValue:
    return PreferenceValue(name, column, name, StrictChoiceField, {"choices": words})


@dataclass(frozen=True)
class Preference:
    """One route. `flat` answers `{ success, <value> }` instead of `{ user: { id, <value> } }` (rule 1)."""

    path: str
    title: str
    values: list[PreferenceValue]
    flat: bool = field(default=False)


PREFERENCES = [
    Preference("theme", "Theme", [choice("theme", "theme", Theme.values)]),
    Preference("date-format", "DateFormat", [choice("dateFormat", "date_format", DateFormat.values)]),
    Preference("name-order", "NameOrder", [choice("nameOrder", "name_order", NameOrder.values)]),
    Preference("name-sort", "NameSort", [choice("nameSort", "name_sort", NameSort.values)]),
    Preference(
        "name-display-format",
        "NameDisplayFormat",
        [choice("nameDisplayFormat", "name_display_format", NameDisplayFormat.values)],
    ),
    Preference("graph-display", "GraphDisplay", [choice("graphMode", "graph_mode", GraphMode.values)]),
    Preference(
        "saved-lists", "SavedLists", [PreferenceValue("savedLists", "saved_lists", "savedLists", SavedListsField)]
    ),
    Preference(
        "geocoding",
        "Geocoding",
        [PreferenceValue("geocodingEnabled", "geocoding_enabled", "geocodingEnabled", StrictBooleanField)],
    ),
    Preference(
        "reminder-lead-days",
        "ReminderLeadDays",
        [
            PreferenceValue(
                "days",
                "default_reminder_lead_days",
                "defaultReminderLeadDays",
                StrictIntegerField,
                {"min_value": 0, "max_value": 365},
            )
        ],
    ),
    Preference(
        "date-reminder-default",
        "DateReminderDefault",
        [choice("dateReminderDefault", "date_reminder_default", DateReminders.values)],
    ),
    Preference(
        "weekly-digest",
        "WeeklyDigest",
        [
            PreferenceValue("enabled", "weekly_digest_enabled", "weeklyDigestEnabled", StrictBooleanField),
            PreferenceValue(
                "weekday",
                "weekly_digest_weekday",
                "weeklyDigestWeekday",
                StrictIntegerField,
                {"min_value": 0, "max_value": 6},
            ),
        ],
    ),
    Preference("timezone", "TimeZone", [PreferenceValue("timezone", "time_zone", "timezone", TimeZoneField)]),
    Preference(
        "reminder-hour",
        "ReminderHour",
        [
            PreferenceValue(
                "hour", "reminder_hour", "reminderHour", StrictIntegerField, {"min_value": 0, "max_value": 23}
            )
        ],
    ),
    Preference("leap-day-rule", "LeapDayRule", [choice("leapDayRule", "leap_day_rule", LeapDayRule.values)]),
    Preference("language", "Language", [choice("language", "language", CODES)], flat=True),
]


class PreferenceViewSet(SettingsViewSet):
    """Stores one preference. `preference_views` creates a subclass for each."""

    preference: Preference
    body: type[serializers.Serializer[Any]]

    @sends_etag
    @if_match
    def update(self, request: Request) -> Response:
        """Change this preference; the answer holds it alone, not the profile, and the profile's ETag."""
        user = change_preferences(user=self.owner, values=self.read_body(self.body))
        return Response(serialize_preference(self.preference, user), headers={"ETag": profile_record(user).etag})


def serialize_preference(preference: Preference, user: User) -> JsonObject:
    """The id and the values of the preference, in the format of the contract."""
    values = {value.response_name: getattr(user, value.column) for value in preference.values}
    return {"success": True, **values} if preference.flat else {"user": {"id": str(user.pk), **values}}


def preference_views() -> Iterator[URLPattern]:
    """A route below /api/user/ for each preference."""
    for preference in PREFERENCES:
        fields = {value.name: value.build_field() for value in preference.values}
        body = type(f"{preference.title}Serializer", (serializers.Serializer,), fields)
        view: Any = type(f"{preference.title}ViewSet", (PreferenceViewSet,), {"preference": preference, "body": body})
        schema = extend_schema(
            operation_id=f"set{preference.title}",
            summary=f"Set the {preference.path.replace('-', ' ')}",
            description="The answer holds this preference alone, not the profile.",
            request=body,
            responses=_response_schema(preference),
        )
        yield path(f"user/{preference.path}", extend_schema_view(update=schema)(view).as_view({"put": "update"}))


def _response_schema(preference: Preference) -> "serializers.Serializer[Any]":
    values: dict[str, Any] = {value.response_name: value.field_class(**value.limits) for value in preference.values}
    if preference.flat:
        return envelope(f"{preference.title}Answer", success=serializers.BooleanField(), **values)
    user = envelope(f"{preference.title}Preference", id=serializers.UUIDField(), **values)
    return envelope(f"{preference.title}Answer", user=user)


class QuietHoursBodySerializer(QuietHoursSerializer):
    """Both times, or both null for none."""

    is_optional = True


class QuietHoursViewSet(SettingsViewSet):
    """The hours in which the account gets no notifications."""

    @extend_schema(
        operation_id="setQuietHours",
        request=QuietHoursBodySerializer,
        responses=envelope(
            "QuietHoursAnswer", id=serializers.UUIDField(), quietHours=QuietHoursSerializer(allow_null=True)
        ),
    )
    @sends_etag
    @if_match
    def update(self, request: Request) -> Response:
        """Set the quiet hours: what would be sent within is sent at their end, in the account's zone."""
        values: dict[str, Any] = self.read_body(QuietHoursBodySerializer)
        hours = values if values["from"] else None
        user = change_preferences(user=self.owner, values={"quiet_hours": hours})
        return Response(
            {"id": str(user.pk), "quietHours": user.quiet_hours}, headers={"ETag": profile_record(user).etag}
        )
