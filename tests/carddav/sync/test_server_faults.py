"""What servers and networks do in the middle of a sync, on Radicale and Xandikos behind the proxy."""

import datetime as dt
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from accounts.models import User
from carddav.models import Conflict, Connection, Mapping, OtherCard, PendingImport, Trigger
from carddav.services.schedule import sync_due
from contacts_project.kernel.ownership.account_lock import account_write
from people.models import Membership, Person
from tests.builders import make_person
from tests.carddav.conftest import USER, card
from tests.carddav.faults import (
    change_header,
    fail,
    ignore_conditions,
    lose_reply,
    method,
    refuse,
    reports,
    rewrite,
)
from tests.carddav.proxy import Condition, Fault, Proxy, Reply, Request
from tests.carddav.servers import DavServer
from tests.carddav.sync.server_synced_account import ServerSyncedAccount
from tests.carddav.sync.synced_account import counts

# Servers do the same beside any database; test_real_servers.py and the random histories are run on both.
pytestmark = pytest.mark.one_database

CARDDAV = "urn:ietf:params:xml:ns:carddav"
GROUP_4 = "BEGIN:VCARD\r\nVERSION:4.0\r\nKIND:group\r\nUID:g4\r\nFN:Friends\r\nMEMBER:urn:uuid:ada\r\nEND:VCARD\r\n"
GROUP_3 = (
    "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:g3\r\nN:Friends;;;;\r\nFN:Friends\r\nX-ADDRESSBOOKSERVER-KIND:group\r\n"
    "X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:ada\r\nEND:VCARD\r\n"
)


@pytest.fixture
def synced(alice: User, server: DavServer, proxy: Proxy) -> ServerSyncedAccount:
    return ServerSyncedAccount(alice, server, proxy)


def says(text: str) -> Condition:
    """PUTs whose card holds the text."""
    return lambda request: request.method == "PUT" and text.encode() in request.body


def people(synced: ServerSyncedAccount) -> int:
    return Person.objects.owned_by(synced.owner).active().count()


def test_101_cards_wait_within_the_bound(alice: User, server: DavServer, proxy: Proxy) -> None:
    synced = ServerSyncedAccount(alice, server, proxy, import_mode="manual")
    synced.fill(101)
    answer = synced.api.ok("POST", "/api/carddav/discover")
    assert answer == {"success": True, "discovered": 101, "errors": 0, "errorMessages": []}
    assert synced.api.ok("GET", "/api/carddav/pending-count") == {"count": 101}
    assert proxy.count() <= 5 + 1 + 1 + 3, proxy.log()


def test_fifty_and_one_changes_there_cost_two_requests_more(synced: ServerSyncedAccount) -> None:
    synced.fill(60)
    synced.sync()
    synced.fill(51, "NOTE:new")
    assert counts(synced.sync()) == {"updated_locally": 51}
    assert synced.proxy.count() <= 1 + 2, synced.proxy.log()


@pytest.mark.alternating  # how often we ask hangs on no server, and fifty writes take one a while
def test_fifty_and_one_changes_here_cost_one_put_each_and_three(synced: ServerSyncedAccount) -> None:
    synced.fill(51)
    synced.sync()
    with account_write(synced.owner):
        Person.objects.owned_by(synced.owner).update(notes="mine")
    assert counts(synced.sync()) == {"updated_remotely": 51}
    assert synced.proxy.count() <= 51 + 2 + 1, synced.proxy.log()
    synced.assert_in_sync()


def test_an_idle_run_writes_no_row(synced: ServerSyncedAccount) -> None:
    synced.fill(3)
    synced.sync()
    before = list(Mapping.objects.owned_by(synced.owner).order_by("pk").values_list("pk", "updated_at"))
    revision = User.objects.get(pk=synced.owner.pk).revision
    synced.assert_in_sync()
    assert before == list(Mapping.objects.owned_by(synced.owner).order_by("pk").values_list("pk", "updated_at"))
    assert User.objects.get(pk=synced.owner.pk).revision == revision


def test_a_card_without_uid_is_imported_once(synced: ServerSyncedAccount) -> None:
    synced.put("1.vcf", card("1", "Ada"))
    synced.proxy.add(rewrite(r"UID:1[^\n]*\n", "", when=reports("addressbook-multiget")))
    assert counts(synced.sync()) == {"imported": 1}
    assert counts(synced.sync()) == {}
    Connection.objects.owned_by(synced.owner).update(last_reconcile_at=None)
    assert counts(synced.sync()) == {}
    assert people(synced) == 1


def test_one_unreadable_card_of_a_hundred(synced: ServerSyncedAccount) -> None:
    synced.fill(100)
    synced.proxy.add(Fault(after=spoil, when=reports("addressbook-multiget")))
    run = synced.sync()
    assert counts(run) == {"imported": 99, "errors": 1}
    assert len(run.error_messages) == 1
    assert counts(synced.sync()) == {}
    Connection.objects.owned_by(synced.owner).update(last_reconcile_at=None)
    assert counts(synced.sync()) == {}
    assert synced.proxy.count("REPORT") == 1  # listed, and not fetched again
    synced.proxy.clear_faults()
    synced.put("7.vcf", card("uid-7", "Seven"))
    assert counts(synced.sync()) == {"imported": 1}
    assert not OtherCard.objects.owned_by(synced.owner).exists()


def spoil(request: Request, reply: Reply) -> Reply:
    """Names are what makes a card one of somebody."""
    body = (
        reply.body.replace(b"FN:P7&#13;", b"X-A:1&#13;").replace(b"FN:P7\r", b"X-A:1\r").replace(b"FN:P7\n", b"X-A:1\n")
    )
    return Reply(reply.status, reply.headers, body.replace(b"N:;P7;;;", b"X-B:2"))


@pytest.mark.parametrize("text", [GROUP_3, GROUP_4])
def test_a_group_card_of_each_dialect(synced: ServerSyncedAccount, text: str) -> None:
    synced.put("ada.vcf", card("ada", "Ada"))
    synced.put("group.vcf", text)
    before = synced.text("group.vcf")
    assert counts(synced.sync()) == {"imported": 1}
    [member] = Membership.objects.owned_by(synced.owner).filter(group__name="Friends")
    assert member.person.name == "Ada"
    assert not PendingImport.objects.owned_by(synced.owner).exists()
    synced.assert_in_sync()
    assert synced.text("group.vcf") == before


def test_a_server_without_sync_collection(synced: ServerSyncedAccount) -> None:
    synced.proxy.add(rewrite(r"<(\w+:)?sync-collection ?/>", "", when=method("PROPFIND")))
    synced.fill(10)
    assert counts(synced.sync()) == {"imported": 10}
    synced.assert_in_sync()
    synced.put("1.vcf", card("uid-1", "P1", "NOTE:later"))
    assert counts(synced.sync()) == {"updated_locally": 1}
    synced.remove("2.vcf")
    assert counts(synced.sync()) == {"updated_locally": 1}
    synced.assert_in_sync()
    assert not [request for request in synced.proxy.requests if reports("sync-collection")(request)]


def test_a_report_in_pages_that_breaks_off_is_read_again(synced: ServerSyncedAccount) -> None:
    synced.fill(10)
    listing = reports("sync-collection")
    cut = f"<D:href>{synced.path}</D:href><D:status>HTTP/1.1 507 Insufficient Storage</D:status>"
    page = f"<D:response xmlns:D='DAV:'>{cut}</D:response>" + r"\1"
    synced.proxy.add(rewrite(r"(</(?:\w+:)?multistatus>)", page, when=listing, times=1))
    synced.proxy.add(lose_reply(when=listing, skip=1, times=2))
    assert synced.sync().code == "interrupted"
    assert Connection.objects.owned_by(synced.owner).get().sync_token == ""
    synced.proxy.clear_faults()
    assert counts(synced.sync()) == {"imported": 10}
    synced.assert_in_sync()


@pytest.mark.parametrize("status", [None, 404])
def test_one_card_vanishes_between_listing_and_fetching(synced: ServerSyncedAccount, status: int | None) -> None:
    synced.fill(50)

    def vanish(request: Request) -> Reply | None:
        if synced.server.call("GET", f"{synced.path}7.vcf", USER)[0] == 200:
            synced.remove("7.vcf")
        return Reply(status) if status and b"/7.vcf" in request.body else None

    synced.proxy.add(Fault(before=vanish, when=reports("addressbook-multiget")))
    run = synced.sync()
    assert (counts(run), run.code, run.error_messages) == ({"imported": 49}, "", [])


@pytest.mark.parametrize("at", ["sync-collection", "addressbook-multiget"])
def test_the_book_is_removed(synced: ServerSyncedAccount, at: str) -> None:
    synced.fill(3)
    synced.sync()
    other = synced.server.make_book(USER)
    synced.server.put(USER, f"{other}foreign.vcf", card("foreign", "Foreign"))
    synced.put("1.vcf", card("uid-1", "P1", "NOTE:new"))

    def vanish(request: Request) -> None:
        synced.server.call("DELETE", synced.path, USER)

    synced.proxy.add(Fault(before=vanish, when=reports(at), times=1))
    for _ in range(2):
        assert synced.sync().code == "book_gone"
        assert people(synced) == 3
        assert not Conflict.objects.owned_by(synced.owner).exists()
    assert not Person.objects.owned_by(synced.owner).filter(name="Foreign").exists()


def test_an_etag_that_moves_with_nothing_new(synced: ServerSyncedAccount) -> None:
    synced.put("1.vcf", card("1", "Ada", "TEL:1"))
    synced.sync()
    synced.put("1.vcf", card("1", "Ada", "TEL:1", "REV:20260101T000000Z"))
    assert counts(synced.sync()) == {}
    synced.assert_in_sync()


@pytest.mark.parametrize("spelling", [r"getetag>W/\1<", r"getetag>\2<"])
def test_etags_that_are_weak_or_unquoted(synced: ServerSyncedAccount, spelling: str) -> None:
    pattern = r"getetag>((?:&quot;|\")(.*?)(?:&quot;|\"))<"
    synced.proxy.add(rewrite(pattern, spelling, when=method("REPORT", "PROPFIND")))
    synced.proxy.add(change_header("ETag", None, when=method("PUT")))
    synced.put("1.vcf", card("1", "Ada"))
    synced.sync()
    for number in range(2):
        synced.edit(synced.person(), notes=f"mine {number}")
        assert counts(synced.sync()) == {"updated_remotely": 1}
        assert f"NOTE:mine {number}" in synced.text("1.vcf")
        synced.assert_in_sync()


@pytest.mark.alternating
@pytest.mark.parametrize("status", [400, 403, 412, 415])
def test_a_card_refused_for_its_content(synced: ServerSyncedAccount, status: int) -> None:
    synced.sync()
    for name in ("Good", "Bad", "Fine"):
        synced.create(name=name)
    synced.proxy.add(refuse(status, "valid-address-data", CARDDAV, when=says("FN:Bad")))
    run = synced.sync()
    assert counts(run) == {"exported": 2, "errors": 1}
    assert "Bad" in run.error_messages[0]
    assert not Conflict.objects.owned_by(synced.owner).exists()
    synced.assert_in_sync()
    synced.edit(synced.person("Bad"), name="Better")
    assert counts(synced.sync()) == {"exported": 1}
    synced.assert_in_sync()


def test_a_412_that_is_no_conflict(synced: ServerSyncedAccount) -> None:
    synced.put("1.vcf", card("1", "Ada"))
    synced.sync()
    synced.edit(synced.person(), notes="too long")
    synced.proxy.add(fail(412, when=says("too long")))
    assert counts(synced.sync()) == {"errors": 1}
    assert not Conflict.objects.owned_by(synced.owner).exists()
    synced.assert_in_sync()


def test_no_room_for_new_cards(synced: ServerSyncedAccount) -> None:
    synced.put("1.vcf", card("1", "Ada"))
    synced.sync()
    for number in range(9):
        synced.create(name=f"L{number}")
    synced.put("1.vcf", card("1", "Ada", "NOTE:pulled"))
    synced.proxy.add(fail(507, when=method("PUT")))
    assert counts(synced.sync()) == {"updated_locally": 1, "errors": 1}
    assert synced.proxy.count("PUT") <= 4  # those that were under way together, and no more
    synced.proxy.clear_faults()
    assert counts(synced.sync()) == {"exported": 9}
    synced.assert_in_sync()


def test_a_book_that_may_only_be_read_is_pulled_from(synced: ServerSyncedAccount) -> None:
    synced.fill(2)
    synced.sync()
    synced.edit(synced.person("P1"), jobTitle="Here")
    for number in range(8):
        make_person(synced.owner, name=f"New{number}")
    synced.put("0.vcf", card("uid-0", "P0", "NOTE:new"))
    synced.proxy.add(refuse(403, "need-privileges", when=method("PUT")))
    run = synced.sync()
    assert counts(run) == {"updated_locally": 1, "errors": 1}
    assert run.error_messages == ["The address book can only be read: 9 contacts were not sent."]
    assert synced.proxy.count("PUT") <= 4
    synced.proxy.clear_faults()
    assert counts(synced.sync()) == {"exported": 8, "updated_remotely": 1}
    synced.assert_in_sync()


def test_429_ends_the_run_until_then(synced: ServerSyncedAccount) -> None:
    synced.fill(101)
    busy = fail(429, headers={"Retry-After": "300"}, when=reports("addressbook-multiget"), skip=2)
    synced.proxy.add(busy)
    assert synced.sync().code == "busy"
    assert people(synced) == 100
    synced.proxy.clear_faults()
    synced.proxy.clear_requests()
    Connection.objects.owned_by(synced.owner).update(next_sync_at=timezone.now() - dt.timedelta(hours=1))
    receipt = sync_due(now=timezone.now(), trigger=Trigger.CRON)
    assert (receipt.skipped, receipt.done, synced.proxy.count()) == (1, 0, 0)
    Connection.objects.owned_by(synced.owner).update(not_before=None)
    assert counts(synced.sync()) == {"imported": 1}
    synced.assert_in_sync()


def test_503_twice_and_then_an_answer(synced: ServerSyncedAccount) -> None:
    synced.put("1.vcf", card("1", "Ada"))
    synced.sync()
    synced.put("1.vcf", card("1", "Ada", "NOTE:new"))
    synced.proxy.add(fail(503, headers={"Retry-After": "0"}, when=reports("sync-collection"), times=2))
    assert counts(synced.sync()) == {"updated_locally": 1}


def test_conditions_that_the_server_ignores(synced: ServerSyncedAccount) -> None:
    synced.put("ada.vcf", card("foreign", "Ada", "NOTE:foreign"))
    synced.sync()
    before = synced.text("ada.vcf")
    for number in range(5):
        synced.create(name=f"Ada{number}")
    synced.proxy.add(ignore_conditions())
    assert counts(synced.sync()) == {"exported": 5}
    assert synced.count_remote_cards() == 6
    assert synced.text("ada.vcf") == before


@pytest.mark.alternating  # how often we ask hangs on no server, and fifty writes take one a while
def test_export_bulk_of_two_batches_with_one_bad(alice: User, server: DavServer, proxy: Proxy) -> None:
    synced = ServerSyncedAccount(alice, server, proxy, auto_export_new=False)
    body = {"personIds": [str(make_person(alice, name=f"L{number}").pk) for number in range(51)]}
    proxy.add(refuse(403, "valid-address-data", CARDDAV, when=says("FN:L7\r")))
    answer = synced.api.ok("POST", "/api/carddav/export-bulk", body)
    assert (answer["success"], answer["exported"], answer["skipped"], answer["errors"]) == (False, 50, 0, 1)
    assert synced.count_remote_cards() == 50
    again = synced.api.ok("POST", "/api/carddav/export-bulk", body)
    assert (again["exported"], again["skipped"]) == (0, 51)
    assert synced.count_remote_cards() == 50
    assert counts(synced.sync()) == {}
    synced.assert_in_sync()


def test_auto_imports_end_at_the_plans_limit(synced: ServerSyncedAccount, settings: Any) -> None:
    settings.SAAS_MODE = True
    synced.owner.refresh_from_db()
    limit = synced.owner.plan_limit("people") or 0
    synced.fill(limit + 7)
    run = synced.sync()
    assert (counts(run), run.pending_imports) == ({"imported": limit, "errors": 1}, 7)
    assert len(run.error_messages) == 1
    synced.assert_in_sync()


def test_an_empty_book_deletes_nothing(synced: ServerSyncedAccount) -> None:
    synced.fill(7)
    synced.sync()
    for index in range(7):
        synced.remove(f"{index}.vcf")
    assert counts(synced.sync()) == {"conflicts": 7}
    assert people(synced) == 7
    assert set(Conflict.objects.owned_by(synced.owner).values_list("kind", flat=True)) == {"remote_deleted"}
    synced.assert_in_sync()


@pytest.mark.django_db(transaction=True)
def test_an_edit_while_the_run_pushes_the_person(synced: ServerSyncedAccount) -> None:
    synced.put("1.vcf", card("1", "Ada"))
    synced.sync()
    person = synced.person()
    synced.edit(person, notes="first")

    def edit(request: Request) -> None:
        try:
            synced.edit(person, notes="second")
        finally:
            connections.close_all()

    synced.proxy.add(Fault(before=edit, when=method("PUT"), times=1))
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert "NOTE:first" in synced.text("1.vcf")
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert "NOTE:second" in synced.text("1.vcf")
    assert synced.person().notes == "second"
    synced.assert_in_sync()
