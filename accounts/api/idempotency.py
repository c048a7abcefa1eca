"""Idempotency-Key on POST: the same request, sent again, is answered again and not carried out again.

A viewset of the API takes the header for each of its POST actions (ApiViewSet.initial). An action is one transaction
with the keeping of its answer, unless a mark says otherwise (accounts.api.route_marks).
"""

import hashlib
import re
from collections.abc import Callable
from typing import Any

from django.http import HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.utils import timezone
from orjson import OPT_SORT_KEYS, JSONEncodeError
from orjson import dumps as sorted_json
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import User
from accounts.services.kept_answers import Answer, InProgressError, KeyReusedError, answer_once
from contacts_project.kernel.api.json import dumps
from contacts_project.kernel.errors import FieldError

HEADER = "Idempotency-Key"
REFUSALS = (FieldError, InProgressError, KeyReusedError)
_WELL_FORMED = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?\Z")
_CHUNK = 64 * 1024
_KEPT_HEADERS = ("Content-Type", "ETag")


def answering_once(view: Any, handler: Callable[..., Any], request: Request) -> Callable[..., HttpResponseBase]:
    """The handler, carried out once for the key of the request. Raises FieldError."""
    key = request.headers[HEADER]
    if not _WELL_FORMED.match(key):
        raise FieldError(HEADER, "This must be 1 to 255 printable ASCII characters.")

    def answer(*args: Any, **kwargs: Any) -> HttpResponseBase:
        made: list[HttpResponseBase] = []

        def run() -> Answer:
            made.append(_response(view, handler, args, kwargs))
            return _answer_of(made[0])

        found, is_replayed = answer_once(
            owner=_owner(request),
            name=_digest(request.path.encode(), key.encode()),
            digest=_digest(request.META.get("QUERY_STRING", "").encode(), *_parts(request)),
            run=run,
            is_joined=not view.commits_by_itself(handler),
            now=timezone.now(),
        )
        return _replay(found) if is_replayed else made[0]

    return answer


def _owner(request: Request) -> User:
    if not isinstance(request.user, User):
        raise TypeError("open routes keep no answers")
    return request.user


def _response(view: Any, handler: Callable[..., Any], args: Any, kwargs: Any) -> HttpResponseBase:
    """What the handler answers, refusals included: those are kept, too."""
    try:
        response: HttpResponseBase = handler(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - what is no refusal is raised again
        response = view.handle_exception(error)
    return response


def _answer_of(response: HttpResponseBase) -> Answer:
    if isinstance(response, Response):
        body = b"" if response.data is None else dumps(response.data)
        headers = {**_kept_headers(response), "Content-Type": "application/json"}
        return Answer(response.status_code, body, headers, is_passing=getattr(response, "is_passing", False))
    if not isinstance(response, HttpResponse):
        raise TypeError("a streamed answer cannot be kept: mark its action by ignores_idempotency_key")
    return Answer(response.status_code, response.content, _kept_headers(response))


def _kept_headers(response: HttpResponseBase) -> dict[str, str]:
    return {name: response[name] for name in _KEPT_HEADERS if name in response}


def _replay(answer: Answer) -> HttpResponse:
    response = HttpResponse(answer.body, status=answer.status, headers=answer.headers)
    response["Idempotent-Replayed"] = "true"
    return response


def _parts(request: Request) -> list[bytes]:
    """What makes a body the same: JSON by its values, a form by its fields and files. Raises ParseError."""
    data = request.data
    files = {name: value for name, value in data.items() if hasattr(value, "read")} if isinstance(data, dict) else {}
    if not files and not isinstance(data, QueryDict):
        try:
            return [sorted_json(data, option=OPT_SORT_KEYS)]
        except JSONEncodeError:  # it reads 300 levels, and writes 254
            raise ParseError("The body is nested too deeply.") from None
    rest = data.lists() if isinstance(data, QueryDict) else ()
    fields = [f"{name}={value}".encode() for name, values in sorted(rest) for value in values if name not in files]
    return [*fields, *(_file_digest(name, file) for name, file in sorted(files.items()))]


def _file_digest(name: str, file: Any) -> bytes:
    digest = hashlib.sha256(name.encode())
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    file.seek(0)
    return digest.digest()


def _digest(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
