"""The routes of people."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.api.callers import caller
from contacts_project.kernel.api.etags import conditional
from contacts_project.kernel.api.fields import StrictBooleanField
from contacts_project.kernel.api.ids import parse_id
from contacts_project.kernel.api.json import dumps
from contacts_project.kernel.api.paging import DEFAULT_LIMIT, PaginationSerializer, page_parameters, pagination
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import NotDeletedError, PlanLimitError
from contacts_project.kernel.ownership.models import retention_cutoff
from people.api.person_query import PeopleQuery, read_people_query, read_search
from people.api.person_serializer import (
    PersonChangeSerializer,
    PersonFoundSerializer,
    PersonListedSerializer,
    PersonSerializer,
    SearchRecordSerializer,
)
from people.aspects import aspects
from people.counts import PEOPLE, count_of
from people.models import Person
from people.names import fold
from people.photos.files import delete_files
from people.projection import person_answers, project, project_all, search_records, streamed, whole_person
from people.services import people as service

MAX_FOUND = 20


class PersonDeleteSerializer(serializers.Serializer[Any]):
    """The optional body of a deletion; the apps above add to it by their aspects."""

    deleteFromCardDav = StrictBooleanField(required=False, default=False, source="delete_from_card_dav")

    def get_fields(self) -> dict[str, "serializers.Field[Any, Any, Any, Any]"]:
        fields = super().get_fields()
        for aspect in aspects():
            fields.update(aspect.delete_fields())
        return fields


_ONE = envelope("PersonAnswer", person=PersonSerializer())
_PAGE = envelope(
    "PeopleAnswer",
    optional=("pagination",),
    people=PersonListedSerializer(many=True),
    pagination=PaginationSerializer(),
)
_FOUND = envelope("PeopleFoundAnswer", people=PersonFoundSerializer(many=True))
_INDEX = envelope("SearchIndexAnswer", people=SearchRecordSerializer(many=True))
_MESSAGE = envelope("PersonDeletedAnswer", message=serializers.CharField())
_SUCCESS = envelope("PersonRemovedAnswer", success=serializers.BooleanField())
_PARAMETERS = [
    *page_parameters(default=str(DEFAULT_LIMIT)),
    OpenApiParameter("groupIds", OpenApiTypes.STR, description="Group ids with commas between; in at least one."),
    OpenApiParameter("includeDetails", OpenApiTypes.BOOL, description="false leaves out the multi-value fields."),
    OpenApiParameter(
        "includeAll",
        OpenApiTypes.BOOL,
        description="true gives everybody without pages, with dates, relationships and custom field values.",
    ),
]


class PersonViewSet(ViewSet):
    """People of the account."""

    @extend_schema(operation_id="listPeople", parameters=_PARAMETERS, responses=_PAGE)
    @conditional
    def read_all(self, request: Request) -> HttpResponseBase:
        """A page of the people in name order, or everybody with includeAll=true."""
        query = read_people_query(request.query_params)
        people = query.filtered(Person.objects.owned_by(request.user).active(), request.user).in_name_order()
        if query.everything:
            everyone = project_all(caller(request), people, details=query.details, everything=True)
            return StreamingHttpResponse(streamed(everyone), content_type="application/json")
        return self._page(request, people, query)

    def _page(self, request: Request, people: Any, query: PeopleQuery) -> HttpResponseBase:
        total = people.count() if query.group_ids is not None else count_of(caller(request).pk, PEOPLE)
        page = people[query.offset : query.offset + query.limit] if query.offset < total else people.none()
        answer = {
            "people": project(caller(request), page, details=query.details),
            "pagination": pagination(total=total, limit=query.limit, offset=query.offset),
        }
        return HttpResponse(dumps(answer), content_type="application/json")

    @extend_schema(operation_id="createPerson", request=PersonSerializer, responses={201: _ONE})
    @raises(PlanLimitError)
    def create(self, request: Request) -> Response:
        """Add a person."""
        serializer = PersonSerializer(data=request.data, context={"request": request})
        serializer.is_valid(raise_exception=True)
        person = service.create_person(owner=caller(request), data=serializer.validated_data, now=timezone.now())
        return self._answer(request, person.pk, status=201)

    @extend_schema(operation_id="getPerson", responses=_ONE)
    @conditional
    def read_one(self, request: Request, person_id: str) -> HttpResponseBase:
        """A person with everything that hangs on it."""
        owner, key = caller(request), parse_id(person_id)
        if key is None:
            raise Http404
        found = whole_person(owner, key)
        if found is None:
            raise Http404
        return Response({"person": found})

    @extend_schema(operation_id="updatePerson", request=PersonChangeSerializer, responses=_ONE)
    @raises(PlanLimitError)
    def update(self, request: Request, person_id: str) -> Response:
        """Change what the body names; lists replace what there was."""
        person = self._active(request, person_id)
        serializer = PersonChangeSerializer(data=request.data, context={"request": request})
        serializer.is_valid(raise_exception=True)
        service.update_person(owner=caller(request), person=person, data=serializer.validated_data, now=timezone.now())
        return self._answer(request, person.pk)

    @extend_schema(operation_id="deletePerson", request=PersonDeleteSerializer, responses={200: _MESSAGE})
    def destroy(self, request: Request, person_id: str) -> Response:
        """Move a person to the trash, with others as the body says."""
        person = self._active(request, person_id)
        serializer = PersonDeleteSerializer(data=request.data, context={"request": request})
        serializer.is_valid(raise_exception=True)
        count = service.delete_people(
            owner=caller(request), person_ids=[person.pk], options=serializer.validated_data, now=timezone.now()
        )
        return Response({"message": "The person was deleted." if count == 1 else f"{count} people were deleted."})

    @extend_schema(operation_id="restorePerson", request=None, responses=_ONE)
    @raises(NotDeletedError, PlanLimitError)
    def restore(self, request: Request, person_id: str) -> Response:
        """Take a person out of the trash."""
        person = service.restore_person(person=self._any(request, person_id), now=timezone.now())
        return self._answer(request, person.pk)

    @extend_schema(operation_id="removePerson", responses={200: _SUCCESS})
    @raises(NotDeletedError)
    def permanent(self, request: Request, person_id: str) -> Response:
        """Remove a deleted person for good."""
        person = self._any(request, person_id)
        if person.deleted_at is None:
            raise NotDeletedError
        delete_files(service.remove_people(owner=caller(request), person_ids=[person.pk]))
        return Response({"success": True})

    @extend_schema(
        operation_id="searchPeople",
        parameters=[OpenApiParameter("q", OpenApiTypes.STR, required=True, description="At least one character.")],
        responses=_FOUND,
    )
    def search(self, request: Request) -> Response:
        """The first 20 people, in name order, whose names hold the text, without regard to case and accents."""
        text = fold(read_search(request.query_params))
        people = Person.objects.owned_by(request.user).active().filter(search_key__contains=text).in_name_order()
        return Response({"people": project(caller(request), people[:MAX_FOUND])})

    @extend_schema(operation_id="getSearchIndex", responses={200: _INDEX})
    @conditional
    def search_index(self, request: Request) -> HttpResponseBase:
        """Everybody as flat records, for searching on the client's side."""
        return StreamingHttpResponse(streamed(search_records(caller(request))), content_type="application/json")

    def _answer(self, request: Request, person_id: UUID, status: int = 200) -> Response:
        answers = person_answers(caller(request), [person_id])
        if not answers:
            raise Http404
        return Response({"person": answers[0]}, status=status)

    def _active(self, request: Request, person_id: str) -> Person:
        return self._found(Person.objects.owned_by(request.user).active(), person_id)

    def _any(self, request: Request, person_id: str) -> Person:
        """In the trash or not, within the retention period."""
        rows = Person.objects.owned_by(request.user).exclude(deleted_at__lt=retention_cutoff(timezone.now()))
        return self._found(rows, person_id)

    def _found(self, rows: Any, person_id: str) -> Person:
        key = parse_id(person_id)
        person: Person | None = rows.filter(pk=key).first() if key else None
        if person is None:
            raise Http404
        return person
