"""Routes of what waits in a share for this member, and of what is held."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import in_own_transactions
from contacts_project.kernel.api.errors import REQUIRED, InvalidError
from contacts_project.kernel.api.fields import StrictBooleanField, StrictCharField, StrictChoiceField
from contacts_project.kernel.api.queries import read_flag
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError, MissingError
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.json import JsonObject
from sharing.api.pages import PAGE_PARAMETERS, ShareListViewSet, describe_page, page_fields, read_cursor
from sharing.models import HoldState
from sharing.services.answers import ERROR_CODES, Action, Answer, answer_waiting
from sharing.services.held import NotHeldError, OwnHoldError, decide_holds
from sharing.services.waiting import REASONS, list_waiting

MAX_ITEMS = 500
_MAX_ID_LENGTH = 100
_DECISIONS = {"accept": HoldState.ACCEPTED, "refuse": HoldState.REFUSED}


class ShareCandidateSerializer(serializers.Serializer[Any]):
    """Somebody of the account who may be the shared person."""

    personId = serializers.UUIDField()
    personName = serializers.CharField()
    score = serializers.FloatField(min_value=0, max_value=1)


class WaitingSerializer(serializers.Serializer[Any]):
    """A shared person that waits here, or what another member sent and is held (`held`)."""

    optional = ("personId", "candidates", "count")

    sharedId = serializers.UUIDField()
    name = serializers.CharField(help_text="Of `held`: whose it is.")
    photo = serializers.CharField(allow_null=True, help_text="Null before the person is taken in.")
    reason = serializers.ChoiceField(list(REASONS), allow_null=True, help_text="Null of those that were skipped.")
    personId = serializers.UUIDField(help_text="Who it is here, or is proposed to be.")
    candidates = ShareCandidateSerializer(many=True, help_text="Of `merged`: the one who was kept.")
    by = serializers.CharField(allow_null=True)
    at = serializers.DateTimeField()
    count = serializers.IntegerField(help_text="Of `held`: how many people it is about.")


class WaitingItemSerializer(serializers.Serializer[Any]):
    """One answer."""

    sharedId = StrictCharField(max_length=_MAX_ID_LENGTH)
    action = StrictChoiceField(list(Action.values))
    personId = StrictCharField(max_length=_MAX_ID_LENGTH, required=False, allow_null=True)


class AnswerWaitingSerializer(serializers.Serializer[Any]):
    """Answers to single people, one for all that are proposed and not among them, and the end of the review."""

    items = serializers.ListField(child=WaitingItemSerializer(), min_length=1, max_length=MAX_ITEMS, required=False)
    all = StrictChoiceField(list(Action.values), required=False)
    finish = StrictBooleanField(required=False)

    def validate(self, attrs: JsonObject) -> JsonObject:
        if not attrs.keys() & {"items", "all", "finish"}:
            raise InvalidError({"items": [REQUIRED]})
        return attrs


class WaitingErrorSerializer(serializers.Serializer[Any]):
    sharedId = serializers.CharField()
    code = serializers.ChoiceField(list(ERROR_CODES))
    error = serializers.CharField()


class DecideHoldSerializer(serializers.Serializer[Any]):
    """What becomes of what is held: of one member, by the `sharedId` of its row, or of all others."""

    action = StrictChoiceField(list(_DECISIONS))
    sharedId = StrictCharField(max_length=_MAX_ID_LENGTH, required=False, allow_null=True)


class WaitingViewSet(ShareListViewSet):
    """What waits in a share."""

    @extend_schema(
        operation_id="listShareWaiting",
        parameters=[
            *PAGE_PARAMETERS,
            OpenApiParameter("skipped", bool, description="Those that were skipped instead."),
        ],
        responses=envelope("ShareWaitingAnswer", waiting=WaitingSerializer(many=True), **page_fields()),
    )
    @action(detail=True)
    @raises(FieldError, MissingError)
    def waiting(self, request: Request, share_id: UUID) -> Response:
        """Shared people that want an answer or room here, the oldest first."""
        membership = self.get_object()
        limit, after = read_cursor(request.query_params)
        skipped = read_flag(request.query_params, "skipped", default=False)
        rows, cursor = list_waiting(self.owner, membership, skipped=skipped, after=after, limit=limit)
        return Response({"waiting": rows, **describe_page(cursor)})

    @extend_schema(
        operation_id="answerShareWaiting",
        request=AnswerWaitingSerializer,
        responses=envelope(
            "ShareWaitingAnswered", done=serializers.IntegerField(), errors=WaitingErrorSerializer(many=True)
        ),
    )
    @waiting.mapping.post
    @raises(FieldError, MissingError)
    @in_own_transactions
    def answer(self, request: Request, share_id: UUID) -> Response:
        """Answer what waits. What an item says that does not go is an error of that item."""
        key = self.get_object().share_id
        data = self.read_body(AnswerWaitingSerializer)
        answered = answer_waiting(
            owner=self.owner,
            share_id=key,
            answers=[
                Answer(item["sharedId"], item["action"], parse_id(item.get("personId")))
                for item in data.get("items", ())
            ],
            for_proposed=data.get("all"),
            finish=data.get("finish", False),
            now=timezone.now(),
        )
        errors = [
            {"sharedId": error.shared_id, "code": error.code, "error": str(error.text)} for error in answered.errors
        ]
        return Response({"done": answered.done, "errors": errors})

    @extend_schema(
        operation_id="decideShareHold",
        request=DecideHoldSerializer,
        responses=envelope("ShareHoldDecided", success=serializers.BooleanField()),
    )
    @action(detail=True, methods=["post"])
    @raises(FieldError, MissingError, OwnHoldError, NotHeldError)
    def held(self, request: Request, share_id: UUID) -> Response:
        """Let through what another member sent and is held, or refuse it.

        Refused, that member's people get back what the share has, from the trash and into the group, too.
        """
        key = self.get_object().share_id
        data = self.read_body(DecideHoldSerializer)
        decide_holds(
            owner=self.owner,
            share_id=key,
            decision=_DECISIONS[data["action"]],
            hold_id=None if data.get("sharedId") is None else parse_id(data["sharedId"]) or UUID(int=0),
        )
        return Response({"success": True})
