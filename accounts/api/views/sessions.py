"""The signed-in browsers of the account."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.serializers.profile import AccountSessionSerializer
from accounts.api.views.access import SUCCESS_RESPONSE
from accounts.api.viewsets import OwnedViewSet
from accounts.models import AccountSession
from accounts.services.sessions import active_sessions, end_session
from contacts_project.kernel.api.schema import envelope
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.texts import define_text

_NO_SESSION = define_text("no_such_session", "There is no such session.")


class SessionViewSet(OwnedViewSet[AccountSession]):
    """The signed-in browsers of the account."""

    model = AccountSession
    lookup_url_kwarg = "session_id"

    @extend_schema(
        operation_id="listSessions",
        responses=envelope("SessionsAnswer", sessions=AccountSessionSerializer(many=True)),
    )
    def list(self, request: Request) -> Response:
        """The browsers that are signed in, the last used first."""
        rows: Any = active_sessions(user=self.owner, now=timezone.now())
        context = {"session_key": request._request.session.session_key if request.auth is None else None}
        return Response({"sessions": AccountSessionSerializer(rows, many=True, context=context).data})

    @extend_schema(operation_id="endSession", responses={200: SUCCESS_RESPONSE})
    def destroy(self, request: Request, session_id: UUID) -> Response:
        """Sign that browser out, at once."""
        if not end_session(user=self.owner, session_id=session_id):
            raise MissingError(_NO_SESSION)
        return Response({"success": True})
