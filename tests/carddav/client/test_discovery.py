"""Discovery finds the address book with all layouts, redirects and errors of servers."""

from typing import Any

import pytest

from carddav.client.discovery import discover
from contacts_project.kernel.webdav.discovery import Service, find_services
from contacts_project.kernel.webdav.errors import CollectionGoneError, DnsError, LoginRefusedError, NotDavError
from contacts_project.kernel.webdav.login import Login
from contacts_project.kernel.webdav.session import DavSession, open_session
from tests.carddav.conftest import USER, FakeBook
from tests.carddav.faults import at, fail, method, redirect, sign_in_page
from tests.carddav.proxy import Fault, Proxy, fault_proxy
from tests.carddav.servers import PASSWORD, DavServer
from tests.loopback import closed_port

PRINCIPAL = "<current-user-principal><href>/p/ada/</href></current-user-principal>"
HOME = "<C:addressbook-home-set><href>/h/ada/</href></C:addressbook-home-set>"
BOOK_TYPE = "<resourcetype><collection/><C:addressbook/></resourcetype>"
BOOK = ("/h/ada/b/", BOOK_TYPE)
READ_ONLY = "<current-user-privilege-set><privilege><read/></privilege></current-user-privilege-set>"


def multistatus(*responses: tuple[str, str]) -> str:
    inner = "".join(
        f"<response><href>{href}</href><propstat><prop>{props}</prop><status>HTTP/1.1 200 OK</status></propstat>"
        "</response>"
        for href, props in responses
    )
    return f'<multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav">{inner}</multistatus>'


def propfind_response(path: str, *responses: tuple[str, str]) -> Fault:
    """Answer a PROPFIND of the path with a multistatus of `responses`."""
    return fail(207, multistatus(*responses), when=lambda request: at(path)(request) and request.method == "PROPFIND")


def add_account(proxy: Proxy, root: str = "/dav/", *books: tuple[str, str]) -> None:
    """Play a server whose DAV root is `root`, with `books`, or one book by default."""
    proxy.add(propfind_response(root, (root, PRINCIPAL)))
    proxy.add(propfind_response("/p/ada/", ("/p/ada/", HOME)))
    proxy.add(
        propfind_response("/h/ada/", ("/h/ada/", "<resourcetype><collection/></resourcetype>"), *(books or [BOOK]))
    )


def discover_from(url: str, **options: Any) -> Any:
    with open_session(Login(url, USER, PASSWORD)) as session:
        return discover(session, **options)


def test_book_is_found_from_the_root_of_both_servers(server: DavServer, proxy: Proxy, session: DavSession) -> None:
    path = server.make_book(USER, "Family")
    found = discover(session)
    assert proxy.count() == 3
    assert proxy.url.rstrip("/") + path in [book.url for book in found.books]
    [book] = [book for book in found.books if book.url.endswith(path)]
    assert (book.name, book.caps.has_sync, book.caps.writable) == ("Family", True, True)


def test_url_may_be_that_of_a_book_home_or_principal(server: DavServer, proxy: Proxy, session: DavSession) -> None:
    path = server.make_book(USER)
    root = proxy.url.rstrip("/")
    found = discover(session)
    for url in (found.home_urls[0], found.principal_url):
        assert f"{root}{path}" in [book.url for book in discover_from(url).books]
    proxy.clear_requests()
    assert discover_from(f"{root}{path}").book.url == f"{root}{path}"
    assert proxy.log() == [f"PROPFIND {path}"]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("target", ["/dav/", "{url}dav/", "dav/../../dav/"])
def test_well_known_redirect_of_propfind_is_followed(fake: FakeBook, status: int, target: str) -> None:
    location = target.format(url=fake.proxy.url) if target != "dav/../../dav/" else "//127.0.0.1:{port}/dav/"
    location = location.format(port=fake.proxy.port)
    fake.proxy.add(redirect(status, location, when=at("/.well-known/carddav")))
    add_account(fake.proxy)
    fake.proxy.add(fail(405))
    assert discover(fake.session).book.url.endswith("/h/ada/b/")
    assert fake.proxy.count() == 5


def test_well_known_redirect_of_get_only_is_followed(fake: FakeBook) -> None:
    fake.proxy.add(redirect(301, "/dav/", when=method("GET", path="well-known")))
    add_account(fake.proxy)
    fake.proxy.add(fail(405))
    assert discover(fake.session).book.url.endswith("/h/ada/b/")


@pytest.mark.parametrize("response", [sign_in_page, lambda: fail(405), lambda: fail(404)])
@pytest.mark.parametrize("root", ["/remote.php/dav/", "/dav.php/", "/SOGo/dav/", "/caldav.php/"])
def test_known_paths_are_tried_last(fake: FakeBook, response: Any, root: str) -> None:
    add_account(fake.proxy, root)
    fake.proxy.add(response())
    assert discover(fake.session).book.url.endswith("/h/ada/b/")


@pytest.mark.parametrize("place", ["127.0.0.1:{closed}", "localhost", "inside.example:8080"])
def test_redirect_to_an_unreachable_host_keeps_the_original_host(fake: FakeBook, place: str) -> None:
    location = f"http://{place.format(closed=closed_port())}/dav/"
    fake.proxy.add(redirect(301, location, when=at("/.well-known/carddav")))
    add_account(fake.proxy)
    fake.proxy.add(fail(404))
    assert discover(fake.session).book.url.startswith(fake.proxy.url)


def test_redirect_loop_ends(fake: FakeBook) -> None:
    fake.proxy.add(redirect(302, "/again/"))
    with pytest.raises(NotDavError):
        discover(fake.session)
    assert fake.proxy.count() < 80


def test_refused_login_is_not_retried(fake: FakeBook) -> None:
    fake.proxy.add(fail(401, headers={"WWW-Authenticate": 'Basic realm="x"'}))
    with pytest.raises(LoginRefusedError):
        discover(fake.session)
    assert fake.proxy.count() == 1


def test_unauthenticated_principal_is_a_refused_login(fake: FakeBook) -> None:
    nobody = "<current-user-principal><unauthenticated/></current-user-principal>"
    fake.proxy.add(propfind_response("/", ("/", nobody)))
    with pytest.raises(LoginRefusedError):
        discover(fake.session)


def test_books_below_the_url_are_found_without_a_principal(fake: FakeBook) -> None:
    here = ("/", "<resourcetype><collection/></resourcetype>")
    fake.proxy.add(propfind_response("/", here, ("/b/", BOOK_TYPE)))
    assert discover(fake.session).book.url == f"{fake.proxy.url}b/"


def test_all_homes_are_searched(fake: FakeBook) -> None:
    two = HOME.replace("</C:", "<href>/h/shared/</href></C:")
    fake.proxy.add(propfind_response("/", ("/", two)))
    fake.proxy.add(propfind_response("/h/ada/", ("/h/ada/", "")))
    fake.proxy.add(propfind_response("/h/shared/", ("/h/shared/s/", BOOK_TYPE)))
    assert discover(fake.session).book.url.endswith("/h/shared/s/")


def test_stored_book_is_never_replaced_by_another(fake: FakeBook) -> None:
    add_account(fake.proxy, "/", ("/h/ada/a/", BOOK_TYPE), ("/h/ada/b%20c/", BOOK_TYPE))
    stored = f"{fake.proxy.url}h/ada/b c"
    assert discover(fake.session, stored=stored).book.url.endswith("/h/ada/b%20c/")
    with pytest.raises(CollectionGoneError):
        discover(fake.session, stored=f"{fake.proxy.url}h/ada/gone/")


def test_default_book_is_the_providers_or_the_first_writable(fake: FakeBook) -> None:
    read_only = BOOK_TYPE + READ_ONLY
    books = (("/h/ada/system/", read_only), ("/h/ada/first/", BOOK_TYPE), ("/h/ada/contacts/", BOOK_TYPE))
    add_account(fake.proxy, "/", *books)
    assert discover(fake.session).book.url.endswith("/first/")
    assert discover(fake.session, provider="nextcloud").book.url.endswith("/contacts/")


def test_domain_without_web_server_is_looked_up_in_dns(fake: FakeBook, monkeypatch: pytest.MonkeyPatch) -> None:
    domains = []

    def find_services(name: str) -> list[Service]:
        domains.append(name)
        return [Service(fake.proxy.url + "dav/", has_path=True)]

    monkeypatch.setattr("contacts_project.kernel.webdav.discovery.find_services", find_services)
    add_account(fake.proxy)
    # Over plain http the login is sent only to hosts that the user named, so this server must not require it.
    assert discover_from("ada@nowhere.invalid").book.url.endswith("/h/ada/b/")
    assert domains == ["_carddavs._tcp.nowhere.invalid"]
    assert all("authorization" not in request.headers for request in fake.proxy.requests)


def test_unknown_domain_is_a_dns_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contacts_project.kernel.webdav.discovery.find_services", lambda domain: [])
    with pytest.raises(DnsError):
        discover_from("nowhere.invalid")


def test_service_records_follow_rfc_6764(monkeypatch: pytest.MonkeyPatch) -> None:
    class Srv:
        def __init__(self, priority: int, weight: int, target: str) -> None:
            self.priority, self.weight, self.target, self.port = priority, weight, target, 443

    class Txt:
        strings = (b"path=", b"/dav/")

    def resolve(name: str, kind: str, lifetime: float) -> list[Any]:
        assert name == "_carddavs._tcp.example.org"
        return (
            [Srv(10, 1, "b.example."), Srv(0, 1, "c.example."), Srv(0, 9, "a.example.")] if kind == "SRV" else [Txt()]
        )

    monkeypatch.setattr("dns.resolver.resolve", resolve)
    found = find_services("_carddavs._tcp.example.org")
    assert [service.url for service in found] == [f"https://{name}.example:443/dav/" for name in "acb"]


def test_principal_at_another_host_over_http_is_requested_from_the_original_host(fake: FakeBook) -> None:
    with fault_proxy() as other:
        elsewhere = PRINCIPAL.replace("/p/ada/", f"http://localhost:{other.port}/p/ada/")
        fake.proxy.add(propfind_response("/", ("/", elsewhere)))
        add_account(fake.proxy)
        assert discover(fake.session).book.url.startswith(fake.proxy.url)
        assert other.requests == []


def test_403_of_a_guessed_path_is_not_an_access_error(radicale_server: DavServer) -> None:
    """Radicale answers 403 below a missing collection, although the login is right; there is just no book."""
    path = radicale_server.make_book("solo")
    radicale_server.delete("solo", path)
    url = radicale_server.url.rstrip("/") + path
    with open_session(Login(url, "solo", PASSWORD)) as session, pytest.raises(NotDavError):
        discover(session)
