"""Cards that devices put, delete and rename."""

from itertools import product
from typing import Any

import pytest

from accounts.models import User
from people.models import Person
from tests.client import client_of
from tests.dav.devices import Device, person_of
from tests.dav.test_reading import make_card

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]

CARD = (
    "BEGIN:VCARD\r\nVERSION:3.0\r\nPRODID:-//Phone//EN\r\nUID:u-1\r\nN:Lovelace;Ada;;;\r\nFN:Ada Lovelace\r\n"
    "TEL;TYPE=CELL:+44 20 1234\r\nX-PHONE-COLOR:blue\r\nitem1.EMAIL:ada@example.org\r\nitem1.X-ABLABEL:Engine\r\n"
    "END:VCARD\r\n"
)


def put(device: Device, name: str, text: str, **headers: str) -> Any:
    return device.call("PUT", f"{device.book}{name}", text, content_type="text/vcard; charset=utf-8", **headers)


def test_a_new_card_makes_a_person_and_comes_back_as_it_was_sent(alice: User) -> None:
    device = Device(alice)
    made = put(device, "a.vcf", CARD, HTTP_IF_NONE_MATCH="*")
    assert made.status_code == 201
    person = person_of(alice)
    assert (person["name"], person["surname"], person["uid"]) == ("Ada", "Lovelace", "u-1")
    got = device.call("GET", f"{device.book}a.vcf")
    assert got.content.decode() == CARD
    assert made["ETag"] == got["ETag"]
    assert set(device.sync().entries) == {f"{device.book}a.vcf"}
    assert put(device, "a.vcf", CARD, HTTP_IF_NONE_MATCH="*").status_code == 412


def test_a_change_keeps_what_no_card_holds(alice: User) -> None:
    device = Device(alice)
    etag = put(device, "a.vcf", CARD)["ETag"]
    before = person_of(alice)
    api = client_of(alice)
    api.ok("PUT", f"/api/people/{before['id']}", {"contactReminderEnabled": True})
    changed = put(device, "a.vcf", CARD.replace("+44 20 1234", "+44 20 9999"), HTTP_IF_MATCH=etag)
    assert changed.status_code == 204
    after = person_of(alice)
    assert after["phoneNumbers"] == [{**before["phoneNumbers"][0], "number": "+44 20 9999"}]
    assert after["contactReminderEnabled"] is True
    assert after["emails"] == before["emails"]
    assert put(device, "a.vcf", CARD, HTTP_IF_MATCH=etag).status_code == 412


def test_what_a_device_does_not_know_stays(alice: User) -> None:
    first, second = Device(alice), Device(alice)
    etag = put(first, "a.vcf", CARD)["ETag"]
    api = client_of(alice)
    api.ok("PUT", f"/api/people/{person_of(alice)['id']}", {"notes": "Likes engines", "nickname": "Countess"})
    text = second.call("GET", f"{second.book}a.vcf").content.decode()
    assert "NOTE:Likes engines" in text
    simple = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:u-1\r\nN:King;Ada;;;\r\nFN:Ada King\r\nTEL:+44 20 1234\r\nEND:VCARD\r\n"
    assert put(second, "a.vcf", simple).status_code == 204
    person = person_of(alice)
    assert (person["surname"], person["notes"], person["nickname"]) == ("King", "Likes engines", "Countess")
    assert person["emails"] == []  # known to every device
    text = first.call("GET", f"{first.book}a.vcf").content.decode()
    assert "X-PHONE-COLOR:blue\r\n" in text
    assert "FN:Ada King\r\n" in text
    assert etag != first.call("GET", f"{first.book}a.vcf")["ETag"]


def test_what_a_device_knows_and_leaves_out_is_removed(alice: User) -> None:
    device = Device(alice)
    put(device, "a.vcf", CARD)
    text = CARD.replace("X-PHONE-COLOR:blue\r\n", "")
    assert put(device, "a.vcf", text).status_code == 204
    assert "X-PHONE-COLOR" not in device.call("GET", f"{device.book}a.vcf").content.decode()


def test_a_put_without_condition_is_a_change_against_what_the_device_had(alice: User) -> None:
    device = Device(alice)
    put(device, "a.vcf", CARD)
    api = client_of(alice)
    api.ok("PUT", f"/api/people/{person_of(alice)['id']}", {"notes": "new here", "organization": "Analytical"})
    assert put(device, "a.vcf", CARD.replace("Ada", "Augusta")).status_code == 204
    person = person_of(alice)
    assert (person["name"], person["notes"], person["organization"]) == ("Augusta", "new here", "Analytical")


def test_a_put_without_condition_onto_what_was_never_given_is_refused(alice: User) -> None:
    person_id = make_card(alice, name="Ada")
    device = Device(alice)
    device.propfind(device.book, "d:getetag", depth="1")  # a listing gives no text
    name = f"{person_id}.vcf"
    text = CARD.replace("UID:u-1", f"UID:urn:uuid:{person_id}")
    assert put(device, name, text).status_code == 412
    device.call("GET", f"{device.book}{name}")
    assert put(device, name, text).status_code == 204
    assert person_of(alice)["surname"] == "Lovelace"


def test_deleting_moves_to_the_trash_and_coming_again_restores(alice: User) -> None:
    device, other = Device(alice), Device(alice)
    put(device, "a.vcf", CARD)
    before = person_of(alice)
    start = other.sync()
    assert device.call("DELETE", f"{device.book}a.vcf").status_code == 204
    assert client_of(alice).ok("GET", "/api/people")["people"] == []
    gone = other.sync(start.token)
    assert gone.entries[f"{device.book}a.vcf"].status == 404
    assert put(device, "b.vcf", CARD).status_code == 201
    assert person_of(alice)["id"] == before["id"]
    assert set(other.sync(gone.token).entries) == {f"{device.book}b.vcf"}
    assert Person.objects.owned_by(alice).count() == 1


def test_a_renamed_card_goes_and_comes(alice: User) -> None:
    device = Device(alice)
    put(device, "a.vcf", CARD)
    start = device.sync()
    moved = device.call("MOVE", f"{device.book}a.vcf", HTTP_DESTINATION=f"{device.book}b%20c.vcf")
    assert (moved.status_code, moved["Location"]) == (201, f"{device.book}b%20c.vcf")
    changed = device.sync(start.token).entries
    assert {href: entry.status for href, entry in changed.items()} == {
        f"{device.book}a.vcf": 404,
        f"{device.book}b%20c.vcf": 200,
    }


def test_uids_are_unique_and_stay(alice: User) -> None:
    device = Device(alice)
    put(device, "a.vcf", CARD)
    again = put(device, "b.vcf", CARD)
    assert again.status_code == 409
    assert b"no-uid-conflict" in again.content
    assert f"{device.book}a.vcf".encode() in again.content
    other = put(device, "a.vcf", CARD.replace("u-1", "u-2"))
    assert (other.status_code, b"no-uid-conflict" in other.content) == (409, True)


@pytest.mark.parametrize("body", ["", "nonsense", CARD + CARD.replace("u-1", "u-2"), "BEGIN:VCARD\r\nEND:VCARD\r\n"])
def test_what_is_no_card_is_refused(alice: User, body: str) -> None:
    refused = put(Device(alice), "a.vcf", body)
    assert (refused.status_code, b"valid-address-data" in refused.content) == (403, True)
    assert not Person.objects.owned_by(alice).exists()


@pytest.mark.parametrize(
    "cut", [CARD.removesuffix("END:VCARD\r\n"), CARD.removesuffix("RD\r\n"), CARD[: CARD.index("X-PHONE")]]
)
def test_a_card_that_was_cut_on_the_way_changes_nothing(alice: User, cut: str) -> None:
    device = Device(alice)
    refused = put(device, "b.vcf", cut)
    assert (refused.status_code, b"valid-address-data" in refused.content) == (403, True)
    assert not Person.objects.owned_by(alice).exists()
    put(device, "a.vcf", CARD)
    for headers in ({}, {"HTTP_IF_MATCH": device.get("a.vcf")["ETag"]}):
        refused = put(device, "a.vcf", cut, **headers)
        assert (refused.status_code, b"valid-address-data" in refused.content) == (403, True)
    group = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:g-1\r\nN:Club;;;;\r\nFN:Club\r\nX-ADDRESSBOOKSERVER-KIND:group\r\n"
    assert put(device, "g.vcf", group).status_code == 403
    assert person_of(alice)["emails"][0]["email"] == "ada@example.org"


def test_collections_are_fixed_and_read_only_tokens_write_nothing(alice: User, mallory: User) -> None:
    device = Device(alice)
    put(device, "a.vcf", CARD)
    reader, stranger = Device(alice, "READ"), Device(mallory)
    for method, path in (("PUT", f"{device.book}b.vcf"), ("DELETE", f"{device.book}a.vcf")):
        refused = reader.call(method, path, CARD, content_type="text/vcard")
        assert (refused.status_code, b"need-privileges" in refused.content) == (403, True)
        assert stranger.call(method, path, CARD, content_type="text/vcard").status_code == 404
    for method in ("DELETE", "MKCOL", "COPY", "PUT"):
        assert device.call(method, device.book, content_type="text/vcard").status_code == 403
    for method in ("MKCOL", "COPY", "LOCK"):
        refused = reader.call(method, f"{device.book}a.vcf")
        assert (refused.status_code, b"need-privileges" in refused.content) == (403, True)
        assert stranger.call(method, f"{device.book}a.vcf").status_code == 404
    # What is not there is missing for every method.
    elsewhere = (f"{device.book}a/b.vcf", device.book.replace("contacts", "other"), "/dav/other/")
    for method, path in product(("DELETE", "MOVE", "PUT"), elsewhere):
        assert device.call(method, path, CARD, content_type="text/vcard").status_code == 404, (method, path)
    assert Person.objects.owned_by(alice).active().count() == 1


@pytest.mark.parametrize("name", [".", "..", "%2e", "%2E%2e"])
def test_no_card_has_a_name_that_programs_read_as_another_path(alice: User, name: str) -> None:
    device = Device(alice)
    assert put(device, name, CARD).status_code == 403
    assert device.sync().entries == {}


def test_a_star_is_taken_away_by_a_device_that_had_it_and_by_no_other(alice: User) -> None:
    device, other = Device(alice), Device(alice)
    starred = CARD.replace("END:VCARD", "X-ANDROID-STARRED:1\r\nEND:VCARD")
    put(device, "a.vcf", starred)
    assert person_of(alice)["favourite"] is True
    assert device.call("GET", f"{device.book}a.vcf").content.decode() == starred
    text = other.call("GET", f"{other.book}a.vcf").content.decode()
    assert put(other, "a.vcf", text.replace("X-ANDROID-STARRED:1\r\n", "")).status_code == 204
    assert person_of(alice)["favourite"] is True  # this device never sent a star
    device.call("GET", f"{device.book}a.vcf")
    assert put(device, "a.vcf", CARD).status_code == 204
    assert person_of(alice)["favourite"] is False
    api = client_of(alice)
    api.ok("PUT", f"/api/people/{person_of(alice)['id']}", {"favourite": True})
    assert "X-ANDROID-STARRED:1\r\n" in other.call("GET", f"{other.book}a.vcf").content.decode()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("SORT-STRING:Lovelace", "SORT-STRING:Byron"),
        ("SORT-STRING:lavleis", None),
        ("SORT-STRING:engine", None),
        ("X-EVOLUTION-FILE-AS:Lovelace\\, Ada", "X-EVOLUTION-FILE-AS:Byron\\, Ada"),
        ("X-EVOLUTION-FILE-AS:Analysts", "X-EVOLUTION-FILE-AS:Analysts"),
    ],
)
def test_copies_of_the_name_follow_it_on_devices(alice: User, line: str, expected: str | None) -> None:
    device = Device(alice)
    put(device, "a.vcf", CARD.replace("TEL;", f"{line}\r\nTEL;"))
    api, path = client_of(alice), f"/api/people/{person_of(alice)['id']}"
    for notes in ("First", "Second"):
        api.ok("PUT", path, {"surname": "Byron", "notes": notes})
        text = device.call("GET", f"{device.book}a.vcf").content.decode()
        found = [one for one in text.split("\r\n") if one.startswith(line.split(":", maxsplit=1)[0])]
        assert found == ([expected] if expected else [])
        assert "X-PHONE-COLOR:blue\r\n" in text
