"""GET /api/reminders/upcoming and GET /api/notifications/deliveries."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.viewsets import ApiViewSet, OwnedViewSet
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import OwnedField, StrictChoiceField, StrictDateField, StrictIntegerField
from contacts_project.kernel.api.queries import (
    DEFAULT_LIMIT,
    PaginationSerializer,
    page_parameters,
    pagination,
    read_page,
)
from contacts_project.kernel.api.schema import envelope
from contacts_project.kernel.json import JsonObject, format_timestamp
from contacts_project.kernel.texts import define_text
from notifications.ledger import in_history
from notifications.models import AnswerState, Delivery, DeliveryState, ReminderAnswer
from notifications.notices.actions import ActionKind, ReminderAction
from notifications.notices.notice import NoticeKind
from notifications.services.answers import answer_occurrence, take_back_answer
from notifications.services.dispatch import reschedule
from notifications.services.forecast import upcoming_reminders
from people.api.important_dates import DAYS, LIMIT, read_days, read_limit
from people.dates.upcoming import shown_title

ANSWERS = [ActionKind.CONTACTED.value, ActionKind.SNOOZE.value, ActionKind.SKIP.value]
UNDO = "undo"
MAX_SNOOZE_DAYS, MAX_ANSWERS = 30, 500
_DATE_OR_PERSON = define_text("date_or_person", "Give either dateId or personId.")
KINDS = [kind.value for kind in NoticeKind if kind is not NoticeKind.TEST]


class ReminderDestinationSerializer(serializers.Serializer[object]):
    """Where a reminder goes; `reason` says why nothing goes there now."""

    channel = serializers.CharField()
    id = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # hides Field.label, which no field needs
    willSend = serializers.BooleanField()
    reason = serializers.CharField(allow_null=True)


class UpcomingReminderSerializer(serializers.Serializer[object]):
    """One thing that is due; `reason` says why it is not sent, or `snoozed` that it comes again."""

    optional = ("turns",)

    kind = serializers.ChoiceField(KINDS)
    date = serializers.DateField()
    sendAt = serializers.DateTimeField(allow_null=True)
    willSend = serializers.BooleanField()
    reason = serializers.CharField(allow_null=True)
    destinations = ReminderDestinationSerializer(many=True)
    importantDateId = serializers.UUIDField(allow_null=True)
    personId = serializers.UUIDField(allow_null=True)
    personName = serializers.CharField(allow_null=True)
    type = serializers.CharField(allow_null=True)
    title = serializers.CharField(allow_null=True)
    turns = serializers.IntegerField(allow_null=True)


class ReminderReplySerializer(serializers.Serializer[Any]):
    """The answer to the reminder of a date, or of getting in touch with a person, on the day `on`."""

    dateId = OwnedField("people.ImportantDate", source="date", required=False)
    personId = OwnedField("people.Person", source="person", required=False)
    on = StrictDateField()
    action = StrictChoiceField([*ANSWERS, UNDO])
    days = StrictIntegerField(min_value=1, max_value=MAX_SNOOZE_DAYS, required=False)

    def validate(self, attrs: JsonObject) -> JsonObject:
        if ("date" in attrs) == ("person" in attrs):
            raise InvalidError({"dateId": [_DATE_OR_PERSON]})
        return attrs


class OpenAnswerSerializer(serializers.Serializer[Any]):
    """A snoozed or skipped occurrence; `again` is the day on which a snoozed one comes again."""

    dateId = serializers.UUIDField(allow_null=True, source="important_date_id")
    personId = serializers.UUIDField(allow_null=True, source="person_id")
    on = serializers.DateField(source="occurrence_on")
    state = serializers.ChoiceField(AnswerState.choices)
    again = serializers.DateField(allow_null=True, source="again_on")


class ReminderViewSet(ApiViewSet[Any]):
    """What will be sent, and the account's answers to it."""

    @extend_schema(
        operation_id="listUpcomingReminders",
        parameters=[DAYS, LIMIT],
        responses={
            200: envelope(
                "UpcomingRemindersAnswer",
                reminders=UpcomingReminderSerializer(many=True),
                hasMore=serializers.BooleanField(),
            )
        },
    )
    @action(detail=False)
    def upcoming(self, request: Request) -> Response:
        """What will be sent in the coming days, when, over which channel, and if not, why; the nearest first."""
        owner, now, days = self.owner, timezone.now(), read_days(request)
        if owner.reminders_stale:  # a setting was changed, and the worker has not replanned yet
            reschedule(owner_id=owner.pk, now=now)
        found = upcoming_reminders(owner, now=now, days=days, limit=read_limit(request))
        return Response({"reminders": found.reminders, "hasMore": found.has_more})

    @extend_schema(
        operation_id="listReminderAnswers",
        responses={200: envelope("ReminderAnswersAnswer", answers=OpenAnswerSerializer(many=True))},
    )
    @action(detail=False)
    def answers(self, request: Request) -> Response:
        """The occurrences that were snoozed or skipped, the latest first; at most 500."""
        rows = ReminderAnswer.objects.owned_by(self.owner).order_by("-occurrence_on", "id")[:MAX_ANSWERS]
        return Response({"answers": OpenAnswerSerializer(rows, many=True).data})

    @extend_schema(
        operation_id="answerReminderOfDay",
        request=ReminderReplySerializer,
        responses={
            200: envelope(
                "ReminderReplyAnswer",
                success=serializers.BooleanField(),
                message=serializers.CharField(),
                interactionId=serializers.UUIDField(allow_null=True),
            )
        },
    )
    @action(detail=False, methods=["post"])
    def answer(self, request: Request) -> Response:
        """Answer a reminder, sent or still to come, as its links do: `contacted`, `snooze` (`days`: 1), `skip`.

        `contacted` makes an interaction. `undo` takes back a snooze or skip.
        """
        data = self.read_body(ReminderReplySerializer)
        source = data.get("date") or data["person"]
        if data["action"] == UNDO:
            answered = take_back_answer(owner=self.owner, source=source, day=data["on"])
        else:
            kind = ActionKind(data["action"])
            reply = ReminderAction(kind, data.get("days", 1) if kind is ActionKind.SNOOZE else None)
            answered = answer_occurrence(
                owner=self.owner, source=source, day=data["on"], action=reply, now=timezone.now()
            )
        made = answered.interaction_id
        return Response({"success": True, "message": answered.message, "interactionId": str(made) if made else None})


@extend_schema_serializer(component_name="Answer")  # a published name, which generated clients use
class ReminderAnswerSerializer(serializers.Serializer[object]):
    """What the account did about a reminder where it read it."""

    optional = ("days",)

    kind = serializers.ChoiceField(ActionKind.choices)
    days = serializers.IntegerField()
    at = serializers.DateTimeField()


class DeliverySerializer(serializers.Serializer[object]):
    """One row of the ledger. `code` is the last failure, or why nothing was sent."""

    id = serializers.UUIDField()
    kind = serializers.ChoiceField(KINDS)
    status = serializers.ChoiceField([state.value for state in DeliveryState])
    code = serializers.CharField(allow_null=True)
    channel = serializers.CharField(allow_null=True)
    destinationId = serializers.CharField(allow_null=True)
    destination = serializers.CharField(allow_null=True)
    personId = serializers.UUIDField(allow_null=True)
    personName = serializers.CharField(allow_null=True)
    importantDateId = serializers.UUIDField(allow_null=True)
    type = serializers.CharField(allow_null=True)
    title = serializers.CharField(allow_null=True)
    date = serializers.DateField()
    late = serializers.BooleanField()
    attempts = serializers.IntegerField()
    answers = ReminderAnswerSerializer(many=True)
    dueAt = serializers.DateTimeField()
    nextTryAt = serializers.DateTimeField(allow_null=True)
    endedAt = serializers.DateTimeField(allow_null=True)
    createdAt = serializers.DateTimeField()
    updatedAt = serializers.DateTimeField()


def serialize_delivery(row: Delivery) -> JsonObject:
    """One delivery as in the response of the history."""
    content = row.content
    return {
        "id": str(row.pk),
        "kind": row.kind,
        "status": row.state,
        "code": row.code or None,
        "channel": row.channel or None,
        "destinationId": row.target_key or None,
        "destination": row.label or None,
        **{key: content.get(key) for key in ("personId", "personName", "importantDateId", "type")},
        "title": shown_title(content.get("type"), content.get("title")),
        "date": row.occurrence_on.isoformat(),
        "late": row.late,
        "attempts": row.attempts,
        "answers": row.answers,
        "dueAt": format_timestamp(row.due_at),
        "nextTryAt": format_timestamp(row.next_try_at),
        "endedAt": format_timestamp(row.ended_at),
        "createdAt": format_timestamp(row.created_at),
        "updatedAt": format_timestamp(row.updated_at),
    }


class DeliveryViewSet(OwnedViewSet[Delivery]):
    """The history."""

    model = Delivery

    @extend_schema(
        operation_id="listDeliveries",
        parameters=page_parameters(default=str(DEFAULT_LIMIT)),
        responses={
            200: envelope(
                "DeliveriesAnswer", deliveries=DeliverySerializer(many=True), pagination=PaginationSerializer()
            )
        },
    )
    def list(self, request: Request) -> Response:
        """What was sent over which channel, and what could not be, newest first, 90 days back."""
        limit, offset = read_page(request.query_params, default=DEFAULT_LIMIT)
        rows = self.get_queryset().filter(in_history(timezone.now()))
        page = rows.order_by("-planned_at", "-id")[offset : offset + limit]
        paging = pagination(total=rows.count(), limit=limit, offset=offset)
        return Response({"deliveries": [serialize_delivery(row) for row in page], "pagination": paging})
