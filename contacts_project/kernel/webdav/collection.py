"""A WebDAV collection: where it is, what its server can do, and its members, read by multiget from servers of which
some fail a whole request for a single resource."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from threading import Lock
from typing import ClassVar

from contacts_project.kernel.charsets import decode_card
from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.outbound.failures import TooLongError
from contacts_project.kernel.texts import define_text
from contacts_project.kernel.webdav import request_bodies
from contacts_project.kernel.webdav.errors import (
    AccessDeniedError,
    CollectionGoneError,
    CollectionMovedError,
    ConnectionBrokenError,
    MalformedResponseError,
    NotDavError,
    ResponseTooLongError,
    StatusError,
    UntrustedHostError,
)
from contacts_project.kernel.webdav.etags import parse_etag
from contacts_project.kernel.webdav.hrefs import href_key, member_path, member_url
from contacts_project.kernel.webdav.kinds import CollectionKind
from contacts_project.kernel.webdav.multistatus import DAV, Multistatus, Response
from contacts_project.kernel.webdav.session import HTML_PAGE, MAX_BODY_BYTES, DavSession, is_html, parse_charset
from contacts_project.kernel.webdav.shapes import (
    Capabilities,
    FetchResult,
    FoundCollection,
    Missing,
    Resource,
    Unreadable,
)

_STATUS = define_text("card_status", "The server answers with status %(status)d.")

GONE_STATUSES = {404, 410}
# 421 Misdirected Request: this host no longer serves the account (RFC 9110, section 15.5.20).
_GONE_OF_COLLECTION = GONE_STATUSES | {421}
_VALID_SYNC_TOKEN = "valid-sync-token"  # noqa: S105 - RFC 6578, section 3.2
MAX_HREFS = 50
BATCH_BYTES = 8 * 1024 * 1024
MAX_IN_FLIGHT = 2
# Statuses by which servers refuse a whole multiget because of one href or of its size: it is split in halves.
_SPLIT_STATUSES = {400, 403, 404, 409, 410, 413, 414, 500}
#: Statuses of a server that does not support a report.
UNSUPPORTED_REPORT_STATUSES = {405, 415, 501}


class Collection:
    """Reading a collection of a kind and its members. `caps` may change during the requests; the caller stores them
    afterwards."""

    kind: ClassVar[CollectionKind]

    def __init__(self, session: DavSession, url: str, caps: Capabilities | None = None) -> None:
        self.session = session
        self.url = url if url.endswith("/") else f"{url}/"
        self.caps = caps or Capabilities()
        #: Keys that the last report listed as gone. If a multiget omits them, too, no further request is needed.
        self.reported_gone: set[str] = set()
        self._own_key = self.key(self.url).rstrip("/")

    def key(self, href: str) -> str:
        """The form of an href of this collection by which it is compared."""
        return href_key(href, self.url)

    def fetch_properties(self) -> FoundCollection:
        """Request the name and capabilities of the collection. One request."""
        with self.multistatus("PROPFIND", request_bodies.propfind_collection(self.kind)) as responses:
            for response in responses:
                if self.is_self(response):
                    self.check_type(response)
                    return replace(request_bodies.parse_collection(self.session, self.url, response), url=self.url)
        raise CollectionGoneError(self.kind.gone)

    def fetch(self, hrefs: Iterable[str]) -> Iterator[FetchResult]:
        """Fetch resources: each href is answered exactly once, in any order. 50 hrefs a request, two requests in
        parallel."""
        unfetched = iter({self.key(href): href for href in hrefs}.items())
        fetcher = _Fetcher(self)
        running: deque[Future[list[FetchResult]]] = deque()
        pool = ThreadPoolExecutor(MAX_IN_FLIGHT, "webdav-fetch")
        try:
            while True:
                while len(running) < MAX_IN_FLIGHT and (batch := dict(islice(unfetched, fetcher.size))):
                    running.append(pool.submit(fetcher.fetch, batch))
                if not running:
                    return
                with external_wait():  # this thread only waits for the pool
                    found = running.popleft().result()
                yield from found
        finally:
            # Also if the caller stops early: no thread may use the session after it is closed.
            pool.shutdown(wait=True, cancel_futures=True)

    def get(self, href: str) -> FetchResult:
        """Fetch one resource by GET. Raises NotDavError for an HTML login page."""
        key, headers = self.key(href), {"Accept": self.kind.media_type}
        with self.session.response("GET", member_url(self.url, href), headers=headers) as response:
            if response.status in GONE_STATUSES:
                return Missing(href, key)
            if response.status != 200:
                return Unreadable(href, key, response.status, _STATUS.format(status=response.status))
            if is_html(response):
                raise NotDavError(HTML_PAGE)
            etag, charset = parse_etag(response.headers.get("ETag")), parse_charset(response)
            try:
                body = response.read(MAX_BODY_BYTES)
            except TooLongError as error:
                return Unreadable(href, key, response.status, error.text)
        return Resource(href, key, etag, decode_card(body, charset).removeprefix("\ufeff").replace("\0", ""))

    def get_readable(self, href: str) -> Resource | Missing:
        """`get`, but raises ConnectionBrokenError if the resource exists and cannot be read."""
        found = self.get(href)
        if isinstance(found, Unreadable):
            raise ConnectionBrokenError(found.message, status=found.status)
        return found

    def record_unsupported_report(self, report: str) -> None:
        """Do not request this report again: the server does not have it."""
        self.caps = replace(self.caps, refused=tuple(sorted({*self.caps.refused, report})))

    def retry_refused_reports(self) -> None:
        """Request refused reports again: the server may have been updated, or refused them by mistake."""
        self.caps = replace(self.caps, refused=())

    def is_self(self, response: Response) -> bool:
        return self.key(response.href).rstrip("/") == self._own_key

    def check_type(self, response: Response) -> None:
        """Raise CollectionGoneError if it is none of the kind any more."""
        if response.status in GONE_STATUSES:  # status of the collection itself inside the 207
            raise CollectionGoneError(self.kind.gone, status=response.status)
        # Some servers do not return resourcetype: only a wrong one is an error.
        if f"{DAV}resourcetype" in response.props and not response.has_type(self.kind.tag(self.kind.resource_type)):
            raise CollectionGoneError(self.kind.other_type)

    @contextmanager
    def multistatus(self, method: str, body: str, depth: str = "0") -> Iterator[Multistatus]:
        """A request to the collection itself: if it is gone or has moved, that is an error of its own."""
        try:
            with self.session.multistatus(method, self.url, body, depth) as (url, responses):
                # The session has followed a redirect within the host: the stored URL is outdated.
                if self.key(url).rstrip("/") != self._own_key:
                    raise CollectionMovedError(self.kind.moved, url, status=301)
                yield responses
        except UntrustedHostError as error:
            if error.location:
                raise CollectionMovedError(self.kind.moved, error.location, status=error.status or 301) from error
            raise
        except StatusError as error:
            # With valid-sync-token the status refers to the token, not to the collection.
            if error.status in _GONE_OF_COLLECTION and _VALID_SYNC_TOKEN not in error.conditions:
                raise CollectionGoneError(self.kind.gone, status=error.status) from error
            raise


class _Fetcher:
    """Fetches batches of hrefs by key. `size` is reduced if the resources turn out to be large."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection
        self.size = MAX_HREFS
        self._lock = Lock()
        self._has_looked = False

    def fetch(self, batch: dict[str, str]) -> list[FetchResult]:
        if not self.collection.caps.may_have(self.collection.kind.multiget):
            return [self.collection.get(href) for href in batch.values()]
        try:
            found = self._multiget(batch)
        except ResponseTooLongError:
            self.size = max(1, len(batch) // 2)
            return self._fetch_halves(batch)
        # One resource with characters that XML does not allow can break the whole response.
        except MalformedResponseError:
            return self._fetch_halves(batch)
        except (StatusError, AccessDeniedError) as error:
            if error.status in UNSUPPORTED_REPORT_STATUSES:
                self.collection.record_unsupported_report(self.collection.kind.multiget)
                return self.fetch(batch)
            if error.status not in _SPLIT_STATUSES:
                raise
            self._check_exists(error.status)
            return self._fetch_halves(batch)
        # Some servers omit hrefs that are gone, others hrefs that they failed to find: unless the report has called
        # them gone, GET decides.
        unanswered = {key: href for key, href in batch.items() if key not in found}
        gone = {key: Missing(href, key) for key, href in unanswered.items() if key in self.collection.reported_gone}
        unknown = [href for key, href in unanswered.items() if key not in gone]
        return [*found.values(), *gone.values(), *(self.collection.get(href) for href in unknown)]

    def _multiget(self, batch: dict[str, str]) -> dict[str, FetchResult]:
        """The usable responses of one multiget, by key."""
        collection, kind, size = self.collection, self.collection.kind, 0
        found: dict[str, FetchResult] = {}
        body = request_bodies.multiget(kind, (member_path(collection.url, href) for href in batch.values()))
        with collection.session.multistatus("REPORT", collection.url, body, "0") as (_, responses):
            for response in responses:
                key = collection.key(response.href)
                if key in batch and key not in found and (result := _parse_result(response, batch[key], key, kind)):
                    found[key] = result
                    size += len(result.text) if isinstance(result, Resource) else 0
        # The next batches are sized by the average of this one.
        if size > BATCH_BYTES:
            self.size = max(1, len(batch) * BATCH_BYTES // size)
        return found

    def _fetch_halves(self, batch: dict[str, str]) -> list[FetchResult]:
        items = list(batch.items())
        if len(items) == 1:
            return [self.collection.get(items[0][1])]
        middle = len(items) // 2
        return [*self.fetch(dict(items[:middle])), *self.fetch(dict(items[middle:]))]

    def _check_exists(self, status: int | None) -> None:
        """A 404 or 403 for the whole request may concern the collection itself: check that once before single
        resources count as gone."""
        if status not in GONE_STATUSES | {403}:
            return
        with self._lock:
            has_looked, self._has_looked = self._has_looked, True
        if not has_looked:
            self.collection.fetch_properties()


def _parse_result(response: Response, href: str, key: str, kind: CollectionKind) -> FetchResult | None:
    if response.status in GONE_STATUSES:
        return Missing(href, key)
    data = response.props.get(kind.tag(kind.data))
    if data is not None and data.text.strip():
        return Resource(href, key, parse_etag(response.text_of(f"{DAV}getetag")), data.text)
    if data is None and response.status and response.status >= 400:
        return Unreadable(href, key, response.status, _STATUS.format(status=response.status))
    return None
