"""Malicious responses: each is a DavError or is ignored, and none exhausts memory or crashes the process."""

import gzip
import tracemalloc
from dataclasses import replace

import pytest

from carddav.client.address_books import ADDRESS_BOOKS
from carddav.client.book import AddressBook, WriteOutcome
from carddav.client.discovery import discover
from contacts_project.kernel.webdav.errors import DavError, MalformedResponseError, NotDavError
from contacts_project.kernel.webdav.login import Login
from contacts_project.kernel.webdav.multistatus import Multistatus
from contacts_project.kernel.webdav.session import open_session
from tests.carddav.conftest import FakeBook, card
from tests.carddav.faults import digest_only, fail, method
from tests.carddav.proxy import Fault, Reply, Request, fault_proxy

BROKEN_LINKS = [
    "https://host/" + "x" * 2000,
    "http://[",
    "https://[::1",
    "https://host:99999/",
    "https://host:x/",
    "//[/",
    "http://a]b/",
]


def multistatus(*responses: str, namespace: str = 'xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav"') -> str:
    return f"<multistatus {namespace}>{''.join(responses)}</multistatus>"


def prop(href: str, *props: str) -> str:
    return f"<response><href>{href}</href><propstat><prop>{''.join(props)}</prop></propstat></response>"


@pytest.mark.parametrize("link", BROKEN_LINKS)
def test_redirect_to_an_invalid_url_is_an_error(fake: FakeBook, link: str) -> None:
    fake.proxy.add(fail(301, headers={"Location": link}))
    with pytest.raises(DavError):
        fake.book.list()


@pytest.mark.parametrize("link", BROKEN_LINKS)
def test_principal_with_an_invalid_url_is_an_error(fake: FakeBook, link: str) -> None:
    props = f"<current-user-principal><href>{link}</href></current-user-principal>"
    fake.proxy.add(fail(207, multistatus(prop("/", props))))
    with pytest.raises(DavError):
        discover(fake.session)


@pytest.mark.parametrize("link", BROKEN_LINKS)
def test_invalid_location_of_a_new_card_is_ignored(fake: FakeBook, link: str) -> None:
    fake.proxy.add(fail(201, headers={"Location": link}))
    written = fake.book.create("1.vcf", card())
    assert (written.outcome, written.href) == (WriteOutcome.DONE, "/ada/book/1.vcf")


@pytest.mark.parametrize("name", ["zlib", "bz2", "base64", "hex", "rot13", "punycode", "idna", "undefined", "utf-7"])
def test_unknown_charsets_are_ignored(fake: FakeBook, name: str) -> None:
    listing = multistatus(prop("/ada/book/"), prop("/ada/book/1.vcf", "<getetag>1</getetag>"))
    fake.proxy.add(fail(207, listing, headers={"Content-Type": f"text/xml; charset={name}"}, when=method("PROPFIND")))
    fake.proxy.add(fail(200, card(), headers={"Content-Type": f"text/vcard; charset={name}"}, when=method("GET")))
    assert [entry.href for entry in fake.book.list().changed] == ["/ada/book/1.vcf"]
    assert fake.book.get("1.vcf").text == card()  # type: ignore[union-attr]


@pytest.mark.parametrize("etag", ['"a\nb"', '"a\r\nX-Evil: 1"', '"Łukasz"', '"\x7f"', '"ü"'])
def test_etag_that_is_invalid_in_a_header_is_not_sent(fake: FakeBook, etag: str) -> None:
    fake.proxy.add(fail(412))
    assert fake.book.put("1.vcf", card(), etag).outcome is WriteOutcome.CHANGED
    assert all("x-evil" not in request.headers for request in fake.proxy.requests)


@pytest.mark.parametrize("username", ["Łukasz", "a\nX-Evil: 1", 'a"b'])
def test_user_name_that_is_invalid_in_a_header_is_not_sent(waits: list[float], username: str) -> None:
    with fault_proxy() as proxy, open_session(Login(proxy.url, username, "Ł\n"), sleep=waits.append) as session:
        proxy.add(digest_only("somebody", "else"))
        with pytest.raises(DavError):
            AddressBook(session, f"{proxy.url}ada/book/").list()
    assert all("x-evil" not in request.headers for request in proxy.requests)


def test_decompression_bomb_is_refused(fake: FakeBook) -> None:
    packed = gzip.compress(multistatus("<response>" + "<a/>" * 4_000_000 + "</response>").encode())
    reply = Reply(207, {"Content-Type": "application/xml", "Content-Encoding": "gzip"}, packed)
    fake.proxy.add(Fault(before=lambda request: reply))
    tracemalloc.start()
    try:
        with pytest.raises(MalformedResponseError):
            fake.book.list()
        assert tracemalloc.get_traced_memory()[1] < 100 * 1024 * 1024
    finally:
        tracemalloc.stop()


def test_endless_tag_is_refused() -> None:
    attributes = (b"".join(b"a%d='' " % (100 * n + i) for i in range(100)) for n in range(10_000))
    body = iter([b'<multistatus xmlns="DAV:"><response ', *attributes, b"/></multistatus>"])
    with pytest.raises(MalformedResponseError):
        list(Multistatus(body))


def test_endless_listing_is_refused(fake: FakeBook, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page announces another page."""
    monkeypatch.setattr(AddressBook, "kind", replace(ADDRESS_BOOKS, max_members=1_000))
    count = iter(range(10**9))

    def page(request: Request) -> Reply:
        cards = "".join(f"<response><href>/ada/book/{next(count)}</href></response>" for _ in range(300))
        own = "<response><href>/ada/book/</href><status>HTTP/1.1 507 x</status></response>"
        return Reply(207, {}, multistatus(cards, own, f"<sync-token>{next(count)}</sync-token>").encode())

    fake.proxy.add(Fault(before=page))
    fake.book.caps = fake.book.caps.__class__(reports=("sync-collection",))
    with pytest.raises(NotDavError):
        fake.book.changes("", "")
    assert fake.proxy.count() == 4


def test_too_long_href_is_skipped(fake: FakeBook) -> None:
    own, long, short = prop("/ada/book/"), prop(f"/ada/book/{'x' * 2000}.vcf"), prop("/ada/book/1.vcf")
    fake.proxy.add(fail(207, multistatus(own, long, short)))
    assert [entry.href for entry in fake.book.list().changed] == ["/ada/book/1.vcf"]


@pytest.mark.parametrize(("etag", "kept"), [("x" * 501, None), ("x" * 500, "x" * 500), ("\t ", None), ("a\tb", "ab")])
def test_too_long_etag_counts_as_missing(fake: FakeBook, etag: str, kept: str | None) -> None:
    found = prop("/ada/book/1.vcf", f"<getetag>{etag}</getetag><C:address-data>{card()}</C:address-data>")
    fake.proxy.add(fail(207, multistatus(prop("/ada/book/"), found)))
    assert [entry.etag for entry in fake.book.list().changed] == [kept]
    assert [result.etag for result in fake.book.fetch(["/ada/book/1.vcf"])] == [kept]  # type: ignore[union-attr]


def test_too_long_etag_header_and_nul_in_a_card_are_removed(fake: FakeBook) -> None:
    fake.proxy.add(fail(200, card("1", "A\0da"), headers={"ETag": "x" * 501}))
    found = fake.book.get("1.vcf")
    assert (found.etag, found.text) == (None, card("1", "Ada"))  # type: ignore[union-attr]
    assert fake.book.create("1.vcf", card()).etag is None
