"""Whole runs against what hosted servers do and Radicale does not: the proxy plays them in front of it."""

from collections.abc import Callable, Iterator

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
from tests.carddav.proxy import Fault, Proxy, Reply, Request, fault_proxy
from tests.carddav.servers import DavServer
from tests.carddav.sync.server_synced_account import ServerSyncedAccount
from tests.carddav.sync.synced_account import counts

# Servers do the same beside any database; test_real_servers.py and the random histories are run on both.
pytestmark = pytest.mark.one_database


@pytest.fixture
def proxy(radicale_server: DavServer) -> Iterator[Proxy]:
    with fault_proxy(radicale_server.port) as proxy:
        yield proxy


@pytest.fixture
def synced(alice: User, radicale_server: DavServer, proxy: Proxy) -> ServerSyncedAccount:
    return ServerSyncedAccount(alice, radicale_server, proxy)


def answer_with(status: int) -> Fault:
    """Say a creation or a change with another status of success."""

    def after(request: Request, reply: Reply) -> Reply:
        return Reply(status, reply.headers, b"") if reply.status in {201, 204} else reply

    return Fault(after=after, when=method("PUT"))


def weaken() -> Fault:
    """Weak ETags in listings, and none after a PUT."""
    return rewrite(r"(<(?:\w+:)?getetag>)\"", r'\1W/"', when=method("REPORT", "PROPFIND"))


@pytest.mark.parametrize(
    "oddities",
    [
        [respell_hrefs, compress],
        [weaken, lambda: change_header("ETag", None, when=method("PUT"))],
        [lambda: answer_with(200)],
        [lambda: answer_with(204), lambda: fail(501, when=reports("addressbook-multiget"))],
        [lambda: fail(501, when=reports("sync-collection"))],
        [lambda: change_header("ETag", '"of another time"', when=method("PUT"))],
    ],
    ids=["hrefs-and-gzip", "weak-and-none", "200", "204-without-multiget", "sync-refused", "etag-moves"],
)
def test_both_sides_agree_and_it_is_quiet(synced: ServerSyncedAccount, oddities: list[Callable[[], Fault]]) -> None:
    for oddity in oddities:
        synced.proxy.add(oddity())
    cards = {f"card-{number}.vcf": card(str(number), f"P{number}", "X-KEPT:1") for number in range(8)}
    synced.server.fill(USER, synced.path, cards)
    assert counts(synced.sync()) == {"imported": 8}
    synced.assert_in_sync()
    synced.edit(synced.person("P1"), notes="mine")
    created = synced.create(name="New")
    synced.put("card-2.vcf", card("2", "P2", "NOTE:theirs"))
    synced.remove("card-3.vcf")
    synced.api.ok("DELETE", f"/api/people/{synced.person('P4').pk}", {"deleteFromCardDav": True})
    assert counts(synced.sync()) == {"exported": 1, "updated_locally": 2, "updated_remotely": 2}
    synced.sync()
    synced.assert_in_sync()
    assert "NOTE:mine" in synced.text("card-1.vcf")
    assert "X-KEPT:1" in synced.text("card-1.vcf")
    assert "FN:New" in synced.card_of(created)
    assert synced.person("P2").notes == "theirs"
    assert {person.name for person in Person.objects.owned_by(synced.owner).active()} == {
        "P0",
        "P1",
        "P2",
        "P5",
        "P6",
        "P7",
        "New",
    }
    assert synced.count_remote_cards() == 7


@pytest.mark.parametrize("is_lost", [False, True])
def test_a_server_that_renames_new_cards_and_does_not_say_so(
    alice: User, xandikos_server: DavServer, is_lost: bool
) -> None:
    """Xandikos would keep two cards with one UID."""
    with fault_proxy(xandikos_server.port) as proxy:
        synced = ServerSyncedAccount(alice, xandikos_server, proxy)
        synced.sync()
        synced.create(name="Bob", phoneNumbers=[{"type": "home", "number": "1"}])
        if is_lost:
            proxy.add(lose_reply(when=method("PUT"), times=1))
        proxy.add(rename_on_create(sends_location=False, when=method("PUT")))
        for _ in range(3):
            synced.sync()
        synced.assert_in_sync()
        assert synced.count_remote_cards() == 1
        assert Person.objects.owned_by(synced.owner).count() == 1
        synced.edit(synced.person("Bob"), notes="mine")
        synced.sync()
        assert "NOTE:mine" in synced.card_of(synced.person("Bob"))


def test_what_a_server_does_not_have_is_asked_for_again_a_day_later(synced: ServerSyncedAccount) -> None:
    synced.proxy.add(fail(501, when=reports("sync-collection")))
    synced.put("1.vcf", card())
    synced.sync()
    synced.assert_in_sync()
    assert synced.proxy.count("REPORT") == 0
    synced.proxy.clear_faults()
    Connection.objects.owned_by(synced.owner).update(last_reconcile_at=None)
    synced.sync()
    assert synced.proxy.count("REPORT") == 1
    synced.assert_in_sync()
    assert synced.proxy.count("REPORT") == 1


@pytest.mark.parametrize("version", ["2.1", "4.0"])
def test_a_card_keeps_its_version(synced: ServerSyncedAccount, version: str) -> None:
    synced.put("1.vcf", card().replace("VERSION:3.0", f"VERSION:{version}"))
    if f"VERSION:{version}" not in synced.text("1.vcf"):
        pytest.skip("the server rewrites it")
    assert counts(synced.sync()) == {"imported": 1}
    synced.edit(synced.person(), notes="mine")
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert f"VERSION:{version}\r\n" in synced.text("1.vcf")
    assert "NOTE" in synced.text("1.vcf")
    synced.assert_in_sync()
