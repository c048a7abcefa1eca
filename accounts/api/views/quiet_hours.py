"""PUT /api/user/quiet-hours: the one preference whose response has no `user` around it."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.preconditions import if_match, sends_etag
from accounts.api.serializers.user import profile_record
from accounts.api.viewsets import SettingsViewSet
from accounts.fields import QuietHoursSerializer
from accounts.services.profile import change_preferences
from contacts_project.kernel.api.schema import envelope


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
