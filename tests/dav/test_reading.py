"""Discovery, listings, texts and sync of the address book, as devices read them."""

from importlib import import_module

import pytest
from django.apps import apps
from django.utils import timezone

from accounts.models import User
from dav.cards.texts import unpack
from dav.models import BookCard
from dav.services.card_write import set_text
from people.models import Person
from tests.builders import make_person
from tests.client import Client, client_of
from tests.dav.devices import Device, card

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]


def make_card(owner: User, **fields: object) -> str:
    """Create a person by the API; returns its id."""
    return str(client_of(owner).ok("POST", "/api/people", fields, status=201)["person"]["id"])


def test_a_device_finds_its_book_from_the_root(alice: User) -> None:
    device = Device(alice)
    for path in ("/.well-known/carddav", "/.well-known/caldav"):
        for method in ("GET", "PROPFIND", "REPORT"):
            moved = device.client.generic(method, path)
            assert (moved.status_code, moved["Location"]) == (301, "/dav/")
    root = device.propfind("/dav/", "d:current-user-principal", "d:resourcetype", "d:no-such-property")
    entry = root.entries["/dav/"]
    principal = entry.found["d:current-user-principal"][0].text or ""
    assert (principal, entry.missing) == (f"/dav/principals/{alice.pk}/", ["d:no-such-property"])
    home = device.propfind(principal, "card:addressbook-home-set").entries[principal]
    path = home.found["card:addressbook-home-set"][0].text or ""
    books = device.propfind(path, "d:resourcetype", "d:displayname", depth="1").entries
    assert set(books) == {path, f"{path}contacts/"}
    assert books[f"{path}contacts/"].text("d:displayname") == "Contacts"


def test_cards_are_listed_and_read(alice: User) -> None:
    person_id = make_card(alice, name="Ada", surname="Lovelace", emails=[{"type": "home", "email": "a@example.org"}])
    device = Device(alice)
    href = f"{device.book}{person_id}.vcf"
    listed = device.propfind(device.book, "d:getetag", "d:resourcetype", depth="1").entries
    assert set(listed) == {device.book, href}
    etag = listed[href].text("d:getetag")
    text = device.call("GET", href)
    assert (text.status_code, text["ETag"]) == (200, etag)
    assert "VERSION:3.0\r\n" in text.content.decode()
    assert "FN:Ada Lovelace\r\n" in text.content.decode()
    got = device.multiget(href, f"{device.book}gone.vcf", "/elsewhere").entries
    assert got[href].text("card:address-data") == text.content.decode().replace("\r\n", "\r\n")
    assert (got[f"{device.book}gone.vcf"].status, got["/elsewhere"].status) == (404, 404)


def test_sync_reports_what_changed(alice: User) -> None:
    first, second = (make_card(alice, name=name) for name in ("Ada", "Bob"))
    device = Device(alice)
    start = device.sync()
    assert set(start.entries) == {f"{device.book}{key}.vcf" for key in (first, second)}
    assert device.sync(start.token).entries == {}
    api = client_of(alice)
    api.ok("PUT", f"/api/people/{first}", {"nickname": "Countess"})
    api.ok("DELETE", f"/api/people/{second}")
    third = make_card(alice, name="Carla")
    changed = device.sync(start.token)
    assert {href: entry.status for href, entry in changed.entries.items()} == {
        f"{device.book}{first}.vcf": 200,
        f"{device.book}{second}.vcf": 404,
        f"{device.book}{third}.vcf": 200,
    }
    api.ok("POST", f"/api/people/{second}/restore")
    back = device.sync(changed.token)
    assert set(back.entries) == {f"{device.book}{second}.vcf"}


def test_what_no_card_shows_is_no_change(alice: User) -> None:
    person_id = make_card(alice, name="Ada")
    device = Device(alice)
    start = device.sync()
    ctag = device.propfind(device.book, "cs:getctag").entries[device.book].text("cs:getctag")
    api = client_of(alice)
    api.ok("PUT", f"/api/people/{person_id}", {"contactReminderEnabled": True})
    api.ok("POST", "/api/groups", {"name": "Nobody"}, status=201)
    later = device.sync(start.token)
    assert (later.entries, later.token) == ({}, start.token)
    assert device.propfind(device.book, "cs:getctag").entries[device.book].text("cs:getctag") == ctag


def test_renaming_a_group_changes_its_members(alice: User) -> None:
    api = client_of(alice)
    inside, outside = (make_card(alice, name=name) for name in ("Ada", "Bob"))
    group = api.ok("POST", "/api/groups", {"name": "Engines", "peopleIds": [inside]}, status=201)["group"]["id"]
    device = Device(alice)
    start = device.sync()
    api.ok("PUT", f"/api/groups/{group}", {"name": "Machines"})
    changed = device.sync(start.token, "d:getetag", "card:address-data")
    (entry,) = changed.entries.values()
    assert set(changed.entries) == {f"{device.book}{inside}.vcf"}
    assert "CATEGORIES:Machines\r\n" in entry.text("card:address-data").replace("\n", "\r\n").replace("\r\r", "\r")
    assert outside


def test_a_person_that_is_removed_for_good_leaves_the_book(alice: User) -> None:
    person_id = make_card(alice, name="Ada")
    device = Device(alice)
    start = device.sync()
    api = client_of(alice)
    api.ok("DELETE", f"/api/people/{person_id}")
    api.ok("DELETE", f"/api/people/{person_id}/permanent")
    gone = device.sync(start.token)
    assert {href: entry.status for href, entry in gone.entries.items()} == {f"{device.book}{person_id}.vcf": 404}
    assert device.call("GET", f"{device.book}{person_id}.vcf").status_code == 404


@pytest.mark.both_databases
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
def test_a_limited_sync_gives_everything_in_pages(alice: User, limit: int) -> None:
    ids = {make_card(alice, name=f"P{number}") for number in range(7)}
    device = Device(alice)
    found: set[str] = set()
    token, rounds, more = "", 0, True
    while more:
        page = device.sync(token, limit=limit)
        more = page.entries.pop(device.book, None) is not None
        assert len(page.entries) <= limit
        assert not found & set(page.entries)
        found |= set(page.entries)
        token, rounds = page.token, rounds + 1
    assert found == {f"{device.book}{key}.vcf" for key in ids}
    assert rounds == -(-7 // limit)
    make_card(alice, name="later")
    assert len(device.sync(token).entries) == 1


@pytest.mark.parametrize(
    "token", ["nonsense", "http://127.0.0.1:8000/dav/sync/{other}/1-739000", "{future}", "{of_a_day_to_come}"]
)
def test_a_token_that_is_not_ours_is_refused(alice: User, mallory: User, token: str) -> None:
    device = Device(alice)
    good = device.sync().token
    made_up = token.format(
        other=mallory.pk.hex,
        future=good.replace(good.rpartition("/")[2], "999-739999"),
        of_a_day_to_come=f"{good.rpartition('-')[0]}-{timezone.now().date().toordinal() + 2}",
    )
    body = (
        '<d:sync-collection xmlns:d="DAV:"><d:sync-token>' + made_up + "</d:sync-token><d:sync-level>1</d:sync-level>"
        "<d:prop><d:getetag/></d:prop></d:sync-collection>"
    )
    refused = device.call("REPORT", device.book, body)
    assert refused.status_code == 403
    assert b"valid-sync-token" in refused.content
    thunderbird = device.call("REPORT", device.book, body, HTTP_USER_AGENT="Mozilla/5.0 Thunderbird/153.7.0")
    assert (thunderbird.status_code, b"valid-sync-token" in thunderbird.content) == (400, True)


def test_only_app_passwords_sign_in(alice: User, mallory: User) -> None:
    device, stranger = Device(alice), Device(mallory)
    anonymous = Client().generic("PROPFIND", "/dav/", HTTP_DEPTH="0")
    assert anonymous.status_code == 401
    assert "app password" in anonymous["WWW-Authenticate"]
    assert stranger.call("PROPFIND", device.book, HTTP_DEPTH="0").status_code == 404
    stranger.token = device.token  # of another account than the name says
    assert stranger.call("PROPFIND", "/dav/", HTTP_DEPTH="0").status_code == 401
    device.token = "Analytical-1843"
    for _ in range(30):
        assert device.call("PROPFIND", "/dav/", HTTP_DEPTH="0").status_code == 401
    limited = device.call("PROPFIND", "/dav/", HTTP_DEPTH="0")
    assert (limited.status_code, int(limited["Retry-After"]) > 0) == (429, True)
    assert Device(alice).call("PROPFIND", "/dav/", HTTP_DEPTH="0").status_code == 207


def test_infinite_depth_entities_and_broken_bodies_are_refused(alice: User) -> None:
    device = Device(alice)
    make_person(alice, name="Ada")
    infinite = device.call("PROPFIND", device.book, HTTP_DEPTH="infinity")
    assert (infinite.status_code, b"propfind-finite-depth" in infinite.content) == (403, True)
    entity = '<!DOCTYPE x [<!ENTITY a "b">]><d:propfind xmlns:d="DAV:"><d:allprop/></d:propfind>'
    for body in (entity, "<d:propfind", "<other/>"):
        assert device.call("PROPFIND", device.book, body, HTTP_DEPTH="0").status_code == 400
    assert Person.objects.owned_by(alice).count() == 1


def test_quiet_people_leave_the_book_and_come_back(alice: User) -> None:
    person_id, api = make_card(alice, name="Ada"), client_of(alice)
    device, href = Device(alice), f"/dav/addressbooks/{alice.pk}/contacts/{make_card(alice, name='Bob')}.vcf"
    start = device.sync()
    api.ok("PUT", f"/api/people/{person_id}", {"quiet": True})
    left = device.sync(start.token)
    assert {name: entry.status for name, entry in left.entries.items()} == {f"{device.book}{person_id}.vcf": 404}
    assert set(device.propfind(device.book, "d:getetag", depth="1").entries) == {device.book, href}
    assert api.ok("GET", f"/api/people/{person_id}")["person"]["name"] == "Ada"
    api.ok("PUT", f"/api/people/{person_id}", {"quiet": False})
    assert set(device.sync(left.token).entries) == {f"{device.book}{person_id}.vcf"}


def test_a_talk_is_in_no_card_and_makes_no_device_ask(alice: User) -> None:
    client, device = client_of(alice), Device(alice)
    person = client.ok("POST", "/api/people", {"name": "Ada", "lastContact": "2024-01-31"}, status=201)["person"]
    name, path = f"{person['id']}.vcf", f"/api/people/{person['id']}"
    before, token = device.get(name), device.sync().token
    assert "LAST-CONTACT" not in before.content.decode()
    talk = {"personIds": [person["id"]], "kind": "CALL", "at": "2025-02-01T12:00:00Z"}
    client.ok("POST", "/api/interactions", talk, status=201)
    assert client.ok("GET", path)["person"]["lastContact"] == "2025-02-01"
    again = device.sync(token)
    assert (again.entries, again.token) == ({}, token)
    assert device.get(name)["ETag"] == before["ETag"]


@pytest.mark.parametrize("line", ["", "X-LAST-CONTACT:2020-05-06\r\n", "X-LAST-CONTACT:2024-01-31\r\n"])
def test_a_device_that_had_the_last_contact_neither_changes_nor_loses_it(alice: User, line: str) -> None:
    client, device, other = client_of(alice), Device(alice), Device(alice)
    person = client.ok("POST", "/api/people", {"name": "Ada", "lastContact": "2024-01-31"}, status=201)["person"]
    name, path = f"{person['id']}.vcf", f"/api/people/{person['id']}"
    former = device.text(name).replace("END:VCARD", "X-LAST-CONTACT:2024-01-31\r\nEND:VCARD")
    for kept in (former, former.replace("X-LAST-CONTACT:2024-01-31\r\n", line)):
        assert device.put(name, kept.replace("END:VCARD", "NOTE:1\r\nEND:VCARD")).status_code == 204
        assert client.ok("GET", path)["person"]["lastContact"] == "2024-01-31"
        for each in (device, other):
            assert "LAST-CONTACT" not in each.text(name)
    assert "X-LAST-CONTACT:2024-01-31" in b"".join(client.get("/api/vcard/export")).decode()


def test_a_book_of_before_is_read_again_without_last_contacts(alice: User) -> None:
    client, device = client_of(alice), Device(alice)
    person = client.ok("POST", "/api/people", {"name": "Ada", "lastContact": "2024-01-31"}, status=201)["person"]
    client.ok("POST", "/api/people", {"name": "Bob"}, status=201)
    name, token = f"{person['id']}.vcf", device.sync().token
    row = BookCard.objects.owned_by(alice).get(name=name)
    set_text(row, unpack(row.text).replace("END:VCARD", "X-LAST-CONTACT:2024-01-31\r\nEND:VCARD"))
    row.save()
    assert "LAST-CONTACT" in device.text(name)
    import_module("dav.migrations.0002_cards_without_last_contact").read_books_again(apps, None)
    answer = device.sync(token)
    assert [href.rpartition("/")[2] for href in answer.entries] == [name]
    assert "LAST-CONTACT" not in device.text(name)


V4 = {"HTTP_ACCEPT": "text/vcard; version=4.0"}


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("BDAY;X-APPLE-OMIT-YEAR=1604:1604-04-12", "BDAY:--0412"),
        ("BDAY;VALUE=date;X-APPLE-OMIT-YEAR=1604:1604-04-12", "BDAY;VALUE=date:--0412"),
        ("ANNIVERSARY;X-APPLE-OMIT-YEAR=1604:1604-04-12", "ANNIVERSARY:--0412"),
        ("BDAY;X-APPLE-OMIT-YEAR=1904:1904-04-12", "BDAY:--0412"),
        ("BDAY;X-APPLE-OMIT-YEAR=1604:1980-04-12", "BDAY;X-APPLE-OMIT-YEAR=1604:19800412"),
        ("BDAY:1980-04-12", "BDAY:19800412"),
        # RFC 6350, 3.4: a semicolon in a value of one part may be escaped. RFC 2426, 4, knows none that is not.
        ("NOTE:one\\;two\\, three", "NOTE:one\\;two\\, three"),
    ],
)
def test_the_lines_of_another_version(alice: User, stored: str, shown: str) -> None:
    device = Device(alice)
    device.put("a.vcf", card(stored))
    assert stored in device.text("a.vcf").splitlines()
    lines = device.text("a.vcf", **V4).splitlines()
    assert shown in lines
    assert "VERSION:4.0" in lines


@pytest.mark.parametrize("line", ["BDAY:--0412", "BDAY;X-APPLE-OMIT-YEAR=1604:--0412", "BDAY;VALUE=DATE:--04-12"])
def test_a_day_without_a_year_in_a_card_of_any_version(alice: User, line: str) -> None:
    device = Device(alice)
    text = card(line).replace("VERSION:3.0", "VERSION:4.0")
    assert device.put("a.vcf", text).status_code == 201
    (person,) = client_of(alice).ok("GET", "/api/people")["people"]
    (date,) = client_of(alice).ok("GET", f"/api/people/{person['id']}")["person"]["importantDates"]
    assert (date["date"][5:10], date["yearUnknown"]) == ("04-12", True)
    shown = next(line for line in device.text("a.vcf", **V4).splitlines() if line.startswith("BDAY"))
    assert shown.endswith(":--0412")
    assert "OMIT" not in shown
    three = next(line for line in device.text("a.vcf").splitlines() if line.startswith("BDAY"))
    assert (three.endswith(":1604-04-12"), three.count("X-APPLE-OMIT-YEAR=1604")) == (True, 1)
