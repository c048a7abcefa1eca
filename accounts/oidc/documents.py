"""The provider's published documents, fetched under the outbound policy and cached in the memory of this process.

A provider that hangs must not block the service. One request at a time fetches a document; meanwhile, and for a while
after a failure, all others get the cached one, or an error with a retry time at once.
"""

import logging
import threading
import time
from typing import Any

from contacts_project.kernel.errors import UnavailableError
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.outbound import OutboundError, check_status, outbound_session
from contacts_project.kernel.texts import define_text

log = logging.getLogger(__name__)

_MAX_AGE_SECONDS = 3600
_MAX_STALE_SECONDS = 24 * 3600
_RETRY_SECONDS = 30
_TIMEOUT_SECONDS = 5.0
_MAX_BYTES = 512 * 1024


class ProviderUnreachableError(UnavailableError):
    """The provider does not respond, or not with what OpenID Connect requires."""

    message = define_text(
        "provider_away", "The sign-in provider does not answer as it should. Try again later, or tell the operator."
    )


class CachedDocument:
    """A JSON object at a URL, with the monotonic times of the last fetch and the last failure."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.content: dict[str, Any] | None = None
        self.fetched_at = 0.0
        self.failed_at: float | None = None
        self._lock = threading.Lock()

    def load(self, *, refresh: bool = False) -> JsonObject:
        """The document; with `refresh`, fetched even if the cached one is fresh. Raises ProviderUnreachableError."""
        if refresh or self._age() > _MAX_AGE_SECONDS:
            self._refresh_unless_busy()
        if self.content is None or self._age() > _MAX_STALE_SECONDS:
            raise ProviderUnreachableError(retry_after=self._retry_after() or 2)
        return self.content

    def _age(self) -> float:
        return float("inf") if self.content is None else time.monotonic() - self.fetched_at

    def _retry_after(self) -> int:
        """Seconds until the next fetch is allowed after a failed one; 0 if it is allowed now."""
        if self.failed_at is None:
            return 0
        return max(0, round(self.failed_at + _RETRY_SECONDS - time.monotonic()))

    def _refresh_unless_busy(self) -> None:
        if self._retry_after() or not self._lock.acquire(blocking=False):
            return
        try:
            self.content = _fetch(self.url)
            self.fetched_at, self.failed_at = time.monotonic(), None
        except ProviderUnreachableError as error:
            self.failed_at = time.monotonic()
            log.warning("The sign-in provider could not be read: %s", error.__cause__ or error)
        finally:
            self._lock.release()


_documents: dict[str, CachedDocument] = {}


def cached_document(url: str) -> CachedDocument:
    """The process's shared document for the URL."""
    return _documents.setdefault(url, CachedDocument(url))


def _fetch(url: str) -> JsonObject:
    try:
        with outbound_session(max_bytes=_MAX_BYTES, seconds=_TIMEOUT_SECONDS) as session:
            response = session.request("GET", url, headers={"Accept": "application/json"})
            check_status(response)
            content = response.json()
    except (OutboundError, ValueError) as error:
        raise ProviderUnreachableError from error
    if not isinstance(content, dict):
        raise ProviderUnreachableError
    return content
