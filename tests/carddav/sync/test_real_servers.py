"""Scenarios of the sync on Radicale and Xandikos, through the proxy that counts requests and injects faults."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import User
from carddav.models import Conflict, Mapping, PendingImport
from people.models import Group, Person
from tests.carddav.conftest import card
from tests.carddav.faults import (
    at,
    change_header,
    fail,
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
from tests.carddav.servers import DavServer
from tests.carddav.sync.real_stage import RealStage
from tests.carddav.sync.stage import counts
from tests.pictures import picture


@pytest.fixture
def stage(alice: User, server: DavServer, proxy: Proxy) -> RealStage:
    return RealStage(alice, server, proxy)


def test_first_import_within_its_bound_then_one_request(stage: RealStage) -> None:
    for number in range(120):
        stage.put(f"{number}.vcf", card(str(number), f"P{number}", "TEL;TYPE=HOME:1"))
    run = stage.sync()
    assert (run.code, run.error_messages, counts(run)) == ("", [], {"imported": 120})
    assert stage.proxy.count() <= 7 + 3, stage.proxy.log()
    assert counts(stage.sync()) == {}
    assert stage.proxy.count() == 1


def test_local_edit_one_put_with_if_match_and_no_echo(stage: RealStage) -> None:
    stage.put(
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
    stage.sync()
    stage.edit(stage.person(), organization="Analytical")
    assert counts(stage.sync()) == {"updated_remotely": 1}
    assert stage.proxy.count("PUT") == 1
    assert stage.proxy.count() <= 3
    [put] = [request for request in stage.proxy.requests if request.method == "PUT"]
    assert put.headers["if-match"].startswith('"')
    text = stage.text("1.vcf")
    assert "ORG:Analytical" in text
    assert "X-FOO;X=1:bar" in text
    stage.quiet()


def test_remote_edit_arrives(stage: RealStage) -> None:
    stage.put("1.vcf", card("1", "Ada"))
    stage.sync()
    stage.put("1.vcf", card("1", "Ada", "EMAIL:a@example.org"))
    assert counts(stage.sync()) == {"updated_locally": 1}
    assert stage.proxy.count() <= 2
    assert stage.person().emails[0]["email"] == "a@example.org"
    stage.quiet()


def test_new_people_are_exported_four_at_a_time(stage: RealStage) -> None:
    stage.sync()
    for number in range(7):
        stage.create(name=f"L{number}", phoneNumbers=[{"type": "home", "number": str(number)}])
    assert counts(stage.sync()) == {"exported": 7}
    assert stage.proxy.count() <= 7 + 1 + 1
    stage.quiet()


def test_phone_added_locally_another_removed_remotely(stage: RealStage) -> None:
    stage.put("1.vcf", card("1", "Ada", "TEL;TYPE=HOME:1", "TEL;TYPE=WORK:2"))
    stage.sync()
    person = stage.person()
    stage.edit(person, phoneNumbers=[*person.phone_numbers, {"type": "car", "number": "3"}])
    stage.put("1.vcf", card("1", "Ada", "TEL;TYPE=HOME:1"))
    assert counts(stage.sync()) == {"updated_locally": 1, "updated_remotely": 1}
    assert [entry["number"] for entry in stage.person().phone_numbers] == ["1", "3"]
    text = stage.text("1.vcf")
    assert ":2" not in text
    assert ":3" in text
    stage.quiet()


def test_same_edit_on_both_sides_is_no_conflict_and_no_put(stage: RealStage) -> None:
    stage.put("1.vcf", card("1", "Ada", "ORG:A"))
    stage.sync()
    stage.edit(stage.person(), organization="B")
    stage.put("1.vcf", card("1", "Ada", "ORG:B"))
    assert counts(stage.sync()) == {}
    assert stage.proxy.count("PUT") == 0
    stage.quiet()


@pytest.mark.parametrize(
    ("body", "here", "there"),
    [
        ({"resolution": "keep_local"}, "B", "ORG:B"),
        ({"resolution": "keep_remote"}, "C", "ORG:C"),
        ({"resolution": "merged", "values": {"organization": "Both"}}, "Both", "ORG:Both"),
        ({"resolution": "merged"}, "B", "ORG:B"),
    ],
)
def test_keep_local_keep_remote_merged(stage: RealStage, body: dict, here: str, there: str) -> None:
    stage.put("1.vcf", card("1", "Ada", "ORG:A"))
    stage.sync()
    stage.edit(stage.person(), organization="B")
    stage.put("1.vcf", card("1", "Ada", "ORG:C", "NOTE:hello"))
    assert counts(stage.sync())["conflicts"] == 1
    assert counts(stage.sync()) == {}
    assert stage.person().notes == "hello"
    [conflict] = stage.api.ok("GET", "/api/carddav/conflicts")["conflicts"]
    assert conflict["fields"] == [{"field": "organization", "base": "A", "local": "B", "remote": "C"}]
    path = f"/api/carddav/conflicts/{conflict['id']}/resolve"
    assert stage.api.ok("POST", path, body) == {"success": True}
    assert stage.api.call("POST", path, body).json()["code"] == "already_resolved"
    stage.sync()
    assert stage.person().organization == here
    assert there in stage.text("1.vcf")
    assert stage.api.ok("GET", "/api/carddav/conflicts") == {"conflicts": []}
    stage.quiet()


def test_deleted_locally_with_the_flag(stage: RealStage) -> None:
    for number in range(3):
        stage.put(f"{number}.vcf", card(str(number), f"P{number}"))
    stage.sync()
    stage.api.ok("DELETE", f"/api/people/{stage.person('P1').pk}", {"deleteFromCardDav": True})
    assert counts(stage.sync()) == {"updated_remotely": 1}
    stage.quiet()
    assert Person.objects.owned_by(stage.owner).active().count() == 2


def test_deleted_locally_with_the_flag_edited_remotely(stage: RealStage) -> None:
    stage.put("1.vcf", card("1", "Ada"))
    stage.put("2.vcf", card("2", "Bob"))
    stage.sync()
    person = stage.person()
    stage.api.ok("DELETE", f"/api/people/{person.pk}", {"deleteFromCardDav": True})
    stage.put("1.vcf", card("1", "Ada", "NOTE:new"))
    assert counts(stage.sync()) == {"conflicts": 1}
    assert "NOTE:new" in stage.text("1.vcf")
    conflict = Conflict.objects.owned_by(stage.owner).get()
    assert conflict.kind == "local_deleted"
    stage.api.ok("POST", f"/api/carddav/conflicts/{conflict.pk}/resolve", {"resolution": "keep_remote"})
    stage.sync()
    assert stage.person().notes == "new"
    stage.quiet()


def test_deleted_locally_without_the_flag(stage: RealStage) -> None:
    stage.put("1.vcf", card("1", "Ada"))
    stage.put("2.vcf", card("2", "Bob"))
    stage.sync()
    stage.api.ok("DELETE", f"/api/people/{stage.person().pk}", {"deleteFromCardDav": False})
    stage.quiet()
    stage.put("1.vcf", card("1", "Ada", "NOTE:edited"))
    assert counts(stage.sync()) == {}
    assert not PendingImport.objects.owned_by(stage.owner).exists()
    assert not Person.objects.owned_by(stage.owner).active().filter(name="Ada").exists()


def test_one_of_twenty_deleted_remotely_and_restored(stage: RealStage) -> None:
    for number in range(20):
        stage.put(f"{number}.vcf", card(str(number), f"P{number}"))
    stage.sync()
    stage.remove("7.vcf")
    assert counts(stage.sync()) == {"updated_locally": 1}
    assert stage.proxy.count() == 2
    gone = Person.objects.owned_by(stage.owner).deleted().get()
    stage.api.ok("POST", f"/api/people/{gone.pk}/restore")
    assert counts(stage.sync()) == {"exported": 1}
    assert "FN:P7" in stage.card_of(gone)
    stage.quiet()


def test_connection_removed_and_made_again(stage: RealStage) -> None:
    for number in range(3):
        stage.put(f"{number}.vcf", card(str(number), f"P{number}", "TEL:1"))
    stage.sync()
    before = [stage.text(f"{number}.vcf") for number in range(3)]
    settings = {name: getattr(stage.connection, name) for name in ("server_url", "username", "password", "import_mode")}
    stage.connection.delete()
    stage.connection = type(stage.connection).objects.create(owner=stage.owner, **settings)
    assert counts(stage.sync()) == {}
    assert Person.objects.owned_by(stage.owner).count() == 3
    assert before == [stage.text(f"{number}.vcf") for number in range(3)]
    stage.quiet()


def test_categories_with_an_escaped_comma(stage: RealStage) -> None:
    stage.put("1.vcf", card("1", "Ada", "CATEGORIES:Work,Family\\, near"))
    stage.sync()
    group = Group.objects.owned_by(stage.owner).get(name="Family, near")
    stage.api.ok("PUT", f"/api/groups/{group.pk}", {"name": "Family, far"})
    assert counts(stage.sync()) == {"updated_remotely": 1}
    assert "CATEGORIES:Work,Family\\, far" in stage.text("1.vcf")
    stage.quiet()


def test_name_format_changed(stage: RealStage) -> None:
    text = card("1", "Ada").replace("N:;Ada;;;", "N:King;Ada;Augusta;;").replace("FN:Ada", "FN:Ada Augusta King")
    stage.put("1.vcf", text)
    stage.sync()
    stage.connection.refresh_from_db()
    stage.connection.name_format = "FIRST_LAST"
    stage.connection.save(update_fields=["name_format"])
    Mapping.objects.owned_by(stage.owner).filter(status="clean").update(status="dirty")
    assert counts(stage.sync()) == {"updated_remotely": 1}
    text = stage.text("1.vcf")
    assert "FN:Ada King" in text
    assert "N:King;Ada;Augusta;;" in text
    assert stage.person().display_name_override is None
    stage.quiet()


def test_two_hrefs_with_one_uid(stage: RealStage) -> None:
    stage.put("1.vcf", card("same", "Ada"))
    if stage.server.name == "radicale":
        pytest.skip("refuses a second card with the UID")
    stage.put("2.vcf", card("same", "Bob"))
    stage.sync()
    assert {person.name for person in Person.objects.owned_by(stage.owner)} == {"Ada", "Bob"}
    stage.quiet()


def test_year_less_birthdays_in_three_spellings(stage: RealStage) -> None:
    spellings = ["BDAY:--0215", "BDAY;X-APPLE-OMIT-YEAR=1604:1604-02-15", "BDAY:1604-02-15"]
    for number, line in enumerate(spellings):
        stage.put(f"{number}.vcf", card(str(number), f"P{number}", line))
    stage.sync()
    before = [_line(stage.text(f"{number}.vcf"), "BDAY") for number in range(3)]
    for number in range(3):
        person = stage.person(f"P{number}")
        day = person.important_dates.get()
        assert (day.year_unknown, day.date.month, day.date.day) == (True, 2, 15)
        stage.edit(person, name=f"Q{number}")
    assert counts(stage.sync()) == {"updated_remotely": 3}
    assert before == [_line(stage.text(f"{number}.vcf"), "BDAY") for number in range(3)]
    stage.quiet()


def _line(text: str, name: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(name))


@pytest.mark.parametrize("fault", [lose_reply, lose_request])
def test_a_reply_that_is_lost_doubles_nothing(stage: RealStage, fault: Callable[..., Fault]) -> None:
    stage.put("1.vcf", card("1", "Ada"))
    stage.sync()
    stage.edit(stage.person(), notes="mine")
    stage.create(name="Bob")
    stage.proxy.add(fault(when=method("PUT")))
    stage.sync()
    stage.proxy.heal()
    stage.sync()
    stage.quiet()
    assert stage.cards_there() == 2
    assert "NOTE:mine" in stage.text("1.vcf")
    assert Person.objects.owned_by(stage.owner).count() == 2


def test_half_of_a_listing_is_hidden(stage: RealStage) -> None:
    for number in range(20):
        stage.put(f"{number}.vcf", card(str(number), f"P{number}"))
    stage.sync()
    type(stage.connection).objects.owned_by(stage.owner).update(last_reconcile_at=None)
    stage.proxy.add(hide_half(when=reports("sync-collection")))
    assert counts(stage.sync()) == {}
    stage.proxy.heal()
    assert Person.objects.owned_by(stage.owner).active().count() == 20
    assert not Conflict.objects.owned_by(stage.owner).exists()


def test_hrefs_renamed_on_create(stage: RealStage) -> None:
    stage.sync()
    stage.proxy.add(rename_on_create(when=method("PUT")))
    stage.create(name="Bob")
    assert counts(stage.sync()) == {"exported": 1}
    stage.proxy.heal()
    assert "/renamed-" in Mapping.objects.owned_by(stage.owner).get().href
    stage.quiet()


@pytest.mark.parametrize("status", [403, 409, 412])
def test_a_refused_token(stage: RealStage, status: int) -> None:
    for number in range(10):
        stage.put(f"{number}.vcf", card(str(number), f"P{number}"))
    stage.sync()
    stage.remove("3.vcf")
    stage.proxy.add(refuse(status, "valid-sync-token", when=reports("sync-collection"), times=1))
    assert counts(stage.sync()) == {"updated_locally": 1}
    assert Person.objects.owned_by(stage.owner).active().count() == 9
    stage.proxy.heal()
    assert counts(stage.sync()) == {}


def test_no_etag_after_put(stage: RealStage) -> None:
    stage.put("1.vcf", card("1", "Ada"))
    stage.sync()
    stage.proxy.add(change_header("ETag", None, when=method("PUT")))
    stage.edit(stage.person(), notes="mine")
    assert counts(stage.sync()) == {"updated_remotely": 1}
    stage.quiet()


def test_a_page_of_html_is_no_empty_book(stage: RealStage) -> None:
    stage.put("1.vcf", card("1", "Ada"))
    stage.sync()
    stage.proxy.add(sign_in_page(when=method("REPORT", "PROPFIND")))
    assert stage.sync().code == "not_carddav"
    assert Person.objects.owned_by(stage.owner).active().count() == 1


def test_a_wrong_password_is_one_request(stage: RealStage) -> None:
    stage.sync()
    stage.proxy.add(fail(401, headers={"WWW-Authenticate": 'Basic realm="dav"'}))
    assert stage.sync().code == "auth"
    assert stage.proxy.count() == 1
    assert stage.sync().code == "auth"
    assert stage.proxy.count() == 0


@pytest.mark.parametrize("url", ["http://10.0.0.1/a.jpg", "http://169.254.169.254/latest", "file:///etc/passwd"])
def test_photo_by_url_on_a_private_host(stage: RealStage, url: str, settings: Any) -> None:
    stage.put("1.vcf", card("1", "Ada", f"PHOTO;VALUE=uri:{url}"))
    assert counts(stage.sync()) == {"imported": 1}
    assert stage.person().photo is None
    stage.quiet()


def test_photo_by_url_gets_no_login(stage: RealStage) -> None:
    url = f"{stage.proxy.url}pictures/ada.jpg"
    stage.proxy.add(
        Fault(
            before=lambda request: Reply(200, {"Content-Type": "image/jpeg"}, picture()), when=at("/pictures/ada.jpg")
        )
    )
    stage.put("1.vcf", card("1", "Ada", f"PHOTO;VALUE=uri:{url}"))
    assert counts(stage.sync()) == {"imported": 1}
    assert stage.person().photo
    [asked] = [request for request in stage.proxy.requests if request.path == "/pictures/ada.jpg"]
    assert "authorization" not in asked.headers
    stage.proxy.heal()
    stage.quiet()
