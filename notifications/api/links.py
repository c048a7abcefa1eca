"""The signed links of notices: GET asks for confirmation, POST acts. The token is the credential.

Actions of reminders, and unsubscribing from mails (List-Unsubscribe, RFC 8058).
"""

from django.http import HttpResponse
from django.urls import register_converter
from django.urls.converters import StringConverter
from django.utils import timezone, translation
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.viewsets import OpenViewSet
from contacts_project.kernel.api.errors import failure_of
from contacts_project.kernel.api.responses import render_page
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import DomainError, MissingError
from contacts_project.kernel.languages import best_language
from notifications.models import Delivery
from notifications.notices.actions import ActionExpiredError, ReminderAction, read_token
from notifications.notices.unsubscribe import BadTokenError, read_unsubscribe_token, unsubscribe
from notifications.notices.wording import wording_of
from notifications.services.answers import answer_reminder, find_delivery, has_answer
from notifications.services.sender import build_notice

_TOKEN = OpenApiParameter("token", str, OpenApiParameter.PATH, description="From the link of a reminder.")
_PAGE = {(status, "text/html"): OpenApiTypes.STR for status in (200, 404, 410)}
_DONE = envelope("ActionDone", success=serializers.BooleanField(), message=serializers.CharField())


class SignedConverter(StringConverter):
    """`<signed:token>` in a path. Matches any text: `read_token` checks the signature, and raises errors of its own."""


register_converter(SignedConverter, "signed")


class ActionViewSet(OpenViewSet):
    """Open to whoever holds the link: a mail program, a phone's ntfy, a service worker."""

    @extend_schema(operation_id="askReminderAction", parameters=[_TOKEN], responses=_PAGE, auth=[])
    @raises(MissingError, ActionExpiredError)
    def retrieve(self, request: Request, token: str) -> HttpResponse:
        """A page that asks, and changes nothing: scanners of mail open every link."""
        try:
            delivery, action = _parse_link(token)
        except (MissingError, ActionExpiredError) as error:
            if _is_browser(request):
                return _refusal_page(request, error)
            raise
        return _page(delivery, action, {"done": has_answer(delivery, action)})

    @extend_schema(
        operation_id="answerReminder",
        parameters=[_TOKEN],
        request=None,
        responses={200: _DONE, **_PAGE},
        auth=[],
    )
    @raises(MissingError, ActionExpiredError)
    def create(self, request: Request, token: str) -> HttpResponse | Response:
        """Do it: HTML back to a browser, JSON to everybody else. A second time changes nothing."""
        try:
            delivery, action = _parse_link(token)
            answered = answer_reminder(delivery=delivery, action=action, now=timezone.now())
        except (MissingError, ActionExpiredError) as error:
            if _is_browser(request):
                return _refusal_page(request, error)
            raise
        if _is_browser(request):
            return _page(delivery, action, {"message": answered.message})
        response = Response({"success": True, "message": answered.message})
        # ntfy's web app posts from the browser. Safe, because this view uses no cookie: another site learns nothing.
        response["Access-Control-Allow-Origin"] = "*"
        return response


def _parse_link(token: str) -> tuple[Delivery, ReminderAction]:
    delivery_id, action = read_token(token, now=timezone.now())
    return find_delivery(delivery_id), action


def _is_browser(request: Request) -> bool:
    """Whether to answer with a page. Browsers accept text/html by name; programs accept JSON or anything."""
    return "text/html" in request.headers.get("Accept", "")


def _page(delivery: Delivery, action: ReminderAction, context: dict[str, object]) -> HttpResponse:
    language = delivery.owner.language
    with translation.override(language):
        values = {
            **context,
            "title": wording_of(build_notice(delivery, timezone.now())).title,
            "question": action.question(delivery.content.get("personName") or delivery.content.get("deviceName", "")),
            "label": action.label,
        }
    return render_page(None, "actions/page.html", values, language=language)


def _refusal_page(request: Request, error: DomainError) -> HttpResponse:
    language = best_language(request.headers.get("Accept-Language", ""))
    context = {"is_expired": isinstance(error, ActionExpiredError)}
    return render_page(None, "actions/refused.html", context, language=language, status=failure_of(type(error)).status)


_UNSUBSCRIBE_TOKEN = OpenApiParameter(
    "token", str, required=True, description="From the mail's List-Unsubscribe header."
)
_UNSUBSCRIBE_PAGE = {(200, "text/html"): OpenApiTypes.STR}


class UnsubscribeViewSet(OpenViewSet):
    """Open to whoever holds the link. A mailbox posts to it without a person, a cookie or a CSRF token."""

    @extend_schema(operation_id="askUnsubscribe", parameters=[_UNSUBSCRIBE_TOKEN], responses=_UNSUBSCRIBE_PAGE, auth=[])
    @raises(BadTokenError)
    def list(self, request: Request) -> HttpResponse:
        """A page that asks, and changes nothing: links are opened by scanners too."""
        return _unsubscribe_page(request, acts=False)

    @extend_schema(
        operation_id="unsubscribe", parameters=[_UNSUBSCRIBE_TOKEN], request=None, responses=_UNSUBSCRIBE_PAGE, auth=[]
    )
    @raises(BadTokenError)
    def create(self, request: Request) -> HttpResponse:
        """Switch the mails off."""
        return _unsubscribe_page(request, acts=True)


def _unsubscribe_page(request: Request, *, acts: bool) -> HttpResponse:
    owner, subject = read_unsubscribe_token(request.query_params.get("token", ""))
    if acts:
        unsubscribe(owner, subject)
    context = {"subject": subject.value, "email": owner.recovery_email, "done": acts}
    return render_page(None, "unsubscribe/page.html", context, language=owner.language)
