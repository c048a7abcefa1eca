"""The routes of interactions. A list comes in pages, newest first.

A cursor encodes the instant and id of the last interaction of a page, so that newly added ones do not shift the pages.
"""

import datetime as dt
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

import orjson
from django.db.models import Model, Q, QuerySet
from django.http import QueryDict
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import if_match, sends_etag
from accounts.api.viewsets import ACTIONS_IN_THE_TRASH, OwnedViewSet, TrashViewSet
from accounts.models import User
from contacts_project.kernel.api.errors import first_text
from contacts_project.kernel.api.etags import conditional_record
from contacts_project.kernel.api.fields import (
    ClientIdField,
    OwnedIdsField,
    StrictCharField,
    StrictChoiceField,
    StrictDateField,
)
from contacts_project.kernel.api.queries import DEFAULT_LIMIT, MAX_LIMIT, integer_parameter, read_integer
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import NO_SUCH_RECORD, FieldError, MissingError, NotDeletedError
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.json import Representation
from contacts_project.kernel.ownership.client_ids import IdTakenError
from contacts_project.kernel.texts import define_text
from people.api.transferred_fields import MAX_PEOPLE, TimestampField
from people.dates.recurrence import end_of_day, fire_at
from people.dates.schedule import calendar_from_user
from people.models import Interaction, Participation, Person
from people.models.dates import InteractionQuerySet
from people.models.person import PersonQuerySet
from people.projection.records import represent_interaction, serialize_interactions_by_id
from people.services import interactions as service
from people.vocabularies import InteractionKind

_DELETED = define_text("interaction_deleted", "The interaction was deleted.")
NO_CURSOR = define_text("unknown_page_cursor", "This is no cursor that was given out here: begin anew, without one.")
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class ActiveOrDeletedPeopleField(OwnedIdsField):
    """Ids of the account's people, active or deleted: the service checks whether a deleted one is allowed."""

    def find_rows(self, ids: list[UUID]) -> Mapping[UUID, Model | UUID]:
        people = Person.objects.owned_by(self.context["request"].user).filter(pk__in=ids)
        return {key: key for key in people.values_list("pk", flat=True)}


class InteractionChangeSerializer(serializers.Serializer[Any]):
    """What a change of an interaction may say; what it leaves out stays."""

    personIds: OwnedIdsField = ActiveOrDeletedPeopleField(
        "people.Person", max_items=MAX_PEOPLE, allow_empty=False, source="person_ids"
    )
    kind = StrictChoiceField(InteractionKind.values)
    at = TimestampField()
    title = StrictCharField(max_length=200, required=False, allow_null=True)
    notes = StrictCharField(max_length=10_000, required=False, allow_null=True)


class InteractionCreateSerializer(InteractionChangeSerializer):
    """The body of a new one."""

    personIds = OwnedIdsField("people.Person", max_items=MAX_PEOPLE, allow_empty=False, source="person_ids")
    id = ClientIdField(required=False)


class TookPartSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()


class InteractionSerializer(serializers.Serializer[Any]):
    """An interaction in an answer."""

    id = serializers.UUIDField()
    personIds = serializers.ListField(child=serializers.UUIDField())
    kind = serializers.ChoiceField(InteractionKind.values)
    at = serializers.DateTimeField()
    title = serializers.CharField(allow_null=True)
    notes = serializers.CharField(allow_null=True)
    people = TookPartSerializer(many=True, help_text="Those of personIds who are not in the trash.")
    deletedAt = serializers.DateTimeField(allow_null=True)
    createdAt = serializers.DateTimeField()
    updatedAt = serializers.DateTimeField()


_RECORD = envelope("InteractionAnswer", interaction=InteractionSerializer())
_PAGE = envelope(
    "InteractionsAnswer",
    interactions=InteractionSerializer(many=True),
    cursor=serializers.CharField(allow_null=True, help_text="Where the next page begins; null where there is none."),
    hasMore=serializers.BooleanField(),
)
_MESSAGE = envelope("InteractionDeleted", message=serializers.CharField())
_SUCCESS = envelope("InteractionRemoved", success=serializers.BooleanField())
_DAYS = [
    OpenApiParameter("from", {"type": "string", "format": "date"}, description="The first day, in the account's zone."),
    OpenApiParameter("to", {"type": "string", "format": "date"}, description="The last day, included."),
    integer_parameter("limit", low=1, description=f"Default {DEFAULT_LIMIT}; above {MAX_LIMIT} counts as that."),
    OpenApiParameter("cursor", str, description="Of the page before."),
]
_PERSON = OpenApiParameter("personId", {"type": "string", "format": "uuid"}, description="Of one person only.")


def _read_day(query: QueryDict, name: str) -> dt.date | None:
    text = query.get(name)
    if text is None:
        return None
    try:
        return StrictDateField().to_internal_value(text)
    except serializers.ValidationError as error:
        raise FieldError(name, first_text(error)) from None


@dataclass(frozen=True)
class InteractionPage:
    """The ids of interactions in order, and the cursor of the next page (None on the last one)."""

    ids: list[UUID]
    cursor: str | None


def load_page(
    owner: User,
    *,
    person: Person | None,
    first: dt.date | None,
    last: dt.date | None,
    cursor: str | None,
    limit: int,
) -> InteractionPage:
    """The next `limit` interactions of one person or all, from the day `first` to `last` in the account's time zone.

    Uses one statement, which reads only the index entries of the page. Raises FieldError.
    """
    rows: Any
    if person is not None:
        of_one = Participation.objects.owned_by(owner).filter(person=person, interaction__deleted_at=None)
        rows, key = of_one, "interaction"
    else:
        rows, key = Interaction.objects.owned_by(owner).active().with_active_people(), "pk"
    rows = _filter_days(owner, rows, first, last)
    if cursor is not None:
        at, interaction_id = _parse_cursor(cursor)
        # The entries behind the cursor in the order (at, id). `at <=` is a range of the index.
        rows = rows.filter(at__lte=at).exclude(Q(at=at) & Q(**{f"{key}__gte": interaction_id}))
    # One row more than a page, to see whether there is another page.
    found = list(rows.order_by("-at", f"-{key}").values_list("at", key)[: limit + 1])
    ids = [interaction_id for _, interaction_id in found[:limit]]
    return InteractionPage(ids, _format_cursor(*found[limit - 1]) if len(found) > limit else None)


Row = TypeVar("Row", Interaction, Participation)


def _filter_days(owner: User, rows: QuerySet[Row], first: dt.date | None, last: dt.date | None) -> QuerySet[Row]:
    zone = calendar_from_user(owner).zone
    try:
        if first is not None:
            rows = rows.filter(at__gte=fire_at(first, zone, 0))
        if last is not None:
            rows = rows.filter(at__lt=end_of_day(last, zone))
    except OverflowError:  # 1 January of year 1 or 31 December 9999: there are no interactions beyond
        pass
    return rows


def _format_cursor(at: dt.datetime, interaction_id: UUID) -> str:
    microseconds = (at - _EPOCH) // dt.timedelta(microseconds=1)
    return urlsafe_b64encode(orjson.dumps([microseconds, interaction_id.hex])).decode().rstrip("=")


def _parse_cursor(text: str) -> tuple[dt.datetime, UUID]:
    try:
        microseconds, interaction_id = orjson.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        return _EPOCH + dt.timedelta(microseconds=int(microseconds)), UUID(interaction_id)
    except (ValueError, TypeError, AttributeError, OverflowError):
        raise FieldError("cursor", NO_CURSOR) from None


def _page_response(owner: User, query: QueryDict, person: Person | None) -> Response:
    limit = min(read_integer(query, "limit", default=DEFAULT_LIMIT, low=1), MAX_LIMIT)
    first, last = _read_day(query, "from"), _read_day(query, "to")
    page = load_page(owner, person=person, first=first, last=last, cursor=query.get("cursor"), limit=limit)
    records = serialize_interactions_by_id(owner, page.ids)
    return Response({"interactions": records, "cursor": page.cursor, "hasMore": page.cursor is not None})


class InteractionViewSet(TrashViewSet[Interaction]):
    """The caller's interactions."""

    model = Interaction
    lookup_url_kwarg = "interaction_id"
    record_name, record_serializer = "interaction", InteractionSerializer

    def get_queryset(self) -> InteractionQuerySet:
        """Without the interactions whose people are all in the trash."""
        rows: Any = super().get_queryset()
        found: InteractionQuerySet = rows.with_active_people()
        return found

    def get_object(self) -> Interaction:
        if self.action in ACTIONS_IN_THE_TRASH:
            return super().get_object()
        return service.find_interaction(self.owner, self.kwargs["interaction_id"])

    def get_record(self, row_id: UUID) -> Representation:
        return represent_interaction(self.owner, row_id)

    @extend_schema(operation_id="listInteractions", parameters=[_PERSON, *_DAYS], responses=_PAGE)
    @raises(FieldError)
    def list(self, request: Request) -> Response:
        """Interactions, newest first, of one person or of all."""
        person, text = None, request.query_params.get("personId")
        if text is not None:
            # A malformed id is refused like an unknown one.
            key = parse_id(text)
            person = Person.objects.active_rows.instance(owner_id=self.owner.pk, row_ids=[key] if key else [])
            if person is None:
                raise FieldError("personId", NO_SUCH_RECORD)
        return _page_response(self.owner, request.query_params, person)

    @extend_schema(operation_id="createInteraction", request=InteractionCreateSerializer, responses={201: _RECORD})
    @raises(IdTakenError)
    @sends_etag
    def create(self, request: Request) -> Response:
        """Note what passed between the user and people; their lastContact follows."""
        data = self.read_body(InteractionCreateSerializer)
        row = service.create_interaction(owner=self.owner, data=data, now=timezone.now())
        return self.record_response(row.pk, 201)

    @extend_schema(operation_id="getInteraction", responses=_RECORD)
    @conditional_record
    def retrieve(self, request: Request, interaction_id: UUID) -> Response:
        """One interaction."""
        return self.record_response(self.get_object().pk)

    @extend_schema(operation_id="updateInteraction", request=InteractionChangeSerializer, responses={200: _RECORD})
    @sends_etag
    @if_match
    def update(self, request: Request, interaction_id: UUID) -> Response:
        """Change an interaction; what the body leaves out stays."""
        key = self.get_object().pk
        # Unlike a person, an interaction has no nested entries, which `partial` would let leave out what they need.
        data = self.read_body(InteractionChangeSerializer, partial=True)
        service.update_interaction(owner=self.owner, interaction_id=key, data=data, now=timezone.now())
        return self.record_response(key)

    @extend_schema(operation_id="deleteInteraction", responses={200: _MESSAGE})
    @if_match
    def destroy(self, request: Request, interaction_id: UUID) -> Response:
        """Move an interaction to the trash; lastContact goes back to what it was before."""
        service.delete_interaction(owner=self.owner, interaction_id=self.get_object().pk, now=timezone.now())
        return Response({"message": _DELETED})

    @extend_schema(operation_id="restoreInteraction", request=None, responses={200: _RECORD})
    @action(detail=True, methods=["post"])
    @raises(NotDeletedError)
    @sends_etag
    @if_match
    def restore(self, request: Request, interaction_id: UUID) -> Response:
        """Take an interaction out of the trash."""
        key = self.get_object().pk
        service.restore_interaction(owner=self.owner, interaction_id=key, now=timezone.now())
        return self.record_response(key)

    @extend_schema(operation_id="removeInteraction", responses={200: _SUCCESS})
    @action(detail=True, methods=["delete"])
    @raises(NotDeletedError)
    @if_match
    def permanent(self, request: Request, interaction_id: UUID) -> Response:
        """Remove a deleted interaction for good."""
        service.remove_interaction(owner=self.owner, interaction_id=self.get_object().pk)
        return Response({"success": True})


class PersonInteractionViewSet(OwnedViewSet[Person]):
    """Interactions of one own, active person."""

    model = Person
    lookup_url_kwarg = "person_id"

    def get_queryset(self) -> PersonQuerySet:
        return Person.objects.owned_by(self.owner).active()

    @extend_schema(operation_id="listInteractionsOfPerson", parameters=_DAYS, responses=_PAGE)
    @raises(FieldError, MissingError)
    def list(self, request: Request, person_id: UUID) -> Response:
        """The person's interactions, newest first."""
        return _page_response(self.owner, request.query_params, self.get_object())
