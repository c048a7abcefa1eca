"""A body without a length (Transfer-Encoding: chunked) is read like any other, and bounded like any other."""

from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any
from wsgiref.util import setup_testing_defaults

import orjson
import pytest
from django.conf import settings
from django.core.signals import request_finished, request_started
from django.db import close_old_connections

from accounts.models import User
from contacts_project.wsgi import application
from tests.builders import make_token

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _keep_the_connection() -> Iterator[None]:
    """As Django's test client does: the test's transaction lives on it."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def send(user: User, path: str, body: bytes, content_type: str) -> tuple[int, Any]:
    """What the application answers to `body` as gunicorn hands it over when it came in chunks."""
    statuses: list[str] = []
    environ: dict[str, Any] = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": path,
        "CONTENT_TYPE": content_type,
        "HTTP_HOST": "127.0.0.1",
        "HTTP_AUTHORIZATION": f"Bearer {make_token(user)}",
        "HTTP_TRANSFER_ENCODING": "chunked",
        "wsgi.input": BytesIO(body),
        "wsgi.input_terminated": True,
    }
    setup_testing_defaults(environ)

    def start_response(status: str, *_: Any) -> Callable[[bytes], object]:
        statuses.append(status)
        return BytesIO().write

    answer = b"".join(application(environ, start_response))
    return int(statuses[0].partition(" ")[0]), orjson.loads(answer)


def test_json_in_chunks_is_read(alice: User) -> None:
    status, answer = send(alice, "/api/people", b'{"name": "Ada"}', "application/json")
    assert (status, answer["person"]["name"]) == (201, "Ada")


def test_a_vcard_file_in_chunks_is_read(alice: User) -> None:
    card = b"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada\r\nEND:VCARD\r\n"
    status, answer = send(alice, "/api/vcard/import", card, "text/vcard")
    assert (status, answer["imported"]) == (200, 1)


@pytest.mark.parametrize(
    ("path", "content_type", "limit"),
    [
        ("/api/people", "application/json", "MAX_JSON_BYTES"),
        ("/api/vcard/import", "text/vcard", "MAX_VCARD_BYTES"),
        ("/api/user/import", "application/json", "DATA_UPLOAD_MAX_MEMORY_SIZE"),
    ],
)
def test_chunks_have_the_same_limits(alice: User, path: str, content_type: str, limit: str) -> None:
    status, answer = send(alice, path, b"x" * (getattr(settings, limit) + 1), content_type)
    assert (status, answer["code"]) == (413, "too_large")
