"""The cards of people who no longer exist: devices are told of them for 120 days, and then they are removed."""

import datetime as dt

import pytest
import time_machine
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ownership.models import TOMBSTONE_RETENTION
from dav.models import BookCard, FormerText, GivenCard
from people.trash import purge_deleted
from tests.client import client_of
from tests.dav.devices import Device, card, person_of

pytestmark = pytest.mark.django_db

DAY = dt.timedelta(days=1)


def names_of_cards(user: User) -> set[str]:
    return set(BookCard.objects.owned_by(user).values_list("name", flat=True))


def test_cards_of_removed_people_and_former_names_go_after_the_time_of_tombstones(alice: User) -> None:
    device, start = Device(alice), timezone.now()
    for name in ("gone", "kept", "quiet", "old"):
        device.put(f"{name}.vcf", card("NOTE:one").replace("u-1", name).replace("Ada", name))
    device.call("MOVE", f"{device.book}old.vcf", HTTP_DESTINATION=f"{device.book}new.vcf")
    token = device.sync().token
    api = client_of(alice)
    quiet = BookCard.objects.owned_by(alice).get(name="quiet.vcf").person_id
    api.ok("PUT", f"/api/people/{quiet}", {"quiet": True})
    assert device.call("DELETE", f"{device.book}gone.vcf").status_code == 204
    device.sync()  # cards leave the book when a device asks for it
    everything = {f"{name}.vcf" for name in ("gone", "kept", "quiet", "old", "new")}
    with time_machine.travel(start + 32 * DAY):
        purge_deleted(now=timezone.now())
    with time_machine.travel(start + TOMBSTONE_RETENTION - DAY):
        purge_deleted(now=timezone.now())
        assert names_of_cards(alice) == everything
        told = {href.rpartition("/")[2]: entry.status for href, entry in device.sync(token).entries.items()}
        assert told == {"gone.vcf": 404, "quiet.vcf": 404}
    for expected in (2, 0):
        removed = purge_deleted(now=start + TOMBSTONE_RETENTION + 2 * DAY)
        assert removed["cards of what no longer exists"] == expected
        assert names_of_cards(alice) == {"kept.vcf", "quiet.vcf", "new.vcf"}


def test_a_card_that_leaves_late_is_told_of_for_the_whole_time(alice: User) -> None:
    device, start = Device(alice), timezone.now()
    device.put("a.vcf", card("NOTE:one"))
    late = start + 200 * DAY
    with time_machine.travel(late):
        token = device.sync().token
        client_of(alice).ok("DELETE", f"/api/people/{person_of(alice)['id']}")
    with time_machine.travel(late + 40 * DAY):
        purge_deleted(now=timezone.now())
        assert [entry.status for entry in device.sync(token).entries.values()] == [404]
        purge_deleted(now=timezone.now())
        assert names_of_cards(alice) == {"a.vcf"}
    with time_machine.travel(late + 161 * DAY):
        purge_deleted(now=timezone.now())
    assert not names_of_cards(alice)
    assert not FormerText.objects.owned_by(alice).exists()
    assert not GivenCard.objects.owned_by(alice).exists()


def test_a_change_moves_the_time_of_the_last_change(alice: User) -> None:
    device, start = Device(alice), timezone.now()
    device.put("a.vcf", card("NOTE:one"))
    path = f"{device.book}a.vcf"
    before = device.propfind(path, "d:getlastmodified").entries[path].text("d:getlastmodified")
    client_of(alice).ok("PUT", f"/api/people/{person_of(alice)['id']}", {"nickname": "Countess"})
    with time_machine.travel(start + DAY):
        after = device.propfind(path, "d:getlastmodified").entries[path].text("d:getlastmodified")
    assert after != before
