"""Routes of the calendars that are read."""

from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field, inline_serializer
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import if_match, in_own_transactions, not_in_atomic_batches, sends_etag
from accounts.api.viewsets import OwnedViewSet
from accounts.fields import SecretField
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.etags import conditional_status
from contacts_project.kernel.api.fields import (
    TOO_MANY_ENTRIES,
    StrictCharField,
    StrictChoiceField,
    StrictIntegerField,
)
from contacts_project.kernel.api.json import representation_response
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError, MissingError, RateLimitedError
from contacts_project.kernel.json import JsonObject, Representation
from contacts_project.kernel.texts import define_text
from meetings.client.caldav import MAX_CALENDARS, is_chosen
from meetings.models import (
    MAX_NAME_LENGTH,
    MAX_URL_LENGTH,
    CalendarSource,
    MeetingProposal,
    SourceKind,
    SourceState,
)
from meetings.services import sources as service
from meetings.tasks import enqueue_reading

_NOT_HREFS = define_text("not_hrefs", "This must be a list of hrefs.")
_HREF = StrictCharField(max_length=MAX_URL_LENGTH)


class CalendarOfSourceSerializer(serializers.Serializer[Any]):
    href = serializers.CharField()
    name = serializers.CharField()
    chosen = serializers.BooleanField()


class LastErrorSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    error = serializers.CharField()


class SourceSerializer(serializers.ModelSerializer[CalendarSource]):
    """A source as answers show it: of the address no secret part, and no password."""

    url = serializers.SerializerMethodField(help_text="Without the last part of its path and its query.")
    username = serializers.SerializerMethodField()
    calendars = serializers.SerializerMethodField(help_text="Those of a CalDAV server, once it was read.")
    daysBack = serializers.IntegerField(source="days_back")
    state = serializers.SerializerMethodField()
    lastReadAt = serializers.DateTimeField(source="last_read_at", allow_null=True, help_text="The last success.")
    nextReadAt = serializers.DateTimeField(source="next_read_at", allow_null=True)
    lastError = serializers.SerializerMethodField()
    brokenEvents = serializers.IntegerField(source="broken", help_text="Events that could not be read.")
    proposals = serializers.SerializerMethodField(help_text="Open ones.")
    createdAt = serializers.DateTimeField(source="created_at")
    updatedAt = serializers.DateTimeField(source="updated_at")

    class Meta:
        model = CalendarSource
        fields = (
            *("id", "name", "kind", "url", "username", "calendars", "daysBack", "state", "lastReadAt", "nextReadAt"),
            *("lastError", "brokenEvents", "proposals", "createdAt", "updatedAt"),
        )

    def get_url(self, row: CalendarSource) -> str | None:
        return service.shown_url(row.url) or None

    def get_username(self, row: CalendarSource) -> str | None:
        return row.username or None

    @extend_schema_field(CalendarOfSourceSerializer(many=True))
    def get_calendars(self, row: CalendarSource) -> list[JsonObject]:
        return [{**entry, "chosen": is_chosen(entry["href"], row.chosen)} for entry in row.calendars]

    @extend_schema_field(serializers.ChoiceField(list(SourceState.values)))
    def get_state(self, row: CalendarSource) -> str:
        return str(row.current_state(timezone.now()))

    @extend_schema_field(LastErrorSerializer(allow_null=True))
    def get_lastError(self, row: CalendarSource) -> JsonObject | None:  # noqa: N802 - DRF derives it
        return {"code": row.last_error_code, "error": str(row.last_error)} if row.last_error_code else None

    def get_proposals(self, row: CalendarSource) -> int:
        counts: dict[UUID, int] | None = self.context.get("counts")
        if counts is not None:
            return counts.get(row.pk, 0)
        return MeetingProposal.objects.owned_by(row.owner_id).with_people().filter(source=row).count()


@extend_schema_field(
    {
        "type": "array",
        "items": {
            "oneOf": [
                {"type": "string", "minLength": 1, "maxLength": MAX_URL_LENGTH},
                {
                    "type": "object",
                    "properties": {
                        "href": {"type": "string", "minLength": 1, "maxLength": MAX_URL_LENGTH},
                        "chosen": {"type": "boolean"},
                    },
                    "required": ["href"],
                },
            ]
        },
        "maxItems": MAX_CALENDARS,
    }
)
class HrefsField(serializers.Field[list[str], Any, list[str], Any]):
    """The hrefs of the calendars to read; or calendars as answers show them, of which the chosen ones count."""

    def to_internal_value(self, data: object) -> list[str]:
        if not isinstance(data, list):
            raise InvalidError(_NOT_HREFS)
        if len(data) > MAX_CALENDARS:
            raise InvalidError(TOO_MANY_ENTRIES.format(limit=MAX_CALENDARS))
        hrefs = []
        for entry in data:
            is_chosen = not isinstance(entry, dict) or entry.get("chosen") is not False
            href = entry.get("href") if isinstance(entry, dict) else entry
            if not isinstance(href, str):
                raise InvalidError(_NOT_HREFS)
            hrefs += [_HREF.run_validation(href)] if is_chosen else []
        return list(dict.fromkeys(hrefs))

    def to_representation(self, value: list[str]) -> list[str]:
        return value


class CreateSourceSerializer(serializers.Serializer[Any]):
    """The body of a new source."""

    name = StrictCharField(max_length=MAX_NAME_LENGTH)
    kind = StrictChoiceField(list(SourceKind.values))
    url = StrictCharField(max_length=MAX_URL_LENGTH)
    username = StrictCharField(max_length=255, required=False, allow_null=True)
    password = SecretField(required=False, allow_null=True)
    calendars = HrefsField(source="chosen", required=False, allow_null=True)
    daysBack = StrictIntegerField(min_value=0, max_value=365, source="days_back", required=False)


class UpdateSourceSerializer(CreateSourceSerializer):
    """What is left out stays; without a password it stays, too."""

    name = StrictCharField(max_length=MAX_NAME_LENGTH, required=False)
    kind = StrictChoiceField(list(SourceKind.values), required=False, help_text="Never changes.")
    url = StrictCharField(max_length=MAX_URL_LENGTH, required=False)


_RECORD = envelope("CalendarSourceAnswer", calendarSource=SourceSerializer())
_FOUND = envelope(
    "CalendarSourceTest",
    success=serializers.BooleanField(),
    calendars=inline_serializer(
        "CalendarFound", {"href": serializers.CharField(), "name": serializers.CharField()}, many=True
    ),
)


def _columns(data: JsonObject) -> JsonObject:
    """Null and empty texts are empty columns."""
    return {key: (value or "") if key in {"username", "password"} else value for key, value in data.items()}


class SourceViewSet(OwnedViewSet[CalendarSource]):
    """The account's calendars that are read."""

    model = CalendarSource
    lookup_url_kwarg = "source_id"
    record_name, record_serializer = "calendarSource", SourceSerializer

    def get_record(self, row_id: UUID) -> Representation:
        row = self.get_queryset().find(row_id)
        return Representation(row.revision, SourceSerializer(row).data)

    @extend_schema(
        operation_id="listCalendarSources",
        responses=envelope("CalendarSourcesAnswer", calendarSources=SourceSerializer(many=True)),
    )
    def list(self, request: Request) -> Response:
        """The calendars, in the order in which they were made."""
        counts: dict[UUID, int] = {}
        rows = MeetingProposal.objects.owned_by(self.owner).with_people()
        for key in rows.values_list("source_id", flat=True):
            counts[key] = counts.get(key, 0) + 1
        found = self.get_queryset().order_by("created_at", "pk")
        return Response({"calendarSources": SourceSerializer(found, many=True, context={"counts": counts}).data})

    @extend_schema(operation_id="createCalendarSource", request=CreateSourceSerializer, responses={201: _RECORD})
    @raises(FieldError, service.AddressRefusedError, service.TooManySourcesError)
    @sends_etag
    @in_own_transactions
    def create(self, request: Request) -> Response:
        """Add a calendar; it is read within seconds."""
        data = _columns(self.read_body(CreateSourceSerializer))
        row = service.create_source(owner=self.owner, data=data, now=timezone.now())
        _enqueue(row.pk)
        return self.record_response(row.pk, 201)

    @extend_schema(operation_id="getCalendarSource", responses=_RECORD)
    @raises(MissingError)
    @conditional_status
    def retrieve(self, request: Request, source_id: UUID) -> Response:
        """One calendar."""
        return self.record_response(self.get_object().pk)

    @extend_schema(operation_id="updateCalendarSource", request=UpdateSourceSerializer, responses={200: _RECORD})
    @raises(FieldError, MissingError, service.AddressRefusedError)
    @sends_etag
    @if_match
    @not_in_atomic_batches
    def update(self, request: Request, source_id: UUID) -> Response:
        """Change a calendar; another address is read within seconds. Another server needs the password again."""
        key = self.get_object().pk
        data = self.read_body(UpdateSourceSerializer)
        if data.get("password") is None:
            data.pop("password", None)
        row, is_due = service.update_source(owner=self.owner, source_id=key, data=_columns(data), now=timezone.now())
        if is_due:
            _enqueue(row.pk)
        return self.record_response(key)

    @extend_schema(
        operation_id="deleteCalendarSource",
        responses={200: envelope("CalendarSourceDeleted", success=serializers.BooleanField())},
    )
    @raises(MissingError)
    @if_match
    def destroy(self, request: Request, source_id: UUID) -> Response:
        """Remove a calendar with its open proposals; what was accepted stays."""
        service.delete_source(owner=self.owner, source_id=self.get_object().pk)
        return Response({"success": True})

    @extend_schema(operation_id="readCalendarSource", request=None, responses={202: _RECORD})
    @action(detail=True, methods=["post"])
    @raises(FieldError, MissingError, RateLimitedError)
    @in_own_transactions
    def read(self, request: Request, source_id: UUID) -> Response:
        """Read a calendar now; once a minute."""
        row = service.ask_reading(owner=self.owner, source_id=self.get_object().pk, now=timezone.now())
        _enqueue(row.pk)
        return representation_response("calendarSource", self.get_record(row.pk), 202)

    @extend_schema(operation_id="testCalendarSource", request=CreateSourceSerializer, responses=_FOUND)
    @action(detail=False, methods=["post"])
    @raises(
        FieldError,
        RateLimitedError,
        service.CheckLoginError,
        service.CheckNotFoundError,
        service.CheckTimeoutError,
        service.CheckRefusedError,
        service.CheckBrokenError,
    )
    @in_own_transactions
    def test(self, request: Request) -> Response:
        """Read a calendar without saving it. Ten times in 15 minutes."""
        data = _columns(self.read_body(CreateSourceSerializer))
        found = service.check_source(
            owner=self.owner,
            kind=data["kind"],
            url=data["url"],
            username=data.get("username", ""),
            password=data.get("password", ""),
        )
        return Response({"success": True, "calendars": found})


def _enqueue(source_id: UUID) -> None:
    transaction.on_commit(lambda: enqueue_reading(source_id))
