"""Listing and fetching cards on both servers, with faults of other servers injected by the proxy."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from carddav.client.book import AddressBook
from contacts_project.kernel.external_waits import release_thread
from contacts_project.kernel.webdav.errors import (
    CollectionGoneError,
    CollectionMovedError,
    MalformedResponseError,
    NotDavError,
    ServerTimeoutError,
)
from contacts_project.kernel.webdav.login import Login
from contacts_project.kernel.webdav.session import open_session
from contacts_project.kernel.webdav.shapes import Capabilities, Missing, Resource, Unreadable
from tests.carddav.conftest import USER, FakeBook, RealBook, card
from tests.carddav.faults import (
    at,
    fail,
    hang,
    hide_half,
    lose_reply,
    method,
    redirect,
    refuse,
    reports,
    rewrite,
    sign_in_page,
)
from tests.carddav.proxy import Fault, Proxy, Reply, Request
from tests.carddav.servers import PASSWORD


def fill(real: RealBook, number: int) -> None:
    cards = {f"{index}.vcf": card(f"uid-{index}", f"Ada {index}") for index in range(number)}
    real.server.fill(USER, real.path, cards)


def fetch_texts(real: RealBook, hrefs: list[str]) -> dict[str, str]:
    return {found.href: found.text for found in real.book.fetch(hrefs) if isinstance(found, Resource)}


def test_changes_since_a_token_are_listed(real: RealBook, proxy: Proxy) -> None:
    fill(real, 3)
    first = real.book.changes("", "")
    assert (len(first.changed), first.removed, first.is_full, first.is_unchanged) == (3, (), True, False)
    assert {entry.key for entry in first.changed} == {f"{real.path}{index}.vcf" for index in range(3)}
    real.put("1.vcf", card("uid-1", "Grace"))
    real.server.delete(USER, f"{real.path}2.vcf")
    second = real.book.changes(first.token, first.ctag)
    assert [entry.key for entry in second.changed] == [f"{real.path}1.vcf"]
    assert [entry.key for entry in second.removed] == [f"{real.path}2.vcf"]
    assert (second.is_full, second.is_unchanged) == (False, False)
    proxy.clear_requests()
    assert real.book.changes(second.token, second.ctag).is_unchanged
    assert proxy.count() == 1


def test_listing_has_each_card_with_its_etag(real: RealBook) -> None:
    fill(real, 3)
    listed, synced = real.book.list(), real.book.changes("", "")
    assert {(entry.key, entry.etag) for entry in listed.changed} == {(e.key, e.etag) for e in synced.changed}
    assert listed.is_full
    assert listed.token
    assert listed.ctag


def test_cards_are_fetched_byte_for_byte_fifty_per_request(real: RealBook, proxy: Proxy) -> None:
    fill(real, 60)
    entries = real.book.changes("", "").changed
    proxy.clear_requests()
    found = fetch_texts(real, [entry.href for entry in entries])
    assert proxy.log() == [f"REPORT {real.path}"] * 2
    assert len(found) == 60
    href = entries[7].href
    assert found[href] == real.text(href.rpartition("/")[2])
    assert "\r\n" in found[href]


def test_thread_counts_as_free_while_cards_are_fetched(real: RealBook) -> None:
    releases: list[str] = []

    @contextmanager
    def record_release() -> Iterator[None]:
        releases.append("aside")
        yield

    real.put("1.vcf", card())
    token = release_thread.set(record_release)
    try:
        assert [type(found) for found in real.book.fetch([f"{real.path}1.vcf"])] == [Resource]
    finally:
        release_thread.reset(token)
    assert releases == ["aside"]


def test_deleted_card_is_missing_and_the_others_are_fetched(real: RealBook) -> None:
    fill(real, 3)
    hrefs = [entry.href for entry in real.book.changes("", "").changed]
    real.server.delete(USER, f"{real.path}1.vcf")
    found = list(real.book.fetch(hrefs))
    assert sorted(type(result).__name__ for result in found) == ["Missing", "Resource", "Resource"]
    assert real.book.get(f"{real.path}1.vcf") == Missing(f"{real.path}1.vcf", f"{real.path}1.vcf")


def test_missing_card_that_fails_the_multiget_does_not_lose_the_others(real: RealBook, proxy: Proxy) -> None:
    fill(real, 50)
    hrefs = [entry.href for entry in real.book.changes("", "").changed]
    real.server.delete(USER, f"{real.path}17.vcf")
    proxy.add(fail(404, when=lambda request: reports("addressbook-multiget")(request) and b"/17.vcf" in request.body))
    found = list(real.book.fetch(hrefs))
    assert sum(isinstance(result, Resource) for result in found) == 49
    assert [result.key for result in found if isinstance(result, Missing)] == [f"{real.path}17.vcf"]


def test_too_large_request_is_split(real: RealBook, proxy: Proxy) -> None:
    fill(real, 20)
    proxy.add(fail(413, when=lambda request: request.body.count(b"<href>") > 6))
    assert len(fetch_texts(real, [entry.href for entry in real.book.changes("", "").changed])) == 20


def test_cards_omitted_by_multiget_are_fetched_by_get(real: RealBook, proxy: Proxy) -> None:
    fill(real, 4)
    hrefs = [entry.href for entry in real.book.changes("", "").changed]
    proxy.add(hide_half(when=reports("addressbook-multiget")))
    assert len(fetch_texts(real, hrefs)) == 4
    assert proxy.count("GET") == 2


def test_removed_card_that_multiget_omits_is_missing(real: RealBook, proxy: Proxy) -> None:
    fill(real, 3)
    token = real.book.changes("", "").token
    for name in ("0.vcf", "2.vcf"):
        real.server.delete(USER, real.path + name)
    hrefs = [entry.href for entry in real.book.changes(token, "").removed]
    proxy.clear_requests()
    proxy.add(rewrite(r"<(?:\w+:)?response>.*?</(?:\w+:)?response>", "", when=reports("addressbook-multiget")))
    assert [type(found) for found in real.book.fetch(hrefs)] == [Missing, Missing]
    assert [type(found) for found in real.book.fetch([f"{real.path}1.vcf"])] == [Resource]
    assert proxy.log() == [f"REPORT {real.path}", f"REPORT {real.path}", f"GET {real.path}1.vcf"]


@pytest.mark.parametrize(("token", "may_repeat"), [("1795357540", True), ("data:,59", False), ("17", False)])
def test_token_that_is_a_timestamp_may_repeat_changes(fake: FakeBook, token: str, may_repeat: bool) -> None:
    fake.proxy.add(fail(207, '<multistatus xmlns="DAV:"><sync-token>t</sync-token></multistatus>'))
    fake.book.caps = Capabilities(reports=("sync-collection",))
    assert fake.book.changes(token, "").may_repeat is may_repeat


def test_server_without_multiget_is_read_by_get(real: RealBook, proxy: Proxy) -> None:
    fill(real, 3)
    hrefs = [entry.href for entry in real.book.changes("", "").changed]
    proxy.add(fail(501, when=reports("addressbook-multiget")))
    assert len(fetch_texts(real, hrefs)) == 3
    assert len(fetch_texts(real, hrefs)) == 3
    assert not real.book.caps.may_have("addressbook-multiget")
    assert (proxy.count("GET"), proxy.count("REPORT")) == (6, 2)


def test_unreadable_card_does_not_stop_the_others(real: RealBook, proxy: Proxy) -> None:
    fill(real, 3)
    hrefs = [entry.href for entry in real.book.changes("", "").changed]
    proxy.add(fail(500, when=lambda request: b"/1.vcf" in request.body or request.path.endswith("/1.vcf")))
    found = list(real.book.fetch(hrefs))
    assert sum(isinstance(result, Resource) for result in found) == 2
    assert [(result.key, result.status) for result in found if isinstance(result, Unreadable)] == [
        (f"{real.path}1.vcf", 500)
    ]


@pytest.mark.parametrize("status", [400, 403, 409, 412, 404])
def test_refused_token_gives_a_full_listing(real: RealBook, proxy: Proxy, status: int) -> None:
    fill(real, 2)
    token = real.book.changes("", "").token
    proxy.add(refuse(status, "valid-sync-token", when=reports("sync-collection")))
    changes = real.book.changes(token, "")
    assert (len(changes.changed), changes.is_full) == (2, True)
    assert changes.token


def test_unknown_token_gives_a_full_listing(real: RealBook) -> None:
    fill(real, 2)
    changes = real.book.changes("http://example.org/sync/0", "")
    assert len(changes.changed) == 2


def test_ctag_detects_changes_without_sync_collection(real: RealBook, proxy: Proxy) -> None:
    fill(real, 2)
    proxy.add(rewrite(r"<[^<>]*sync-collection[^<>]*>", "", when=method("PROPFIND")))
    real.book.caps = real.book.fetch_properties().caps
    first = real.book.changes("", "")
    assert (len(first.changed), first.is_full) == (2, True)
    proxy.clear_requests()
    assert real.book.changes(first.token, first.ctag).is_unchanged
    assert proxy.log() == [f"PROPFIND {real.path}"]
    assert real.book.changes(first.token, first.ctag, is_small=True).is_unchanged
    real.put("1.vcf", card("uid-1", "Grace"))
    assert len(real.book.changes(first.token, first.ctag).changed) == 2
    proxy.clear_requests()
    assert len(real.book.changes(first.token, first.ctag, is_small=True).changed) == 2
    assert proxy.log() == [f"PROPFIND {real.path}"]


def test_all_pages_of_a_report_are_read(real: RealBook, proxy: Proxy) -> None:
    def page(request: Request) -> Reply:
        number = int(request.body.partition(b"<sync-token>p")[2].partition(b"<")[0] or 0)
        cut = f"<response><href>{real.path}</href><status>HTTP/1.1 507 Insufficient Storage</status></response>"
        body = (
            f'<multistatus xmlns="DAV:"><response><href>{real.path}{number}.vcf</href><propstat><prop>'
            f'<getetag>"{number}"</getetag></prop>'
            f"<status>HTTP/1.1 200 OK</status></propstat></response>{cut if number < 2 else ''}"
            f"<sync-token>p{number + 1}</sync-token></multistatus>"
        )
        return Reply(207, {"Content-Type": "text/xml"}, body.encode())

    proxy.add(Fault(before=page, when=reports("sync-collection")))
    changes = real.book.changes("", "")
    assert [entry.etag for entry in changes.changed] == ['"0"', '"1"', '"2"']
    assert (changes.token, changes.is_full) == ("p3", True)


def test_missing_or_moved_book_is_not_an_empty_book(real: RealBook, proxy: Proxy) -> None:
    token = real.book.changes("", "").token
    proxy.add(redirect(301, "/elsewhere/", when=at(real.path), times=1))
    proxy.add(fail(207, '<multistatus xmlns="DAV:"/>', when=at("/elsewhere/")))
    with pytest.raises(CollectionMovedError) as caught:
        real.book.changes(token, "")
    assert caught.value.location.endswith("/elsewhere/")
    real.server.delete(USER, real.path)
    with pytest.raises(CollectionGoneError):
        real.book.list()
    with pytest.raises(CollectionGoneError):
        real.book.changes(token, "")
    proxy.add(fail(404, when=reports("addressbook-multiget")))
    with pytest.raises(CollectionGoneError):
        list(real.book.fetch(["1.vcf", "2.vcf"]))


@pytest.mark.parametrize("status", [200, 207])
def test_html_page_is_not_an_empty_book(real: RealBook, proxy: Proxy, status: int) -> None:
    fill(real, 1)
    page = sign_in_page()
    proxy.add(page)
    for read_book in (real.book.list, lambda: real.book.changes("", ""), lambda: real.book.get("0.vcf")):
        with pytest.raises(NotDavError):
            read_book()


def test_truncated_listing_is_an_error(real: RealBook, proxy: Proxy) -> None:
    fill(real, 3)
    proxy.add(rewrite(r"^(.{400}).*$", r"\1", when=method("PROPFIND")))
    with pytest.raises(MalformedResponseError):
        real.book.list()


def test_interrupted_read_is_retried_once(real: RealBook, proxy: Proxy) -> None:
    fill(real, 1)
    proxy.add(lose_reply(times=1))
    assert len(real.book.changes("", "").changed) == 1
    assert proxy.count("REPORT") == 2


def test_entries_without_etag_and_unknown_removed_cards_are_listed(real: RealBook, proxy: Proxy) -> None:
    body = (
        '<d:multistatus xmlns:d="DAV:"><d:response><d:href>a.vcf</d:href><d:propstat><d:prop><d:getetag/></d:prop>'
        "<d:status>HTTP/1.1 404 Not Found</d:status></d:propstat></d:response><d:response>"
        f"<d:href>http://inside.example:81{real.path}b%20%2f%C3%BC.vcf</d:href><d:status>HTTP/1.1 404 Gone</d:status>"
        f"</d:response><d:response><d:href>{real.path}sub/</d:href><d:status>HTTP/1.1 200 OK</d:status></d:response>"
        "<d:sync-token>t</d:sync-token></d:multistatus>"
    )
    proxy.add(fail(207, body, when=reports("sync-collection")))
    changes = real.book.changes("t0", "")
    assert [(entry.href, entry.key, entry.etag) for entry in changes.changed] == [("a.vcf", f"{real.path}a.vcf", None)]
    assert [entry.key for entry in changes.removed] == [f"{real.path}b%20%2F%C3%BC.vcf"]


def test_characters_that_xml_forbids_are_replaced(real: RealBook, proxy: Proxy) -> None:
    text = card("1", "A\x0bda &#xD83D;&#xDE00; &#8; &#128512; &#xD83D;").replace("\r\n", "&#13;\n")
    body = (
        '<multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav"><response><href>1.vcf</href><propstat>'
        f"<prop><getetag>1</getetag><C:address-data>{text}</C:address-data></prop>"
        "<status>HTTP/1.1 200 OK</status></propstat></response></multistatus>"
    )
    proxy.add(fail(207, body, when=reports("addressbook-multiget")))
    [found] = real.book.fetch(["1.vcf"])
    assert isinstance(found, Resource)
    assert found.text.split("\r\n")[3] == "FN:Ada \U0001f600  \U0001f600 "


def test_external_entities_are_refused(real: RealBook, proxy: Proxy) -> None:
    body = '<!DOCTYPE m [<!ENTITY e SYSTEM "file:///etc/passwd">]><multistatus xmlns="DAV:">&e;</multistatus>'
    proxy.add(fail(207, body))
    with pytest.raises(MalformedResponseError):
        real.book.list()


@pytest.mark.parametrize("has_sync", [True, False])
def test_first_listing_has_a_longer_timeout(
    real: RealBook, proxy: Proxy, waits: list[float], monkeypatch: pytest.MonkeyPatch, has_sync: bool
) -> None:
    real.put("1.vcf", card())
    if not has_sync:
        real.book.caps = replace(real.book.caps, reports=("addressbook-multiget",))
    monkeypatch.setattr("contacts_project.kernel.webdav.session.READ_SECONDS", 0.5)
    monkeypatch.setattr("contacts_project.kernel.webdav.listing.READ_SECONDS", 0.5)
    with open_session(Login(proxy.url, USER, PASSWORD), sleep=waits.append) as session:
        book = AddressBook(session, real.book.url, real.book.caps)
        slow = reports("sync-collection") if has_sync else method("PROPFIND")
        proxy.add(hang(1.5, when=slow))
        first = book.changes("", "")
        assert [entry.href for entry in first.changed] == [f"{real.path}1.vcf"]
        with pytest.raises(ServerTimeoutError):
            book.changes(first.token, first.ctag)
