"""Log lines: JSON on standard error, without secrets."""

import logging
import re

from pythonjsonlogger.core import RESERVED_ATTRS
from pythonjsonlogger.json import JsonFormatter as PlainJsonFormatter

_SECRETS = re.compile(
    r"([?&](?:token|code|state)=)[^&\s\"'\\<>]+"  # of an address
    r"|\b(?:cnt|whsec)_[\w+/=-]{16,}"  # API tokens, and what webhooks are signed with
    r"|[\w-]{8,}[.:][0-9A-Za-z]{6}[.:][\w-]{43}"  # whatever django.core.signing signed with a time
)


class JsonFormatter(PlainJsonFormatter):
    """Leaves out the request that Django adds to its records, whose text is the whole address, and masks what looks
    like a secret: messages, exceptions and arguments of tasks may quote an address, too."""

    def __init__(self, format: str) -> None:
        super().__init__(format, reserved_attrs=[*RESERVED_ATTRS, "request"])

    def format(self, record: logging.LogRecord) -> str:
        return _SECRETS.sub(lambda found: f"{found[1] or ''}***", super().format(record))
