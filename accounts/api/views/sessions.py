"""Where the account is signed in."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api.callers import caller
from accounts.api.serializers.profile import AccountSessionSerializer
from accounts.api.views.access import SUCCESS_ANSWER
from accounts.services.sessions import end_session, live_sessions
from contacts_project.kernel.api.ids import parse_id
from contacts_project.kernel.api.schema import envelope


class SessionListView(APIView):
    @extend_schema(
        operation_id="listSessions",
        responses=envelope("SessionsAnswer", sessions=AccountSessionSerializer(many=True)),
    )
    def get(self, request: Request) -> Response:
        """The browsers that are signed in, the last used first."""
        rows: Any = live_sessions(user=caller(request), now=timezone.now())
        context = {"session_key": request._request.session.session_key if request.auth is None else None}
        return Response({"sessions": AccountSessionSerializer(rows, many=True, context=context).data})


class SessionView(APIView):
    @extend_schema(operation_id="endSession", responses={200: SUCCESS_ANSWER})
    def delete(self, request: Request, session_id: str) -> Response:
        """Sign that browser out, at once."""
        key = parse_id(session_id)
        if key is None or not end_session(user=caller(request), session_id=key):
            raise NotFound("There is no such session.")
        return Response({"success": True})
