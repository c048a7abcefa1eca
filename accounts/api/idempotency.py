"""Idempotency-Key on POST: the first request with a key runs, and a repeat replays its stored response.

ApiViewSet.initial applies this to each POST action. An action is one transaction with the storing of its response,
unless a mark declares otherwise (accounts.api.decorators).
"""

import hashlib
import re
from collections.abc import Callable
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.utils import timezone
from orjson import OPT_SORT_KEYS, JSONEncodeError
from orjson import dumps as orjson_dumps
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import User
from accounts.services.stored_responses import InProgressError, KeyReusedError, RawResponse, run_once
from contacts_project.kernel.api.json import NESTED_TOO_DEEPLY, UnreadableBodyError, UnstoredResponse
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.json import dumps
from contacts_project.kernel.texts import define_text

_NOT_A_KEY = define_text("not_an_idempotency_key", "This must be 1 to 255 printable ASCII characters.")

HEADER = "Idempotency-Key"
REFUSALS = (FieldError, InProgressError, KeyReusedError)
_KEY_PATTERN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?\Z")
_CHUNK_BYTES = 64 * 1024
_STORED_HEADERS = ("Content-Type", "ETag")


def make_idempotent(view: Any, handler: Callable[..., Any], request: Request) -> Callable[..., HttpResponseBase]:
    """Wrap the handler so that it runs once for the key of the request. Raises FieldError for a malformed key."""
    key = request.headers[HEADER]
    if not _KEY_PATTERN.match(key):
        raise FieldError(HEADER, _NOT_A_KEY)
    owner = request.user
    if not isinstance(owner, User):
        raise TypeError("open routes keep no answers")

    def idempotent_handler(*args: Any, **kwargs: Any) -> HttpResponseBase:
        responses: list[HttpResponseBase] = []

        def run() -> RawResponse:
            try:
                response: HttpResponseBase = handler(*args, **kwargs)
            except Exception as error:  # noqa: BLE001 - handle_exception raises again what is not an API error
                # DRF would convert the error after this handler. It has to be a response here, to be stored as well.
                response = view.handle_exception(error)
            responses.append(response)
            return _to_raw_response(response)

        stored, is_replay = run_once(
            owner=owner,
            key_digest=_digest(request.path.encode(), key.encode()),
            content_digest=_digest(request.META.get("QUERY_STRING", "").encode(), *_canonical_body(request)),
            run=run,
            is_joined=not view.commits_by_itself(handler),
            now=timezone.now(),
        )
        if not is_replay:
            return responses[0]
        replay = HttpResponse(stored.body, status=stored.status, headers=stored.headers)
        replay["Idempotent-Replayed"] = "true"
        return replay

    return idempotent_handler


def _to_raw_response(response: HttpResponseBase) -> RawResponse:
    headers = {name: response[name] for name in _STORED_HEADERS if name in response}
    if isinstance(response, Response):  # not rendered yet
        body = b"" if response.data is None else dumps(response.data)
        headers["Content-Type"] = "application/json"
        return RawResponse(response.status_code, body, headers, must_not_store=isinstance(response, UnstoredResponse))
    if not isinstance(response, HttpResponse):
        raise TypeError("a streamed answer cannot be kept: mark its action by ignores_idempotency_key")
    return RawResponse(response.status_code, response.content, headers)


def _canonical_body(request: Request) -> list[bytes]:
    """The body in a form that is equal for equal requests: JSON with sorted keys, form fields in order, file digests.

    The bytes as sent would not do: a client that repeats a multipart request makes a new boundary. Raises
    UnreadableBodyError.
    """
    data = request.data
    files = {name: value for name, value in data.items() if hasattr(value, "read")} if isinstance(data, dict) else {}
    if not files and not isinstance(data, QueryDict):
        try:
            return [orjson_dumps(data, option=OPT_SORT_KEYS)]
        except JSONEncodeError:  # orjson parses up to 300 levels of nesting but writes only 254
            raise UnreadableBodyError(NESTED_TOO_DEEPLY) from None
    lists = data.lists() if isinstance(data, QueryDict) else ()
    fields = [f"{name}={value}".encode() for name, values in sorted(lists) for value in values if name not in files]
    return [*fields, *(_file_digest(name, file) for name, file in sorted(files.items()))]


def _file_digest(name: str, file: UploadedFile) -> bytes:
    digest = hashlib.sha256(name.encode())
    while chunk := file.read(_CHUNK_BYTES):
        digest.update(chunk)
    file.seek(0)  # the view reads it next
    return digest.digest()


def _digest(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        # Each part with its length, so that moving bytes from one part to the next gives another digest.
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
