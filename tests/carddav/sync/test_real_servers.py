"""Scenarios of the sync on Radicale and Xandikos, through the proxy that counts requests and injects faults."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import User
from carddav.models import Conflict, Mapping, PendingImport
from people.models import Group, Person
from tests.carddav.conftest import USER, card
from tests.carddav.faults import (
    at,
    change_header,
    digest_only,
    fail,
    hang,
    hide_half,
    lose_reply,
    lose_request,
    method,
    refuse,
    rename_on_create,
    reports,
    sign_in_page,
)
from tests.carddav.proxy import Fault, Proxy, Reply
from tests.carddav.servers import PASSWORD, DavServer
from tests.carddav.sync.server_synced_account import ServerSyncedAccount
from tests.carddav.sync.synced_account import counts
from tests.pictures import picture

pytestmark = pytest.mark.sqlite_suffices


@pytest.fixture
def synced(alice: User, server: DavServer, proxy: Proxy) -> ServerSyncedAccount:
    return ServerSyncedAccount(alice, server, proxy)


def test_first_import_within_its_bound_then_one_request(synced: ServerSyncedAccount) -> None:
    synced.fill(101, "TEL;TYPE=HOME:1")
    run = synced.sync()
    assert (run.code, run.error_messages, counts(run)) == ("", [], {"imported": 101})
    assert synced.proxy.count() <= 7 + 3, synced.proxy.log()
    assert counts(synced.sync()) == {}
    assert synced.proxy.count() == 1


def test_local_edit_one_put_with_if_match_and_no_echo(synced: ServerSyncedAccount) -> None:
    synced.put(
        "1.vcf",
        card(
            "1",
            "Ada",
            "TEL;TYPE=HOME:1",
            "X-FOO;X=1:bar",
            "item1.URL:http://a.example",
            "item1.X-ABLabel:_$!<HomePage>!$_",
        ),
    )
    synced.sync()
    synced.edit(synced.person(), organization="Analytical")
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert synced.proxy.count("PUT") == 1
    assert synced.proxy.count() <= 3
    [put] = [request for request in synced.proxy.requests if request.method == "PUT"]
    assert put.headers["if-match"].startswith('"')
    text = synced.text("1.vcf")
    assert "ORG:Analytical" in text
    assert "X-FOO;X=1:bar" in text
    synced.assert_in_sync()


def test_remote_edit_arrives(synced: ServerSyncedAccount) -> None:
    synced.put("1.vcf", card("1", "Ada"))
    synced.sync()
    synced.put("1.vcf", card("1", "Ada", "EMAIL:a@example.org"))
    assert counts(synced.sync()) == {"updated_locally": 1}
    assert synced.proxy.count() <= (2 if synced.has_sync else 3)
    assert synced.person().emails[0]["email"] == "a@example.org"
    synced.assert_in_sync()


def test_new_people_are_exported_four_at_a_time(synced: ServerSyncedAccount) -> None:
    synced.sync()
    for number in range(7):
        synced.create(name=f"L{number}", phoneNumbers=[{"type": "home", "number": str(number)}])
    assert counts(synced.sync()) == {"exported": 7}
    assert synced.proxy.count() <= 7 + 1 + 1
    synced.assert_in_sync()


def test_phone_added_locally_another_removed_remotely(synced: ServerSyncedAccount) -> None:
    synced.put("1.vcf", card("1", "Ada", "TEL;TYPE=HOME:1", "TEL;TYPE=WORK:2"))
    synced.sync()
    person = synced.person()
    synced.edit(person, phoneNumbers=[*person.phone_numbers, {"type": "car", "number": "3"}])
    synced.put("1.vcf", card("1", "Ada", "TEL;TYPE=HOME:1"))
    assert counts(synced.sync()) == {"updated_locally": 1, "updated_remotely": 1}
    assert [entry["number"] for entry in synced.person().phone_numbers] == ["1", "3"]
    text = synced.text("1.vcf")
    assert [line.rpartition(":")[2] for line in text.splitlines() if line.startswith("TEL")] == ["1", "3"]
    synced.assert_in_sync()


def test_same_edit_on_both_sides_is_no_conflict_and_no_put(synced: ServerSyncedAccount) -> None:
    synced.put("1.vcf", card("1", "Ada", "ORG:A"))
    synced.sync()
    synced.edit(synced.person(), organization="B")
    synced.put("1.vcf", card("1", "Ada", "ORG:B"))
    assert counts(synced.sync()) == {}
    assert synced.proxy.count("PUT") == 0
    synced.assert_in_sync()


@pytest.mark.alternating
@pytest.mark.parametrize(
    ("body", "here", "there"),
    [
        ({"resolution": "keep_local"}, "B", "ORG:B"),
        ({"resolution": "keep_remote"}, "C", "ORG:C"),
        ({"resolution": "merged", "values": {"organization": "Both"}}, "Both", "ORG:Both"),
        ({"resolution": "merged"}, "B", "ORG:B"),
    ],
)
def test_keep_local_keep_remote_merged(synced: ServerSyncedAccount, body: dict, here: str, there: str) -> None:
    synced.put("1.vcf", card("1", "Ada", "ORG:A"))
    synced.sync()
    synced.edit(synced.person(), organization="B")
    synced.put("1.vcf", card("1", "Ada", "ORG:C", "NOTE:hello"))
    assert counts(synced.sync())["conflicts"] == 1
    assert counts(synced.sync()) == {}
    assert synced.person().notes == "hello"
    [conflict] = synced.api.ok("GET", "/api/carddav/conflicts")["conflicts"]
    assert conflict["fields"] == [{"field": "organization", "base": "A", "local": "B", "remote": "C"}]
    path = f"/api/carddav/conflicts/{conflict['id']}/resolve"
    assert synced.api.ok("POST", path, body) == {"success": True}
    assert synced.api.call("POST", path, body).json()["code"] == "already_resolved"
    synced.sync()
    assert synced.person().organization == here
    assert there in synced.text("1.vcf")
    assert synced.api.ok("GET", "/api/carddav/conflicts") == {"conflicts": []}
    synced.assert_in_sync()


def test_deleted_locally_with_the_flag(synced: ServerSyncedAccount) -> None:
    synced.fill(3)
    synced.sync()
    synced.api.ok("DELETE", f"/api/people/{synced.person('P1').pk}", {"deleteFromCardDav": True})
    assert counts(synced.sync()) == {"updated_remotely": 1}
    synced.assert_in_sync()
    assert Person.objects.owned_by(synced.owner).active().count() == 2


@pytest.mark.both_databases
def test_deleted_locally_with_the_flag_edited_remotely(synced: ServerSyncedAccount) -> None:
    synced.put("1.vcf", card("1", "Ada"))
    synced.put("2.vcf", card("2", "Bob"))
    synced.sync()
    person = synced.person()
    synced.api.ok("DELETE", f"/api/people/{person.pk}", {"deleteFromCardDav": True})
    synced.put("1.vcf", card("1", "Ada", "NOTE:new"))
    assert counts(synced.sync()) == {"conflicts": 1}
    assert "NOTE:new" in synced.text("1.vcf")
    conflict = Conflict.objects.owned_by(synced.owner).get()
    assert conflict.kind == "local_deleted"
    synced.api.ok("POST", f"/api/carddav/conflicts/{conflict.pk}/resolve", {"resolution": "keep_remote"})
    synced.sync()
    assert synced.person().notes == "new"
    synced.assert_in_sync()


def test_deleted_locally_without_the_flag(synced: ServerSyncedAccount) -> None:
    synced.put("1.vcf", card("1", "Ada"))
    synced.put("2.vcf", card("2", "Bob"))
    synced.sync()
    synced.api.ok("DELETE", f"/api/people/{synced.person().pk}", {"deleteFromCardDav": False})
    synced.assert_in_sync()
    synced.put("1.vcf", card("1", "Ada", "NOTE:edited"))
    assert counts(synced.sync()) == {}
    assert not PendingImport.objects.owned_by(synced.owner).exists()
    assert not Person.objects.owned_by(synced.owner).active().filter(name="Ada").exists()


def test_one_of_twenty_deleted_remotely_and_restored(synced: ServerSyncedAccount) -> None:
    synced.fill(20)
    synced.sync()
    synced.remove("7.vcf")
    assert counts(synced.sync()) == {"updated_locally": 1}
    assert synced.proxy.count() == 2 or not synced.has_sync
    gone = Person.objects.owned_by(synced.owner).deleted().get()
    synced.api.ok("POST", f"/api/people/{gone.pk}/restore")
    assert counts(synced.sync()) == {"exported": 1}
    assert "FN:P7" in synced.card_of(gone)
    synced.assert_in_sync()


@pytest.mark.both_databases
def test_connection_removed_and_made_again(synced: ServerSyncedAccount) -> None:
    synced.fill(3, "TEL:1")
    synced.sync()
    before = [synced.text(f"{number}.vcf") for number in range(3)]
    settings = {
        name: getattr(synced.connection, name) for name in ("server_url", "username", "password", "import_mode")
    }
    synced.connection.delete()
    synced.connection = type(synced.connection).objects.create(owner=synced.owner, **settings)
    assert counts(synced.sync()) == {}
    assert Person.objects.owned_by(synced.owner).count() == 3
    assert before == [synced.text(f"{number}.vcf") for number in range(3)]
    synced.assert_in_sync()


@pytest.mark.both_databases
def test_categories_with_an_escaped_comma(synced: ServerSyncedAccount) -> None:
    synced.put("1.vcf", card("1", "Ada", "CATEGORIES:Work,Family\\, near"))
    if "Family, near" in synced.text("1.vcf"):
        pytest.skip("loses the backslash")
    synced.sync()
    group = Group.objects.owned_by(synced.owner).get(name="Family, near")
    synced.api.ok("PUT", f"/api/groups/{group.pk}", {"name": "Family, far"})
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert "CATEGORIES:Work,Family\\, far" in synced.text("1.vcf")
    synced.assert_in_sync()


@pytest.mark.both_databases
def test_name_format_changed(synced: ServerSyncedAccount) -> None:
    text = card("1", "Ada").replace("N:;Ada;;;", "N:King;Ada;Augusta;;").replace("FN:Ada", "FN:Ada Augusta King")
    synced.put("1.vcf", text)
    synced.sync()
    synced.connection.refresh_from_db()
    synced.connection.name_format = "FIRST_LAST"
    synced.connection.save(update_fields=["name_format"])
    Mapping.objects.owned_by(synced.owner).filter(status="clean").update(status="dirty")
    assert counts(synced.sync()) == {"updated_remotely": 1}
    text = synced.text("1.vcf")
    assert "FN:Ada King" in text
    assert "N:King;Ada;Augusta" in text
    assert synced.person().display_name_override is None
    synced.assert_in_sync()


def test_two_hrefs_with_one_uid(synced: ServerSyncedAccount) -> None:
    synced.put("1.vcf", card("same", "Ada"))
    if synced.server.name == "radicale":
        pytest.skip("refuses a second card with the UID")
    synced.put("2.vcf", card("same", "Bob"))
    synced.sync()
    assert {person.name for person in Person.objects.owned_by(synced.owner)} == {"Ada", "Bob"}
    synced.assert_in_sync()


@pytest.mark.both_databases
def test_year_less_birthdays_in_three_spellings(synced: ServerSyncedAccount) -> None:
    spellings = ["BDAY:--0215", "BDAY;X-APPLE-OMIT-YEAR=1604:1604-02-15", "BDAY:1604-02-15"]
    for number, line in enumerate(spellings):
        synced.put(f"{number}.vcf", card(str(number), f"P{number}", line))
    synced.sync()
    before = [_line(synced.text(f"{number}.vcf"), "BDAY") for number in range(3)]
    for number in range(3):
        person = synced.person(f"P{number}")
        day = person.important_dates.get()
        assert (day.year_unknown, day.date.month, day.date.day) == (True, 2, 15)
        synced.edit(person, name=f"Q{number}")
    assert counts(synced.sync()) == {"updated_remotely": 3}
    assert before == [_line(synced.text(f"{number}.vcf"), "BDAY") for number in range(3)]
    synced.assert_in_sync()


def _line(text: str, name: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(name))


@pytest.mark.parametrize("fault", [lose_reply, lose_request])
def test_a_reply_that_is_lost_doubles_nothing(synced: ServerSyncedAccount, fault: Callable[..., Fault]) -> None:
    synced.put("1.vcf", card("1", "Ada"))
    synced.sync()
    synced.edit(synced.person(), notes="mine")
    synced.create(name="Bob")
    synced.proxy.add(fault(when=method("PUT")))
    synced.sync()
    synced.proxy.clear_faults()
    synced.sync()
    synced.assert_in_sync()
    assert synced.count_remote_cards() == 2
    assert "NOTE:mine" in synced.text("1.vcf")
    assert Person.objects.owned_by(synced.owner).count() == 2


@pytest.mark.both_databases
def test_half_of_a_listing_is_hidden(synced: ServerSyncedAccount) -> None:
    synced.fill(20)
    synced.sync()
    type(synced.connection).objects.owned_by(synced.owner).update(last_reconcile_at=None)
    synced.proxy.add(hide_half(when=reports("sync-collection")))
    assert counts(synced.sync()) == {}
    synced.proxy.clear_faults()
    assert Person.objects.owned_by(synced.owner).active().count() == 20
    assert not Conflict.objects.owned_by(synced.owner).exists()


def test_hrefs_renamed_on_create(synced: ServerSyncedAccount) -> None:
    synced.sync()
    synced.proxy.add(rename_on_create(when=method("PUT")))
    synced.create(name="Bob")
    assert counts(synced.sync()) == {"exported": 1}
    synced.proxy.clear_faults()
    assert "/renamed-" in Mapping.objects.owned_by(synced.owner).get().href
    synced.assert_in_sync()


@pytest.mark.both_databases
@pytest.mark.alternating
@pytest.mark.parametrize("status", [403, 409, 412])
def test_a_refused_token(synced: ServerSyncedAccount, status: int) -> None:
    synced.fill(10)
    synced.sync()
    synced.remove("3.vcf")
    synced.proxy.add(refuse(status, "valid-sync-token", when=reports("sync-collection"), times=1))
    assert counts(synced.sync()) == {"updated_locally": 1}
    assert Person.objects.owned_by(synced.owner).active().count() == 9
    synced.proxy.clear_faults()
    assert counts(synced.sync()) == {}


def test_no_etag_after_put(synced: ServerSyncedAccount) -> None:
    synced.put("1.vcf", card("1", "Ada"))
    synced.sync()
    synced.proxy.add(change_header("ETag", None, when=method("PUT")))
    synced.edit(synced.person(), notes="mine")
    assert counts(synced.sync()) == {"updated_remotely": 1}
    synced.assert_in_sync()


def test_a_page_of_html_is_no_empty_book(synced: ServerSyncedAccount) -> None:
    synced.put("1.vcf", card("1", "Ada"))
    synced.sync()
    synced.proxy.add(sign_in_page(when=method("REPORT", "PROPFIND")))
    assert synced.sync().code == "not_carddav"
    assert Person.objects.owned_by(synced.owner).active().count() == 1


def test_a_wrong_password_is_one_request(synced: ServerSyncedAccount) -> None:
    synced.sync()
    synced.proxy.add(fail(401, headers={"WWW-Authenticate": 'Basic realm="dav"'}))
    assert synced.sync().code == "auth"
    assert synced.proxy.count() == 1
    assert synced.sync().code == "auth"
    assert synced.proxy.count() == 0


@pytest.mark.alternating
@pytest.mark.parametrize("algorithm", ["MD5", "SHA-256"])
def test_a_server_that_takes_digest_alone(synced: ServerSyncedAccount, algorithm: str) -> None:
    synced.proxy.add(digest_only(USER, PASSWORD, algorithm=algorithm))
    synced.put("1.vcf", card("1", "Ada"))
    assert counts(synced.sync()) == {"imported": 1}
    synced.edit(synced.person(), notes="mine")
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert "NOTE:mine" in synced.text("1.vcf")
    assert counts(synced.sync()) == {}
    assert synced.proxy.count() == 2  # Basic first, which it refuses
    assert synced.connection.pause == ""


@pytest.mark.alternating
@pytest.mark.parametrize("url", ["http://10.0.0.1/a.jpg", "http://169.254.169.254/latest", "file:///etc/passwd"])
def test_photo_by_url_on_a_private_host(synced: ServerSyncedAccount, url: str, settings: Any) -> None:
    synced.put("1.vcf", card("1", "Ada", f"PHOTO;VALUE=uri:{url}"))
    assert counts(synced.sync()) == {"imported": 1}
    assert synced.person().photo is None
    synced.assert_in_sync()


def test_photo_by_url_on_a_slow_host(synced: ServerSyncedAccount, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carddav.sync.pictures._DOWNLOAD_SECONDS", 0.3)
    synced.proxy.add(hang(when=at("/pictures/ada.jpg")))
    synced.put("1.vcf", card("1", "Ada", f"PHOTO;VALUE=uri:{synced.proxy.url}pictures/ada.jpg"))
    assert counts(synced.sync()) == {"imported": 1}
    assert synced.person().photo is None
    synced.assert_in_sync()
    assert "/pictures/ada.jpg" in synced.text("1.vcf").replace("\r\n ", "")


def test_photo_by_url_gets_no_login(synced: ServerSyncedAccount) -> None:
    url = f"{synced.proxy.url}pictures/ada.jpg"
    synced.proxy.add(
        Fault(
            before=lambda request: Reply(200, {"Content-Type": "image/jpeg"}, picture()), when=at("/pictures/ada.jpg")
        )
    )
    synced.put("1.vcf", card("1", "Ada", f"PHOTO;VALUE=uri:{url}"))
    assert counts(synced.sync()) == {"imported": 1}
    assert synced.person().photo
    [asked] = [request for request in synced.proxy.requests if request.path == "/pictures/ada.jpg"]
    assert "authorization" not in asked.headers
    synced.proxy.clear_faults()
    synced.assert_in_sync()
