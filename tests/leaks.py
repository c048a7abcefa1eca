"""Searches every log line, response and mail of the tests for secrets and private data.

tests/conftest.py passes every password that is set and every name that is saved to the detector. Then these are leaks:

- in a log line: a password, a name, an e-mail address, a token, or a URL of another host that has a path;
- in a mail: a password or a token;
- in a response: a name that only another account has.
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

from contacts_project.kernel.logs import ContextFilter, JsonFormatter

_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_TOKEN = re.compile(r"\b(?:cnt|whsec)_[\w+/=-]{16,}")
_URL = re.compile(r"https?://([^/\s\"\\]+)/+[^\s\"\\]")
_WORDS = re.compile(r"\w{4,}")
# Names of people in tests that also occur in log lines as ordinary words.
_ORDINARY_WORDS = {"Contact", "Error", "Friend", "None", "Other", "Person", "Request", "Someone", "Test"}


class LeakDetector:
    """The secrets and names that the running test has used so far, and where they leaked."""

    def __init__(self) -> None:
        self.passwords: set[str] = set()
        self.names: dict[UUID, set[str]] = defaultdict(set)
        self.leaks: list[str] = []

    def clear(self) -> None:
        self.passwords.clear()
        self.names.clear()
        self.leaks.clear()

    def add_names(self, owner_id: UUID, names: Iterable[Any]) -> None:
        """Add names of one account. Names of up to three characters are ignored, because they occur by chance."""
        self.names[owner_id].update(
            name for name in names if isinstance(name, str) and len(name) >= 4 and name not in _ORDINARY_WORDS
        )

    def scan_log_line(self, line: str) -> None:
        """Record secrets and private data in a log line."""
        with suppress(ValueError):
            fields = json.loads(line)
            # Not searched: constants of the code, the time, and the request id, which the caller may choose.
            for known in ("name", "asctime", "levelname", "request_id"):
                fields.pop(known, None)
            line = json.dumps(fields, ensure_ascii=False)
        words = set(_WORDS.findall(line))
        all_names = set().union(*self.names.values()) if self.names else set()
        wrong = list(words & all_names)
        wrong += [name for name in all_names if " " in name and name in line]
        wrong += [password for password in self.passwords if password in line]
        wrong += _ADDRESS.findall(line) + _TOKEN.findall(line)
        wrong += [found[0] for found in _URL.finditer(line) if found[1] not in settings.BASE_URL]
        if wrong:
            self.leaks.append(f"{wrong} in the log line {line[:1500]}")

    def scan_mail(self, content: bytes) -> None:
        """Record passwords and tokens in a mail. Names are not searched, because reminders contain them."""
        text = content.decode("utf-8", "replace")
        wrong = [password for password in self.passwords if password in text] + _TOKEN.findall(text)
        if wrong:
            self.leaks.append(f"{wrong} in a mail")

    def scan_response(self, reader_id: UUID, sent: str, response: bytes) -> None:
        """Record names of other accounts in a response to `reader_id`, unless they are in the request (`sent`)."""
        text = response.decode("utf-8", "replace")
        own = self.names[reader_id]
        for owner_id, names in self.names.items():
            for name in names - own if owner_id != reader_id else ():
                if name in text and name not in sent and not any(name in mine for mine in own):
                    self.leaks.append(f"{name!r} of another account in {text[:500]}")


leak_detector = LeakDetector()


class LeakLogHandler(logging.Handler):
    """Formats each record as the service does, and scans the line."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(JsonFormatter("%(levelname)s %(name)s %(message)s %(request_id)s"))
        self.addFilter(ContextFilter())
        self.addFilter(lambda record: not record.name.startswith("mail."))  # aiosmtpd, the mail server of the tests

    def emit(self, record: logging.LogRecord) -> None:
        leak_detector.scan_log_line(self.format(record))


leak_handler = LeakLogHandler()
