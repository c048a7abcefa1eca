"""An account that is synced with a real server, through the fault proxy."""

from typing import Any

from django.utils import timezone

from accounts.models import User
from carddav.client.book import AddressBook
from carddav.models import Mapping, Run
from carddav.services import runs
from contacts_project.kernel.webdav.login import Login
from contacts_project.kernel.webdav.session import open_session
from people.models import Person
from tests.carddav.builders import make_connection
from tests.carddav.conftest import USER, card
from tests.carddav.proxy import Proxy
from tests.carddav.servers import PASSWORD, DavServer
from tests.client import Client, client_of


class ServerSyncedAccount:
    """`path` is a new address book, whose URL is the connection's only setting besides the login."""

    def __init__(self, owner: User, server: DavServer, proxy: Proxy, **settings: Any) -> None:
        self.owner, self.server, self.proxy = owner, server, proxy
        self.path = server.make_book(USER)
        url = proxy.url.rstrip("/") + self.path
        values = {"username": USER, "password": PASSWORD, "book_url": "", "import_mode": "auto", **settings}
        self.connection = make_connection(owner, server_url=url, **values)
        self.api: Client = client_of(owner)
        proxy.clear_requests()

    @property
    def has_sync(self) -> bool:
        """Whether the server supports the sync-collection report."""
        self.connection.refresh_from_db()
        return "sync-collection" in self.connection.caps["reports"]

    def put(self, name: str, text: str) -> None:
        """Store a card as another client."""
        self.server.put(USER, f"{self.path}{name}", text)

    def fill(self, number: int, *lines: str) -> None:
        """Store `number` cards as another client: P0, P1 and so on."""
        cards = {f"{index}.vcf": card(f"uid-{index}", f"P{index}", *lines) for index in range(number)}
        self.server.fill(USER, self.path, cards)

    def text(self, name: str) -> str:
        return self.server.get(USER, f"{self.path}{name}").decode()

    def remove(self, name: str) -> None:
        self.server.delete(USER, f"{self.path}{name}")

    def sync(self, **options: Any) -> Run:
        """Start a run and execute it. `proxy.requests` are then those of this run."""
        self.proxy.clear_requests()
        run = runs.start_run(owner=self.owner, trigger="manual", now=timezone.now(), **options)
        return runs.execute_run(run.pk)

    def assert_in_sync(self) -> None:
        """Assert that the next run has nothing to do and sends a single request."""
        run = self.sync()
        assert (run.code, run.error_messages) == ("", [])
        assert self.proxy.count() == 1, self.proxy.log()

    def person(self, name: str = "Ada") -> Person:
        return Person.objects.owned_by(self.owner).active().get(name=name)

    def edit(self, person: Person, **body: Any) -> None:
        self.api.ok("PUT", f"/api/people/{person.pk}", body)

    def create(self, **body: Any) -> Person:
        response = self.api.ok("POST", "/api/people", body, status=201)
        return Person.objects.owned_by(self.owner).get(pk=response["person"]["id"])

    def card_of(self, person: Person) -> str:
        """The text of the person's card on the server."""
        mapping = Mapping.objects.owned_by(self.owner).get(person=person)
        return self.server.get(USER, mapping.href.replace(self.proxy.url, "/")).decode()

    def count_remote_cards(self) -> int:
        """The number of cards that the server lists."""
        url = self.connection.server_url
        with open_session(Login(url, USER, PASSWORD)) as session:
            return len(AddressBook(session, url).list().changed)
