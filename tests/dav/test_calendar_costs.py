"""What the calendars cost: a device asks again only where they show something else, and reads what changed."""

from typing import Any

import pytest

from accounts.models import User
from dav.resources.calendars import CalendarResource
from dav.resources.own_calendars import DatesResource, KeepInTouchResource
from tests.client import Client
from tests.dav.devices import Device, signed_in
from tests.dav.test_calendars import make, make_born, make_friend, path, statuses, sync
from tests.dav.test_selection import configure, make_group
from tests.queries import count_queries

pytestmark = pytest.mark.django_db

CALL = {"kind": "CALL", "at": "2026-11-01T10:00:00Z"}


@pytest.fixture
def api(alice: User) -> Client:
    return signed_in(alice)


@pytest.fixture
def device(alice: User) -> Device:
    return Device(alice)


def ctag(device: Device, calendar: str) -> str:
    where = path(device, calendar)
    return device.propfind(where, "cs:getctag").entries[where].text("cs:getctag")


def ctags(device: Device) -> tuple[str, str]:
    return ctag(device, "dates"), ctag(device, "keep-in-touch")


def test_the_ctag_changes_with_what_the_calendar_shows(api: Client, device: Device) -> None:
    born, date_id = make_born(api, "Ann")
    friend = make_friend(api, "Bob")
    plain = make(api, "Cleo")["id"]
    steps: list[tuple[str, str, dict[str, Any], tuple[bool, bool]]] = [
        ("PUT", f"/api/people/{plain}", {"notes": "x"}, (False, False)),
        ("POST", "/api/groups", {"name": "Family"}, (False, False)),
        ("POST", "/api/people", {"name": "Dan"}, (False, False)),
        (
            "POST",
            "/api/interactions",
            {**CALL, "personIds": [plain]},
            (False, False),
        ),
        ("PUT", f"/api/people/{born}", {"name": "Anna"}, (True, False)),
        ("PUT", f"/api/people/{friend}", {"name": "Bobby"}, (False, True)),
        (
            "POST",
            "/api/interactions",
            {**CALL, "personIds": [friend]},
            (False, True),
        ),
        ("PUT", f"/api/people/{friend}", {"contactReminderEnabled": False}, (False, True)),
        ("PUT", f"/api/people/{plain}", {"contactReminderEnabled": True}, (False, True)),
        ("DELETE", f"/api/people/{plain}", {}, (False, True)),
        ("POST", f"/api/people/{born}/important-dates", {"title": "Met", "date": "2001-01-01"}, (True, False)),
        ("DELETE", f"/api/people/{born}/important-dates/{date_id}", {}, (True, False)),
        ("PUT", f"/api/people/{born}", {"quiet": True}, (True, False)),
        ("DELETE", f"/api/people/{born}", {}, (True, False)),
        ("PUT", "/api/user/timezone", {"timezone": "Asia/Tokyo"}, (True, True)),
    ]
    before = ctags(device)
    for method, where, body, changed in steps:
        response = api.call(method, where, body)
        assert response.status_code in {200, 201}, (where, response.content)
        after = ctags(device)
        assert tuple(old != new for old, new in zip(before, after, strict=True)) == changed, (method, where, body)
        before = after


def test_an_idle_calendar_is_one_statement_also_after_other_writes(api: Client, device: Device) -> None:
    make_born(api, "Ann")
    plain = make(api, "Cleo")["id"]
    for calendar in ("dates", "keep-in-touch"):
        token = sync(device, calendar).token
        assert count_queries(lambda: ctag(device, calendar)) == 1  # noqa: B023
        assert count_queries(lambda: sync(device, calendar, token)) == 1  # noqa: B023
        api.ok("PUT", f"/api/people/{plain}", {"notes": calendar})
        assert sync(device, calendar, token).entries == {}
        assert count_queries(lambda: sync(device, calendar, token)) == 1  # noqa: B023


@pytest.mark.parametrize("kind", [DatesResource, KeepInTouchResource])
def test_a_sync_reads_what_changed(
    api: Client, device: Device, monkeypatch: pytest.MonkeyPatch, kind: type[CalendarResource]
) -> None:
    people = [
        make(
            api,
            f"P{n}",
            importantDates=[{"type": "birthday", "date": "1990-06-15"}],
            contactReminderEnabled=True,
            contactReminderInterval=1,
            contactReminderIntervalUnit="MONTHS",
        )["id"]
        for n in range(30)
    ]
    token = sync(device, kind.collection).token
    read: list[Any] = []
    days = kind.days

    def counted(self: Any, row: Any) -> Any:
        read.append(row.id)
        return days(self, row)

    monkeypatch.setattr(kind, "days", counted)
    for number in (1, 5):
        for person_id in people[:number]:
            api.ok("PUT", f"/api/people/{person_id}", {"notes": f"{number}"})
        read.clear()
        answer = sync(device, kind.collection, token)
        assert len(answer.entries) == number
        assert len(set(read)) == number
        token = answer.token


def test_a_device_of_a_group_has_the_dates_and_tasks_of_the_group(api: Client, device: Device) -> None:
    ann, ann_date = make_born(api, "Ann")
    bob, bob_date = make_born(api, "Bob")
    reminder = {"contactReminderEnabled": True, "contactReminderInterval": 1, "contactReminderIntervalUnit": "MONTHS"}
    for person_id in (ann, bob):
        api.ok("PUT", f"/api/people/{person_id}", {**reminder, "lastContact": "2026-06-01"})
    group = make_group(api, "Family", {"id": ann})
    everything = sync(device, "dates").token, sync(device, "keep-in-touch").token
    configure(api, device, book={"groupIds": [group]})
    # Of what it had, it is told that it is gone; and a request for it finds nothing.
    told = [sync(device, name, token) for name, token in zip(("dates", "keep-in-touch"), everything, strict=True)]
    assert statuses(device, "dates", told[0])[bob_date] == 404
    assert statuses(device, "keep-in-touch", told[1])[bob] == 404
    for calendar, own, other in (("dates", ann_date, bob_date), ("keep-in-touch", ann, bob)):
        assert statuses(device, calendar, sync(device, calendar)) == {own: 200}
        assert device.call("GET", path(device, calendar, f"{own}.ics")).status_code == 200
        assert device.call("GET", path(device, calendar, f"{other}.ics")).status_code == 404
    tick = "BEGIN:VCALENDAR\r\nBEGIN:VTODO\r\nUID:x\r\nSUMMARY:Bob\r\nSTATUS:COMPLETED\r\nEND:VTODO\r\nEND:VCALENDAR"
    for name in ("x.ics", f"{bob}.ics"):
        refused = device.call("PUT", path(device, "keep-in-touch", name), tick, content_type="text/calendar")
        assert refused.status_code == 403
    assert api.ok("GET", f"/api/people/{bob}/interactions")["interactions"] == []
    # Who joins comes, who leaves goes.
    tokens = [sync(device, name).token for name in ("dates", "keep-in-touch")]
    api.ok("POST", f"/api/groups/{group}/members", {"personId": bob})
    assert statuses(device, "dates", sync(device, "dates", tokens[0])) == {bob_date: 200}
    assert statuses(device, "keep-in-touch", sync(device, "keep-in-touch", tokens[1])) == {bob: 200}
    tokens = [sync(device, name).token for name in ("dates", "keep-in-touch")]
    api.ok("DELETE", f"/api/groups/{group}/members/{ann}")
    assert statuses(device, "dates", sync(device, "dates", tokens[0])) == {ann_date: 404}
    assert statuses(device, "keep-in-touch", sync(device, "keep-in-touch", tokens[1])) == {ann: 404}
    api.ok("DELETE", f"/api/groups/{group}")
    for calendar in ("dates", "keep-in-touch"):
        assert sync(device, calendar).entries == {}
