"""An account that is synced with an address book in memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from django.utils import timezone

from accounts.models import User
from carddav.models import Connection, Mapping, Run
from carddav.services import books, runs
from carddav.sync.context import SyncContext
from people.models import Person
from tests.builders import make_person
from tests.carddav.builders import make_connection
from tests.carddav.sync.memory_book import BOOK_URL, MemoryBook, MemoryServer
from tests.client import Client, client_of


def vcard(name: str, *lines: str, uid: str | None = None, version: str = "3.0") -> str:
    """A small vCard, as a server stores it."""
    first, _, last = name.partition(" ")
    head = ["BEGIN:VCARD", f"VERSION:{version}", *([f"UID:{uid}"] if uid else []), f"FN:{name}", f"N:{last};{first};;;"]
    return "\r\n".join([*head, *lines, "END:VCARD", ""])


class SyncedAccount:
    """An account, its connection, and the server behind it."""

    def __init__(self, owner: User, **settings: Any) -> None:
        self.owner = owner
        self.server = MemoryServer()
        self.connection = make_connection(owner, **{"import_mode": "auto", "book_url": BOOK_URL, **settings})
        self.api: Client = client_of(owner)

    @contextmanager
    def open_book(self, context: SyncContext, *, gone_error: object = None) -> Iterator[None]:
        context.opened_book = MemoryBook(self.server)
        context.parallel = 1
        yield

    @contextmanager
    def patch_open_book(self) -> Iterator[None]:
        """Make the sync open the book in memory instead of a connection."""
        with patch.object(books, "open_book", self.open_book):
            yield

    def sync(self, **options: Any) -> Run:
        """Start a run and execute it."""
        run = runs.start_run(owner=self.owner, trigger="manual", now=timezone.now(), **options)
        with self.patch_open_book():
            return runs.execute_run(run.pk)

    def requests(self) -> list[str]:
        """The first word of each request since the last call."""
        sent, self.server.requests = self.server.requests, []
        return [request.split(" ")[0] for request in sent]

    def person(self, name: str = "Ada") -> Person:
        return Person.objects.owned_by(self.owner).active().get(name=name)

    def edit(self, person: Person, **body: Any) -> None:
        """Edit a person through the API."""
        self.api.ok("PUT", f"/api/people/{person.pk}", body)

    def make_person(self, **fields: Any) -> Person:
        return make_person(self.owner, **fields)

    def card_of(self, person: Person) -> str:
        """The text of the person's card on the server."""
        mapping = Mapping.objects.owned_by(self.owner).get(person=person)
        return self.server.cards[mapping.href].text

    def reload(self) -> Connection:
        self.connection.refresh_from_db()
        return self.connection


def counts(run: Run) -> dict[str, int]:
    """The counters of a run that are not zero."""
    names = ("imported", "exported", "updated_locally", "updated_remotely", "conflicts", "errors")
    return {name: getattr(run, name) for name in names if getattr(run, name)}
