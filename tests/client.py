"""A test client that sends and receives JSON."""

from typing import Any

import orjson
from django.test import Client as DjangoClient

from accounts.models import User
from tests.builders import make_token
from tests.leaks import leak_detector
from tests.routes.openapi import check_response


class Client(DjangoClient):
    """Sends JSON bodies, with `bearer` as the API token.

    Checks every response against the OpenAPI description, and for names of other accounts than that of `reader`.
    """

    bearer = ""
    reader: User | None = None

    def generic(self, method: str, path: str, data: Any = "", content_type: str | None = None, **extra: Any) -> Any:  # type: ignore[override]
        if self.bearer:
            extra.setdefault("HTTP_AUTHORIZATION", f"Bearer {self.bearer}")
        response = super().generic(method, path, data, content_type or "application/json", **extra)
        check_response(response)
        if self.reader is not None and not response.streaming:
            leak_detector.scan_response(self.reader.pk, f"{path} {data!r}", response.content)
        return response

    def call(self, method: str, path: str, body: Any = None, **extra: Any) -> Any:
        """Send `body` as JSON, or no body for None; returns the response."""
        data = b"" if body is None else orjson.dumps(body)
        return self.generic(method.upper(), path, data, "application/json", **extra)

    def ok(self, method: str, path: str, body: Any = None, *, status: int = 200, **extra: Any) -> Any:
        """Send `body` and assert the status; returns the decoded JSON, None for an empty response."""
        response = self.call(method, path, body, **extra)
        content = b"".join(response.streaming_content) if response.streaming else response.content
        assert response.status_code == status, (response.status_code, content[:2000])
        return orjson.loads(content) if content else None


def client_of(user: User | None) -> Client:
    """A client with a read-write token of `user`; anonymous for None."""
    client = Client()
    client.bearer = make_token(user) if user else ""
    client.reader = user
    return client
