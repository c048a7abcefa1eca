"""Searches every log line, answer and mail of the tests for secrets and private data.

What the tests write is the plant: passwords as they are set, names as they are saved. No log line may hold one of them,
an address of mail, or a URL with a path that is not ours; no mail a password or an API token; no answer to one account
the name of a person that only another account has.
"""

import json
import logging
import re
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.conf import settings

from contacts_project.kernel.api.logs import ContextFilter, JsonFormatter

_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_TOKEN = re.compile(r"\b(?:cnt|whsec)_[\w+/=-]{16,}")
_URL = re.compile(r"https?://([^/\s\"\\]+)/+[^\s\"\\]")
_WORDS = re.compile(r"\w{4,}")
# Names of people in tests that are also ordinary words of log lines.
_COMMON = {"Contact", "Error", "Friend", "None", "Other", "Person", "Request", "Someone", "Test"}


class Plants:
    """The secrets and names that the running test has used so far."""

    def __init__(self) -> None:
        self.passwords: set[str] = set()
        self.names: dict[UUID, set[str]] = defaultdict(set)
        self.found: list[str] = []

    def clear(self) -> None:
        self.passwords.clear()
        self.names.clear()
        self.found.clear()

    def add_names(self, owner_id: UUID, names: Iterable[Any]) -> None:
        """Note names of one account. Short ones are ignored, since they occur by chance."""
        self.names[owner_id].update(
            name for name in names if isinstance(name, str) and len(name) >= 4 and name not in _COMMON
        )

    def look_at_line(self, line: str) -> None:
        """Note secrets and private data in a log line."""
        with suppress(ValueError):
            fields = json.loads(line)
            for known in ("name", "asctime", "levelname", "request_id"):  # ours, or what the caller chose
                fields.pop(known, None)
            line = json.dumps(fields, ensure_ascii=False)
        words = set(_WORDS.findall(line))
        everybody = set().union(*self.names.values()) if self.names else set()
        wrong = list(words & everybody)
        wrong += [name for name in everybody if " " in name and name in line]
        wrong += [password for password in self.passwords if password in line]
        wrong += _ADDRESS.findall(line) + _TOKEN.findall(line)
        wrong += [found[0] for found in _URL.finditer(line) if found[1] not in settings.BASE_URL]
        if wrong:
            self.found.append(f"{wrong} in the log line {line[:1500]}")

    def look_at_mail(self, content: bytes) -> None:
        text = content.decode("utf-8", "replace")
        wrong = [password for password in self.passwords if password in text] + _TOKEN.findall(text)
        if wrong:
            self.found.append(f"{wrong} in a mail")

    def look_at_answer(self, reader_id: UUID, sent: str, answer: bytes) -> None:
        """An answer to an account, which sent this."""
        text = answer.decode("utf-8", "replace")
        own = self.names[reader_id]
        for owner_id, names in self.names.items():
            for name in names - own if owner_id != reader_id else ():
                if name in text and name not in sent and not any(name in mine for mine in own):
                    self.found.append(f"{name!r} of another account in {text[:500]}")


plants = Plants()


class LineHandler(logging.Handler):
    """Formats each record as the service does, and checks the line."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(JsonFormatter("%(levelname)s %(name)s %(message)s %(request_id)s"))
        self.addFilter(ContextFilter())
        self.addFilter(lambda record: not record.name.startswith("mail."))  # the tests' own mail server

    def emit(self, record: logging.LogRecord) -> None:
        plants.look_at_line(self.format(record))
