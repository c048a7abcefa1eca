"""The routes of important dates: those of a person, and the events that come up of all people."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import if_match, sends_etag
from accounts.api.viewsets import ACTIONS_IN_THE_TRASH, ApiViewSet, TrashViewSet
from contacts_project.kernel.api.etags import conditional_record
from contacts_project.kernel.api.json import representation_response
from contacts_project.kernel.api.queries import integer_parameter, read_integer
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError, NotDeletedError, PlanLimitError
from contacts_project.kernel.json import Representation
from contacts_project.kernel.ownership.client_ids import IdTakenError
from contacts_project.kernel.ownership.models import TrashQuerySet
from contacts_project.kernel.texts import define_text
from people.api.person_entries import ImportantDateSerializer, NewDateSerializer
from people.dates import schedule
from people.dates.upcoming import CONTACT, IMPORTANT_DATE, upcoming_events
from people.models import ImportantDate, Person
from people.projection.records import represent_date, serialize_date
from people.services import important_dates as service

_DELETED = define_text("important_date_deleted", "The important date was deleted.")

_RECORD = envelope("ImportantDateAnswer", importantDate=ImportantDateSerializer())
_LIST = envelope("ImportantDatesAnswer", importantDates=ImportantDateSerializer(many=True))
_MESSAGE = envelope("ImportantDateDeleted", message=serializers.CharField())
_SUCCESS = envelope("ImportantDateRemoved", success=serializers.BooleanField())


class ImportantDateViewSet(TrashViewSet[ImportantDate]):
    """Important dates of one own, active person."""

    model = ImportantDate
    lookup_url_kwarg = "date_id"
    record_name, record_serializer = "importantDate", ImportantDateSerializer

    def current_record(self) -> Representation:
        return represent_date(self.get_object())

    @property
    def person(self) -> Person:
        # Not cached: the 412 response must not show a date whose person went to the trash after the first look-up.
        return Person.objects.find_active(self.owner, self.kwargs["person_id"])

    def get_queryset(self) -> TrashQuerySet[ImportantDate]:
        return super().get_queryset().filter(person=self.person)

    def get_object(self) -> ImportantDate:
        if self.action in ACTIONS_IN_THE_TRASH:
            return super().get_object()
        return service.find_date(self.owner, self.kwargs["person_id"], self.kwargs["date_id"])

    @extend_schema(operation_id="listImportantDates", responses=_LIST)
    def list(self, request: Request, person_id: UUID) -> Response:
        """The person's important dates, in the order they were added."""
        rows = self.get_queryset().order_by("created_at", "id")
        return Response({"importantDates": [serialize_date(row) for row in rows]})

    @extend_schema(operation_id="createImportantDate", request=NewDateSerializer, responses={200: _RECORD})
    @raises(PlanLimitError, IdTakenError)
    @sends_etag
    def create(self, request: Request, person_id: UUID) -> Response:
        """Add an important date."""
        owner, person = self.owner, self.person
        data = self.read_body(NewDateSerializer)
        row = service.create_date(owner=owner, person=person, data=data, now=timezone.now())
        return representation_response("importantDate", represent_date(row))

    @extend_schema(operation_id="getImportantDate", responses=_RECORD)
    @conditional_record
    def retrieve(self, request: Request, person_id: UUID, date_id: UUID) -> Response:
        """One important date."""
        return representation_response("importantDate", self.current_record())

    @extend_schema(operation_id="updateImportantDate", request=ImportantDateSerializer, responses={200: _RECORD})
    @raises(PlanLimitError)
    @sends_etag
    @if_match
    def update(self, request: Request, person_id: UUID, date_id: UUID) -> Response:
        """Replace an important date: what the body leaves out is not kept."""
        row, data = self.get_object(), self.read_body(ImportantDateSerializer)
        row = service.update_date(owner=self.owner, row=row, data=data, now=timezone.now())
        return representation_response("importantDate", represent_date(row))

    @extend_schema(operation_id="deleteImportantDate", responses={200: _MESSAGE})
    @if_match
    def destroy(self, request: Request, person_id: UUID, date_id: UUID) -> Response:
        """Move an important date to the trash."""
        service.delete_date(owner=self.owner, row=self.get_object(), now=timezone.now())
        return Response({"message": _DELETED})

    @extend_schema(operation_id="restoreImportantDate", request=None, responses={200: _RECORD})
    @action(detail=True, methods=["post"])
    @raises(FieldError, NotDeletedError, PlanLimitError)
    @sends_etag
    @if_match
    def restore(self, request: Request, person_id: UUID, date_id: UUID) -> Response:
        """Take an important date out of the trash."""
        row = service.restore_date(row=self.get_object(), now=timezone.now())
        return representation_response("importantDate", represent_date(row))

    @extend_schema(operation_id="removeImportantDate", responses={200: _SUCCESS})
    @action(detail=True, methods=["delete"])
    @raises(NotDeletedError)
    @if_match
    def permanent(self, request: Request, person_id: UUID, date_id: UUID) -> Response:
        """Remove a deleted important date for good."""
        service.remove_date(row=self.get_object())
        return Response({"success": True})


MAX_DAYS = 366
DAYS = integer_parameter("days", low=1, high=MAX_DAYS, description="How far to look ahead.", default=30)
DEFAULT_LIMIT, MAX_LIMIT = 500, 1_000
LIMIT = integer_parameter(
    "limit",
    low=1,
    high=MAX_LIMIT,
    description="The nearest so many; `hasMore` says whether there are more.",
    default=DEFAULT_LIMIT,
)


class UpcomingEventSerializer(serializers.Serializer[object]):
    """One event."""

    id = serializers.UUIDField()
    kind = serializers.ChoiceField([IMPORTANT_DATE, CONTACT])
    personId = serializers.UUIDField()
    personName = serializers.CharField()
    type = serializers.CharField(allow_null=True)
    title = serializers.CharField(allow_null=True)
    date = serializers.DateField()
    daysUntil = serializers.IntegerField()
    yearUnknown = serializers.BooleanField()
    turns = serializers.IntegerField(allow_null=True)


def read_days(request: Request, default: int = 30) -> int:
    """The query parameter `days`. Raises FieldError."""
    return read_integer(request.query_params, "days", default=default, low=1, high=MAX_DAYS)


def read_limit(request: Request) -> int:
    """The query parameter `limit` of a list whose entries are computed. Raises FieldError."""
    return read_integer(request.query_params, "limit", default=DEFAULT_LIMIT, low=1, high=MAX_LIMIT)


class UpcomingViewSet(ApiViewSet[Any]):
    """Upcoming events of the caller's people."""

    @extend_schema(
        operation_id="listUpcoming",
        parameters=[DAYS, LIMIT],
        responses={
            200: envelope(
                "UpcomingAnswer", events=UpcomingEventSerializer(many=True), hasMore=serializers.BooleanField()
            )
        },
    )
    def list(self, request: Request) -> Response:
        """Important dates and people to get in touch with, in the coming days, the nearest first."""
        owner, days, limit = self.owner, read_days(request), read_limit(request)
        today = schedule.calendar_from_user(owner).today(timezone.now())
        found = upcoming_events(owner, start=today, days=days, limit=limit)
        return Response({"events": found.events, "hasMore": found.has_more})
