"""Log lines: JSON on standard error, with the ids of request and task, without secrets and personal data."""

import copy
import logging
import re
import traceback
from collections.abc import Iterator
from contextvars import ContextVar
from types import TracebackType
from typing import Any

from celery import current_task
from django.db import IntegrityError, InterfaceError, OperationalError
from pythonjsonlogger.core import RESERVED_ATTRS
from pythonjsonlogger.json import JsonFormatter as PlainJsonFormatter

from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.outbound.failures import OutboundError

# Every log line is searched, so each alternative fails fast: it cannot start inside a word, and it does not backtrack.
_SECRETS = re.compile(
    r"([?&](?:token|code|state)=|/calendar/|/actions/)[^&\s\"'\\<>]+"  # in a URL
    r"|(?<!\w)(?:"
    r"(?:cnt|whsec)_[\w+/=-]{16,}"  # API tokens, and keys that sign webhooks
    r"|(?<!-)[\w-]{8,}+[.:][0-9A-Za-z]{6}[.:][\w-]{43}"  # values that django.core.signing signed with a timestamp
    r"|[0-9a-f]{32}-[a-z]+\d*-[0-9a-f]+\.[\w-]{43}"  # signed actions of reminders
    r")"
)
# Exceptions whose text is about code and machines, and is logged. The text of others may quote what a user wrote: a
# missing key, a value that is not a number, a refused recipient.
_SAFE_EXCEPTIONS = (
    AttributeError,
    ImportError,
    NameError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    IntegrityError,  # only its first line: on PostgreSQL the others show the row
    InterfaceError,
    OperationalError,
    DomainError,
    OutboundError,
)

request_id: ContextVar[str] = ContextVar("request_id", default="-")
"""The id of the current request, or of the request that enqueued the current task."""


class ContextFilter(logging.Filter):
    """Adds the id of the request to every log record, and in a worker the name and id of the task."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = request_id.get()
        if current_task and (task_id := current_task.request.id):
            record.task, record.task_id = current_task.name, task_id
        return True


class JsonFormatter(PlainJsonFormatter):
    """Masks what looks like a secret, because messages, exceptions and task arguments may quote a URL.

    Leaves out the request that Django adds to its records, whose text contains the whole URL, and its path: devices
    name cards after people. The line of the request with the same id has its route.
    """

    def __init__(self, format: str) -> None:
        super().__init__(format, reserved_attrs=[*RESERVED_ATTRS, "request"])

    def format(self, record: logging.LogRecord) -> str:
        if record.name == "celery.app.trace":
            record = _without_quotations(record)
        path = getattr(getattr(record, "request", None), "path", None)
        if path and isinstance(args := record.args, tuple):
            record = copy.copy(record)
            record.args = tuple("***" if arg == path else arg for arg in args)
        return _SECRETS.sub(lambda found: f"{found[1] or ''}***", super().format(record))

    def formatException(  # noqa: N802 - logging's name
        self, ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
    ) -> str:
        """The traceback and the type of an exception; its text only if that cannot contain personal data."""
        return "".join(_format_with_causes(ei[1])) if ei[1] else ""


def _format_with_causes(error: BaseException) -> Iterator[str]:
    # Like traceback.format_exception(), which would write the text of every exception.
    if cause := error.__cause__ or (None if error.__suppress_context__ else error.__context__):
        yield from _format_with_causes(cause)
    yield from traceback.format_tb(error.__traceback__)
    yield f"{type(error).__module__}.{type(error).__qualname__}{_safe_text(error)}\n"


def _safe_text(error: BaseException) -> str:
    """The text of an exception, with a colon before it, or an empty text if it may contain personal data."""
    # str() of an OSError would add the name of the file.
    if isinstance(error, OSError) and error.strerror and type(error).__str__ is OSError.__str__:
        return f": {error.strerror}"
    if isinstance(error, _SAFE_EXCEPTIONS):
        return f": {str(error).partition(chr(10))[0]}"
    return ""


def _without_quotations(record: logging.LogRecord) -> logging.LogRecord:
    """A copy of Celery's record of a failed task, which quotes the exception and the arguments of the task."""
    # A copy, as other handlers get the same record.
    copied = copy.copy(record)
    vars(copied).pop("data", None)
    if isinstance(record.args, dict) and (error := record.exc_info and record.exc_info[1]):
        args: dict[str, Any] = {**record.args, "exc": type(error).__qualname__}
        copied.args = args
    return copied
