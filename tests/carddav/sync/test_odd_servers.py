"""Whole runs with the oddities of hosted servers, which the proxy adds to Radicale."""

from collections.abc import Callable

import pytest

from accounts.models import User
from carddav.models import Connection
from people.models import Person
from tests.carddav.conftest import USER, card
from tests.carddav.faults import (
    change_header,
    compress,
    fail,
    lose_reply,
    method,
    rename_on_create,
    reports,
    respell_hrefs,
    rewrite,
)
from tests.carddav.proxy import Fault, Reply, Request, fault_proxy
from tests.carddav.servers import DavServer
from tests.carddav.sync.server_synced_account import ServerSyncedAccount
from tests.carddav.sync.synced_account import counts

# Servers behave the same with any database; test_real_servers.py and the random histories are run on both.
pytestmark = pytest.mark.one_database


@pytest.fixture
def server(radicale_server: DavServer) -> DavServer:
    """Only Radicale, because the proxy adds what other servers do."""
    return radicale_server


def succeed_with_status(status: int) -> Fault:
    """Answer successful writes with another success status."""

    def after(request: Request, reply: Reply) -> Reply:
        return Reply(status, reply.headers, b"") if reply.status in {201, 204} else reply

    return Fault(after=after, when=method("PUT"))


def weaken_etags() -> Fault:
    """Send weak ETags in listings, and none after a PUT."""
    return rewrite(r"(<(?:\w+:)?getetag>)\"", r'\1W/"', when=method("REPORT", "PROPFIND"))


@pytest.mark.parametrize(
    "oddities",
    [
        [respell_hrefs, compress],
        [weaken_etags, lambda: change_header("ETag", None, when=method("PUT"))],
        [lambda: succeed_with_status(200)],
        [lambda: succeed_with_status(204), lambda: fail(501, when=reports("addressbook-multiget"))],
        [lambda: fail(501, when=reports("sync-collection"))],
        [lambda: change_header("ETag", '"of another time"', when=method("PUT"))],
    ],
    ids=["hrefs-and-gzip", "weak-and-none", "200", "204-without-multiget", "sync-refused", "etag-moves"],
)
def test_both_sides_agree_and_the_next_run_sends_nothing(
    server_synced: ServerSyncedAccount, oddities: list[Callable[[], Fault]]
) -> None:
    for oddity in oddities:
        server_synced.proxy.add(oddity())
    cards = {f"card-{number}.vcf": card(str(number), f"P{number}", "X-KEPT:1") for number in range(8)}
    server_synced.server.fill(USER, server_synced.path, cards)
    assert counts(server_synced.sync()) == {"imported": 8}
    server_synced.assert_in_sync()
    server_synced.edit(server_synced.person("P1"), notes="mine")
    created = server_synced.create(name="New")
    server_synced.put("card-2.vcf", card("2", "P2", "NOTE:theirs"))
    server_synced.remove("card-3.vcf")
    server_synced.api.ok("DELETE", f"/api/people/{server_synced.person('P4').pk}", {"deleteFromCardDav": True})
    assert counts(server_synced.sync()) == {"exported": 1, "updated_locally": 2, "updated_remotely": 2}
    server_synced.sync()
    server_synced.assert_in_sync()
    assert "NOTE:mine" in server_synced.text("card-1.vcf")
    assert "X-KEPT:1" in server_synced.text("card-1.vcf")
    assert "FN:New" in server_synced.card_of(created)
    assert server_synced.person("P2").notes == "theirs"
    assert {person.name for person in Person.objects.owned_by(server_synced.owner).active()} == {
        "P0",
        "P1",
        "P2",
        "P5",
        "P6",
        "P7",
        "New",
    }
    assert server_synced.count_remote_cards() == 7


@pytest.mark.parametrize("is_lost", [False, True])
def test_silently_renamed_cards_are_found(alice: User, xandikos_server: DavServer, is_lost: bool) -> None:
    """Only with Radicale, because Xandikos would store two cards with the same UID."""
    with fault_proxy(xandikos_server.port) as proxy:
        server_synced = ServerSyncedAccount(alice, xandikos_server, proxy)
        server_synced.sync()
        server_synced.create(name="Bob", phoneNumbers=[{"type": "home", "number": "1"}])
        if is_lost:
            proxy.add(lose_reply(when=method("PUT"), times=1))
        proxy.add(rename_on_create(sends_location=False, when=method("PUT")))
        for _ in range(3):
            server_synced.sync()
        server_synced.assert_in_sync()
        assert server_synced.count_remote_cards() == 1
        assert Person.objects.owned_by(server_synced.owner).count() == 1
        server_synced.edit(server_synced.person("Bob"), notes="mine")
        server_synced.sync()
        assert "NOTE:mine" in server_synced.card_of(server_synced.person("Bob"))


def test_unsupported_report_is_tried_again_after_a_day(server_synced: ServerSyncedAccount) -> None:
    server_synced.proxy.add(fail(501, when=reports("sync-collection")))
    server_synced.put("1.vcf", card())
    server_synced.sync()
    server_synced.assert_in_sync()
    assert server_synced.proxy.count("REPORT") == 0
    server_synced.proxy.clear_faults()
    Connection.objects.owned_by(server_synced.owner).update(last_reconcile_at=None)
    server_synced.sync()
    assert server_synced.proxy.count("REPORT") == 1
    server_synced.assert_in_sync()
    assert server_synced.proxy.count("REPORT") == 1


@pytest.mark.parametrize("version", ["2.1", "4.0"])
def test_card_keeps_its_version(server_synced: ServerSyncedAccount, version: str) -> None:
    server_synced.put("1.vcf", card().replace("VERSION:3.0", f"VERSION:{version}"))
    if f"VERSION:{version}" not in server_synced.text("1.vcf"):
        pytest.skip("the server rewrites it")
    assert counts(server_synced.sync()) == {"imported": 1}
    server_synced.edit(server_synced.person(), notes="mine")
    assert counts(server_synced.sync()) == {"updated_remotely": 1}
    assert f"VERSION:{version}\r\n" in server_synced.text("1.vcf")
    assert "NOTE" in server_synced.text("1.vcf")
    server_synced.assert_in_sync()
