"""Request bodies and responses of the notification endpoints."""

import re
from collections.abc import Collection
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.feed.changes import RecordsById
from accounts.models import User
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import StrictBooleanField, StrictCharField, StrictChoiceField
from contacts_project.kernel.json import JsonObject, Representation
from contacts_project.kernel.outbound.failures import OutboundError
from contacts_project.kernel.outbound.policy import Reason, Schemes
from contacts_project.kernel.outbound.session import configured_rules, outbound_session
from contacts_project.kernel.texts import define_text
from notifications.models import Destination, DestinationType
from notifications.models.destinations import MAX_URL_LENGTH
from notifications.services.destinations import DestinationChanges

_BAD_TOKEN = define_text("ntfy_token", "A token is made of visible ASCII characters, without spaces.")
_NO_TOKEN = define_text("token_not_allowed", "Only an NTFY destination has a token.")
_TRUE_OR_ABSENT = define_text("true_or_absent", "This is true or left out.")
_NO_SECRET = define_text("secret_not_allowed", "Only a WEBHOOK destination has a signing secret.")
_LONG_ENDPOINT = define_text("too_many_bytes_in_utf8", "At most %(limit)s bytes in UTF-8.")

MAX_ENDPOINT_BYTES = 2000
MAX_KEY_LENGTH = 255
MAX_TOKEN_LENGTH = 255
TOKEN = re.compile(r"[!-~]+")
# How long a URL may be to be read at all, so that a longer one than allowed gets an error with a code of its own.
READ_URL_LENGTH = 1_000_000


class DestinationSerializer(serializers.ModelSerializer[Destination]):
    """A destination as it is told; never with a secret."""

    enabled = serializers.BooleanField(source="is_on")
    consecutiveFailures = serializers.IntegerField(source="consecutive_failures")
    lastSuccessAt = serializers.DateTimeField(source="last_success_at", allow_null=True)
    lastFailureAt = serializers.DateTimeField(source="last_failure_at", allow_null=True)
    lastFailureCode = serializers.SerializerMethodField()
    autoDisabledAt = serializers.DateTimeField(source="auto_disabled_at", allow_null=True)
    createdAt = serializers.DateTimeField(source="created_at")
    updatedAt = serializers.DateTimeField(source="updated_at")

    class Meta:
        model = Destination
        fields = (
            "id",
            "type",
            "label",
            "url",
            "enabled",
            "consecutiveFailures",
            "lastSuccessAt",
            "lastFailureAt",
            "lastFailureCode",
            "autoDisabledAt",
            "createdAt",
            "updatedAt",
        )

    def get_lastFailureCode(self, row: Destination) -> str | None:  # noqa: N802 - DRF derives it
        return row.last_failure_code or None


def destination_record(row: Destination) -> Representation:
    """A destination with its revision, from which its ETag is made."""
    return Representation(row.revision, dict(DestinationSerializer(row).data))


def load_destinations(owner: User, ids: Collection[UUID]) -> RecordsById:
    """The destinations of `ids`, by id, for the change feed."""
    rows = Destination.objects.owned_by(owner).filter(pk__in=ids)
    return {row.pk: destination_record(row) for row in rows}


@extend_schema_field(
    {"type": "string", "maxLength": MAX_TOKEN_LENGTH, "pattern": r"^(\s+|\s*[!-~]+\s*)$", "examples": ["tk_..."]}
)
class TopicToken(StrictCharField):
    """Visible ASCII: an Authorization header carries nothing else (RFC 6750, section 2.1)."""

    def to_internal_value(self, data: Any) -> Any:
        text = super().to_internal_value(data)
        if text and not TOKEN.fullmatch(text):
            raise InvalidError(_BAD_TOKEN)
        return text


class UrlText(StrictCharField):
    """A URL. `max_length` is documented only: a longer one is refused later, with an error code of its own."""

    def to_internal_value(self, data: Any) -> Any:
        return StrictCharField(max_length=READ_URL_LENGTH).to_internal_value(data)


class CreateDestination(serializers.Serializer[Any]):
    """Body of POST endpoints."""

    type = StrictChoiceField(list(DestinationType.values))
    label = StrictCharField(max_length=60)  # type: ignore[assignment]  # hides Field.label, which no field needs
    url = UrlText(max_length=MAX_URL_LENGTH)
    token = TopicToken(max_length=MAX_TOKEN_LENGTH, required=False, allow_null=True, allow_blank=False)

    def validate(self, attrs: JsonObject) -> JsonObject:
        """A token is an ntfy topic's; a webhook has a signing secret that we make."""
        if attrs["type"] == DestinationType.WEBHOOK and attrs.get("token"):
            raise InvalidError({"token": [_NO_TOKEN]})
        return attrs


class UpdateDestination(serializers.Serializer[Any]):
    """Body of PUT endpoints/{id}; the context holds the destination's type."""

    label = StrictCharField(max_length=60, required=False)  # type: ignore[assignment]  # as above
    enabled = StrictBooleanField(required=False)
    url = UrlText(max_length=MAX_URL_LENGTH, required=False)
    token = TopicToken(max_length=MAX_TOKEN_LENGTH, required=False, allow_null=True, allow_blank=False)
    rotateSecret = StrictBooleanField(required=False)

    def validate_rotateSecret(self, value: bool) -> bool:  # noqa: N802 - DRF calls it by this name
        """The contract allows true only."""
        if not value:
            raise InvalidError(_TRUE_OR_ABSENT)
        return value

    def validate(self, attrs: JsonObject) -> JsonObject:
        """An ntfy destination has a token, a webhook a signing secret."""
        is_webhook = self.context["type"] == DestinationType.WEBHOOK
        if is_webhook and attrs.get("token"):
            raise InvalidError({"token": [_NO_TOKEN]})
        if not is_webhook and "rotateSecret" in attrs:
            raise InvalidError({"rotateSecret": [_NO_SECRET]})
        return attrs

    @property
    def changes(self) -> DestinationChanges:
        """The requested changes. A null token removes the stored one."""
        data: dict[str, Any] = self.validated_data
        removes_token = "token" in data and self.context["type"] == DestinationType.NTFY
        return DestinationChanges(
            label=data.get("label"),
            enabled=data.get("enabled"),
            url=data.get("url"),
            token=(data["token"] or "") if removes_token else None,
            rotate_secret="rotateSecret" in data,
        )


class SwitchEmail(serializers.Serializer[Any]):
    """Body of PUT email."""

    enabled = StrictBooleanField()


class PushKeys(serializers.Serializer[Any]):
    """The device's keys, as the browser gives them."""

    p256dh = StrictCharField(max_length=MAX_KEY_LENGTH)
    auth = StrictCharField(max_length=MAX_KEY_LENGTH)


class Subscribe(serializers.Serializer[Any]):
    """Body of POST push/subscribe."""

    endpoint = UrlText(max_length=MAX_ENDPOINT_BYTES)
    keys = PushKeys()

    def validate_endpoint(self, value: str) -> str:
        """Only https, except for a push service inside the networks that the operator allows.

        Address and port are not checked here but at each send: the policy may change while the device stays subscribed.
        """
        if len(value.encode()) > MAX_ENDPOINT_BYTES:
            raise InvalidError(_LONG_ENDPOINT.format(limit=MAX_ENDPOINT_BYTES))
        try:
            if value.startswith("https://"):
                configured_rules().check_url(value)
            else:
                with outbound_session(schemes=Schemes.HTTPS_ONLY) as session:
                    session.check(value)
        except OutboundError as error:
            if value.startswith("https://") and error.reason in {Reason.ADDRESS, Reason.PORT}:
                return value
            raise InvalidError(error.text) from error
        return value
