"""The measured sequences of programs: after each step the person is what the step meant, and the next sync is quiet."""

from typing import Any

import pytest

from accounts.models import User
from dav.models import BookCard
from people.models import Person
from tests.client import client_of
from tests.dav.devices import Device, group_devices
from tests.dav.replay import Replay, read_sequence
from tests.dav.rich import RICH

__all__ = ["group_devices"]

pytestmark = pytest.mark.django_db

EDS, TB, SE, VD = "evolution-data-server-3.46.4", "thunderbird-153.7.0esr", "syncevolution-2.0.0", "vdirsyncer-0.21.0"


# What of it an iPhone shows: it sends the rest of its edit's card from this.
APPLE_RICH = RICH
for gone in (
    "TEL;TYPE=HOME;TYPE=PREF:+44 20 7946 0002\r\n",
    "item1.TEL:+44 20 7946 0003\r\nitem1.X-ABLabel:Lighthouse\r\n",
    "EMAIL;TYPE=WORK;TYPE=PREF:ada@example.com\r\n",
    "item3.ADR:;;2 Lane;Ockham;Surrey;GU23;United Kingdom\r\nitem3.X-ABADR:gb\r\nitem3.X-ABLabel:Summer house\r\n",
    "item4.URL:https://example.org/blog\r\nitem4.X-ABLabel:_$!<HomePage>!$_\r\n",
):
    assert gone in APPLE_RICH
    APPLE_RICH = APPLE_RICH.replace(gone, "")
APPLE_RICH = APPLE_RICH.replace("two; with \\; and", "two; with")


def seed(user: User, *names: str, rich: str = RICH) -> Device:
    """A book with the card of the measurements, which the returned device has sent, and others, which were imported."""
    first = Device(user)
    assert first.put("u-rich-1.vcf", rich).status_code == 201
    cards = (f"VERSION:3.0\r\nUID:{name}\r\nN:{name};Person;;;\r\nFN:Person {name}\r\n" for name in names)
    if text := "".join(f"BEGIN:VCARD\r\n{card}END:VCARD\r\n" for card in cards):
        receipt = client_of(user).generic("POST", "/api/vcard/import", text, "text/vcard").json()
        assert receipt["imported"] == len(names)
        first.sync()
        for name in names:  # as if a device had named the card
            BookCard.objects.owned_by(user).filter(person__uid=name).update(name=f"{name}.vcf")
    return first


def replay(device: Device, **options: Any) -> Replay:
    book, home = device.book, device.book.removesuffix("contacts/")
    paths = {
        "/alice/contacts/addressbook/": book,
        "/alice/contacts/": book,
        "/alice/": home,
        "/dav/addressbooks/ID/contacts/": book,
        "/dav/addressbooks/ID/": home,
        "/dav/principals/ID/": f"/dav/principals/{device.user.pk}/",
        "/dav/calendars/ID/": f"/dav/calendars/{device.user.pk}/",
    }
    return Replay(device, paths, **options)


def rich_person(user: User) -> dict[str, Any]:
    api = client_of(user)
    person = Person.objects.owned_by(user).active().get(uid="u-rich-1")
    return dict(api.ok("GET", f"/api/people/{person.pk}")["person"])


def without_number(person: dict[str, Any]) -> dict[str, Any]:
    """The person without the number that the step edits, and the times of the write."""
    left_out = {"phoneNumbers", "updatedAt", "revision"}
    return {name: value for name, value in person.items() if name not in left_out}


def assert_only_the_number_changed(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert without_number(after) == without_number(before)
    old, new = before["phoneNumbers"], after["phoneNumbers"]
    changed = [{**entry, "number": entry["number"].replace("7946 0001", "7946 9999")} for entry in old]
    assert new == changed != old


def test_evolution_data_server_edits_creates_and_deletes(alice: User) -> None:
    first = seed(alice, "p1")
    program, requests = replay(Device(alice)), read_sequence(EDS, "address book")
    opened = program.run(requests, "", "refresh")[: len([r for r in requests if r.step == ""])]
    assert [exchange.status for exchange in opened if exchange.status not in {200, 207, 401}] == []
    before, text = rich_person(alice), first.text("u-rich-1.vcf")
    (edit,) = program.run(requests, "edit")
    assert edit.status == 204
    assert_only_the_number_changed(before, rich_person(alice))
    after = first.text("u-rich-1.vcf")
    assert "X-FOO-UNKNOWN;X-P=1:keep me\r\n" in after
    assert text.replace("7946 0001", "7946 9999").count("\n") == after.count("\n")
    (create,) = program.run(requests, "create")
    assert (create.status, "ETag" in create.response) == (201, True)
    (delete,) = program.run(requests, "delete")
    assert delete.status == 204
    assert Person.objects.owned_by(alice).active().count() == 2
    ctag = program.run(requests, "refresh")[0]
    again = program.run(requests, "refresh")[0]
    assert ctag.content == again.content


def test_thunderbird_edits_creates_and_deletes(alice: User) -> None:
    seed(alice, "p1")
    device = Device(alice)
    program = replay(device)
    requests = read_sequence(TB, "address book: discovery, first fetch")
    program.run([request for request in requests if "/.well-known/" not in request.path], "detect", "sync")
    before = rich_person(alice)
    device.sync("", "d:getetag", "card:address-data")  # the first fetch names the cards of the other server
    put, read = program.run(requests, "edit")
    assert (put.status, read.status) == (204, 207)
    assert_only_the_number_changed(before, rich_person(alice))
    create, read = program.run(requests, "create")
    (entry,) = read.answer.entries.values()
    assert (create.status, "ETag" in create.response, entry.status) == (201, False, 200)
    (delete,) = program.run(requests, "delete")
    assert delete.status == 204
    last = program.run([r for r in requests if r.step == "sync"][-1:])[0]
    quiet = program.run([r for r in requests if r.step == "sync"][-1:])[0]
    assert (last.status, quiet.answer.entries) == (207, {})


def test_thunderbird_survives_a_made_up_token(alice: User) -> None:
    seed(alice)
    program = replay(Device(alice), keeps_tokens=frozenset({"badtoken"}))
    requests = read_sequence(TB, "address book: sync, create")
    program.run(requests, "sync")
    (bad,) = program.run(requests, "badtoken")
    assert (bad.status, b"valid-sync-token" in bad.content) == (400, True)


def test_syncevolution_creates_updates_and_deletes(alice: User) -> None:
    seed(alice, "p1")
    program, requests = replay(Device(alice)), read_sequence(SE, "slow sync, create, update")
    done = program.run(requests)
    failed = [(e.request.method, e.path, e.status, e.request.status) for e in done if e.status >= 400]
    assert [entry for entry in failed if entry[2] != 401] == []
    puts = [exchange.status for exchange in done if exchange.request.method == "PUT"]
    assert puts == [201, 204]
    assert Person.objects.owned_by(alice).active().count() == 2
    assert Person.objects.owned_by(alice).deleted().count() == 1


def test_vdirsyncer_edits_creates_and_deletes(alice: User) -> None:
    seed(alice, *(f"p{n}" for n in range(1, 12)))
    program, requests = replay(Device(alice)), read_sequence(VD, "discover, first sync")
    books = [r for r in requests if "calendars" not in r.path and "/tasks/" not in r.path and "/dates/" not in r.path]
    done = program.run(books)
    failed = [(e.request.method, e.path, e.status) for e in done if e.status >= 400]
    assert failed == []
    assert [(e.request.method, e.status) for e in done if e.request.method in {"PUT", "DELETE"}] == [
        ("PUT", 204),
        ("PUT", 201),
        ("DELETE", 204),
    ]
    assert Person.objects.owned_by(alice).active().count() == 12


def test_apple_as_reconstructed(alice: User, group_devices: set[str]) -> None:
    first = seed(alice, "p1", "p2", rich=APPLE_RICH)
    device = Device(alice)
    group_devices.add(device.token)
    program = replay(device, keeps_tokens=frozenset({"token-that-the-server-never-gave"}))
    requests = read_sequence("apple-reconstructed", "")
    for exchange in program.run(requests, "account-from-bare-host", "first-fetch", "idle"):
        assert exchange.status == exchange.request.status
    before = rich_person(alice)
    device.sync("", "d:getetag", "card:address-data")
    program.run(requests, "first-fetch")
    edit = program.run(requests, "edit")[0]
    assert edit.status == 204
    after = rich_person(alice)
    assert_only_the_number_changed(before, after)
    empty, filled = (e for e in program.run(requests, "new-group") if e.request.method == "PUT")
    assert (empty.status, filled.status) == (201, 204)
    assert [group["name"] for group in client_of(alice).ok("GET", "/api/groups")["groups"]]
    (made_up,) = program.run(requests, "token-that-the-server-never-gave")
    assert (made_up.status, b"valid-sync-token" in made_up.content) == (403, True)
    (delete,) = program.run(requests, "delete")
    assert delete.status == 204
    assert Person.objects.owned_by(alice).deleted().count() == 1
    assert "X-FOO-UNKNOWN;X-P=1:keep me\r\n" in first.text("u-rich-1.vcf")
