"""Important dates of a person: fields, answers, routes."""

import datetime as dt
import re
from functools import cached_property
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.viewsets import TrashViewSet
from contacts_project.kernel.api.fields import (
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictIntegerField,
)
from contacts_project.kernel.api.ids import parse_id
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError, NotDeletedError, PlanLimitError
from contacts_project.kernel.ownership.models import TrashQuerySet
from people.models import ImportantDate, Person
from people.models.important_date import YEAR_UNKNOWN
from people.projection.important_dates import important_date_answer
from people.services import important_dates as service
from people.vocabularies import DateType, ReminderType, Unit

TYPES = list(DateType.values)


class AnyDay(serializers.Field[dt.date, Any, str, Any]):
    """`YYYY-MM-DD` or an ISO datetime, of which the date part counts."""

    PATTERN = re.compile(r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?\Z", re.ASCII)

    def to_internal_value(self, data: Any) -> dt.date:
        if not isinstance(data, str) or not self.PATTERN.match(data):
            raise serializers.ValidationError("This must be a date, YYYY-MM-DD, or an ISO datetime.")
        try:
            dt.time.fromisoformat(data[11:19].rstrip("Z") or "00:00")
            day = dt.date.fromisoformat(data[:10])
        except ValueError:
            raise serializers.ValidationError("There is no such day.") from None
        if day.year < 1000:
            raise serializers.ValidationError("The year must be between 1000 and 9999.")
        return day

    def to_representation(self, value: dt.date) -> str:
        return f"{value.isoformat()}T00:00:00.000Z"


class ImportantDateSerializer(serializers.Serializer[ImportantDate]):
    """The body of one important date, and its answer."""

    id = serializers.UUIDField(read_only=True)
    personId = serializers.UUIDField(source="person_id", read_only=True)
    type = StrictChoiceField(TYPES, fold=True, required=False, allow_null=True)
    title = StrictCharField(max_length=100, required=False, allow_null=True)
    date = AnyDay()
    yearUnknown = StrictBooleanField(source="year_unknown", required=False)
    reminderEnabled = StrictBooleanField(source="reminder_enabled", required=False)
    reminderType = StrictChoiceField(ReminderType.values, source="reminder_type", required=False, allow_null=True)
    reminderInterval = StrictIntegerField(
        min_value=1, max_value=99, source="reminder_interval", required=False, allow_null=True
    )
    reminderIntervalUnit = StrictChoiceField(
        Unit.values, source="reminder_interval_unit", required=False, allow_null=True
    )
    reminderLeadDays = StrictIntegerField(
        min_value=0, max_value=365, source="reminder_lead_days", required=False, allow_null=True
    )
    deletedAt = serializers.DateTimeField(source="deleted_at", read_only=True, allow_null=True)
    createdAt = serializers.DateTimeField(source="created_at", read_only=True)
    updatedAt = serializers.DateTimeField(source="updated_at", read_only=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """The whole row, defaults filled in: what the body leaves out is not kept."""
        if not attrs.get("type") and not attrs.get("title"):
            raise serializers.ValidationError({"title": ["A date without a type needs a title."]})
        attrs["year_unknown"] = attrs.get("year_unknown", False)
        if attrs["year_unknown"]:
            attrs["date"] = attrs["date"].replace(year=YEAR_UNKNOWN)
        attrs["reminder_enabled"] = attrs.get("reminder_enabled", False)
        return {**attrs, **_reminder(attrs)}

    def to_representation(self, instance: ImportantDate) -> dict[str, Any]:
        return important_date_answer(instance)


class DeletedDateSerializer(ImportantDateSerializer):
    """A date of the trash, with the name of its person."""

    personName = serializers.CharField()


class ImportantDateEntrySerializer(ImportantDateSerializer):
    """An entry of `importantDates` in a person's body: `id` names a date of the person that is kept."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        values: dict[str, Any] = super().to_internal_value(data)
        if data.get("id") is not None:
            key = parse_id(data["id"])
            if key is None:
                raise serializers.ValidationError({"id": ["There is no such record."]})
            values["id"] = key
        return values


def _reminder(attrs: dict[str, Any]) -> dict[str, Any]:
    if not attrs["reminder_enabled"]:
        kind = interval = unit = lead = None
    else:
        kind, lead = attrs.get("reminder_type") or ReminderType.RECURRING.value, attrs.get("reminder_lead_days")
        interval, unit = attrs.get("reminder_interval") or 1, attrs.get("reminder_interval_unit") or Unit.YEARS.value
        if kind == ReminderType.ONCE:
            interval = unit = None
    return {
        "reminder_type": kind,
        "reminder_interval": interval,
        "reminder_interval_unit": unit,
        "reminder_lead_days": lead,
    }


_ONE = envelope("ImportantDateAnswer", importantDate=ImportantDateSerializer())
_LIST = envelope("ImportantDatesAnswer", importantDates=ImportantDateSerializer(many=True))
_MESSAGE = envelope("ImportantDateDeleted", message=serializers.CharField())
_SUCCESS = envelope("ImportantDateRemoved", success=serializers.BooleanField())


class ImportantDateViewSet(TrashViewSet[ImportantDate]):
    """Important dates of one own, active person."""

    model = ImportantDate
    lookup_url_kwarg = "date_id"

    @cached_property
    def person(self) -> Person:
        return Person.objects.owned_by(self.owner).active().find(self.kwargs["person_id"])

    def get_queryset(self) -> TrashQuerySet[ImportantDate]:
        return super().get_queryset().filter(person=self.person)

    @extend_schema(operation_id="listImportantDates", responses=_LIST)
    def list(self, request: Request, person_id: UUID) -> Response:
        """The person's important dates, in the order they were added."""
        rows = self.get_queryset().order_by("created_at", "id")
        return Response({"importantDates": [important_date_answer(row) for row in rows]})

    @extend_schema(operation_id="createImportantDate", request=ImportantDateSerializer, responses={200: _ONE})
    @raises(PlanLimitError)
    def create(self, request: Request, person_id: UUID) -> Response:
        """Add an important date."""
        person = self.person
        row = service.create_date(person=person, data=self.read_body(ImportantDateSerializer), now=timezone.now())
        return Response({"importantDate": important_date_answer(row)})

    @extend_schema(operation_id="updateImportantDate", request=ImportantDateSerializer, responses={200: _ONE})
    @raises(PlanLimitError)
    def update(self, request: Request, person_id: UUID, date_id: UUID) -> Response:
        """Replace an important date: what the body leaves out is not kept."""
        row = self.get_object()
        row = service.update_date(row=row, data=self.read_body(ImportantDateSerializer), now=timezone.now())
        return Response({"importantDate": important_date_answer(row)})

    @extend_schema(operation_id="deleteImportantDate", responses={200: _MESSAGE})
    def destroy(self, request: Request, person_id: UUID, date_id: UUID) -> Response:
        """Move an important date to the trash."""
        service.delete_date(row=self.get_object(), now=timezone.now())
        return Response({"message": "The important date was deleted."})

    @extend_schema(operation_id="restoreImportantDate", request=None, responses={200: _ONE})
    @action(detail=True, methods=["post"])
    @raises(FieldError, NotDeletedError, PlanLimitError)
    def restore(self, request: Request, person_id: UUID, date_id: UUID) -> Response:
        """Take an important date out of the trash."""
        row = service.restore_date(row=self.get_object(), now=timezone.now())
        return Response({"importantDate": important_date_answer(row)})

    @extend_schema(operation_id="removeImportantDate", responses={200: _SUCCESS})
    @action(detail=True, methods=["delete"])
    @raises(NotDeletedError)
    def permanent(self, request: Request, person_id: UUID, date_id: UUID) -> Response:
        """Remove a deleted important date for good."""
        service.remove_date(row=self.get_object())
        return Response({"success": True})
