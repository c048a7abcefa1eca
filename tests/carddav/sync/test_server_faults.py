"""Faults of servers and networks in the middle of a sync, with Radicale and Xandikos behind the proxy."""

import datetime as dt
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from accounts.models import User
from carddav.models import Conflict, Connection, Mapping, OtherCard, PendingImport, RunTrigger
from carddav.services.schedule import sync_due
from contacts_project.kernel.ownership.account_lock import account_write
from people.models import Membership, Person
from tests.builders import make_person
from tests.carddav.conftest import USER, card
from tests.carddav.faults import change_header, fail, ignore_conditions, lose_reply, method, refuse, reports, rewrite
from tests.carddav.proxy import Condition, Fault, Proxy, Reply, Request
from tests.carddav.servers import DavServer
from tests.carddav.sync.server_synced_account import ServerSyncedAccount
from tests.carddav.sync.synced_account import counts

# Servers behave the same with any database; test_real_servers.py and the random histories are run on both.
pytestmark = pytest.mark.one_database

CARDDAV = "urn:ietf:params:xml:ns:carddav"
GROUP_4 = "BEGIN:VCARD\r\nVERSION:4.0\r\nKIND:group\r\nUID:g4\r\nFN:Friends\r\nMEMBER:urn:uuid:ada\r\nEND:VCARD\r\n"
GROUP_3 = (
    "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:g3\r\nN:Friends;;;;\r\nFN:Friends\r\nX-ADDRESSBOOKSERVER-KIND:group\r\n"
    "X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:ada\r\nEND:VCARD\r\n"
)


def puts_containing(text: str) -> Condition:
    """Matches PUTs whose card contains the text."""
    return lambda request: request.method == "PUT" and text.encode() in request.body


def people(server_synced: ServerSyncedAccount) -> int:
    return Person.objects.owned_by(server_synced.owner).active().count()


def test_discovery_of_101_cards_takes_few_requests(alice: User, server: DavServer, proxy: Proxy) -> None:
    server_synced = ServerSyncedAccount(alice, server, proxy, import_mode="manual")
    server_synced.fill(101)
    response = server_synced.api.ok("POST", "/api/carddav/discover")
    assert response == {"success": True, "discovered": 101, "errors": 0, "errorMessages": []}
    assert server_synced.api.ok("GET", "/api/carddav/pending-count") == {"count": 101}
    assert proxy.count() <= 5 + 1 + 1 + 3, proxy.log()


def test_51_remote_changes_take_few_requests(server_synced: ServerSyncedAccount) -> None:
    server_synced.fill(60)
    server_synced.sync()
    server_synced.fill(51, "NOTE:new")
    assert counts(server_synced.sync()) == {"updated_locally": 51}
    assert server_synced.proxy.count() <= 1 + 2, server_synced.proxy.log()


@pytest.mark.alternating  # the number of requests does not depend on the server, and fifty writes are slow
def test_51_local_changes_take_one_put_each(server_synced: ServerSyncedAccount) -> None:
    server_synced.fill(51)
    server_synced.sync()
    with account_write(server_synced.owner):
        Person.objects.owned_by(server_synced.owner).update(notes="mine")
    assert counts(server_synced.sync()) == {"updated_remotely": 51}
    assert server_synced.proxy.count() <= 51 + 2 + 1, server_synced.proxy.log()
    server_synced.assert_in_sync()


def test_idle_run_writes_no_row(server_synced: ServerSyncedAccount) -> None:
    server_synced.fill(3)
    server_synced.sync()
    before = list(Mapping.objects.owned_by(server_synced.owner).order_by("pk").values_list("pk", "updated_at"))
    revision = User.objects.get(pk=server_synced.owner.pk).revision
    server_synced.assert_in_sync()
    assert before == list(Mapping.objects.owned_by(server_synced.owner).order_by("pk").values_list("pk", "updated_at"))
    assert User.objects.get(pk=server_synced.owner.pk).revision == revision


def test_card_without_uid_is_imported_once(server_synced: ServerSyncedAccount) -> None:
    server_synced.put("1.vcf", card("1", "Ada"))
    server_synced.proxy.add(rewrite(r"UID:1[^\n]*\n", "", when=reports("addressbook-multiget")))
    assert counts(server_synced.sync()) == {"imported": 1}
    assert counts(server_synced.sync()) == {}
    Connection.objects.owned_by(server_synced.owner).update(last_reconcile_at=None)
    assert counts(server_synced.sync()) == {}
    assert people(server_synced) == 1


def test_unreadable_card_does_not_stop_the_others(server_synced: ServerSyncedAccount) -> None:
    server_synced.fill(60)
    server_synced.proxy.add(Fault(after=remove_names, when=reports("addressbook-multiget")))
    run = server_synced.sync()
    assert counts(run) == {"imported": 59, "errors": 1}
    assert len(run.error_messages) == 1
    assert counts(server_synced.sync()) == {}
    Connection.objects.owned_by(server_synced.owner).update(last_reconcile_at=None)
    assert counts(server_synced.sync()) == {}
    assert server_synced.proxy.count("REPORT") == 1  # the listing; the card is not fetched again
    server_synced.proxy.clear_faults()
    server_synced.put("7.vcf", card("uid-7", "Seven"))
    assert counts(server_synced.sync()) == {"imported": 1}
    assert not OtherCard.objects.owned_by(server_synced.owner).exists()


def remove_names(request: Request, reply: Reply) -> Reply:
    """Remove the names of P7 from the response, without which its card cannot be imported."""
    body = (
        reply.body.replace(b"FN:P7&#13;", b"X-A:1&#13;").replace(b"FN:P7\r", b"X-A:1\r").replace(b"FN:P7\n", b"X-A:1\n")
    )
    return Reply(reply.status, reply.headers, body.replace(b"N:;P7;;;", b"X-B:2"))


@pytest.mark.parametrize("text", [GROUP_3, GROUP_4])
def test_group_cards_of_both_dialects_become_groups(server_synced: ServerSyncedAccount, text: str) -> None:
    server_synced.put("ada.vcf", card("ada", "Ada"))
    server_synced.put("group.vcf", text)
    before = server_synced.text("group.vcf")
    assert counts(server_synced.sync()) == {"imported": 1}
    [member] = Membership.objects.owned_by(server_synced.owner).filter(group__name="Friends")
    assert member.person.name == "Ada"
    assert not PendingImport.objects.owned_by(server_synced.owner).exists()
    server_synced.assert_in_sync()
    assert server_synced.text("group.vcf") == before


def test_server_without_sync_collection(server_synced: ServerSyncedAccount) -> None:
    server_synced.proxy.add(rewrite(r"<(\w+:)?sync-collection ?/>", "", when=method("PROPFIND")))
    server_synced.fill(10)
    assert counts(server_synced.sync()) == {"imported": 10}
    server_synced.assert_in_sync()
    server_synced.put("1.vcf", card("uid-1", "P1", "NOTE:later"))
    assert counts(server_synced.sync()) == {"updated_locally": 1}
    server_synced.remove("2.vcf")
    assert counts(server_synced.sync()) == {"updated_locally": 1}
    server_synced.assert_in_sync()
    assert not [request for request in server_synced.proxy.requests if reports("sync-collection")(request)]


def test_interrupted_paged_report_is_read_again(server_synced: ServerSyncedAccount) -> None:
    server_synced.fill(10)
    listing = reports("sync-collection")
    cut = f"<D:href>{server_synced.path}</D:href><D:status>HTTP/1.1 507 Insufficient Storage</D:status>"
    page = f"<D:response xmlns:D='DAV:'>{cut}</D:response>" + r"\1"
    server_synced.proxy.add(rewrite(r"(</(?:\w+:)?multistatus>)", page, when=listing, times=1))
    server_synced.proxy.add(lose_reply(when=listing, skip=1, times=2))
    assert server_synced.sync().code == "interrupted"
    assert Connection.objects.owned_by(server_synced.owner).get().sync_token == ""
    server_synced.proxy.clear_faults()
    assert counts(server_synced.sync()) == {"imported": 10}
    server_synced.assert_in_sync()


@pytest.mark.parametrize("status", [None, 404])
def test_card_deleted_between_listing_and_fetch(server_synced: ServerSyncedAccount, status: int | None) -> None:
    server_synced.fill(50)

    def vanish(request: Request) -> Reply | None:
        if server_synced.server.call("GET", f"{server_synced.path}7.vcf", USER)[0] == 200:
            server_synced.remove("7.vcf")
        return Reply(status) if status and b"/7.vcf" in request.body else None

    server_synced.proxy.add(Fault(before=vanish, when=reports("addressbook-multiget")))
    run = server_synced.sync()
    assert (counts(run), run.code, run.error_messages) == ({"imported": 49}, "", [])


@pytest.mark.parametrize("at", ["sync-collection", "addressbook-multiget"])
def test_removed_book_is_an_error(server_synced: ServerSyncedAccount, at: str) -> None:
    server_synced.fill(3)
    server_synced.sync()
    other = server_synced.server.make_book(USER)
    server_synced.server.put(USER, f"{other}foreign.vcf", card("foreign", "Foreign"))
    server_synced.put("1.vcf", card("uid-1", "P1", "NOTE:new"))

    def vanish(request: Request) -> None:
        server_synced.server.call("DELETE", server_synced.path, USER)

    server_synced.proxy.add(Fault(before=vanish, when=reports(at), times=1))
    for _ in range(2):
        assert server_synced.sync().code == "book_gone"
        assert people(server_synced) == 3
        assert not Conflict.objects.owned_by(server_synced.owner).exists()
    assert not Person.objects.owned_by(server_synced.owner).filter(name="Foreign").exists()


def test_changed_etag_with_equal_content_changes_nothing(server_synced: ServerSyncedAccount) -> None:
    server_synced.put("1.vcf", card("1", "Ada", "TEL:1"))
    server_synced.sync()
    server_synced.put("1.vcf", card("1", "Ada", "TEL:1", "REV:20260101T000000Z"))
    assert counts(server_synced.sync()) == {}
    server_synced.assert_in_sync()


@pytest.mark.parametrize("spelling", [r"getetag>W/\1<", r"getetag>\2<"])
def test_weak_and_unquoted_etags(server_synced: ServerSyncedAccount, spelling: str) -> None:
    pattern = r"getetag>((?:&quot;|\")(.*?)(?:&quot;|\"))<"
    server_synced.proxy.add(rewrite(pattern, spelling, when=method("REPORT", "PROPFIND")))
    server_synced.proxy.add(change_header("ETag", None, when=method("PUT")))
    server_synced.put("1.vcf", card("1", "Ada"))
    server_synced.sync()
    for number in range(2):
        server_synced.edit(server_synced.person(), notes=f"mine {number}")
        assert counts(server_synced.sync()) == {"updated_remotely": 1}
        assert f"NOTE:mine {number}" in server_synced.text("1.vcf")
        server_synced.assert_in_sync()


@pytest.mark.alternating
@pytest.mark.parametrize("status", [400, 403, 412, 415])
def test_card_refused_for_its_content(server_synced: ServerSyncedAccount, status: int) -> None:
    server_synced.sync()
    for name in ("Good", "Bad", "Fine"):
        server_synced.create(name=name)
    server_synced.proxy.add(refuse(status, "valid-address-data", CARDDAV, when=puts_containing("FN:Bad")))
    run = server_synced.sync()
    assert counts(run) == {"exported": 2, "errors": 1}
    assert "Bad" in str(run.messages[0])
    assert not Conflict.objects.owned_by(server_synced.owner).exists()
    server_synced.assert_in_sync()
    server_synced.edit(server_synced.person("Bad"), name="Better")
    assert counts(server_synced.sync()) == {"exported": 1}
    server_synced.assert_in_sync()


@pytest.mark.parametrize("status", [412, 404])
def test_refusal_for_the_length_of_a_run_is_no_conflict(server_synced: ServerSyncedAccount, status: int) -> None:
    server_synced.put("1.vcf", card("1", "Ada"))
    server_synced.sync()
    server_synced.edit(server_synced.person(), notes="too long")
    server_synced.create(name="Bob", notes="too long")
    server_synced.proxy.add(fail(status, when=puts_containing("too long")))
    assert counts(server_synced.sync()) == {"errors": 2}
    assert not Conflict.objects.owned_by(server_synced.owner).exists()
    server_synced.proxy.clear_faults()
    assert counts(server_synced.sync()) == {"exported": 1, "updated_remotely": 1}
    server_synced.assert_in_sync()


def test_full_book_refuses_new_cards_only(server_synced: ServerSyncedAccount) -> None:
    server_synced.put("1.vcf", card("1", "Ada"))
    server_synced.sync()
    for number in range(9):
        server_synced.create(name=f"L{number}")
    server_synced.put("1.vcf", card("1", "Ada", "NOTE:pulled"))
    server_synced.proxy.add(fail(507, when=method("PUT")))
    assert counts(server_synced.sync()) == {"updated_locally": 1, "errors": 1}
    assert server_synced.proxy.count("PUT") <= 4  # at most as many as are sent concurrently
    server_synced.proxy.clear_faults()
    assert counts(server_synced.sync()) == {"exported": 9}
    server_synced.assert_in_sync()


def test_read_only_book_is_pulled_from(server_synced: ServerSyncedAccount) -> None:
    server_synced.fill(2)
    server_synced.sync()
    server_synced.edit(server_synced.person("P1"), jobTitle="Here")
    for number in range(8):
        make_person(server_synced.owner, name=f"New{number}")
    server_synced.put("0.vcf", card("uid-0", "P0", "NOTE:new"))
    server_synced.proxy.add(refuse(403, "need-privileges", when=method("PUT")))
    run = server_synced.sync()
    assert counts(run) == {"updated_locally": 1, "errors": 1}
    assert list(map(str, run.messages)) == ["The address book can only be read: 9 contacts were not sent."]
    assert server_synced.proxy.count("PUT") <= 4
    server_synced.proxy.clear_faults()
    assert counts(server_synced.sync()) == {"exported": 8, "updated_remotely": 1}
    server_synced.assert_in_sync()


def test_429_ends_the_run_until_retry_after(server_synced: ServerSyncedAccount) -> None:
    server_synced.fill(101)
    busy = fail(429, headers={"Retry-After": "300"}, when=reports("addressbook-multiget"), skip=2)
    server_synced.proxy.add(busy)
    assert server_synced.sync().code == "busy"
    assert people(server_synced) == 100
    server_synced.proxy.clear_faults()
    server_synced.proxy.clear_requests()
    Connection.objects.owned_by(server_synced.owner).update(next_sync_at=timezone.now() - dt.timedelta(hours=1))
    receipt = sync_due(now=timezone.now(), trigger=RunTrigger.CRON)
    assert (receipt.skipped, receipt.done, server_synced.proxy.count()) == (1, 0, 0)
    Connection.objects.owned_by(server_synced.owner).update(not_before=None)
    assert counts(server_synced.sync()) == {"imported": 1}
    server_synced.assert_in_sync()


def test_503_is_retried_twice(server_synced: ServerSyncedAccount) -> None:
    server_synced.put("1.vcf", card("1", "Ada"))
    server_synced.sync()
    server_synced.put("1.vcf", card("1", "Ada", "NOTE:new"))
    server_synced.proxy.add(fail(503, headers={"Retry-After": "0"}, when=reports("sync-collection"), times=2))
    assert counts(server_synced.sync()) == {"updated_locally": 1}


def test_server_that_ignores_conditions(server_synced: ServerSyncedAccount) -> None:
    server_synced.put("ada.vcf", card("foreign", "Ada", "NOTE:foreign"))
    server_synced.sync()
    before = server_synced.text("ada.vcf")
    for number in range(5):
        server_synced.create(name=f"Ada{number}")
    server_synced.proxy.add(ignore_conditions())
    assert counts(server_synced.sync()) == {"exported": 5}
    assert server_synced.count_remote_cards() == 6
    assert server_synced.text("ada.vcf") == before


def test_bulk_export_reports_the_refused_card(
    alice: User, server: DavServer, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carddav.services.exports._BATCH_SIZE", 10)
    server_synced = ServerSyncedAccount(alice, server, proxy, auto_export_new=False)
    body = {"personIds": [str(make_person(alice, name=f"L{number}").pk) for number in range(11)]}
    proxy.add(refuse(403, "valid-address-data", CARDDAV, when=puts_containing("FN:L7\r")))
    response = server_synced.api.ok("POST", "/api/carddav/export-bulk", body)
    assert (response["success"], response["exported"], response["skipped"], response["errors"]) == (False, 10, 0, 1)
    assert server_synced.count_remote_cards() == 10
    again = server_synced.api.ok("POST", "/api/carddav/export-bulk", body)
    assert (again["exported"], again["skipped"]) == (0, 11)
    assert server_synced.count_remote_cards() == 10
    assert counts(server_synced.sync()) == {}
    server_synced.assert_in_sync()


def test_automatic_import_stops_at_the_plan_limit(server_synced: ServerSyncedAccount, settings: Any) -> None:
    settings.SAAS_MODE = True
    server_synced.owner.refresh_from_db()
    limit = server_synced.owner.plan_limit("people") or 0
    server_synced.fill(limit + 7)
    run = server_synced.sync()
    assert (counts(run), run.pending_imports) == ({"imported": limit, "errors": 1}, 7)
    assert len(run.error_messages) == 1
    server_synced.assert_in_sync()


def test_empty_book_deletes_nothing(server_synced: ServerSyncedAccount) -> None:
    server_synced.fill(7)
    server_synced.sync()
    for index in range(7):
        server_synced.remove(f"{index}.vcf")
    assert counts(server_synced.sync()) == {"conflicts": 7}
    assert people(server_synced) == 7
    assert set(Conflict.objects.owned_by(server_synced.owner).values_list("kind", flat=True)) == {"remote_deleted"}
    server_synced.assert_in_sync()


@pytest.mark.django_db(transaction=True)
def test_edit_during_the_push_is_sent_by_the_next_run(server_synced: ServerSyncedAccount) -> None:
    server_synced.put("1.vcf", card("1", "Ada"))
    server_synced.sync()
    person = server_synced.person()
    server_synced.edit(person, notes="first")

    def edit(request: Request) -> None:
        try:
            server_synced.edit(person, notes="second")
        finally:
            connections.close_all()

    server_synced.proxy.add(Fault(before=edit, when=method("PUT"), times=1))
    assert counts(server_synced.sync()) == {"updated_remotely": 1}
    assert "NOTE:first" in server_synced.text("1.vcf")
    assert counts(server_synced.sync()) == {"updated_remotely": 1}
    assert "NOTE:second" in server_synced.text("1.vcf")
    assert server_synced.person().notes == "second"
    server_synced.assert_in_sync()
