"""Scenarios of the sync on Radicale and Xandikos, through the proxy that counts requests and injects faults."""

from collections.abc import Callable
from typing import Any

import pytest

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
from tests.carddav.proxy import Fault, Reply
from tests.carddav.servers import PASSWORD
from tests.carddav.sync.server_synced_account import ServerSyncedAccount
from tests.carddav.sync.synced_account import counts
from tests.pictures import picture

pytestmark = pytest.mark.sqlite_suffices


def test_first_import_is_bounded_and_the_next_run_is_one_request(server_synced: ServerSyncedAccount) -> None:
    server_synced.fill(101, "TEL;TYPE=HOME:1")
    run = server_synced.sync()
    assert (run.code, run.error_messages, counts(run)) == ("", [], {"imported": 101})
    assert server_synced.proxy.count() <= 7 + 3, server_synced.proxy.log()
    assert counts(server_synced.sync()) == {}
    assert server_synced.proxy.count() == 1


def test_local_edit_is_one_conditional_put_and_is_not_echoed(server_synced: ServerSyncedAccount) -> None:
    server_synced.put(
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
    server_synced.sync()
    server_synced.edit(server_synced.person(), organization="Analytical")
    assert counts(server_synced.sync()) == {"updated_remotely": 1}
    assert server_synced.proxy.count("PUT") == 1
    assert server_synced.proxy.count() <= 3
    [put] = [request for request in server_synced.proxy.requests if request.method == "PUT"]
    assert put.headers["if-match"].startswith('"')
    text = server_synced.text("1.vcf")
    assert "ORG:Analytical" in text
    assert "X-FOO;X=1:bar" in text
    server_synced.assert_in_sync()


def test_remote_edit_is_applied(server_synced: ServerSyncedAccount) -> None:
    server_synced.put("1.vcf", card("1", "Ada"))
    server_synced.sync()
    server_synced.put("1.vcf", card("1", "Ada", "EMAIL:a@example.org"))
    assert counts(server_synced.sync()) == {"updated_locally": 1}
    assert server_synced.proxy.count() <= (2 if server_synced.has_sync else 3)
    assert server_synced.person().emails[0]["email"] == "a@example.org"
    server_synced.assert_in_sync()


def test_new_people_are_exported_four_at_a_time(server_synced: ServerSyncedAccount) -> None:
    server_synced.sync()
    for number in range(7):
        server_synced.create(name=f"L{number}", phoneNumbers=[{"type": "home", "number": str(number)}])
    assert counts(server_synced.sync()) == {"exported": 7}
    assert server_synced.proxy.count() <= 7 + 1 + 1
    server_synced.assert_in_sync()


def test_phones_added_here_and_removed_there_are_merged(server_synced: ServerSyncedAccount) -> None:
    server_synced.put("1.vcf", card("1", "Ada", "TEL;TYPE=HOME:1", "TEL;TYPE=WORK:2"))
    server_synced.sync()
    person = server_synced.person()
    server_synced.edit(person, phoneNumbers=[*person.phone_numbers, {"type": "car", "number": "3"}])
    server_synced.put("1.vcf", card("1", "Ada", "TEL;TYPE=HOME:1"))
    assert counts(server_synced.sync()) == {"updated_locally": 1, "updated_remotely": 1}
    assert [entry["number"] for entry in server_synced.person().phone_numbers] == ["1", "3"]
    text = server_synced.text("1.vcf")
    assert [line.rpartition(":")[2] for line in text.splitlines() if line.startswith("TEL")] == ["1", "3"]
    server_synced.assert_in_sync()


def test_same_edit_on_both_sides_needs_no_write(server_synced: ServerSyncedAccount) -> None:
    server_synced.put("1.vcf", card("1", "Ada", "ORG:A"))
    server_synced.sync()
    server_synced.edit(server_synced.person(), organization="B")
    server_synced.put("1.vcf", card("1", "Ada", "ORG:B"))
    assert counts(server_synced.sync()) == {}
    assert server_synced.proxy.count("PUT") == 0
    server_synced.assert_in_sync()


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
def test_conflict_is_resolved_as_chosen(server_synced: ServerSyncedAccount, body: dict, here: str, there: str) -> None:
    server_synced.put("1.vcf", card("1", "Ada", "ORG:A"))
    server_synced.sync()
    server_synced.edit(server_synced.person(), organization="B")
    server_synced.put("1.vcf", card("1", "Ada", "ORG:C", "NOTE:hello"))
    assert counts(server_synced.sync())["conflicts"] == 1
    assert counts(server_synced.sync()) == {}
    assert server_synced.person().notes == "hello"
    [conflict] = server_synced.api.ok("GET", "/api/carddav/conflicts")["conflicts"]
    assert conflict["fields"] == [{"field": "organization", "base": "A", "local": "B", "remote": "C"}]
    path = f"/api/carddav/conflicts/{conflict['id']}/resolve"
    assert server_synced.api.ok("POST", path, body) == {"success": True}
    assert server_synced.api.call("POST", path, body).json()["code"] == "already_resolved"
    server_synced.sync()
    assert server_synced.person().organization == here
    assert there in server_synced.text("1.vcf")
    assert server_synced.api.ok("GET", "/api/carddav/conflicts") == {"conflicts": []}
    server_synced.assert_in_sync()


def test_local_deletion_with_the_flag_deletes_the_card(server_synced: ServerSyncedAccount) -> None:
    server_synced.fill(3)
    server_synced.sync()
    server_synced.api.ok("DELETE", f"/api/people/{server_synced.person('P1').pk}", {"deleteFromCardDav": True})
    assert counts(server_synced.sync()) == {"updated_remotely": 1}
    server_synced.assert_in_sync()
    assert Person.objects.owned_by(server_synced.owner).active().count() == 2


@pytest.mark.both_databases
def test_local_deletion_of_a_remotely_edited_card_is_a_conflict(server_synced: ServerSyncedAccount) -> None:
    server_synced.put("1.vcf", card("1", "Ada"))
    server_synced.put("2.vcf", card("2", "Bob"))
    server_synced.sync()
    person = server_synced.person()
    server_synced.api.ok("DELETE", f"/api/people/{person.pk}", {"deleteFromCardDav": True})
    server_synced.put("1.vcf", card("1", "Ada", "NOTE:new"))
    assert counts(server_synced.sync()) == {"conflicts": 1}
    assert "NOTE:new" in server_synced.text("1.vcf")
    conflict = Conflict.objects.owned_by(server_synced.owner).get()
    assert conflict.kind == "local_deleted"
    server_synced.api.ok("POST", f"/api/carddav/conflicts/{conflict.pk}/resolve", {"resolution": "keep_remote"})
    server_synced.sync()
    assert server_synced.person().notes == "new"
    server_synced.assert_in_sync()


def test_local_deletion_without_the_flag_keeps_the_card(server_synced: ServerSyncedAccount) -> None:
    server_synced.put("1.vcf", card("1", "Ada"))
    server_synced.put("2.vcf", card("2", "Bob"))
    server_synced.sync()
    server_synced.api.ok("DELETE", f"/api/people/{server_synced.person().pk}", {"deleteFromCardDav": False})
    server_synced.assert_in_sync()
    server_synced.put("1.vcf", card("1", "Ada", "NOTE:edited"))
    assert counts(server_synced.sync()) == {}
    assert not PendingImport.objects.owned_by(server_synced.owner).exists()
    assert not Person.objects.owned_by(server_synced.owner).active().filter(name="Ada").exists()


def test_remotely_deleted_person_is_exported_after_restoring(server_synced: ServerSyncedAccount) -> None:
    server_synced.fill(20)
    server_synced.sync()
    server_synced.remove("7.vcf")
    assert counts(server_synced.sync()) == {"updated_locally": 1}
    assert server_synced.proxy.count() == 2 or not server_synced.has_sync
    gone = Person.objects.owned_by(server_synced.owner).deleted().get()
    server_synced.api.ok("POST", f"/api/people/{gone.pk}/restore")
    assert counts(server_synced.sync()) == {"exported": 1}
    assert "FN:P7" in server_synced.card_of(gone)
    server_synced.assert_in_sync()


@pytest.mark.both_databases
def test_recreated_connection_matches_people_and_cards(server_synced: ServerSyncedAccount) -> None:
    server_synced.fill(3, "TEL:1")
    server_synced.sync()
    before = [server_synced.text(f"{number}.vcf") for number in range(3)]
    settings = {
        name: getattr(server_synced.connection, name) for name in ("server_url", "username", "password", "import_mode")
    }
    server_synced.connection.delete()
    server_synced.connection = type(server_synced.connection).objects.create(owner=server_synced.owner, **settings)
    assert counts(server_synced.sync()) == {}
    assert Person.objects.owned_by(server_synced.owner).count() == 3
    assert before == [server_synced.text(f"{number}.vcf") for number in range(3)]
    server_synced.assert_in_sync()


@pytest.mark.both_databases
def test_categories_with_an_escaped_comma(server_synced: ServerSyncedAccount) -> None:
    server_synced.put("1.vcf", card("1", "Ada", "CATEGORIES:Work,Family\\, near"))
    if "Family, near" in server_synced.text("1.vcf"):
        pytest.skip("loses the backslash")
    server_synced.sync()
    group = Group.objects.owned_by(server_synced.owner).get(name="Family, near")
    server_synced.api.ok("PUT", f"/api/groups/{group.pk}", {"name": "Family, far"})
    assert counts(server_synced.sync()) == {"updated_remotely": 1}
    assert "CATEGORIES:Work,Family\\, far" in server_synced.text("1.vcf")
    server_synced.assert_in_sync()


@pytest.mark.both_databases
def test_changed_name_format_is_sent(server_synced: ServerSyncedAccount) -> None:
    text = card("1", "Ada").replace("N:;Ada;;;", "N:King;Ada;Augusta;;").replace("FN:Ada", "FN:Ada Augusta King")
    server_synced.put("1.vcf", text)
    server_synced.sync()
    server_synced.connection.refresh_from_db()
    server_synced.connection.name_format = "FIRST_LAST"
    server_synced.connection.save(update_fields=["name_format"])
    Mapping.objects.owned_by(server_synced.owner).filter(status="clean").update(status="dirty")
    assert counts(server_synced.sync()) == {"updated_remotely": 1}
    text = server_synced.text("1.vcf")
    assert "FN:Ada King" in text
    assert "N:King;Ada;Augusta" in text
    assert server_synced.person().display_name_override is None
    server_synced.assert_in_sync()


def test_two_cards_with_the_same_uid(server_synced: ServerSyncedAccount) -> None:
    server_synced.put("1.vcf", card("same", "Ada"))
    if server_synced.server.name == "radicale":
        pytest.skip("refuses a second card with the UID")
    server_synced.put("2.vcf", card("same", "Bob"))
    server_synced.sync()
    assert {person.name for person in Person.objects.owned_by(server_synced.owner)} == {"Ada", "Bob"}
    server_synced.assert_in_sync()


@pytest.mark.both_databases
def test_year_less_birthdays_in_three_spellings(server_synced: ServerSyncedAccount) -> None:
    spellings = ["BDAY:--0215", "BDAY;X-APPLE-OMIT-YEAR=1604:1604-02-15", "BDAY:1604-02-15"]
    for number, line in enumerate(spellings):
        server_synced.put(f"{number}.vcf", card(str(number), f"P{number}", line))
    server_synced.sync()
    before = [card_line(server_synced.text(f"{number}.vcf"), "BDAY") for number in range(3)]
    for number in range(3):
        person = server_synced.person(f"P{number}")
        day = person.important_dates.get()
        assert (day.year_unknown, day.date.month, day.date.day) == (True, 2, 15)
        server_synced.edit(person, name=f"Q{number}")
    assert counts(server_synced.sync()) == {"updated_remotely": 3}
    assert before == [card_line(server_synced.text(f"{number}.vcf"), "BDAY") for number in range(3)]
    server_synced.assert_in_sync()


def card_line(text: str, name: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(name))


@pytest.mark.parametrize("fault", [lose_reply, lose_request])
def test_lost_response_duplicates_nothing(server_synced: ServerSyncedAccount, fault: Callable[..., Fault]) -> None:
    server_synced.put("1.vcf", card("1", "Ada"))
    server_synced.sync()
    server_synced.edit(server_synced.person(), notes="mine")
    server_synced.create(name="Bob")
    server_synced.proxy.add(fault(when=method("PUT")))
    server_synced.sync()
    server_synced.proxy.clear_faults()
    server_synced.sync()
    server_synced.assert_in_sync()
    assert server_synced.count_remote_cards() == 2
    assert "NOTE:mine" in server_synced.text("1.vcf")
    assert Person.objects.owned_by(server_synced.owner).count() == 2


@pytest.mark.both_databases
def test_incomplete_listing_deletes_nothing(server_synced: ServerSyncedAccount) -> None:
    server_synced.fill(20)
    server_synced.sync()
    type(server_synced.connection).objects.owned_by(server_synced.owner).update(last_reconcile_at=None)
    server_synced.proxy.add(hide_half(when=reports("sync-collection")))
    assert counts(server_synced.sync()) == {}
    server_synced.proxy.clear_faults()
    assert Person.objects.owned_by(server_synced.owner).active().count() == 20
    assert not Conflict.objects.owned_by(server_synced.owner).exists()


def test_cards_renamed_on_create_are_found(server_synced: ServerSyncedAccount) -> None:
    server_synced.sync()
    server_synced.proxy.add(rename_on_create(when=method("PUT")))
    server_synced.create(name="Bob")
    assert counts(server_synced.sync()) == {"exported": 1}
    server_synced.proxy.clear_faults()
    assert "/renamed-" in Mapping.objects.owned_by(server_synced.owner).get().href
    server_synced.assert_in_sync()


@pytest.mark.both_databases
@pytest.mark.alternating
@pytest.mark.parametrize("status", [403, 409, 412])
def test_refused_token_gives_a_full_listing(server_synced: ServerSyncedAccount, status: int) -> None:
    server_synced.fill(10)
    server_synced.sync()
    server_synced.remove("3.vcf")
    server_synced.proxy.add(refuse(status, "valid-sync-token", when=reports("sync-collection"), times=1))
    assert counts(server_synced.sync()) == {"updated_locally": 1}
    assert Person.objects.owned_by(server_synced.owner).active().count() == 9
    server_synced.proxy.clear_faults()
    assert counts(server_synced.sync()) == {}


def test_put_without_etag_in_the_response(server_synced: ServerSyncedAccount) -> None:
    server_synced.put("1.vcf", card("1", "Ada"))
    server_synced.sync()
    server_synced.proxy.add(change_header("ETag", None, when=method("PUT")))
    server_synced.edit(server_synced.person(), notes="mine")
    assert counts(server_synced.sync()) == {"updated_remotely": 1}
    server_synced.assert_in_sync()


def test_html_page_is_not_an_empty_book(server_synced: ServerSyncedAccount) -> None:
    server_synced.put("1.vcf", card("1", "Ada"))
    server_synced.sync()
    server_synced.proxy.add(sign_in_page(when=method("REPORT", "PROPFIND")))
    assert server_synced.sync().code == "not_carddav"
    assert Person.objects.owned_by(server_synced.owner).active().count() == 1


def test_wrong_password_takes_one_request(server_synced: ServerSyncedAccount) -> None:
    server_synced.sync()
    server_synced.proxy.add(fail(401, headers={"WWW-Authenticate": 'Basic realm="dav"'}))
    assert server_synced.sync().code == "auth"
    assert server_synced.proxy.count() == 1
    assert server_synced.sync().code == "auth"
    assert server_synced.proxy.count() == 0


@pytest.mark.alternating
@pytest.mark.parametrize("algorithm", ["MD5", "SHA-256"])
def test_server_that_accepts_digest_only(server_synced: ServerSyncedAccount, algorithm: str) -> None:
    server_synced.proxy.add(digest_only(USER, PASSWORD, algorithm=algorithm))
    server_synced.put("1.vcf", card("1", "Ada"))
    assert counts(server_synced.sync()) == {"imported": 1}
    server_synced.edit(server_synced.person(), notes="mine")
    assert counts(server_synced.sync()) == {"updated_remotely": 1}
    assert "NOTE:mine" in server_synced.text("1.vcf")
    assert counts(server_synced.sync()) == {}
    assert server_synced.proxy.count() == 2  # Basic first, which it refuses
    assert server_synced.connection.pause == ""


@pytest.mark.alternating
@pytest.mark.parametrize("url", ["http://10.0.0.1/a.jpg", "http://169.254.169.254/latest", "file:///etc/passwd"])
def test_photo_by_url_on_a_private_host(server_synced: ServerSyncedAccount, url: str, settings: Any) -> None:
    server_synced.put("1.vcf", card("1", "Ada", f"PHOTO;VALUE=uri:{url}"))
    assert counts(server_synced.sync()) == {"imported": 1}
    assert server_synced.person().photo is None
    server_synced.assert_in_sync()


def test_photo_by_url_on_a_slow_host(server_synced: ServerSyncedAccount, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carddav.sync.pictures._DOWNLOAD_SECONDS", 0.3)
    server_synced.proxy.add(hang(when=at("/pictures/ada.jpg")))
    server_synced.put("1.vcf", card("1", "Ada", f"PHOTO;VALUE=uri:{server_synced.proxy.url}pictures/ada.jpg"))
    assert counts(server_synced.sync()) == {"imported": 1}
    assert server_synced.person().photo is None
    server_synced.assert_in_sync()
    assert "/pictures/ada.jpg" in server_synced.text("1.vcf").replace("\r\n ", "")


def test_photo_by_url_gets_no_login(server_synced: ServerSyncedAccount) -> None:
    url = f"{server_synced.proxy.url}pictures/ada.jpg"
    server_synced.proxy.add(
        Fault(
            before=lambda request: Reply(200, {"Content-Type": "image/jpeg"}, picture()), when=at("/pictures/ada.jpg")
        )
    )
    server_synced.put("1.vcf", card("1", "Ada", f"PHOTO;VALUE=uri:{url}"))
    assert counts(server_synced.sync()) == {"imported": 1}
    assert server_synced.person().photo
    [asked] = [request for request in server_synced.proxy.requests if request.path == "/pictures/ada.jpg"]
    assert "authorization" not in asked.headers
    server_synced.proxy.clear_faults()
    server_synced.assert_in_sync()
