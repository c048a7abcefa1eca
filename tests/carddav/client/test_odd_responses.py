"""Unusual responses that the standards allow, or almost allow."""

from typing import Any

import pytest

from carddav.client.book import WriteOutcome
from contacts_project.kernel.webdav.collection import MAX_HREFS
from contacts_project.kernel.webdav.errors import AccessDeniedError, CollectionGoneError
from contacts_project.kernel.webdav.multistatus import CARD, Multistatus
from contacts_project.kernel.webdav.shapes import Capabilities, Missing, Resource, Unreadable
from tests.carddav.client.test_discovery import (
    BOOK,
    BOOK_TYPE,
    PRINCIPAL,
    discover_from,
    multistatus,
    propfind_response,
)
from tests.carddav.conftest import FakeBook, card
from tests.carddav.faults import at, compress, fail, method, reports
from tests.carddav.proxy import Fault, Reply, Request

SYNC = Capabilities(reports=("sync-collection",))
LISTING = (
    '<multistatus xmlns="DAV:" xmlns:CS="http://calendarserver.org/ns/"><response><href>/ada/book/</href><propstat>'
    "<prop><CS:getctag>c1</CS:getctag></prop></propstat></response><response><href>/ada/book/1.vcf</href><propstat>"
    '<prop><getetag>"1"</getetag></prop></propstat></response></multistatus>'
)
CARDDAV = 'xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav"'


def response_with_card(href: str, data: str) -> str:
    return (
        f'<response><href>{href}</href><propstat><prop><getetag>"1"</getetag><C:address-data>{data}</C:address-data>'
        "</prop></propstat></response>"
    )


def requested_hrefs(request: Request) -> list[str]:
    return [part.partition("</href>")[0] for part in request.body.decode().split("<href>")[1:]]


@pytest.mark.parametrize("status", [403, 404, 410, 412, 500])
def test_token_refused_without_a_reason_gives_a_full_listing(fake: FakeBook, status: int) -> None:
    fake.book.caps = SYNC
    fake.proxy.add(fail(status, when=reports("sync-collection")))
    fake.proxy.add(fail(207, LISTING, when=method("PROPFIND")))
    changes = fake.book.changes("old", "")
    assert ([entry.key for entry in changes.changed], changes.is_full) == (["/ada/book/1.vcf"], True)
    assert fake.book.caps.has_sync


@pytest.mark.parametrize(("status", "error"), [(403, AccessDeniedError), (404, CollectionGoneError)])
def test_forbidden_or_missing_book_is_an_error(fake: FakeBook, status: int, error: type[Exception]) -> None:
    fake.book.caps = SYNC
    fake.proxy.add(fail(status))
    with pytest.raises(error):
        fake.book.changes("old", "")


@pytest.mark.parametrize("status", [405, 415, 501])
def test_unsupported_report_is_requested_only_once(fake: FakeBook, status: int) -> None:
    fake.book.caps = SYNC
    fake.proxy.add(fail(status, when=method("REPORT")))
    fake.proxy.add(fail(207, LISTING, when=method("PROPFIND")))
    first = fake.book.changes("", "")
    fake.proxy.clear_requests()
    assert fake.book.changes(first.token, first.ctag).is_unchanged
    assert fake.proxy.log() == ["PROPFIND /ada/book/"]


def test_multiget_is_tried_even_if_not_listed_as_supported(fake: FakeBook) -> None:
    fake.book.caps = Capabilities(reports=("expand-property",))
    fake.proxy.add(fail(207, f"<multistatus {CARDDAV}>{response_with_card('1.vcf', card())}</multistatus>"))
    assert [type(result) for result in fake.book.fetch(["1.vcf"])] == [Resource]
    assert fake.proxy.log() == ["REPORT /ada/book/"]


def test_forbidden_card_does_not_stop_the_others(fake: FakeBook) -> None:
    def answer(request: Request) -> Reply:
        hrefs = requested_hrefs(request) or [request.path]
        if any(href.endswith("/2.vcf") for href in hrefs):
            return Reply(403)
        return Reply(
            207,
            {},
            f"<multistatus {CARDDAV}>{''.join(response_with_card(h, card()) for h in hrefs)}</multistatus>".encode(),
        )

    fake.proxy.add(fail(207, multistatus(("/ada/book/", BOOK_TYPE)), when=method("PROPFIND")))
    fake.proxy.add(Fault(before=answer))
    results = {result.href: type(result) for result in fake.book.fetch([f"{number}.vcf" for number in range(4)])}
    assert results == {"0.vcf": Resource, "1.vcf": Resource, "2.vcf": Unreadable, "3.vcf": Resource}


def test_too_large_response_is_requested_in_parts(fake: FakeBook, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(request: Request) -> Reply:
        cards = [response_with_card(href, card("1", "A" * 1000)) for href in requested_hrefs(request)]
        return Reply(207, {}, f"<multistatus {CARDDAV}>{''.join(cards)}</multistatus>".encode())

    monkeypatch.setattr("contacts_project.kernel.webdav.session.MAX_BODY_BYTES", 20_000)
    fake.proxy.add(Fault(before=answer, when=method("REPORT")))
    hrefs = [f"{number}.vcf" for number in range(2 * MAX_HREFS)]
    assert {result.href for result in fake.book.fetch(hrefs) if isinstance(result, Resource)} == set(hrefs)
    assert fake.proxy.count() <= 2 * (1 + 2 + 4 + 8)  # the request is halved until the response fits


def test_too_large_card_does_not_stop_the_others(fake: FakeBook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contacts_project.kernel.webdav.collection.MAX_BODY_BYTES", 100)
    fake.proxy.add(fail(501, when=method("REPORT")))
    fake.proxy.add(fail(200, card("1", "A" * 1000), when=at("/ada/book/1.vcf")))
    fake.proxy.add(fail(200, card("2", "B"), when=at("/ada/book/2.vcf")))
    assert [type(result) for result in fake.book.fetch(["1.vcf", "2.vcf"])] == [Unreadable, Resource]


def test_response_may_give_a_status_for_several_hrefs(fake: FakeBook) -> None:
    gone = "".join(f"<href>/ada/book/{number}.vcf</href>" for number in range(3))
    body = f"<multistatus {CARDDAV}><response>{gone}<status>HTTP/1.1 404 Not Found</status></response></multistatus>"
    fake.proxy.add(fail(207, body))
    fake.book.caps = SYNC
    assert len(fake.book.changes("t", "").removed) == 3
    assert [type(result) for result in fake.book.fetch(["0.vcf", "1.vcf", "2.vcf"])] == [Missing] * 3


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"M\xfcller", "Müller"),
        (b"Caf\xc3\r\n \xa9 Ole", "Café Ole"),
        (b"Caf\xc3&#13;\n \xa9 Ole", "Café Ole"),
        (b"\xe2\x82\r\n \xac 5", "€ 5"),
    ],
)
def test_text_that_is_not_utf_8_is_decoded(fake: FakeBook, data: bytes, name: str) -> None:
    text = card("1", "NAME").encode().replace(b"FN:NAME", b"FN:" + data)
    entry = response_with_card("1.vcf", "CARD").encode().replace(b"CARD", text)
    fake.proxy.add(
        Fault(
            before=lambda request: Reply(207, {}, f"<multistatus {CARDDAV}>".encode() + entry + b"</multistatus>"),
            when=method("REPORT"),
        )
    )
    in_get = text.replace(b"&#13;", b"\r")
    fake.proxy.add(Fault(before=lambda request: Reply(200, {}, b"\xef\xbb\xbf" + in_get), when=method("GET")))
    for result in (*fake.book.fetch(["1.vcf"]), fake.book.get("1.vcf")):
        assert isinstance(result, Resource)
        lines = result.text.replace("\r\n ", "").replace("\n ", "").splitlines()
        assert lines[0] == "BEGIN:VCARD"
        assert f"FN:{name}" in lines


def test_etag_of_a_compressed_response_matches(fake: FakeBook) -> None:
    def put(request: Request) -> Reply:
        return Reply(204 if request.headers["if-match"] == '"1"' else 412)

    fake.proxy.add(compress())
    fake.proxy.add(fail(200, card(), headers={"ETag": '"1"'}, when=method("GET")))
    fake.proxy.add(Fault(before=put, when=method("PUT")))
    result = fake.book.get("1.vcf")
    assert isinstance(result, Resource)
    assert fake.book.put("1.vcf", card(), result.etag or "").outcome is WriteOutcome.DONE


def test_forbidden_home_does_not_hide_the_others(fake: FakeBook) -> None:
    homes = "<C:addressbook-home-set><href>/h/closed/</href><href>/h/ada/</href></C:addressbook-home-set>"
    fake.proxy.add(propfind_response("/dav/", ("/dav/", PRINCIPAL)))
    fake.proxy.add(propfind_response("/p/ada/", ("/p/ada/", homes)))
    fake.proxy.add(fail(403, when=at("/h/closed/")))
    fake.proxy.add(propfind_response("/h/ada/", BOOK))
    assert discover_from(f"{fake.proxy.url}dav/").book.url.endswith("/h/ada/b/")


def test_failing_property_is_left_out_of_the_next_request(fake: FakeBook) -> None:
    def requests_report_set(request: Request) -> bool:
        return b"supported-report-set" in request.body

    homes: Any = "<C:addressbook-home-set><href>/h/ada/</href></C:addressbook-home-set>"
    fake.proxy.add(fail(500, when=requests_report_set))
    fake.proxy.add(propfind_response("/dav/", ("/dav/", homes)))
    fake.proxy.add(propfind_response("/h/ada/", BOOK))
    assert discover_from(f"{fake.proxy.url}dav/").book.url.endswith("/h/ada/b/")


TEXT = card("1", "Ada & Bob <b>", "item1.X-ABLabel:_$!<HomePage>!$_", "NOTE:&#8; &amp; &#13; <!-- ]] > ]>\x0b")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 100_000])
def test_markup_in_cdata_is_plain_text(size: int) -> None:
    first, second = TEXT[:40], TEXT[40:]
    body = (
        '<m:multistatus xmlns:m="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav"><m:response><m:href>/1.vcf</m:href>'
        f"<m:propstat><m:prop><C:address-data>\r\n<![CDATA[{first}]]><![CDATA[{second}]]></C:address-data></m:prop>"
        "<m:status>HTTP/1.1 200 OK</m:status></m:propstat></m:response><m:sync-token>7</m:sync-token></m:multistatus>"
    ).encode()
    multistatus = Multistatus(body[start : start + size] for start in range(0, len(body), size))
    [response] = multistatus
    assert response.text_of(f"{CARD}address-data") + "\r\n" == TEXT.replace("\x0b", "")
    assert multistatus.sync_token == "7"
