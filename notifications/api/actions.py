"""The action links of reminders: GET asks for confirmation, POST acts. The token is the credential."""

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
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import DomainError, MissingError
from contacts_project.kernel.languages import best_language
from contacts_project.kernel.pages import render_page
from notifications.models import Delivery
from notifications.notices.actions import Action, ActionExpiredError, read_token
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


def _parse_link(token: str) -> tuple[Delivery, Action]:
    delivery_id, action = read_token(token, now=timezone.now())
    return find_delivery(delivery_id), action


def _is_browser(request: Request) -> bool:
    """Whether to answer with a page. Browsers accept text/html by name; programs accept JSON or anything."""
    return "text/html" in request.headers.get("Accept", "")


def _page(delivery: Delivery, action: Action, context: dict[str, object]) -> HttpResponse:
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
