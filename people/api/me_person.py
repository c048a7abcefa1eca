"""PUT /api/user/me-person: which of the people the account's user is."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import if_match, sends_etag
from accounts.api.serializers import profile_record
from accounts.api.viewsets import SettingsViewSet
from contacts_project.kernel.api.fields import LockedIdField
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError
from people.services.me_person import set_me_person


class MePersonSerializer(serializers.Serializer[Any]):
    personId = LockedIdField(allow_null=True, help_text="An own, active person; null for none.")


_ANSWER = envelope(
    "MePersonAnswer",
    user=envelope("MePersonPreference", id=serializers.UUIDField(), mePersonId=serializers.UUIDField(allow_null=True)),
)


class MePersonViewSet(SettingsViewSet):
    """The person that the user is, as the profile names it."""

    @extend_schema(operation_id="setMePerson", request=MePersonSerializer, responses={200: _ANSWER})
    @action(detail=False, methods=["put"], url_path="me-person")
    @raises(FieldError)
    @sends_etag
    @if_match
    def set_me_person(self, request: Request) -> Response:
        """Set the person that the user is; the answer holds this preference alone, not the profile.

        It is the user's node in graphs, and left out of letters, insights and contact reminders.
        """
        user = set_me_person(owner=self.owner, person_id=self.read_body(MePersonSerializer)["personId"])
        record = profile_record(user)
        answer = {"id": str(user.pk), "mePersonId": record.body["mePersonId"]}
        return Response({"user": answer}, headers={"ETag": record.etag})
