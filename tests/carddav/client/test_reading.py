"""Listing and fetching on both servers, and behind a proxy that plays the others."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from carddav.client import (
    Book,
    BookGoneError,
    BookMovedError,
    Capabilities,
    Card,
    Login,
    MalformedAnswerError,
    Missing,
    NotCardDavError,
    ServerTimeoutError,
    Unreadable,
    open_session,
)
from contacts_project.kernel.external_waits import release_thread
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


def texts(real: RealBook, hrefs: list[str]) -> dict[str, str]:
    return {found.href: found.text for found in real.book.fetch(hrefs) if isinstance(found, Card)}


def test_changes_are_told_since_the_last_token(real: RealBook, proxy: Proxy) -> None:
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


def test_a_listing_names_each_card_with_its_etag_and_nothing_else(real: RealBook) -> None:
    fill(real, 3)
    listed, synced = real.book.list(), real.book.changes("", "")
    assert {(entry.key, entry.etag) for entry in listed.changed} == {(e.key, e.etag) for e in synced.changed}
    assert listed.is_full
    assert listed.token
    assert listed.ctag


def test_cards_come_byte_for_byte_fifty_a_request(real: RealBook, proxy: Proxy) -> None:
    fill(real, 60)
    entries = real.book.changes("", "").changed
    proxy.clear_requests()
    found = texts(real, [entry.href for entry in entries])
    assert proxy.log() == [f"REPORT {real.path}"] * 2
    assert len(found) == 60
    href = entries[7].href
    assert found[href] == real.text(href.rpartition("/")[2])
    assert "\r\n" in found[href]


def test_the_thread_counts_as_free_while_cards_come(real: RealBook) -> None:
    asides: list[str] = []

    @contextmanager
    def aside() -> Iterator[None]:
        asides.append("aside")
        yield

    real.put("1.vcf", card())
    token = release_thread.set(aside)
    try:
        assert [type(found) for found in real.book.fetch([f"{real.path}1.vcf"])] == [Card]
    finally:
        release_thread.reset(token)
    assert asides == ["aside"]


def test_a_card_that_vanished_is_missing_and_the_others_arrive(real: RealBook) -> None:
    fill(real, 3)
    hrefs = [entry.href for entry in real.book.changes("", "").changed]
    real.server.delete(USER, f"{real.path}1.vcf")
    found = list(real.book.fetch(hrefs))
    assert sorted(type(result).__name__ for result in found) == ["Card", "Card", "Missing"]
    assert real.book.get(f"{real.path}1.vcf") == Missing(f"{real.path}1.vcf", f"{real.path}1.vcf")


def test_one_missing_card_that_fails_the_whole_request_costs_only_itself(real: RealBook, proxy: Proxy) -> None:
    fill(real, 50)
    hrefs = [entry.href for entry in real.book.changes("", "").changed]
    real.server.delete(USER, f"{real.path}17.vcf")
    proxy.add(fail(404, when=lambda request: reports("addressbook-multiget")(request) and b"/17.vcf" in request.body))
    found = list(real.book.fetch(hrefs))
    assert sum(isinstance(result, Card) for result in found) == 49
    assert [result.key for result in found if isinstance(result, Missing)] == [f"{real.path}17.vcf"]


def test_a_request_that_is_too_long_is_asked_by_halves(real: RealBook, proxy: Proxy) -> None:
    fill(real, 20)
    proxy.add(fail(413, when=lambda request: request.body.count(b"<href>") > 6))
    assert len(texts(real, [entry.href for entry in real.book.changes("", "").changed])) == 20


def test_what_a_multiget_passes_over_in_silence_is_asked_for_by_get(real: RealBook, proxy: Proxy) -> None:
    fill(real, 4)
    hrefs = [entry.href for entry in real.book.changes("", "").changed]
    proxy.add(hide_half(when=reports("addressbook-multiget")))
    assert len(texts(real, hrefs)) == 4
    assert proxy.count("GET") == 2


def test_a_card_that_was_said_to_be_gone_and_is_passed_over_is_missing(real: RealBook, proxy: Proxy) -> None:
    fill(real, 3)
    token = real.book.changes("", "").token
    for name in ("0.vcf", "2.vcf"):
        real.server.delete(USER, real.path + name)
    hrefs = [entry.href for entry in real.book.changes(token, "").removed]
    proxy.clear_requests()
    proxy.add(rewrite(r"<(?:\w+:)?response>.*?</(?:\w+:)?response>", "", when=reports("addressbook-multiget")))
    assert [type(found) for found in real.book.fetch(hrefs)] == [Missing, Missing]
    assert [type(found) for found in real.book.fetch([f"{real.path}1.vcf"])] == [Card]
    assert proxy.log() == [f"REPORT {real.path}", f"REPORT {real.path}", f"GET {real.path}1.vcf"]


@pytest.mark.parametrize(("token", "may_repeat"), [("1795357540", True), ("data:,59", False), ("17", False)])
def test_a_token_that_is_a_time_lists_the_same_second_again(fake: FakeBook, token: str, may_repeat: bool) -> None:
    fake.proxy.add(fail(207, '<multistatus xmlns="DAV:"><sync-token>t</sync-token></multistatus>'))
    fake.book.caps = Capabilities(reports=("sync-collection",))
    assert fake.book.changes(token, "").may_repeat is may_repeat


def test_a_server_without_multiget_is_asked_once_and_then_by_get(real: RealBook, proxy: Proxy) -> None:
    fill(real, 3)
    hrefs = [entry.href for entry in real.book.changes("", "").changed]
    proxy.add(fail(501, when=reports("addressbook-multiget")))
    assert len(texts(real, hrefs)) == 3
    assert len(texts(real, hrefs)) == 3
    assert not real.book.caps.has_multiget
    assert (proxy.count("GET"), proxy.count("REPORT")) == (6, 2)


def test_one_card_that_the_server_cannot_give_stops_no_other(real: RealBook, proxy: Proxy) -> None:
    fill(real, 3)
    hrefs = [entry.href for entry in real.book.changes("", "").changed]
    proxy.add(fail(500, when=lambda request: b"/1.vcf" in request.body or request.path.endswith("/1.vcf")))
    found = list(real.book.fetch(hrefs))
    assert sum(isinstance(result, Card) for result in found) == 2
    assert [(result.key, result.status) for result in found if isinstance(result, Unreadable)] == [
        (f"{real.path}1.vcf", 500)
    ]


@pytest.mark.parametrize("status", [400, 403, 409, 412, 404])
def test_a_token_that_is_refused_gives_the_full_listing(real: RealBook, proxy: Proxy, status: int) -> None:
    fill(real, 2)
    token = real.book.changes("", "").token
    proxy.add(refuse(status, "valid-sync-token", when=reports("sync-collection")))
    changes = real.book.changes(token, "")
    assert (len(changes.changed), changes.is_full) == (2, True)
    assert changes.token


def test_a_token_that_nobody_knows_gives_the_full_listing(real: RealBook) -> None:
    fill(real, 2)
    changes = real.book.changes("http://example.org/sync/0", "")
    assert len(changes.changed) == 2


def test_without_sync_collection_the_ctag_says_that_nothing_changed(real: RealBook, proxy: Proxy) -> None:
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


def test_a_report_in_pages_is_read_to_its_end(real: RealBook, proxy: Proxy) -> None:
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


def test_a_book_that_is_gone_or_elsewhere_is_no_empty_book(real: RealBook, proxy: Proxy) -> None:
    token = real.book.changes("", "").token
    proxy.add(redirect(301, "/elsewhere/", when=at(real.path), times=1))
    proxy.add(fail(207, '<multistatus xmlns="DAV:"/>', when=at("/elsewhere/")))
    with pytest.raises(BookMovedError) as caught:
        real.book.changes(token, "")
    assert caught.value.location.endswith("/elsewhere/")
    real.server.delete(USER, real.path)
    with pytest.raises(BookGoneError):
        real.book.list()
    with pytest.raises(BookGoneError):
        real.book.changes(token, "")
    proxy.add(fail(404, when=reports("addressbook-multiget")))
    with pytest.raises(BookGoneError):
        list(real.book.fetch(["1.vcf", "2.vcf"]))


@pytest.mark.parametrize("status", [200, 207])
def test_a_page_for_browsers_is_no_empty_book(real: RealBook, proxy: Proxy, status: int) -> None:
    fill(real, 1)
    page = sign_in_page()
    proxy.add(page)
    for ask in (real.book.list, lambda: real.book.changes("", ""), lambda: real.book.get("0.vcf")):
        with pytest.raises(NotCardDavError):
            ask()


def test_a_listing_that_stops_in_the_middle_is_no_listing(real: RealBook, proxy: Proxy) -> None:
    fill(real, 3)
    proxy.add(rewrite(r"^(.{400}).*$", r"\1", when=method("PROPFIND")))
    with pytest.raises(MalformedAnswerError):
        real.book.list()


def test_a_read_that_breaks_off_is_asked_once_more(real: RealBook, proxy: Proxy) -> None:
    fill(real, 1)
    proxy.add(lose_reply(times=1))
    assert len(real.book.changes("", "").changed) == 1
    assert proxy.count("REPORT") == 2


def test_entries_without_an_etag_and_cards_never_seen_are_told_as_they_are(real: RealBook, proxy: Proxy) -> None:
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


def test_characters_that_xml_does_not_know_do_no_harm(real: RealBook, proxy: Proxy) -> None:
    text = card("1", "A\x0bda &#xD83D;&#xDE00; &#8; &#128512; &#xD83D;").replace("\r\n", "&#13;\n")
    body = (
        '<multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav"><response><href>1.vcf</href><propstat>'
        f"<prop><getetag>1</getetag><C:address-data>{text}</C:address-data></prop>"
        "<status>HTTP/1.1 200 OK</status></propstat></response></multistatus>"
    )
    proxy.add(fail(207, body, when=reports("addressbook-multiget")))
    [found] = real.book.fetch(["1.vcf"])
    assert isinstance(found, Card)
    assert found.text.split("\r\n")[3] == "FN:Ada \U0001f600  \U0001f600 "


def test_entities_are_not_read(real: RealBook, proxy: Proxy) -> None:
    body = '<!DOCTYPE m [<!ENTITY e SYSTEM "file:///etc/passwd">]><multistatus xmlns="DAV:">&e;</multistatus>'
    proxy.add(fail(207, body))
    with pytest.raises(MalformedAnswerError):
        real.book.list()


@pytest.mark.parametrize("has_sync", [True, False])
def test_a_first_listing_may_take_longer_than_any_other_answer(
    real: RealBook, proxy: Proxy, waits: list[float], monkeypatch: pytest.MonkeyPatch, has_sync: bool
) -> None:
    real.put("1.vcf", card())
    if not has_sync:
        real.book.caps = replace(real.book.caps, reports=("addressbook-multiget",))
    monkeypatch.setattr("carddav.client.session.READ_SECONDS", 0.5)
    monkeypatch.setattr("carddav.client.book.READ_SECONDS", 0.5)
    with open_session(Login(proxy.url, USER, PASSWORD), sleep=waits.append) as session:
        book = Book(session, real.book.url, real.book.caps)
        slow = reports("sync-collection") if has_sync else method("PROPFIND")
        proxy.add(hang(1.5, when=slow))
        first = book.changes("", "")
        assert [entry.href for entry in first.changed] == [f"{real.path}1.vcf"]
        with pytest.raises(ServerTimeoutError):
            book.changes(first.token, first.ctag)
