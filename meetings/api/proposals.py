"""Routes of the meetings that are proposed. The list comes in pages, newest first."""

import datetime as dt
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any
from uuid import UUID

import orjson
from django.db.models import Q
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.viewsets import OwnedViewSet
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.etags import conditional_record
from contacts_project.kernel.api.fields import (
    NOT_A_LIST_OF_IDS,
    TOO_MANY_IDS,
    OwnedIdsField,
    StrictChoiceField,
    StrictEmailField,
)
from contacts_project.kernel.api.queries import integer_parameter, read_integer
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import NO_SUCH_RECORD, FieldError, MissingError, PlanLimitError
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.json import JsonObject, Representation
from contacts_project.kernel.texts import define_text
from meetings.calendars.parser import MAX_ATTENDEES
from meetings.models import AnswerKind, FoundBy, MeetingProposal
from meetings.projection import represent_proposal, represent_proposals
from meetings.services.answers import ALREADY_ANSWERED, accept_proposals, dismiss_proposals
from people.api.interactions import NO_CURSOR
from people.api.transferred_fields import MAX_PEOPLE
from people.vocabularies import InteractionKind

MAX_IDS = 100
_ONE_ALONE = define_text("with_one_id", "This goes with one id alone.")
_NO_IDS = define_text("no_proposals", "At least one meeting is needed.")
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class GuestSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    by = serializers.ChoiceField(list(FoundBy.values))


class GuestInFeedSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    by = serializers.ChoiceField(list(FoundBy.values))


class UnknownGuestSerializer(serializers.Serializer[Any]):
    email = serializers.CharField()
    name = serializers.CharField(allow_null=True)


class ProposalSerializer(serializers.Serializer[Any]):
    """A past event with people of the account."""

    id = serializers.UUIDField()
    sourceId = serializers.UUIDField()
    sourceName = serializers.CharField()
    title = serializers.CharField(allow_null=True)
    at = serializers.DateTimeField(help_text="The begin; of whole days midnight in the account's zone.")
    endsAt = serializers.DateTimeField()
    people: Any = GuestSerializer(many=True)
    unknown = UnknownGuestSerializer(many=True, help_text="Guests whose address no person has.")
    location = serializers.CharField(allow_null=True)
    createdAt = serializers.DateTimeField()
    updatedAt = serializers.DateTimeField()


class ProposalInFeedSerializer(ProposalSerializer):
    """In the feed people are ids, those in the trash as well."""

    people = GuestInFeedSerializer(many=True)


@extend_schema_field(
    {
        "type": "array",
        "items": {"type": "string", "format": "uuid"},
        "minItems": 1,
        "maxItems": MAX_IDS,
    }
)
class ProposalIdsField(serializers.Field[list[UUID], Any, list[str], Any]):
    """Ids of proposals; the service knows which are the account's, under the lock."""

    def to_internal_value(self, data: object) -> list[UUID]:
        if not isinstance(data, list):
            raise InvalidError(NOT_A_LIST_OF_IDS)
        if not data:
            raise InvalidError(_NO_IDS)
        if len(data) > MAX_IDS:
            raise InvalidError(TOO_MANY_IDS.format(limit=MAX_IDS))
        keys = [parse_id(item) for item in data]
        if unknown := {str(index): [NO_SUCH_RECORD] for index, key in enumerate(keys) if key is None}:
            raise InvalidError(unknown)
        return [key for key in keys if key is not None]

    def to_representation(self, value: list[UUID]) -> list[str]:
        return [str(key) for key in value]


class AcceptMeetingsSerializer(serializers.Serializer[Any]):
    """Which meetings to log, and for one of them alone who was there."""

    ids = ProposalIdsField()
    personIds = OwnedIdsField("people.Person", max_items=MAX_PEOPLE, required=False, allow_null=True)
    kind = StrictChoiceField(InteractionKind.values, required=False)
    createPeople = serializers.ListField(
        child=StrictEmailField(max_length=320), max_length=MAX_ATTENDEES, required=False, allow_null=True
    )

    def validate(self, attrs: JsonObject) -> JsonObject:
        # No guests are no more than none are given; no people would be meetings with nobody.
        given = {"personIds": attrs.get("personIds") is not None, "createPeople": bool(attrs.get("createPeople"))}
        for name, is_given in given.items():
            if is_given and len(set(attrs["ids"])) > 1:
                raise InvalidError({name: [_ONE_ALONE]})
        return attrs


class DismissMeetingsSerializer(serializers.Serializer[Any]):
    ids = ProposalIdsField()
    always = StrictChoiceField([AnswerKind.SERIES.value, AnswerKind.TITLE.value], required=False, allow_null=True)


class LoggedSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    proposalId = serializers.UUIDField()


class AnsweredSerializer(serializers.Serializer[Any]):
    proposalId = serializers.UUIDField()
    code = serializers.ChoiceField(["already_answered"])
    error = serializers.CharField()
    interactionId = serializers.UUIDField(allow_null=True, help_text="Null if it was dismissed.")


_RECORD = envelope("MeetingProposalAnswer", meetingProposal=ProposalSerializer())
_PAGE = envelope(
    "MeetingProposalsAnswer",
    proposals=ProposalSerializer(many=True),
    cursor=serializers.CharField(allow_null=True, help_text="Where the next page begins; null where there is none."),
    hasMore=serializers.BooleanField(),
)


class ProposalViewSet(OwnedViewSet[MeetingProposal]):
    """Meetings that the calendars propose to log."""

    model = MeetingProposal
    lookup_url_kwarg = "proposal_id"
    record_name, record_serializer = "meetingProposal", ProposalSerializer

    def get_record(self, row_id: UUID) -> Representation:
        return represent_proposal(self.owner, row_id)

    @extend_schema(
        operation_id="listMeetingProposals",
        parameters=[
            integer_parameter("limit", low=1, high=MAX_IDS, description="Default 100."),
            OpenApiParameter("cursor", str, description="Of the page before."),
        ],
        responses=_PAGE,
    )
    @raises(FieldError)
    def list(self, request: Request) -> Response:
        """What the calendars propose, newest first."""
        limit = read_integer(request.query_params, "limit", default=MAX_IDS, low=1, high=MAX_IDS)
        rows = MeetingProposal.objects.owned_by(self.owner).with_people()
        if cursor := request.query_params.get("cursor"):
            at, key = _parse_cursor(cursor)
            rows = rows.filter(starts_at__lte=at).exclude(Q(starts_at=at) & Q(pk__gte=key))
        found = list(rows.order_by("-starts_at", "-pk").values_list("starts_at", "pk")[: limit + 1])
        ids = [key for _, key in found[:limit]]
        records = represent_proposals(self.owner, ids)
        next_cursor = _format_cursor(*found[limit - 1]) if len(found) > limit else None
        return Response(
            {
                "proposals": [records[key].body for key in ids if key in records],
                "cursor": next_cursor,
                "hasMore": next_cursor is not None,
            }
        )

    @extend_schema(operation_id="getMeetingProposal", responses=_RECORD)
    @raises(MissingError)
    @conditional_record
    def retrieve(self, request: Request, proposal_id: UUID) -> Response:
        """One proposal."""
        return self.record_response(self.get_object().pk)

    @extend_schema(
        operation_id="acceptMeetingProposals",
        request=AcceptMeetingsSerializer,
        responses=envelope(
            "MeetingProposalsAccepted",
            accepted=serializers.IntegerField(),
            interactions=LoggedSerializer(many=True),
            errors=AnsweredSerializer(many=True),
        ),
    )
    @action(detail=False, methods=["post"])
    @raises(FieldError, PlanLimitError)
    def accept(self, request: Request) -> Response:
        """Log meetings as interactions, in one write. For one of them: with other people, or with new ones."""
        data = self.read_body(AcceptMeetingsSerializer)
        accepted = accept_proposals(
            owner=self.owner,
            ids=data["ids"],
            kind=data.get("kind", InteractionKind.MEETING.value),
            person_ids=data.get("personIds"),
            guests=data.get("createPeople") or (),
            now=timezone.now(),
        )
        return Response(
            {
                "accepted": len(accepted.interactions),
                "interactions": [
                    {"id": str(key), "proposalId": str(proposal)} for proposal, key in accepted.interactions.items()
                ],
                "errors": [
                    {
                        "proposalId": str(proposal),
                        "code": "already_answered",
                        "error": str(ALREADY_ANSWERED),
                        "interactionId": None if key is None else str(key),
                    }
                    for proposal, key in accepted.answered.items()
                ],
            }
        )

    @extend_schema(
        operation_id="dismissMeetingProposals",
        request=DismissMeetingsSerializer,
        responses=envelope("MeetingProposalsDismissed", dismissed=serializers.IntegerField()),
    )
    @action(detail=False, methods=["post"])
    @raises(FieldError)
    def dismiss(self, request: Request) -> Response:
        """Do not log these; with `always` nothing of their series, or with their title, is proposed again."""
        data = self.read_body(DismissMeetingsSerializer)
        count = dismiss_proposals(owner=self.owner, ids=data["ids"], always=data.get("always"))
        return Response({"dismissed": count})


def _format_cursor(at: dt.datetime, key: UUID) -> str:
    microseconds = (at - _EPOCH) // dt.timedelta(microseconds=1)
    return urlsafe_b64encode(orjson.dumps([microseconds, key.hex])).decode().rstrip("=")


def _parse_cursor(text: str) -> tuple[dt.datetime, UUID]:
    try:
        microseconds, key = orjson.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        return _EPOCH + dt.timedelta(microseconds=int(microseconds)), UUID(key)
    except (ValueError, TypeError, AttributeError, OverflowError):
        raise FieldError("cursor", NO_CURSOR) from None
