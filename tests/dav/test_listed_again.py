"""What a device sent and we refused, or stored otherwise, is listed to it again with an ETag that it has not seen."""

from typing import Any

import pytest

from accounts.models import User
from dav.models import ListedAgain, Refusal
from tests.builders import set_plan_limits
from tests.client import client_of
from tests.dav.devices import Device, card, person_of

pytestmark = pytest.mark.django_db


def listed(device: Device, token: str) -> dict[str, str]:
    """The names and ETags that a sync lists."""
    answer = device.sync(token)
    return {href.rpartition("/")[2]: entry.text("d:getetag") for href, entry in answer.entries.items()}


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (card("NOTE:one"), 204),  # nothing new, but another PRODID and REV
        (card("NOTE:one", "PHOTO;ENCODING=b;TYPE=JPEG:bm8gcGljdHVyZQ=="), 204),
        (card("NOTE:one").replace("u-1", "u-2"), 409),
        ("nonsense", 403),
        (card("NOTE:one") + card("NOTE:two"), 403),
    ],
)
def test_the_device_takes_ours_in_its_next_sync(alice: User, text: str, status: int) -> None:
    first, device = Device(alice), Device(alice)
    first.put("a.vcf", card("NOTE:one"))
    other = first.sync()
    device.text("a.vcf")
    known = device.get("a.vcf")["ETag"]
    ctag = device.propfind(device.book, "cs:getctag").entries[device.book].text("cs:getctag")
    start = device.sync()
    if status == 204:
        text = text.replace("VERSION:3.0\r\n", "VERSION:3.0\r\nPRODID:-//Phone//EN\r\n")
    sent = device.put("a.vcf", text)
    assert (sent.status_code, "ETag" in sent) == (status, False)
    again = listed(device, start.token)
    assert set(again) == {"a.vcf"}
    assert again["a.vcf"] != known
    assert device.propfind(device.book, "cs:getctag").entries[device.book].text("cs:getctag") != ctag
    response = device.get("a.vcf")
    assert response["ETag"] == again["a.vcf"]
    shown = response.content.decode()
    assert [line for line in shown.splitlines() if not line.startswith("REV")] == card("NOTE:one").splitlines()
    assert device.multiget(f"{device.book}a.vcf").entries[f"{device.book}a.vcf"].text("d:getetag") == again["a.vcf"]
    assert first.sync(other.token).entries == {}  # nobody else is told
    assert first.get("a.vcf")["ETag"] == known
    # Once more: another ETag again, although the clock may stand still.
    assert device.put("a.vcf", text).status_code == status
    assert device.get("a.vcf")["ETag"] not in {known, again["a.vcf"]}
    # A good change against what it was given is taken, and its ETag is as for everybody.
    changed = device.put("a.vcf", card("NOTE:two"), HTTP_IF_MATCH=device.get("a.vcf")["ETag"])
    assert changed.status_code == 204
    assert person_of(alice)["notes"] == "two"
    assert changed["ETag"] == first.get("a.vcf")["ETag"] == device.get("a.vcf")["ETag"]


def test_a_refused_delete_or_put_of_a_reader_is_listed_again(alice: User) -> None:
    first, reader = Device(alice), Device(alice, "READ")
    first.put("a.vcf", card())
    reader.text("a.vcf")
    start = reader.sync()
    assert reader.call("DELETE", f"{reader.book}a.vcf").status_code == 403
    assert set(listed(reader, start.token)) == {"a.vcf"}
    assert reader.put("a.vcf", card("NOTE:mine")).status_code == 403
    (refusal,) = Refusal.objects.owned_by(alice)
    assert refusal.reason["code"] == "dav_read_only"


def test_a_device_that_never_read_the_card_is_told_of_it_too(alice: User) -> None:
    first, device = Device(alice), Device(alice)
    first.put("a.vcf", card())
    start = device.sync()
    assert device.put("a.vcf", "nonsense").status_code == 403
    again = listed(device, start.token)
    assert set(again) == {"a.vcf"}
    assert again["a.vcf"] == device.get("a.vcf")["ETag"] != first.get("a.vcf")["ETag"]


def test_a_new_card_that_was_refused_is_not_named(alice: User, settings: Any) -> None:
    set_plan_limits(settings, people=1)
    device = Device(alice)
    device.put("a.vcf", card())
    start = device.sync()
    assert device.put("b.vcf", card().replace("u-1", "u-2").replace("Ada", "Bob")).status_code == 507
    assert device.sync(start.token).entries == {}
    (refusal,) = Refusal.objects.owned_by(alice)
    assert (refusal.href, refusal.person, refusal.reason["code"]) == (f"{device.book}b.vcf", None, "plan_people")
    set_plan_limits(settings, people=2)
    assert device.put("b.vcf", card().replace("u-1", "u-2").replace("Ada", "Bob")).status_code == 201
    assert not Refusal.objects.owned_by(alice).exists()


def test_a_stale_condition_is_no_refusal_to_tell_of(alice: User) -> None:
    device, api = Device(alice), client_of(alice)
    etag = device.put("a.vcf", card("NOTE:one"))["ETag"]
    api.ok("PUT", f"/api/people/{person_of(alice)['id']}", {"notes": "theirs"})
    assert device.put("a.vcf", card("NOTE:mine"), HTTP_IF_MATCH=etag).status_code == 412
    assert not Refusal.objects.owned_by(alice).exists()
    assert not ListedAgain.objects.owned_by(alice).exists()
    assert person_of(alice)["notes"] == "theirs"
    fresh = device.get("a.vcf")["ETag"]
    assert device.put("a.vcf", card("NOTE:mine"), HTTP_IF_MATCH=fresh).status_code == 204


def test_pages_of_a_limited_sync_hold_what_is_listed_again(alice: User) -> None:
    first, device = Device(alice), Device(alice)
    for number in range(3):
        first.put(f"{number}.vcf", card().replace("u-1", f"u-{number}").replace("Ada", f"P{number}"))
        device.text(f"{number}.vcf")
    start = device.sync()
    for number in range(3):
        assert device.put(f"{number}.vcf", "nonsense").status_code == 403
    token, names = start.token, []
    for _ in range(3):
        page = device.sync(token, limit=1)
        page.entries.pop(device.book, None)
        names += [href.rpartition("/")[2] for href in page.entries]
        token = page.token
    assert sorted(names) == ["0.vcf", "1.vcf", "2.vcf"]
    assert device.sync(token).entries == {}
