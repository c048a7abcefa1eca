"""Log lines: JSON on standard error, with the ids of request and task, without secrets and what is somebody's."""

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
from contacts_project.kernel.outbound import OutboundError

# Each line of the log is looked through: at a place inside a word, and for what cannot match, this gives up at once.
_SECRETS = re.compile(
    r"([?&](?:token|code|state)=|/calendar/|/actions/)[^&\s\"'\\<>]+"  # of an address
    r"|(?<!\w)(?:"
    r"(?:cnt|whsec)_[\w+/=-]{16,}"  # API tokens, and what webhooks are signed with
    r"|(?<!-)[\w-]{8,}+[.:][0-9A-Za-z]{6}[.:][\w-]{43}"  # whatever django.core.signing signed with a time
    r"|[0-9a-f]{32}-[a-z]+\d*-[0-9a-f]+\.[\w-]{43}"  # what a reminder's action is signed as
    r")"
)
# Exceptions that speak of code and machines. What others say may quote what somebody wrote: a key that is not there, a
# value that is no number, a recipient who was refused.
_PLAIN = (
    AttributeError,
    ImportError,
    NameError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    IntegrityError,  # of PostgreSQL's, the lines after the first show the row
    InterfaceError,
    OperationalError,
    DomainError,
    OutboundError,
)

request_id: ContextVar[str] = ContextVar("request_id", default="-")
"""Of the request that is being served, or that had the task done which is being carried out."""


class ContextFilter(logging.Filter):
    """Puts the id of the request on every log record, and the name and id of the task in a worker."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = request_id.get()
        if current_task and (task_id := current_task.request.id):
            record.task, record.task_id = current_task.name, task_id
        return True


class JsonFormatter(PlainJsonFormatter):
    """Leaves out the request that Django adds to its records, whose text is the whole address, and masks what looks
    like a secret: messages, exceptions and arguments of tasks may quote an address, too."""

    def __init__(self, format: str) -> None:
        super().__init__(format, reserved_attrs=[*RESERVED_ATTRS, "request"])

    def format(self, record: logging.LogRecord) -> str:
        if record.name == "celery.app.trace":
            record = _without_what_it_says(record)
        return _SECRETS.sub(lambda found: f"{found[1] or ''}***", super().format(record))

    def formatException(  # noqa: N802 - logging's name
        self, ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
    ) -> str:
        """Where it was raised and what it was; its text, where that is of no person."""
        return "".join(_told(ei[1])) if ei[1] else ""


def _told(error: BaseException) -> Iterator[str]:
    if cause := error.__cause__ or (None if error.__suppress_context__ else error.__context__):
        yield from _told(cause)
    yield from traceback.format_tb(error.__traceback__)
    yield f"{type(error).__module__}.{type(error).__qualname__}{text_of(error)}\n"


def text_of(error: BaseException) -> str:
    """What it says, if it may be told."""
    if isinstance(error, OSError) and error.strerror and type(error).__str__ is OSError.__str__:
        return f": {error.strerror}"
    if isinstance(error, _PLAIN):
        return f": {str(error).partition(chr(10))[0]}"
    return ""


def _without_what_it_says(record: logging.LogRecord) -> logging.LogRecord:
    """Celery's line about a task that failed quotes the exception, and the task's arguments beside it."""
    copied = copy.copy(record)
    vars(copied).pop("data", None)
    if isinstance(record.args, dict) and (error := record.exc_info and record.exc_info[1]):
        args: dict[str, Any] = {**record.args, "exc": type(error).__qualname__}
        copied.args = args
    return copied
