"""Only requests of the admin read messages."""

from typing import Any

import pytest
from django.contrib.messages.storage import base
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from contacts_project.kernel.admin import AdminMessagesMiddleware


@pytest.mark.parametrize(("path", "has_messages"), [("/admin/", True), ("/admin/auth/", True), ("/api/people", False)])
def test_only_the_admin_has_messages(path: str, has_messages: bool) -> None:
    found: list[Any] = []

    def respond(request: HttpRequest) -> HttpResponse:
        found.append(getattr(request, "_messages", None))
        return HttpResponse()

    request = RequestFactory().get(path)
    request.session = {}  # type: ignore[assignment]  # nothing is stored in it
    AdminMessagesMiddleware(respond)(request)
    assert isinstance(found[0], base.BaseStorage) is has_messages
