"""The page of List-Unsubscribe: GET asks for confirmation, POST acts (RFC 8058). The token is the credential."""

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from accounts.api.viewsets import OpenViewSet
from contacts_project.kernel.api.schema import raises
from contacts_project.kernel.pages import render_page
from notifications.notices.unsubscribe import BadTokenError, read_token, unsubscribe

TOKEN = OpenApiParameter("token", str, required=True, description="From the mail's List-Unsubscribe header.")
PAGE = {(200, "text/html"): OpenApiTypes.STR}


class UnsubscribeViewSet(OpenViewSet):
    """Open to whoever holds the link. A mailbox posts to it without a person, a cookie or a CSRF token."""

    @extend_schema(operation_id="askUnsubscribe", parameters=[TOKEN], responses=PAGE, auth=[])
    @raises(BadTokenError)
    def list(self, request: Request) -> HttpResponse:
        """A page that asks, and changes nothing: links are opened by scanners too."""
        return _page(request, acts=False)

    @extend_schema(operation_id="unsubscribe", parameters=[TOKEN], request=None, responses=PAGE, auth=[])
    @raises(BadTokenError)
    def create(self, request: Request) -> HttpResponse:
        """Switch the mails off."""
        return _page(request, acts=True)


def _page(request: Request, *, acts: bool) -> HttpResponse:
    owner, subject = read_token(request.query_params.get("token", ""))
    if acts:
        unsubscribe(owner, subject)
    context = {"subject": subject.value, "email": owner.recovery_email, "done": acts}
    return render_page(None, "unsubscribe/page.html", context, language=owner.language)
