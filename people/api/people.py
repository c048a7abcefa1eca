"""The routes of people."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from orjson import Fragment
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import if_match, sends_etag
from accounts.api.viewsets import TrashViewSet
from contacts_project.kernel.api.etags import conditional, conditional_record
from contacts_project.kernel.api.fields import StrictBooleanField
from contacts_project.kernel.api.json import representation_response
from contacts_project.kernel.api.queries import DEFAULT_LIMIT, PaginationSerializer, page_parameters, pagination
from contacts_project.kernel.api.schema import AnyField, envelope, raises
from contacts_project.kernel.errors import NotDeletedError, PlanLimitError
from contacts_project.kernel.json import Representation, dumps, stream_list
from contacts_project.kernel.ownership.client_ids import IdTakenError
from contacts_project.kernel.texts import define_text
from people.api.person_query import DIRECTIONS, PeopleQuery, read_people_query, read_search
from people.api.person_serializer import (
    PersonChangeSerializer,
    PersonFoundSerializer,
    PersonListedSerializer,
    PersonSerializer,
    SearchRecordSerializer,
)
from people.counts import PEOPLE, count_of
from people.dates.schedule import calendar_from_user
from people.extensions import EXTENSIONS
from people.find import people_with_number
from people.models import Person
from people.photos.files import delete_files
from people.projection.lists import project_all, project_found, project_ids, project_page
from people.projection.orders import QUERIED_SORTS, Order, Sort, ordered_ids, page_ids
from people.projection.people import represent_any_person, represent_person
from people.projection.search_index import search_records
from people.services import people as service
from people.services.person_writer import create_person, update_person

_DELETED = define_text("person_trashed", "The person was deleted.")
_SEVERAL_DELETED = define_text("people_trashed", "%(count)s people were deleted.")

MAX_SEARCH_RESULTS = 20


class PersonDeleteSerializer(serializers.Serializer[Any]):
    """The optional body of a deletion; the apps above add to it by their extensions."""

    deleteFromCardDav = StrictBooleanField(required=False, default=False, source="delete_from_card_dav")

    def get_fields(self) -> dict[str, AnyField]:
        fields = super().get_fields()
        for extension in EXTENSIONS:
            fields.update(extension.delete_fields())
        return fields


_RECORD = envelope("PersonAnswer", person=PersonSerializer())
_PAGE = envelope(
    "PeopleAnswer",
    optional=("pagination",),
    people=PersonListedSerializer(many=True),
    pagination=PaginationSerializer(),
)
_SEARCH_TEXT = OpenApiParameter(
    "q", {"type": "string", "pattern": r"\S"}, required=True, description="At least one character that is no space."
)
_FOUND = envelope("PeopleFoundAnswer", people=PersonFoundSerializer(many=True))
_INDEX = envelope("SearchIndexAnswer", people=SearchRecordSerializer(many=True))
_MESSAGE = envelope("PersonDeletedAnswer", message=serializers.CharField())
_SUCCESS = envelope("PersonRemovedAnswer", success=serializers.BooleanField())
_PARAMETERS = [
    *page_parameters(default=str(DEFAULT_LIMIT)),
    OpenApiParameter("groupIds", OpenApiTypes.STR, description="Group ids with commas between; in at least one."),
    OpenApiParameter("withoutGroups", OpenApiTypes.BOOL, description="true: in no group."),
    OpenApiParameter("importId", OpenApiTypes.UUID, description="Whom this import made or changed."),
    OpenApiParameter("favourite", OpenApiTypes.BOOL),
    OpenApiParameter("quiet", OpenApiTypes.BOOL),
    OpenApiParameter(
        "sort",
        enum=QUERIED_SORTS,
        description=(
            "Without it as nameSort of the profile says. name: name, then surname. surname: surname, then name. "
            "nextDate: the next day of an important date. Null stands last in both orders."
        ),
    ),
    OpenApiParameter("order", enum=DIRECTIONS, description="Default asc; without sort, of the order in force."),
    OpenApiParameter("favouritesFirst", OpenApiTypes.BOOL),
    OpenApiParameter("includeDetails", OpenApiTypes.BOOL, description="false leaves out the multi-value fields."),
    OpenApiParameter(
        "includeAll",
        OpenApiTypes.BOOL,
        description="true gives everybody without pages, with dates, relationships and custom field values.",
    ),
]


class PersonViewSet(TrashViewSet[Person]):
    """People of the account."""

    model = Person
    lookup_url_kwarg = "person_id"
    record_name, record_serializer = "person", PersonSerializer

    def get_record(self, row_id: UUID) -> Representation:
        return represent_any_person(self.owner, row_id)

    @extend_schema(operation_id="listPeople", parameters=_PARAMETERS, responses=_PAGE)
    @conditional
    def list(self, request: Request) -> HttpResponseBase:
        """A page of the people in the account's order of names, or another, or everybody with includeAll=true."""
        query = read_people_query(request.query_params, self.owner)
        if not query.include_all:
            return self._page_response(query)
        people = query.filter_people(self.get_queryset(), self.owner)
        everyone = self._everybody(people, query)
        return StreamingHttpResponse(stream_list("people", everyone), content_type="application/json")

    @extend_schema(operation_id="createPerson", request=PersonSerializer, responses={201: _RECORD})
    @raises(PlanLimitError, IdTakenError)
    @sends_etag
    def create(self, request: Request) -> Response:
        """Add a person."""
        data = self.read_body(PersonSerializer)
        person = create_person(owner=self.owner, data=data, now=timezone.now())
        return self.record_response(person.pk, status=201)

    @extend_schema(operation_id="getPerson", responses=_RECORD)
    @conditional_record
    def retrieve(self, request: Request, person_id: UUID) -> HttpResponseBase:
        """A person with everything that hangs on it."""
        return representation_response("person", represent_person(self.owner, person_id))

    @extend_schema(operation_id="updatePerson", request=PersonChangeSerializer, responses=_RECORD)
    @raises(PlanLimitError)
    @sends_etag
    @if_match
    def update(self, request: Request, person_id: UUID) -> Response:
        """Change what the body names; lists replace what there was."""
        person = self.get_object()
        data = self.read_body(PersonChangeSerializer)
        update_person(owner=self.owner, person=person, data=data, now=timezone.now())
        return self.record_response(person.pk)

    @extend_schema(operation_id="deletePerson", request=PersonDeleteSerializer, responses={200: _MESSAGE})
    @if_match
    def destroy(self, request: Request, person_id: UUID) -> Response:
        """Move a person to the trash, with others as the body says."""
        person = self.get_object()
        options = self.read_body(PersonDeleteSerializer)
        count = service.delete_person(owner=self.owner, person_id=person.pk, options=options, now=timezone.now())
        return Response({"message": _DELETED if count == 1 else _SEVERAL_DELETED.format(count=count)})

    @extend_schema(operation_id="restorePerson", request=None, responses=_RECORD)
    @action(detail=True, methods=["post"])
    @raises(NotDeletedError, PlanLimitError)
    @sends_etag
    @if_match
    def restore(self, request: Request, person_id: UUID) -> Response:
        """Take a person out of the trash."""
        person = service.restore_person(owner=self.owner, person=self.get_object(), now=timezone.now())
        return self.record_response(person.pk)

    @extend_schema(operation_id="removePerson", responses={200: _SUCCESS})
    @action(detail=True, methods=["delete"])
    @raises(NotDeletedError)
    @if_match
    def permanent(self, request: Request, person_id: UUID) -> Response:
        """Remove a deleted person for good."""
        delete_files(service.remove_person(owner=self.owner, person_id=self.get_object().pk))
        return Response({"success": True})

    @extend_schema(
        operation_id="searchPeople",
        parameters=[_SEARCH_TEXT],
        responses=_FOUND,
    )
    @action(detail=False)
    def search(self, request: Request) -> Response:
        """The first 20 people, in name order, whose names hold the text, without regard to case and accents.

        A text of four digits or more finds phone numbers in any spelling, too.
        """
        text = read_search(request.query_params)
        others = people_with_number(self.owner, text, MAX_SEARCH_RESULTS)
        found = project_found(self.owner, text, others=others, limit=MAX_SEARCH_RESULTS)
        return Response({"people": found})

    @extend_schema(operation_id="getSearchIndex", responses={200: _INDEX})
    @action(detail=False, url_path="search-index")
    @conditional
    def search_index(self, request: Request) -> HttpResponseBase:
        """Everybody as flat records, for searching on the client's side."""
        # search_records already yields some hundred records at a time.
        records = stream_list("people", search_records(self.owner), chunk_size=1)
        return StreamingHttpResponse(records, content_type="application/json")

    def list_state(self, request: Request) -> str:
        """The day, where the order depends on it."""
        if request.query_params.get("sort") != Sort.NEXT_DATE:
            return ""
        return calendar_from_user(self.owner).today(timezone.now()).isoformat()

    def _everybody(self, people: Any, query: PeopleQuery) -> Iterator[bytes]:
        """The JSON of all these people, with everything."""
        places = None
        if query.order != Order():
            ids = ordered_ids(self.owner, people, query.order, now=timezone.now())
            places = {key: place for place, key in enumerate(ids)}
        rows = people.in_name_order() if places is None else people.order_by()
        return project_all(self.owner, rows, include_details=query.include_details, include_all=True, places=places)

    def _page_response(self, query: PeopleQuery) -> HttpResponseBase:
        listed: Sequence[Fragment] = ()
        people = query.filter_people(self.get_queryset(), self.owner)
        page: dict[str, Any] = {"limit": query.limit, "offset": query.offset}
        if query.order == Order() and not query.is_filtered:
            # Costs the same in an account of any size.
            total = count_of(self.owner.pk, PEOPLE)
            if query.offset < total:
                listed = project_page(self.owner, **page, include_details=query.include_details)
        else:
            now = timezone.now()
            if query.without_groups:
                # Who is in a group is looked up once: counting them besides would take as long again.
                found = ordered_ids(self.owner, people, query.order, now=now)
                ids, total = found[query.offset : query.offset + query.limit], len(found)
            else:
                ids = page_ids(self.owner, people, query.order, **page, now=now)
                # Of the last page the total is known: counting would read the account once more.
                is_last = bool(ids or not query.offset) and len(ids) < query.limit
                total = query.offset + len(ids) if is_last else people.count()
            listed = project_ids(self.owner, ids, include_details=query.include_details)
        body = {
            "people": listed,
            "pagination": pagination(total=total, limit=query.limit, offset=query.offset),
        }
        return HttpResponse(dumps(body), content_type="application/json")
