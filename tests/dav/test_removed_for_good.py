"""A person who is removed for good leaves nothing behind in what devices are remembered by."""

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.invariants import find_violations
from dav import methods
from dav.cards import client_state
from dav.models import BookCard, FormerText, GivenCard, Refusal, ReplacedValue
from people.trash import purge_deleted
from tests.client import client_of
from tests.dav.devices import Device, card, signed_in
from tests.dav.test_photos import encoded, photo_line, scene
from tests.dav.test_selection import configure, row_of
from tests.pictures import photo_files

# The doctor looks at the rows of the schedule, too.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("schedule")]

DAY = dt.timedelta(days=1)
PHOTO = photo_line(encoded(scene()), "PNG").removesuffix("\r\n")
OTHER_PHOTO = photo_line(encoded(scene(shade=90).rotate(180)), "PNG").removesuffix("\r\n")
MEMBERS = (
    "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:g-1\r\nN:Family\r\nFN:Family\r\nX-ADDRESSBOOKSERVER-KIND:group\r\n"
    "X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:u-1\r\nX-ADDRESSBOOKSERVER-MEMBER:urn:uuid:u-2\r\nEND:VCARD\r\n"
)


def by_purge(user: User, person_id: str) -> None:
    purge_deleted(now=timezone.now() + 32 * DAY)


def by_hand(user: User, person_id: str) -> None:
    client_of(user).ok("DELETE", f"/api/people/{person_id}/permanent")


def prepared(alice: User) -> tuple[Device, Device, str]:
    """Two devices, of which the second has a former text and a former picture of a person; and the person's id."""
    first, second = Device(alice), Device(alice)
    first.put("b.vcf", card("NOTE:other").replace("u-1", "u-2").replace("Ada", "Bob"))
    first.put("a.vcf", card("NOTE:secret", OTHER_PHOTO))
    second.text("a.vcf")
    first.put("a.vcf", card("NOTE:secret two", PHOTO))
    second.put("a.vcf", "no card")
    row = BookCard.objects.owned_by(alice).get(name="a.vcf")
    assert row.original
    assert FormerText.objects.owned_by(alice).get(card=row).photo
    return first, second, str(row.person_id)


@pytest.mark.parametrize("remove", [by_purge, by_hand])
@pytest.mark.parametrize("is_synced", [True, False])
def test_nothing_of_a_removed_person_is_kept(alice: User, media: Path, remove: Any, is_synced: bool) -> None:
    first, second, person_id = prepared(alice)
    token = second.sync().token
    client_of(alice).ok("DELETE", f"/api/people/{person_id}")
    if is_synced:
        second.sync()
    before = photo_files(media)
    remove(alice, person_id)
    row = BookCard.objects.owned_by(alice).get(name="a.vcf")
    assert (bytes(row.text), row.photo, row.original, row.etag, row.plain_etag) == (b"", "", "", "", "")
    assert "u-1" not in row.uid
    assert not FormerText.objects.owned_by(alice).filter(card=row).exists()
    assert not GivenCard.objects.owned_by(alice).filter(card=row).exists()
    assert not Refusal.objects.owned_by(alice).exists()
    assert not ReplacedValue.objects.owned_by(alice).exists()
    assert before
    assert not photo_files(media)
    assert list(find_violations()) == []
    # Devices are told all the same, and the name can be used again.
    assert [(href, entry.status) for href, entry in second.sync(token).entries.items()] == [
        (f"{second.book}a.vcf", 404)
    ]
    assert first.get("a.vcf").status_code == 404
    assert first.put("a.vcf", card("NOTE:new")).status_code == 201
    assert list(find_violations()) == []


def test_a_device_whose_password_was_revoked_keeps_nothing(alice: User, media: Path) -> None:
    _, second, person_id = prepared(alice)
    api = signed_in(alice)
    api.ok("DELETE", f"/api/user/api-tokens/{row_of(second).pk}")
    # Of somebody who still exists the text goes with the next daily purge.
    assert FormerText.objects.owned_by(alice).exists()
    purge_deleted(now=timezone.now())
    assert not FormerText.objects.owned_by(alice).exists()
    api.ok("DELETE", f"/api/people/{person_id}")
    by_hand(alice, person_id)
    assert not photo_files(media)


def test_a_removed_member_is_in_no_group_card(alice: User) -> None:
    device = Device(alice)
    configure(signed_in(alice), device, groupCards=True)
    _, _, person_id = prepared(alice)
    assert device.put("g.vcf", MEMBERS).status_code == 201
    token = device.sync().token
    api = client_of(alice)
    api.ok("DELETE", f"/api/people/{person_id}")
    assert "u-1" in device.text("g.vcf")  # it may come back
    by_hand(alice, person_id)
    text = device.text("g.vcf")
    assert ("u-1" in text, "u-2" in text) == (False, True)
    told = {href.rpartition("/")[2]: entry.status for href, entry in device.sync(token).entries.items()}
    assert told == {"g.vcf": 200, "a.vcf": 404}
    assert list(find_violations()) == []


def test_the_card_of_a_removed_group_is_blanked_by_the_purge(alice: User) -> None:
    device = Device(alice)
    configure(signed_in(alice), device, groupCards=True)
    prepared(alice)
    device.put("g.vcf", MEMBERS)
    token = device.sync().token
    assert device.call("DELETE", f"{device.book}g.vcf").status_code == 204
    assert purge_deleted(now=timezone.now() + 32 * DAY)["texts of what no longer exists"] == 1
    row = BookCard.objects.owned_by(alice).get(name="g.vcf")
    assert bytes(row.text) == b""
    assert [entry.status for entry in device.sync(token).entries.values()] == [404]
    assert list(find_violations()) == []


def test_a_text_that_is_sent_while_its_person_is_removed_is_not_kept(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, person_id = prepared(alice)
    client_of(alice).ok("DELETE", f"/api/people/{person_id}")
    client_of(alice).ok("POST", f"/api/people/{person_id}/restore")
    record = client_state.record_sent_texts

    def removed_before(*arguments: Any) -> None:
        client_of(alice).ok("DELETE", f"/api/people/{person_id}")
        by_hand(alice, person_id)
        record(*arguments)

    monkeypatch.setattr(methods, "record_sent_texts", removed_before)
    assert Device(alice).get("a.vcf").status_code == 200
    assert not FormerText.objects.owned_by(alice).exists()
    assert list(find_violations()) == []
