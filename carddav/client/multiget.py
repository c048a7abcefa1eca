"""Fetches cards by multiget, whatever a server makes of a missing one or of a body that is too long."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING

from carddav.client import requests
from carddav.client.errors import (
    AccessDeniedError,
    AnswerTooLongError,
    MalformedAnswerError,
    NotCardDavError,
    StatusError,
)
from carddav.client.etags import read_etag
from carddav.client.hrefs import member_path, member_url
from carddav.client.multistatus import CARD, DAV, Response
from carddav.client.session import MAX_BODY_BYTES, charset_of, is_html
from carddav.client.shapes import Card, Fetched, Missing, Unreadable
from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.outbound import TooLongError
from people.vcard.charsets import decode_card

if TYPE_CHECKING:  # Book is what calls this
    from carddav.client.book import Book

MOST_HREFS = 50
BATCH_BYTES = 8 * 1024 * 1024
IN_FLIGHT = 2
_GONE = {404, 410}
# What servers say to a whole multiget because of one href, or of its length: asked again by halves.
_HALVED = {400, 403, 404, 409, 410, 413, 414, 500}
#: What a server says that does not have a report.
NO_REPORT = {405, 415, 501}


def fetch(book: "Book", hrefs: Iterable[str]) -> Iterator[Fetched]:
    """Each href exactly once, in batches, two of them under way."""
    unfetched = iter({book.key(href): href for href in hrefs}.items())
    fetcher = _Fetcher(book)
    running: deque[Future[list[Fetched]]] = deque()
    pool = ThreadPoolExecutor(IN_FLIGHT, "carddav-fetch")
    try:
        while True:
            while len(running) < IN_FLIGHT and (batch := dict(islice(unfetched, fetcher.size))):
                running.append(pool.submit(fetcher.fetch, batch))
            if not running:
                return
            with external_wait():  # the pool asks: here is nothing to do
                found = running.popleft().result()
            yield from found
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class _Fetcher:
    """Fetches batches of hrefs by their keys. `size` shrinks where cards turn out to be large."""

    def __init__(self, book: "Book") -> None:
        self.book = book
        self.size = MOST_HREFS
        self._lock = Lock()
        self._has_looked = False

    def fetch(self, batch: dict[str, str]) -> list[Fetched]:
        if not self.book.caps.has_multiget:
            return [get_card(self.book, href) for href in batch.values()]
        try:
            found = self._multiget(batch)
        except AnswerTooLongError:
            self.size = max(1, len(batch) // 2)
            return self._halves(batch)
        except MalformedAnswerError:
            return self._halves(batch)
        except (StatusError, AccessDeniedError) as error:
            if error.status in NO_REPORT:
                self.book.note_refused("addressbook-multiget")
                return self.fetch(batch)
            if error.status not in _HALVED:
                raise
            self._check_book(error.status)
            return self._halves(batch)
        # Not a word of some: a server's way to say that they are gone, or that it did not find them.
        silent = {key: href for key, href in batch.items() if key not in found}
        gone = {key: Missing(href, key) for key, href in silent.items() if key in self.book.said_gone}
        unknown = [href for key, href in silent.items() if key not in gone]
        return [*found.values(), *gone.values(), *(get_card(self.book, href) for href in unknown)]

    def _multiget(self, batch: dict[str, str]) -> dict[str, Fetched]:
        """What the server says of the batch, by key; of what it does not say properly, nothing."""
        book, size = self.book, 0
        found: dict[str, Fetched] = {}
        body = requests.multiget(member_path(book.url, href) for href in batch.values())
        with book.session.multistatus("REPORT", book.url, body, "0") as (_, responses):
            for response in responses:
                key = book.key(response.href)
                if key in batch and key not in found and (result := _result(response, batch[key], key)):
                    found[key] = result
                    size += len(result.text) if isinstance(result, Card) else 0
        if size > BATCH_BYTES:
            self.size = max(1, len(batch) * BATCH_BYTES // size)
        return found

    def _halves(self, batch: dict[str, str]) -> list[Fetched]:
        items = list(batch.items())
        if len(items) == 1:
            return [get_card(self.book, items[0][1])]
        middle = len(items) // 2
        return [*self.fetch(dict(items[:middle])), *self.fetch(dict(items[middle:]))]

    def _check_book(self, status: int | None) -> None:
        """A 404 or 403 for everything may be said of the book itself: look once, before each card is taken for gone."""
        if status not in _GONE | {403}:
            return
        with self._lock:
            has_looked, self._has_looked = self._has_looked, True
        if not has_looked:
            self.book.look()


def get_card(book: "Book", href: str) -> Card | Missing | Unreadable:
    """One card by GET. Raises NotCardDavError for a page that wants somebody to sign in."""
    key = book.key(href)
    with book.session.answer("GET", member_url(book.url, href), headers={"Accept": "text/vcard"}) as answer:
        if answer.status in _GONE:
            return Missing(href, key)
        if answer.status != 200:
            return Unreadable(href, key, answer.status, f"The server answers with status {answer.status}.")
        if is_html(answer):
            raise NotCardDavError("The server answers with a page for a browser, not with a card.")
        etag, charset = read_etag(answer.headers.get("ETag")), charset_of(answer)
        try:
            body = answer.read(MAX_BODY_BYTES)
        except TooLongError as error:
            return Unreadable(href, key, answer.status, str(error))
    return Card(href, key, etag, decode_card(body, charset).removeprefix("\ufeff").replace("\0", ""))


def _result(response: Response, href: str, key: str) -> Fetched | None:
    if response.status in _GONE:
        return Missing(href, key)
    data = response.props.get(f"{CARD}address-data")
    if data is not None and data.text.strip():
        return Card(href, key, read_etag(response.text_of(f"{DAV}getetag")), data.text)
    if data is None and response.status and response.status >= 400:
        return Unreadable(href, key, response.status, f"The server answers with status {response.status}.")
    return None
