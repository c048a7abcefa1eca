"""What the provider publishes: read under the outbound policy, kept in this process's memory.

A provider that hangs must not hold the service. One request at a time reads a document; meanwhile, and for a while
after a failure, the others get what was read before, or are told at once to come again.
"""

import logging
import threading
import time
from typing import Any

from contacts_project.kernel.errors import UnavailableError
from contacts_project.kernel.outbound import OutboundError, check_status, outbound_session

log = logging.getLogger(__name__)

_FRESH_SECONDS = 3600
_STALE_SECONDS = 24 * 3600
_PAUSE_SECONDS = 30
_READ_SECONDS = 5.0
_MAX_BYTES = 512 * 1024


class ProviderUnreachableError(UnavailableError):
    """The provider does not answer, or not as a provider does."""

    message = "The sign-in provider does not answer as it should. Try again later, or tell the operator."


class Document:
    """A JSON object at a URL, and how reading it went last (monotonic times)."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.content: dict[str, Any] | None = None
        self.read_at = 0.0
        self.failed_at: float | None = None
        self._reading = threading.Lock()

    def load(self, *, anew: bool = False) -> dict[str, Any]:
        """The document, `anew` past what is kept. Raises ProviderUnreachableError, at once where another reads."""
        if anew or self._age() > _FRESH_SECONDS:
            self._read_unless_busy()
        if self.content is None or self._age() > _STALE_SECONDS:
            raise ProviderUnreachableError(retry_after=self._pause() or 2)
        return self.content

    def _age(self) -> float:
        return float("inf") if self.content is None else time.monotonic() - self.read_at

    def _pause(self) -> int:
        """Seconds until a read may be tried after one that failed."""
        if self.failed_at is None:
            return 0
        return max(0, round(self.failed_at + _PAUSE_SECONDS - time.monotonic()))

    def _read_unless_busy(self) -> None:
        if self._pause() or not self._reading.acquire(blocking=False):
            return
        try:
            self.content = _read(self.url)
            self.read_at, self.failed_at = time.monotonic(), None
        except ProviderUnreachableError as error:
            self.failed_at = time.monotonic()
            log.warning("The sign-in provider could not be read: %s", error.__cause__ or error)
        finally:
            self._reading.release()


_documents: dict[str, Document] = {}


def document(url: str) -> Document:
    """The one document of this process for the URL."""
    return _documents.setdefault(url, Document(url))


def _read(url: str) -> dict[str, Any]:
    try:
        with outbound_session(max_bytes=_MAX_BYTES, seconds=_READ_SECONDS) as session:
            response = session.request("GET", url, headers={"Accept": "application/json"})
            check_status(response)
            found = response.json()
    except (OutboundError, ValueError) as error:
        raise ProviderUnreachableError from error
    if not isinstance(found, dict):
        raise ProviderUnreachableError
    return found
