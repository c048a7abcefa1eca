"""Fetches cards by addressbook-multiget, and copes with servers that fail a whole request for a single card."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from threading import Lock

from carddav.client import request_bodies
from carddav.client.collection import GONE_STATUSES, Collection
from carddav.client.errors import (
    AccessDeniedError,
    MalformedResponseError,
    NotCardDavError,
    ResponseTooLongError,
    StatusError,
)
from carddav.client.etags import parse_etag
from carddav.client.hrefs import member_path, member_url
from carddav.client.multistatus import CARD, DAV, Response
from carddav.client.session import MAX_BODY_BYTES, is_html, parse_charset
from carddav.client.shapes import Card, Fetched, Missing, Unreadable
from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.outbound import TooLongError
from contacts_project.kernel.texts import define_text
from people.vcard.charsets import decode_card

STATUS = define_text("card_status", "The server answers with status %(status)d.")

_HTML = define_text("html_card", "The server answers with a page for a browser, not with a card.")

MAX_HREFS = 50
BATCH_BYTES = 8 * 1024 * 1024
MAX_IN_FLIGHT = 2
# Statuses by which servers refuse a whole multiget because of one href or of its size: it is split in halves.
_SPLIT_STATUSES = {400, 403, 404, 409, 410, 413, 414, 500}
#: Statuses of a server that does not support a report.
UNSUPPORTED_REPORT_STATUSES = {405, 415, 501}


def fetch(book: Collection, hrefs: Iterable[str]) -> Iterator[Fetched]:
    """Fetch each href exactly once, in batches, two of them in parallel."""
    unfetched = iter({book.key(href): href for href in hrefs}.items())
    fetcher = _Fetcher(book)
    running: deque[Future[list[Fetched]]] = deque()
    pool = ThreadPoolExecutor(MAX_IN_FLIGHT, "carddav-fetch")
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


class _Fetcher:
    """Fetches batches of hrefs by key. `size` is reduced if the cards turn out to be large."""

    def __init__(self, book: Collection) -> None:
        self.book = book
        self.size = MAX_HREFS
        self._lock = Lock()
        self._has_looked = False

    def fetch(self, batch: dict[str, str]) -> list[Fetched]:
        if not self.book.caps.has_multiget:
            return [get_card(self.book, href) for href in batch.values()]
        try:
            found = self._multiget(batch)
        except ResponseTooLongError:
            self.size = max(1, len(batch) // 2)
            return self._fetch_halves(batch)
        # One card with characters that XML does not allow can break the whole response.
        except MalformedResponseError:
            return self._fetch_halves(batch)
        except (StatusError, AccessDeniedError) as error:
            if error.status in UNSUPPORTED_REPORT_STATUSES:
                self.book.record_unsupported_report("addressbook-multiget")
                return self.fetch(batch)
            if error.status not in _SPLIT_STATUSES:
                raise
            self._check_book_exists(error.status)
            return self._fetch_halves(batch)
        # Some servers omit hrefs that are gone, others hrefs that they failed to find: unless the report has called
        # them gone, GET decides.
        unanswered = {key: href for key, href in batch.items() if key not in found}
        gone = {key: Missing(href, key) for key, href in unanswered.items() if key in self.book.reported_gone}
        unknown = [href for key, href in unanswered.items() if key not in gone]
        return [*found.values(), *gone.values(), *(get_card(self.book, href) for href in unknown)]

    def _multiget(self, batch: dict[str, str]) -> dict[str, Fetched]:
        """The usable responses of one multiget, by key."""
        book, size = self.book, 0
        found: dict[str, Fetched] = {}
        body = request_bodies.multiget(member_path(book.url, href) for href in batch.values())
        with book.session.multistatus("REPORT", book.url, body, "0") as (_, responses):
            for response in responses:
                key = book.key(response.href)
                if key in batch and key not in found and (result := _parse_result(response, batch[key], key)):
                    found[key] = result
                    size += len(result.text) if isinstance(result, Card) else 0
        # The next batches are sized by the average of this one.
        if size > BATCH_BYTES:
            self.size = max(1, len(batch) * BATCH_BYTES // size)
        return found

    def _fetch_halves(self, batch: dict[str, str]) -> list[Fetched]:
        items = list(batch.items())
        if len(items) == 1:
            return [get_card(self.book, items[0][1])]
        middle = len(items) // 2
        return [*self.fetch(dict(items[:middle])), *self.fetch(dict(items[middle:]))]

    def _check_book_exists(self, status: int | None) -> None:
        """A 404 or 403 for the whole request may concern the book itself: check that once before single cards count as
        gone."""
        if status not in GONE_STATUSES | {403}:
            return
        with self._lock:
            has_looked, self._has_looked = self._has_looked, True
        if not has_looked:
            self.book.fetch_properties()


def get_card(book: Collection, href: str) -> Card | Missing | Unreadable:
    """Fetch one card by GET. Raises NotCardDavError for an HTML login page."""
    key = book.key(href)
    with book.session.response("GET", member_url(book.url, href), headers={"Accept": "text/vcard"}) as response:
        if response.status in GONE_STATUSES:
            return Missing(href, key)
        if response.status != 200:
            return Unreadable(href, key, response.status, STATUS.format(status=response.status))
        if is_html(response):
            raise NotCardDavError(_HTML)
        etag, charset = parse_etag(response.headers.get("ETag")), parse_charset(response)
        try:
            body = response.read(MAX_BODY_BYTES)
        except TooLongError as error:
            return Unreadable(href, key, response.status, error.text)
    return Card(href, key, etag, decode_card(body, charset).removeprefix("\ufeff").replace("\0", ""))


def _parse_result(response: Response, href: str, key: str) -> Fetched | None:
    if response.status in GONE_STATUSES:
        return Missing(href, key)
    data = response.props.get(f"{CARD}address-data")
    if data is not None and data.text.strip():
        return Card(href, key, parse_etag(response.text_of(f"{DAV}getetag")), data.text)
    if data is None and response.status and response.status >= 400:
        return Unreadable(href, key, response.status, STATUS.format(status=response.status))
    return None
