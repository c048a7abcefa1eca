"""What real servers make of cards: all that is written comes back in their own spelling, and is no edit of anybody."""

import base64
import re
from urllib.parse import quote

import pytest

from accounts.models import User
from carddav.client import Login, discover, open_session
from carddav.client.hrefs import href_key
from carddav.models import Conflict
from carddav.sync.fields import EMPTY_FIELDS
from carddav.sync.people import load_local_contacts
from contacts_project.kernel.ownership.account_lock import account_write
from people.models import Person
from tests.carddav.conftest import USER, card
from tests.carddav.faults import method
from tests.carddav.proxy import Fault, Proxy, Reply, Request
from tests.carddav.servers import PASSWORD, DavServer
from tests.carddav.sync.server_synced_account import ServerSyncedAccount
from tests.carddav.sync.synced_account import counts
from tests.people.vcard.real_cards import needs_real_cards, real_cards
from tests.pictures import picture, upload

# Servers do the same beside any database; test_real_servers.py and the random histories are run on both.
pytestmark = pytest.mark.one_database


@pytest.fixture
def synced(alice: User, server: DavServer, proxy: Proxy) -> ServerSyncedAccount:
    return ServerSyncedAccount(alice, server, proxy)


def put_real_cards(synced: ServerSyncedAccount) -> int:
    """Put all that the server takes, as another client would; how many."""
    taken = 0
    for number, data in enumerate(real_cards().values()):
        text = data.decode("utf-8", "replace").replace("\x00", "")
        path = f"{synced.path}{number}.vcf"
        status, _ = synced.server.call("PUT", path, USER, text, "text/vcard; charset=utf-8")
        taken += status in {200, 201, 204}
    return taken


def fields_by_person(synced: ServerSyncedAccount) -> dict[str, dict[str, object]]:
    people = list(Person.objects.owned_by(synced.owner).active().values_list("pk", flat=True))
    return {str(key): side.fields for key, side in load_local_contacts(synced.owner, people).items()}


@needs_real_cards
def test_real_cards_edited_here_and_read_back_change_nothing_else(synced: ServerSyncedAccount) -> None:
    taken = put_real_cards(synced)
    first = synced.sync()
    assert first.code == ""
    assert first.imported + first.errors >= taken - 2, first.error_messages  # group cards are nobody
    assert synced.proxy.count("PROPFIND", "REPORT") <= 7 + -(-taken // 50), synced.proxy.log()
    synced.assert_in_sync()
    before = fields_by_person(synced)
    with account_write(synced.owner):
        Person.objects.owned_by(synced.owner).active().update(job_title="Tester")
    pushed = synced.sync()
    assert (pushed.code, pushed.conflicts, pushed.updated_locally) == ("", 0, 0), pushed.error_messages
    edited = len(before)
    writes, reads = synced.proxy.count("PUT"), synced.proxy.count("PROPFIND", "REPORT")
    assert 0 < writes <= edited
    assert reads <= 1 + -(-edited // 50)
    for _ in range(2):
        synced.assert_in_sync()
    after = fields_by_person(synced)
    assert before.keys() == after.keys()
    for key, fields in after.items():
        assert {field for field in EMPTY_FIELDS if fields[field] != before[key][field]} <= {"jobTitle"}, (
            before[key],
            fields,
        )


def test_an_edit_there_between_the_listing_and_the_push(synced: ServerSyncedAccount) -> None:
    synced.put("1.vcf", card("1", "Ada", "TEL;TYPE=HOME:1"))
    synced.sync()
    synced.edit(synced.person(), organization="Here")

    def first(request: Request) -> Reply | None:
        synced.put("1.vcf", card("1", "Ada", "TEL;TYPE=HOME:1", "NOTE:There"))
        return None

    synced.proxy.add(Fault(before=first, when=method("PUT"), times=1))
    run = synced.sync()
    assert (run.code, run.error_messages) == ("", [])
    assert not Conflict.objects.owned_by(synced.owner).exists()
    assert (synced.person().organization, synced.person().notes) == ("Here", "There")
    text = synced.text("1.vcf")
    assert "ORG:Here" in text
    assert "NOTE:There" in text
    synced.assert_in_sync()


def test_a_photo_comes_goes_and_stays(synced: ServerSyncedAccount) -> None:
    def photo_line(color: str) -> str:
        return "PHOTO;ENCODING=b;TYPE=JPEG:" + base64.b64encode(picture(color=color)).decode()

    synced.put("1.vcf", card("1", "Ada", photo_line("red")))
    synced.sync()
    first = synced.person().photo
    assert first
    synced.edit(synced.person(), notes="mine")
    assert counts(synced.sync()) == {"updated_remotely": 1}
    synced.assert_in_sync()
    assert _photo(synced) == picture(color="red")
    synced.put("1.vcf", card("1", "Ada", "NOTE:mine", photo_line("blue")))
    assert counts(synced.sync()) == {"updated_locally": 1}
    assert synced.person().photo not in {first, None}
    upload(synced.api, f"/api/people/{synced.person().pk}/photo", picture(color="green"))
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert _photo(synced) not in {picture(color="blue"), b""}
    synced.assert_in_sync()
    synced.api.ok("DELETE", f"/api/people/{synced.person().pk}/photo")
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert _photo(synced) == b""
    synced.assert_in_sync()
    assert synced.person().photo is None


def _photo(synced: ServerSyncedAccount) -> bytes:
    text = re.sub(r"\r?\n[ \t]", "", synced.text("1.vcf"))
    found = re.search(r"^PHOTO[^:]*:(.*?)\s*$", text, re.MULTILINE)
    return base64.b64decode(found[1]) if found else b""


def test_the_book_is_found_from_wherever_one_begins(synced: ServerSyncedAccount) -> None:
    def found_from(url: str) -> set[str]:
        with open_session(Login(url, USER, PASSWORD)) as session:
            return {href_key(book.url).rstrip("/") for book in discover(session).books}

    root = synced.proxy.url.rstrip("/")
    home = root + synced.path.rstrip("/").rpartition("/")[0] + "/"
    with open_session(Login(root + synced.path, USER, PASSWORD)) as session:
        principal = discover(session).principal_url
    starts = [root + synced.path, root + quote(synced.path.rstrip("/")), home, home.rstrip("/"), f"{root}/", root]
    for start in [*starts, *filter(None, [principal])]:
        assert synced.path.rstrip("/") in found_from(start), start
