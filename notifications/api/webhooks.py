"""The webhooks of the API description (Standard Webhooks). Their data is the content of a Notice."""

from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.plumbing import process_webhooks
from drf_spectacular.utils import OpenApiResponse, OpenApiWebhook, extend_schema, inline_serializer
from rest_framework import serializers

from contacts_project.kernel.api.fields import StrictChoiceField
from contacts_project.kernel.api.schema import envelope
from contacts_project.kernel.json import JsonObject
from notifications.notices.actions import ActionKind
from notifications.notices.notice import NoticeKind
from people.api.important_dates import UpcomingEventSerializer
from people.api.person_entries import DATE_TYPES
from people.vocabularies import Unit


class OfferSerializer(serializers.Serializer[Any]):
    """Something that can be done about a reminder. Opening `url` asks, posting to it does; good for 30 days."""

    optional = ("days",)

    kind = StrictChoiceField(ActionKind.values)
    days = serializers.IntegerField(help_text="Of a snooze: until it comes again.")
    label = serializers.CharField(help_text="For a button, in the account's language.")  # type: ignore[assignment]
    url = serializers.CharField()


class _PersonData(serializers.Serializer[Any]):
    personId = serializers.UUIDField()
    personName = serializers.CharField()
    date = serializers.DateField(help_text="The occurrence that this is about.")
    daysUntil = serializers.IntegerField(help_text="Seen from the day on which this is sent.")
    late = serializers.BooleanField(help_text="Whether it makes up for a run that was missed.")
    actions = OfferSerializer(many=True)


class ImportantDateNoticeSerializer(_PersonData):
    """The facts of a reminder of an important date; `title` may be null where there is a type."""

    importantDateId = serializers.UUIDField()
    type = StrictChoiceField(DATE_TYPES, allow_null=True)
    title = serializers.CharField(allow_null=True)
    yearUnknown = serializers.BooleanField()
    turns = serializers.IntegerField(allow_null=True, help_text="The age, where the year is known.")


class ContactNoticeSerializer(_PersonData):
    """The facts of a reminder to get in touch."""

    lastContact = serializers.DateField(allow_null=True)
    interval = serializers.IntegerField()
    intervalUnit = StrictChoiceField([unit.value for unit in Unit])


# Not a class, because a field of the name `from` is a syntax error.
_DIGEST = inline_serializer(
    "DigestNotice",
    {
        "from": serializers.DateField(),
        "to": serializers.DateField(),
        "events": UpcomingEventSerializer(many=True),
        "hasMore": serializers.BooleanField(help_text="Whether there are more than the nearest 200, which these are."),
        "late": serializers.BooleanField(),
    },
)
_FOUND = inline_serializer(
    "ContactsFoundNotice",
    {"count": serializers.IntegerField(), "daysUntil": serializers.IntegerField(), "late": serializers.BooleanField()},
)
_DEVICE: dict[str, Any] = {
    "tokenId": serializers.UUIDField(),
    "deviceName": serializers.CharField(),
    "daysUntil": serializers.IntegerField(),
    "late": serializers.BooleanField(),
}
_REFUSED = inline_serializer("RefusedNotice", dict(_DEVICE))
_DELETIONS = inline_serializer(
    "DeletionsNotice",
    {
        **_DEVICE,
        "count": serializers.IntegerField(),
        "since": serializers.DateTimeField(),
        "actions": serializers.ListField(child=serializers.DictField()),
    },
)
_HELD = inline_serializer(
    "ShareHeldNotice",
    {
        "shareId": serializers.UUIDField(),
        "shareName": serializers.CharField(),
        "memberName": serializers.CharField(),
        "count": serializers.IntegerField(help_text="Of people."),
        "daysUntil": serializers.IntegerField(),
        "late": serializers.BooleanField(),
    },
)
_DATA: dict[NoticeKind, tuple[str, Any]] = {
    NoticeKind.IMPORTANT_DATE: ("An important date is today", ImportantDateNoticeSerializer()),
    NoticeKind.IMPORTANT_DATE_LEAD: ("An important date comes up", ImportantDateNoticeSerializer()),
    NoticeKind.CONTACT: ("It is time to get in touch with somebody", ContactNoticeSerializer()),
    NoticeKind.DIGEST: ("The events of the week", _DIGEST),
    NoticeKind.CONTACTS_FOUND: ("New contacts wait on the CardDAV server", _FOUND),
    NoticeKind.DAV_DELETIONS: ("A device deleted many people", _DELETIONS),
    NoticeKind.DAV_REFUSED: ("A device sent what was refused", _REFUSED),
    NoticeKind.SHARE_HELD: ("What another member of a share sent waits to be let through", _HELD),
    NoticeKind.TEST: ("A sample", serializers.DictField(help_text="Nothing.")),
}
_DESCRIPTION = (
    "Answer with a status of 2xx within ten seconds; it is tried again otherwise. "
    "Verify the signature with the secret of the destination before you believe the body."
)
_HEADERS = {
    "webhook-id": "The delivery: the same at every try.",
    "webhook-timestamp": "Seconds since 1970 at which this try was sent.",
    "webhook-signature": "`v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64; after a change of the secret, "
    "for a day, two of them with a space between.",
}


def _webhook(kind: NoticeKind) -> OpenApiWebhook:
    summary, data = _DATA[kind]
    name = "".join(word.capitalize() for word in kind.value.replace("_", ".").split("."))
    body = envelope(
        f"{name}Webhook",
        type=serializers.ChoiceField([kind.value]),
        timestamp=serializers.DateTimeField(help_text="When it was first due to be sent."),
        data=data,
    )
    described = extend_schema(
        operation_id=f"on{name}",
        summary=summary,
        description=_DESCRIPTION,
        request=body,
        responses={200: OpenApiResponse(description="Received.")},
    )
    return OpenApiWebhook(kind.value, described)


WEBHOOKS = [_webhook(kind) for kind in NoticeKind]


def add_webhooks(result: JsonObject, generator: SchemaGenerator, **kwargs: object) -> JsonObject:
    """Postprocessing hook of drf-spectacular, which by itself drops schemas and headers of webhooks.

    Must run before the hook of enums, which then sees the schemas of webhooks too.
    """
    result["webhooks"] = process_webhooks(WEBHOOKS, generator.registry)
    result["components"] = generator.registry.build({})
    for path in result["webhooks"].values():
        path["post"]["tags"] = ["Webhooks"]
        path["post"]["parameters"] = [
            {"name": name, "in": "header", "required": True, "description": text, "schema": {"type": "string"}}
            for name, text in _HEADERS.items()
        ]
    return result
