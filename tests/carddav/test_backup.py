"""The backup of an address book is a file with every card exactly as the server stores it."""

import pytest
from django.utils import timezone

from accounts.models import User
from carddav.models import Connection
from tests.carddav.builders import make_connection
from tests.carddav.conftest import USER, card
from tests.carddav.faults import fail, hide_half, method, reports
from tests.carddav.proxy import Proxy, fault_proxy
from tests.carddav.servers import PASSWORD, DavServer
from tests.client import Client

pytestmark = pytest.mark.sqlite_suffices

PATH = "/api/carddav/backup"
GROUP_CARD = card("g", "Friends", "X-ADDRESSBOOKSERVER-KIND:group")


@pytest.fixture
def book(server: DavServer, proxy: Proxy, alice: User) -> str:
    """Connect alice to a book with 55 people and a group; returns the book's path."""
    path = server.make_book(USER)
    people = [card(f"uid-{number}", f"Ädä {number}", "X-CUSTOM;A=b:c\\,d") for number in range(55)]
    server.fill(USER, path, {f"{number}.vcf": text for number, text in enumerate(people)} | {"group.vcf": GROUP_CARD})
    url = proxy.url.rstrip("/")
    make_connection(alice, server_url=f"{url}/", username=USER, password=PASSWORD, book_url=f"{url}{path}")
    return path


def test_backup_contains_every_card_byte_for_byte(api: Client, server: DavServer, proxy: Proxy, book: str) -> None:
    response = api.call("POST", PATH)
    text = b"".join(response.streaming_content)
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/vcard")
    assert response["Content-Disposition"].startswith("attachment; filename=")
    assert response["Content-Disposition"].endswith('.vcf"')
    assert response["X-Contact-Count"] == "56"
    assert text.count(b"BEGIN:VCARD") == 56
    for name in ("0.vcf", "54.vcf", "group.vcf"):
        assert server.get(USER, book + name) in text
    assert proxy.count() == 3  # the listing, and fifty cards a request


def test_omitted_cards_are_fetched_again(api: Client, proxy: Proxy, book: str) -> None:
    proxy.add(hide_half(when=reports("addressbook-multiget")))
    assert api.call("POST", PATH)["X-Contact-Count"] == "56"


def test_unknown_book_is_discovered(api: Client, alice: User, server: DavServer, book: str) -> None:
    row = Connection.objects.owned_by(alice).get()
    row.server_url, row.book_url = row.book_url, ""
    row.save()
    assert api.call("POST", PATH)["X-Contact-Count"] == "56"


def test_unreadable_cards_are_counted_separately(api: Client, proxy: Proxy, book: str) -> None:
    proxy.add(fail(500, when=lambda request: b"/7.vcf" in request.body or request.path.endswith("/7.vcf")))
    response = api.call("POST", PATH)
    assert (response["X-Contact-Count"], response["X-Unreadable-Count"]) == ("55", "1")


def test_incomplete_backup_is_an_error(api: Client, proxy: Proxy, book: str) -> None:
    proxy.add(fail(503, headers={"Retry-After": "60"}, when=method("REPORT"), skip=1))
    response = api.call("POST", PATH)
    assert (response.status_code, response.json()["code"], response["Retry-After"]) == (502, "busy", "60")


def test_backup_without_connection_is_404(stranger: Client) -> None:
    assert stranger.call("POST", PATH).status_code == 404


def test_refused_login_is_not_retried(api: Client, alice: User) -> None:
    with fault_proxy() as proxy:
        proxy.add(fail(401))
        make_connection(alice, server_url=proxy.url)
        for _ in range(2):
            response = api.call("POST", PATH)
            assert (response.status_code, response.json()["code"]) == (502, "auth")
        assert proxy.count() == 1


@pytest.mark.both_databases
def test_retry_after_of_the_server_is_respected(api: Client, alice: User) -> None:
    with fault_proxy() as proxy:
        proxy.add(fail(503, headers={"Retry-After": "600"}))
        row = make_connection(alice, server_url=proxy.url)
        for _ in range(2):
            response = api.call("POST", PATH)
            assert (response.status_code, response.json()["code"]) == (502, "busy")
            assert 500 < int(response["Retry-After"]) <= 600
        assert proxy.count() == 1
        row.refresh_from_db()
        assert row.not_before is not None
        row.not_before = timezone.now()
        row.save()
        api.call("POST", PATH)
        assert proxy.count() > 1
