"""Writing cards on both servers, and the outcome of each error status of other servers."""

import pytest

from carddav.client.book import AddressBook, WriteOutcome
from contacts_project.kernel.webdav.errors import ConnectionRejectedError, ServerBusyError
from contacts_project.kernel.webdav.login import Login
from contacts_project.kernel.webdav.session import open_session
from tests.carddav.conftest import USER, FakeBook, RealBook, card
from tests.carddav.faults import at, fail, ignore_conditions, lose_reply, method, refuse, rename_on_create, sign_in_page
from tests.carddav.proxy import Fault, Proxy, Reply, Request
from tests.carddav.servers import PASSWORD
from tests.loopback import closed_port


def test_create_change_and_delete(real: RealBook) -> None:
    made = real.book.create("a b.vcf", card())
    assert (made.outcome, made.href) == (WriteOutcome.DONE, f"{real.path}a%20b.vcf")
    assert "FN:Ada\r\n" in real.text("a%20b.vcf")
    [entry] = real.book.list().changed
    assert entry.etag is not None
    changed = real.book.put(entry.href, card("1", "Grace"), entry.etag)
    assert changed.outcome is WriteOutcome.DONE
    assert "FN:Grace\r\n" in real.text("a%20b.vcf")
    assert real.book.put(entry.href, card("1", "Late"), entry.etag).outcome is WriteOutcome.CHANGED
    assert real.book.delete(entry.href, entry.etag).outcome is WriteOutcome.CHANGED
    [entry] = real.book.list().changed
    assert real.book.delete(entry.href, entry.etag).outcome is WriteOutcome.DONE
    assert real.book.delete(entry.href, None).outcome is WriteOutcome.GONE


def test_create_overwrites_nothing(real: RealBook) -> None:
    real.put("1.vcf", card())
    assert real.book.create("1.vcf", card("2", "Thief")).outcome is WriteOutcome.CHANGED
    assert "FN:Ada\r\n" in real.text("1.vcf")


def test_invalid_card_is_refused(real: RealBook) -> None:
    assert real.book.create("1.vcf", "this is no card").outcome is WriteOutcome.REFUSED


@pytest.mark.parametrize(
    ("status", "condition", "outcome"),
    [
        (400, "", WriteOutcome.REFUSED),
        (402, "", WriteOutcome.FULL),
        (403, "", WriteOutcome.REFUSED),
        (403, "need-privileges", WriteOutcome.READ_ONLY),
        (403, "valid-address-data", WriteOutcome.REFUSED),
        (403, "max-resource-size", WriteOutcome.TOO_LARGE),
        (404, "", WriteOutcome.GONE),
        (409, "", WriteOutcome.CHANGED),
        (409, "no-uid-conflict", WriteOutcome.REFUSED),
        (410, "", WriteOutcome.GONE),
        (412, "", WriteOutcome.CHANGED),
        (412, "max-resource-size", WriteOutcome.TOO_LARGE),
        (412, "valid-address-data", WriteOutcome.REFUSED),
        (412, "if-match", WriteOutcome.CHANGED),
        (412, "if-none-match", WriteOutcome.CHANGED),
        (409, "lock-token-submitted", WriteOutcome.CHANGED),
        (413, "", WriteOutcome.TOO_LARGE),
        (415, "", WriteOutcome.REFUSED),
        (423, "", WriteOutcome.LOCKED),
        (500, "", WriteOutcome.UNKNOWN),
        (502, "", WriteOutcome.UNKNOWN),
        (507, "", WriteOutcome.FULL),
    ],
)
def test_error_statuses_are_mapped_to_outcomes(
    fake: FakeBook, status: int, condition: str, outcome: WriteOutcome
) -> None:
    fake.proxy.add(refuse(status, condition) if condition else fail(status))
    written = fake.book.put("1.vcf", card(), '"1"')
    assert (written.outcome, written.status) == (outcome, status)


def test_exception_name_of_sabredav_is_not_a_precondition(fake: FakeBook) -> None:
    fake.proxy.add(refuse(412, "exception", "http://sabredav.org/ns"))
    assert fake.book.put("1.vcf", card(), '"1"').outcome is WriteOutcome.CHANGED


def test_lost_response_gives_an_unknown_outcome_without_retry(real: RealBook, proxy: Proxy) -> None:
    proxy.add(lose_reply(when=method("PUT")))
    assert real.book.create("1.vcf", card()).outcome is WriteOutcome.UNKNOWN
    assert proxy.count("PUT") == 1
    assert "FN:Ada" in real.text("1.vcf")


def test_unsent_request_is_an_error_not_an_unknown_outcome() -> None:
    url = f"http://127.0.0.1:{closed_port()}/"
    with open_session(Login(url, USER, PASSWORD)) as session, pytest.raises(ConnectionRejectedError):
        AddressBook(session, f"{url}book/").create("1.vcf", card())


def test_write_refused_after_a_retry_has_an_unknown_outcome(fake: FakeBook, waits: list[float]) -> None:
    fake.proxy.add(fail(503, times=1))
    fake.proxy.add(fail(412))
    assert fake.book.create("1.vcf", card()).outcome is WriteOutcome.UNKNOWN
    assert len(waits) == 1


def test_server_that_stays_busy_is_an_error(fake: FakeBook, waits: list[float]) -> None:
    fake.proxy.add(fail(503))
    with pytest.raises(ServerBusyError):
        fake.book.create("1.vcf", card())
    assert waits == [pytest.approx(seconds, rel=0.2) for seconds in (1, 2, 4)]


@pytest.mark.parametrize("spelled", ["abc", 'W/"abc"'])
def test_etag_is_sent_as_strong_and_then_unchanged(fake: FakeBook, spelled: str) -> None:
    def only_as_spelled(request: Request) -> Reply:
        return Reply(204 if request.headers["if-match"] == spelled else 412)

    fake.proxy.add(Fault(before=only_as_spelled))
    assert fake.book.put("1.vcf", card(), spelled).outcome is WriteOutcome.DONE
    assert [request.headers["if-match"] for request in fake.proxy.requests] == ['"abc"', spelled]


def test_location_gives_the_href_of_a_renamed_card(real: RealBook, proxy: Proxy) -> None:
    proxy.add(rename_on_create())
    written = real.book.create("1.vcf", card())
    assert (written.outcome, written.href) == (WriteOutcome.DONE, f"{real.path}renamed-1.vcf")
    assert "FN:Ada" in real.text("renamed-1.vcf")


def test_location_outside_the_book_is_ignored(fake: FakeBook) -> None:
    fake.proxy.add(fail(201, headers={"Location": "https://example.org/somewhere/else.vcf"}))
    assert fake.book.create("1.vcf", card()).href == f"{fake.path}1.vcf"


def test_html_page_gives_an_unknown_outcome(fake: FakeBook) -> None:
    fake.proxy.add(sign_in_page())
    assert fake.book.create("1.vcf", card()).outcome is WriteOutcome.UNKNOWN


def test_redirect_keeps_method_body_and_conditions(real: RealBook, proxy: Proxy) -> None:
    proxy.add(fail(301, headers={"Location": f"{real.path}1.vcf"}, when=at(f"{real.path}old.vcf")))
    assert real.book.create("old.vcf", card()).outcome is WriteOutcome.DONE
    assert [request.method for request in proxy.requests] == ["PUT", "PUT"]
    assert proxy.requests[1].headers["if-none-match"] == "*"
    assert "FN:Ada" in real.text("1.vcf")


def test_conditions_are_sent_even_if_the_server_ignores_them(real: RealBook, proxy: Proxy) -> None:
    proxy.add(ignore_conditions())
    real.put("1.vcf", card())
    assert real.book.put("1.vcf", card("1", "Grace"), '"old"').outcome is WriteOutcome.DONE
