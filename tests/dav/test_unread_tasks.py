"""A program that asks for the ETag after its PUT, as SyncEvolution does, and takes it for that of what it sent."""

from functools import partial

import pytest

from accounts.models import User
from dav.models import UnreadTask
from tests.client import client_of
from tests.dav.devices import Device
from tests.dav.test_calendars import make_friend, path, put, report, served, with_line
from tests.queries import count_queries

pytestmark = pytest.mark.django_db


def etag(device: Device, href: str) -> str:
    return device.propfind(href, "d:getetag", "d:resourcetype").entries[href].text("d:getetag")


def ctag(device: Device, collection: str) -> str:
    return device.propfind(collection, "cs:getctag").entries[collection].text("cs:getctag")


def listed(device: Device, collection: str) -> dict[str, str]:
    entries = device.propfind(collection, "d:getetag", "d:resourcetype", depth="1").entries
    return {href: entry.text("d:getetag") for href, entry in entries.items() if "d:getetag" in entry.found}


def assert_told_until_read(device: Device, collection: str, href: str, before: set[str]) -> None:
    """It is not told the ETag of what is here before it reads that, and comes to read it."""
    after_put, known_ctag = etag(device, href), ctag(device, collection)
    assert after_put not in before
    assert ctag(device, collection) != known_ctag, "it would not even list the collection"
    shown = listed(device, collection)[href]
    assert shown not in {*before, after_put}
    assert device.call("GET", href)["ETag"] == shown
    assert etag(device, href) == shown
    assert ctag(device, collection) == ctag(device, collection)
    assert count_queries(partial(ctag, device, collection)) == 1
    assert not UnreadTask.objects.owned_by(device.user).exists()


def test_ticked_task_is_read_again(alice: User) -> None:
    device, other, api = Device(alice), Device(alice), client_of(alice)
    person_id = make_friend(api, "Ann")
    tasks = path(device, "keep-in-touch")
    href, known = f"{tasks}{person_id}.ics", ctag(other, tasks)
    before = set(listed(device, tasks).values())
    assert put(device, f"{person_id}.ics", with_line(served(device, person_id), "STATUS:COMPLETED")).status_code == 204
    assert etag(other, href) == listed(other, tasks)[href]
    assert ctag(other, tasks) == ctag(other, tasks) != known
    assert ctag(device, device.book) == ctag(device, device.book)
    assert_told_until_read(device, tasks, href, before)


def tick(device: Device, person_id: str) -> None:
    text = with_line(served(device, person_id), "STATUS:COMPLETED")
    assert put(device, f"{person_id}.ics", text).status_code == 204


def test_task_that_went_before_it_was_read_changes_no_ctag_for_ever(alice: User) -> None:
    device, api = Device(alice), client_of(alice)
    person_id = make_friend(api, "Ann")
    tasks = path(device, "keep-in-touch")
    tick(device, person_id)
    assert ctag(device, tasks) != ctag(device, tasks)
    api.ok("DELETE", f"/api/people/{person_id}")
    assert ctag(device, tasks) == ctag(device, tasks)


def test_reading_many_tasks_asks_once_which_are_unread(alice: User) -> None:
    device, api = Device(alice), client_of(alice)
    people = [make_friend(api, f"Ann {number}") for number in range(6)]
    tasks = path(device, "keep-in-touch")

    def read(number: int) -> int:
        hrefs = "".join(f"<d:href>{tasks}{person_id}.ics</d:href>" for person_id in people[1 : 1 + number])
        inner = f"<d:prop><d:getetag/><cal:calendar-data/></d:prop>{hrefs}"
        return count_queries(report, device, "keep-in-touch", "calendar-multiget", inner)

    tick(device, people[0])
    assert read(1) == read(5)
    assert UnreadTask.objects.owned_by(device.user).count() == 1
