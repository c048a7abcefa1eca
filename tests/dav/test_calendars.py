"""The calendars of a device: important dates as events, contact reminders as tasks."""

import datetime as dt
import re
from typing import Any

import pytest
import time_machine
from icalendar import Calendar

from accounts.models import ApiToken, User
from accounts.models.tokens import TOKEN_HASH
from dav.models import TaskTick
from tests.client import Client
from tests.dav.devices import DECLARED, Answer, Device

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]

NOON = dt.datetime(2026, 6, 10, 12, tzinfo=dt.UTC)


@pytest.fixture
def api(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    client.reader = alice
    return client


@pytest.fixture
def device(alice: User) -> Device:
    return Device(alice)


def path(device: Device, calendar: str, name: str = "") -> str:
    return f"/dav/calendars/{device.user.pk}/{calendar}/{name}"


def make(api: Client, name: str, **fields: Any) -> dict[str, Any]:
    person: dict[str, Any] = api.ok("POST", "/api/people", {"name": name, **fields}, status=201)["person"]
    return person


def make_born(api: Client, name: str, day: str = "1990-06-15") -> tuple[str, str]:
    """The ids of a person and of its birthday."""
    person = make(api, name, importantDates=[{"type": "birthday", "date": day}])
    return person["id"], person["importantDates"][0]["id"]


def make_friend(api: Client, name: str, last: str = "2026-06-01") -> str:
    """The id of a person to be in touch with every month, the next time on the first of July."""
    reminder = {"contactReminderEnabled": True, "contactReminderInterval": 1, "contactReminderIntervalUnit": "MONTHS"}
    return str(make(api, name, lastContact=last, **reminder)["id"])


def report(device: Device, calendar: str, name: str, inner: str, status: int = 207, **headers: str) -> Any:
    body = f"<cal:{name} {DECLARED}>{inner}</cal:{name}>"
    if status != 207:
        response = device.call("REPORT", path(device, calendar), body, **headers)
        assert response.status_code == status, b"".join(response)
        return response
    return device.ask("REPORT", path(device, calendar), body, HTTP_DEPTH="1", **headers)


def sync(device: Device, calendar: str, token: str = "", limit: int | None = None) -> Answer:
    device.book = path(device, calendar)
    return device.sync(token, limit=limit)


def statuses(device: Device, calendar: str, answer: Answer) -> dict[str, int]:
    start = path(device, calendar)
    return {href.removeprefix(start).removesuffix(".ics"): entry.status for href, entry in answer.entries.items()}


def query(device: Device, calendar: str, filters: str, status: int = 207) -> Any:
    component = "VEVENT" if calendar == "dates" else "VTODO"
    inner = (
        '<d:prop><d:getetag/></d:prop><cal:filter><cal:comp-filter name="VCALENDAR">'
        f'<cal:comp-filter name="{component}">{filters}</cal:comp-filter></cal:comp-filter></cal:filter>'
    )
    return report(device, calendar, "calendar-query", inner, status)


def found(device: Device, calendar: str, filters: str) -> set[str]:
    return set(statuses(device, calendar, query(device, calendar, filters)))


def component_of(device: Device, calendar: str, record_id: str) -> Any:
    response = device.call("GET", path(device, calendar, f"{record_id}.ics"))
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/calendar")
    return Calendar.from_ical(response.content).subcomponents[0]


def test_home_lists_both_calendars_with_what_programs_ask_for(device: Device) -> None:
    names = ("d:resourcetype", "d:displayname", "d:current-user-privilege-set", "d:supported-report-set")
    more = ("cal:supported-calendar-component-set", "cs:getctag", "d:sync-token")
    answer = device.propfind(path(device, "")[:-1], *names, *more, depth="1")
    for name, component, title in (("dates", "VEVENT", "Important dates"), ("keep-in-touch", "VTODO", "Keep in touch")):
        entry = answer.entries[path(device, name)]
        assert not entry.missing
        assert entry.text("d:displayname") == title
        comps = [comp.get("name") for comp in entry.found["cal:supported-calendar-component-set"]]
        assert comps == [component]
        assert entry.text("cs:getctag") == entry.text("d:sync-token") != ""
    privileges = {
        name: {each.tag.partition("}")[2] for each in answer.entries[path(device, name)].found[names[2]].iter()}
        for name in ("dates", "keep-in-touch")
    }
    assert privileges["dates"] == {"current-user-privilege-set", "privilege", "read", "read-current-user-privilege-set"}
    assert "write-content" in privileges["keep-in-touch"]


def test_dates_are_the_events_of_feeds_without_alarms(api: Client, device: Device) -> None:
    _, date_id = make_born(api, "Ann")
    event = component_of(device, "dates", date_id)
    assert (event["UID"], event["DTSTART"].dt) == (f"date-{date_id}", dt.date(1990, 6, 15))
    assert not event.subcomponents
    row = ApiToken.objects.owned_by(device.user).get(digest=TOKEN_HASH(device.token.encode()).hexdigest())
    body = {"importantDates": [{"id": date_id, "type": "birthday", "date": "1990-06-15", "reminderEnabled": True}]}
    api.ok("PUT", f"/api/people/{event['URL'].rsplit('/', 1)[-1]}", body)
    assert not component_of(device, "dates", date_id).subcomponents
    token = sync(device, "dates").token
    api.ok("PUT", f"/api/user/api-tokens/{row.pk}", {"alarms": True})
    assert [part.name for part in component_of(device, "dates", date_id).subcomponents] == ["VALARM"]
    assert statuses(device, "dates", sync(device, "dates", token)) == {date_id: 200}


def test_people_who_are_quiet_or_in_the_trash_have_no_event(api: Client, device: Device) -> None:
    quiet, quiet_date = make_born(api, "Quiet")
    gone, gone_date = make_born(api, "Gone")
    kept, kept_date = make_born(api, "Kept")
    first = sync(device, "dates")
    assert set(statuses(device, "dates", first)) == {quiet_date, gone_date, kept_date}
    assert not sync(device, "dates", first.token).entries
    api.ok("PUT", f"/api/people/{quiet}", {"quiet": True})
    api.ok("DELETE", f"/api/people/{gone}")
    second = sync(device, "dates", first.token)
    assert statuses(device, "dates", second) == {quiet_date: 404, gone_date: 404}
    assert device.call("GET", path(device, "dates", f"{gone_date}.ics")).status_code == 404
    api.ok("PUT", f"/api/people/{kept}", {"importantDates": []})
    assert statuses(device, "dates", sync(device, "dates", second.token)) == {kept_date: 404}


def test_an_event_that_is_there_fulfils_no_condition_that_it_is_not(api: Client, device: Device) -> None:
    _, date_id = make_born(api, "Ann")
    event = device.call("GET", path(device, "dates", f"{date_id}.ics"))
    known = device.call("GET", path(device, "dates", f"{date_id}.ics"), HTTP_IF_NONE_MATCH="*")
    assert (known.status_code, known["ETag"], known.content) == (304, event["ETag"], b"")


def test_new_name_gives_the_event_a_new_etag(api: Client, device: Device) -> None:
    person, date_id = make_born(api, "Ann")
    _, other = make_born(api, "Bob")
    first = sync(device, "dates")
    api.ok("PUT", f"/api/people/{person}", {"name": "Anna"})
    entries = sync(device, "dates", first.token).entries
    href = path(device, "dates", f"{date_id}.ics")
    assert list(entries) == [href]
    assert entries[href].text("d:getetag") != first.entries[href].text("d:getetag")
    assert other not in href


def test_events_whose_occurrence_has_passed_are_told(api: Client, device: Device) -> None:
    with time_machine.travel(NOON):
        _, passing = make_born(api, "Ann", "1990-06-10")
        make_born(api, "Bob", "1990-09-01")
        first = sync(device, "dates")
        assert not sync(device, "dates", first.token).entries
    with time_machine.travel(NOON + dt.timedelta(days=1)):
        second = sync(device, "dates", first.token)
        assert statuses(device, "dates", second) == {passing: 200}
        href = path(device, "dates", f"{passing}.ics")
        assert second.entries[href].text("d:getetag") != first.entries[href].text("d:getetag")
        assert not sync(device, "dates", second.token).entries


def test_limit_cuts_and_the_rest_follows(api: Client, device: Device) -> None:
    ids = {make_born(api, f"Person {n}")[1] for n in range(5)}
    seen: list[str] = []
    token = ""
    for _ in range(3):
        answer = sync(device, "dates", token, limit=2)
        token, page = answer.token, statuses(device, "dates", answer)
        assert page.pop("", 507) == 507
        seen += page
    assert sorted(seen) == sorted(ids)
    assert not sync(device, "dates", token).entries


def test_token_of_another_account_is_refused(device: Device, mallory: User) -> None:
    token = sync(Device(mallory), "dates").token
    body = f"<d:sync-collection {DECLARED}><d:sync-token>{token}</d:sync-token><d:prop/></d:sync-collection>"
    assert device.call("REPORT", path(device, "dates"), body).status_code == 403


@pytest.mark.both_databases
def test_dates_cannot_be_written(api: Client, device: Device) -> None:
    _, date_id = make_born(api, "Ann")
    text = device.call("GET", path(device, "dates", f"{date_id}.ics")).content
    for method in ("PUT", "DELETE"):
        for name in (f"{date_id}.ics", "new.ics"):
            response = device.call(method, path(device, "dates", name), text, content_type="text/calendar")
            assert response.status_code == 403
            assert b"need-privileges" in response.content
    assert device.call("GET", path(device, "dates", f"{date_id}.ics")).content == text


def test_calendars_of_another_account_do_not_exist(api: Client, device: Device, mallory: User) -> None:
    _, date_id = make_born(api, "Ann")
    other = Device(mallory)
    for target in (
        path(device, "dates"),
        path(device, "dates", f"{date_id}.ics"),
        path(other, "dates", f"{date_id}.ics"),
    ):
        assert other.call("GET", target).status_code == 404
    assert other.call("PUT", path(device, "keep-in-touch", "x.ics"), b"").status_code == 404


def test_multiget_answers_each_href(api: Client, device: Device) -> None:
    _, date_id = make_born(api, "Ann")
    here, gone = path(device, "dates", f"{date_id}.ics"), path(device, "dates", "x.ics")
    inner = f"<d:prop><d:getetag/><cal:calendar-data/></d:prop><d:href>{here}</d:href><d:href>{gone}</d:href>"
    entries = report(device, "dates", "calendar-multiget", inner).entries
    assert entries[gone].status == 404
    response = device.call("GET", here)
    assert entries[here].text("d:getetag") == response["ETag"]
    assert entries[here].text("cal:calendar-data") == response.content.decode()
    assert device.call("GET", here, HTTP_IF_NONE_MATCH=response["ETag"]).status_code == 304


def test_part_of_the_data(api: Client, device: Device) -> None:
    person_id = make_friend(api, "Ann")
    inner = (
        '<d:prop><cal:calendar-data><cal:comp name="VCALENDAR"><cal:comp name="VTODO"><cal:prop name="UID"/></cal:comp>'
        '</cal:comp></cal:calendar-data></d:prop><cal:filter><cal:comp-filter name="VCALENDAR"/></cal:filter>'
    )
    entries = report(device, "keep-in-touch", "calendar-query", inner).entries
    text = entries[path(device, "keep-in-touch", f"{person_id}.ics")].text("cal:calendar-data")
    expected = f"BEGIN:VCALENDAR BEGIN:VTODO UID:contact-{person_id} END:VTODO END:VCALENDAR"
    assert text.split() == expected.split()


@pytest.mark.both_databases
def test_time_range_of_events(api: Client, device: Device) -> None:
    _, june = make_born(api, "June", "1990-06-15")
    _, march = make_born(api, "March", "2020-03-01")
    for given, expected in (
        ('start="20260615T000000Z" end="20260616T000000Z"', {june}),
        ('start="20260616T000000Z" end="20260617T000000Z"', set()),
        ('start="20260614T000000Z" end="20260615T000000Z"', set()),
        ('start="20260101T000000Z"', {june, march}),
        ('end="20100101T000000Z"', {june}),
    ):
        assert found(device, "dates", f"<cal:time-range {given}/>") == expected, given


def test_time_range_of_tasks(api: Client, device: Device) -> None:
    person_id = make_friend(api, "Ann")  # due on 1 July
    for given, expected in (
        ('start="20260701T000000Z"', set()),
        ('start="20260630T235959Z"', {person_id}),
        ('end="20260701T000000Z"', {person_id}),
        ('end="20260630T235959Z"', set()),
        ('start="20260601T000000Z" end="20260801T000000Z"', {person_id}),
    ):
        assert found(device, "keep-in-touch", f"<cal:time-range {given}/>") == expected, given


def test_other_filters(api: Client, device: Device) -> None:
    person_id = make_friend(api, "Ann")
    make_friend(api, "Bob")
    match = '<cal:prop-filter name="SUMMARY"><cal:text-match>ann</cal:text-match></cal:prop-filter>'
    assert found(device, "keep-in-touch", match) == {person_id}
    absent = '<cal:prop-filter name="COMPLETED"><cal:is-not-defined/></cal:prop-filter>'
    assert len(found(device, "keep-in-touch", absent)) == 2
    assert found(device, "keep-in-touch", "<cal:is-not-defined/>") == set()
    for filters, name in (
        ("<cal:unknown/>", b"supported-filter"),
        ('<cal:comp-filter name="VALARM"/>', b"supported-filter"),
        ('<cal:prop-filter name="UID"><cal:param-filter name="X"/></cal:prop-filter>', b"supported-filter"),
        ('<cal:time-range start="2026"/>', b"valid-filter"),
        ('<cal:time-range start="20261224T000000Z" end="20261223T000000Z"/>', b"valid-filter"),
        ('<cal:time-range start="20261224T000000Z" end="20261224T000000Z"/>', b"valid-filter"),
    ):
        assert name in query(device, "keep-in-touch", filters, 403).content


def test_task_of_a_contact_reminder(api: Client, device: Device) -> None:
    person_id = make_friend(api, "Ann; Lee")
    make(api, "Nobody")
    assert set(statuses(device, "keep-in-touch", sync(device, "keep-in-touch"))) == {person_id}
    task = component_of(device, "keep-in-touch", person_id)
    assert (task.name, task["SUMMARY"], task["STATUS"]) == ("VTODO", "Ann; Lee", "NEEDS-ACTION")
    assert task["DUE"].dt == dt.date(2026, 7, 1)
    assert task["URL"].endswith(person_id)
    first = device.call("GET", path(device, "keep-in-touch", f"{person_id}.ics"))
    assert first["ETag"] == device.call("GET", path(device, "keep-in-touch", f"{person_id}.ics"))["ETag"]
    assert not re.search(rb"RRULE|COMPLETED", first.content)


def test_task_goes_with_its_reminder(api: Client, device: Device) -> None:
    person_id = make_friend(api, "Ann")
    token = sync(device, "keep-in-touch").token
    api.ok("PUT", f"/api/people/{person_id}", {"contactReminderEnabled": False})
    assert statuses(device, "keep-in-touch", sync(device, "keep-in-touch", token)) == {person_id: 404}


TICKS = {
    "COMPLETED": "COMPLETED:20260610T100000Z",
    "STATUS": "STATUS:COMPLETED",
    "PERCENT-COMPLETE": "PERCENT-COMPLETE:100",
}


def served(device: Device, person_id: str) -> str:
    response = device.call("GET", path(device, "keep-in-touch", f"{person_id}.ics"))
    assert response.status_code == 200
    return str(response.content.decode())


def put(device: Device, name: str, text: str, **headers: str) -> Any:
    return device.call("PUT", path(device, "keep-in-touch", name), text, content_type="text/calendar", **headers)


def with_line(text: str, line: str) -> str:
    name = line.partition(":")[0]
    kept = [each for each in text.split("\r\n") if not each.startswith(f"{name}:")]
    kept.insert(kept.index("END:VTODO"), line)
    return "\r\n".join(kept)


def interactions(api: Client, person_id: str) -> list[str]:
    rows = api.ok("GET", f"/api/people/{person_id}/interactions")["interactions"]
    return [row["kind"] for row in rows]


def due(device: Device, person_id: str) -> dt.date:
    day: dt.date = component_of(device, "keep-in-touch", person_id)["DUE"].dt
    return day


@pytest.mark.both_databases
@pytest.mark.parametrize("line", TICKS.values(), ids=TICKS)
def test_tick_and_taking_it_back(api: Client, device: Device, line: str) -> None:
    with time_machine.travel(NOON):
        person_id = make_friend(api, "Ann")
        before = served(device, person_id)
        response = put(device, f"{person_id}.ics", with_line(before, line))
        assert response.status_code == 204
        assert "ETag" not in response
        assert interactions(api, person_id) == ["OTHER"]
        assert due(device, person_id) == dt.date(2026, 7, 10)
        assert "STATUS:NEEDS-ACTION" in served(device, person_id)
        put(device, f"{person_id}.ics", with_line(before, line))
        assert interactions(api, person_id) == ["OTHER"], "the same again is no second tick"
        assert put(device, f"{person_id}.ics", before.replace("STATUS:NEEDS-ACTION\r\n", "")).status_code == 204
        assert interactions(api, person_id) == []
        (removed,) = api.ok("GET", "/api/deleted?type=interactions")["deleted"]
        assert removed["deletedBy"] == {"tokenId": str(ApiToken.objects.owned_by(device.user).get().pk), "name": "test"}
        assert due(device, person_id) == dt.date(2026, 7, 1)


def test_tick_is_taken_back_whose_interaction_is_in_the_trash_already(api: Client, device: Device) -> None:
    person_id = make_friend(api, "Ann")
    text, name = served(device, person_id), f"{person_id}.ics"
    assert put(device, name, with_line(text, "STATUS:COMPLETED")).status_code == 204
    (row,) = api.ok("GET", f"/api/people/{person_id}/interactions")["interactions"]
    api.ok("DELETE", f"/api/interactions/{row['id']}")
    assert put(device, name, text).status_code == 204
    assert not TaskTick.objects.owned_by(device.user).exists()
    assert (interactions(api, person_id), due(device, person_id)) == ([], dt.date(2026, 7, 1))


def test_tick_is_not_taken_back_after_an_hour(api: Client, device: Device) -> None:
    with time_machine.travel(NOON):
        person_id = make_friend(api, "Ann")
        before = served(device, person_id)
        put(device, f"{person_id}.ics", with_line(before, "STATUS:COMPLETED"))
    with time_machine.travel(NOON + dt.timedelta(hours=2)):
        put(device, f"{person_id}.ics", before)
        assert interactions(api, person_id) == ["OTHER"]


# What a device may send again: by the day that it ticks off, by the rule that it went on by, by COMPLETED alone.
REPEATED_TICKS = {
    "a day": ("", "STATUS:COMPLETED"),
    "a part": ("", "STATUS:COMPLETED\r\nRECURRENCE-ID;VALUE=DATE:20260701"),
    "a rule": ("20260801", "RRULE:FREQ=MONTHLY"),
    "no day": ("none", "COMPLETED:20260610T100000Z"),
}


@pytest.mark.both_databases
@pytest.mark.parametrize(("due_sent", "line"), REPEATED_TICKS.values(), ids=REPEATED_TICKS)
def test_a_tick_counts_once_however_often_and_late_it_is_sent(
    api: Client, device: Device, alice: User, due_sent: str, line: str
) -> None:
    other = Device(alice)
    with time_machine.travel(NOON):
        person_id = make_friend(api, "Ann")
        name, text = f"{person_id}.ics", with_line(served(device, person_id), line)
        if due_sent == "none":
            text = text.replace("DUE;VALUE=DATE:20260701\r\n", "")
        elif due_sent:
            text = text.replace("DUE;VALUE=DATE:20260701", f"DUE;VALUE=DATE:{due_sent}")
        etag = device.call("GET", path(device, "keep-in-touch", name))["ETag"]
        assert put(device, name, text, HTTP_IF_MATCH=etag).status_code == 204
    for days in (0.1, 2, 60):
        with time_machine.travel(NOON + dt.timedelta(days=days)):
            for each, headers in (
                (device, {"HTTP_IF_MATCH": etag}),
                (other, {}),
                (device, {"HTTP_IF_NONE_MATCH": "*"}),
            ):
                again = put(each, name, text, **headers)
                assert (again.status_code, "ETag" in again) == (204, False)
            assert interactions(api, person_id) == ["OTHER"]
            assert due(device, person_id) == dt.date(2026, 7, 10)
    with time_machine.travel(NOON + dt.timedelta(days=30)):
        assert put(other, name, with_line(served(other, person_id), "STATUS:COMPLETED")).status_code == 204
        assert put(device, name, text).status_code == 204
        assert interactions(api, person_id) == ["OTHER", "OTHER"]


def test_a_day_whose_talk_the_owner_deleted_can_be_ticked_off_again(api: Client, device: Device) -> None:
    person_id = make_friend(api, "Ann")
    name, text = f"{person_id}.ics", with_line(served(device, person_id), "STATUS:COMPLETED")
    put(device, name, text)
    (row,) = api.ok("GET", f"/api/people/{person_id}/interactions")["interactions"]
    api.ok("DELETE", f"/api/interactions/{row['id']}")
    assert due(device, person_id) == dt.date(2026, 7, 1)
    put(device, name, text)
    assert interactions(api, person_id) == ["OTHER"]


@time_machine.travel(NOON)
def test_what_is_no_tick_needs_its_condition(api: Client, device: Device) -> None:
    person_id = make_friend(api, "Ann")
    name, before = f"{person_id}.ics", served(device, person_id)
    stale = device.call("GET", path(device, "keep-in-touch", name))["ETag"]
    api.ok(
        "POST",
        "/api/interactions",
        {"personIds": [person_id], "kind": "CALL", "at": "2026-06-05T12:00:00Z"},
        status=201,
    )
    snooze = before.replace("DUE;VALUE=DATE:20260701", "DUE;VALUE=DATE:20260801")
    for text in (snooze, before, snooze.replace("202608", "202606")):
        assert put(device, name, text, HTTP_IF_MATCH=stale).status_code == 412
        assert put(device, name, text, HTTP_IF_NONE_MATCH="*").status_code == 412
    assert (due(device, person_id), interactions(api, person_id)) == (dt.date(2026, 7, 5), ["CALL"])
    assert put(device, "new.ics", snooze, HTTP_IF_MATCH=stale).status_code == 412
    assert put(device, "new.ics", snooze, HTTP_IF_NONE_MATCH="*").status_code == 403
    assert put(device, name, with_line(before, "STATUS:COMPLETED"), HTTP_IF_MATCH=stale).status_code == 204
    assert interactions(api, person_id) == ["OTHER", "CALL"]
    current = device.call("GET", path(device, "keep-in-touch", name))["ETag"]
    assert put(device, name, before, HTTP_IF_MATCH=stale).status_code == 412, "nor is taking it back"
    assert put(device, name, snooze, HTTP_IF_MATCH=current).status_code == 204
    assert due(device, person_id) == dt.date(2026, 8, 1)


def test_ticks_of_tasks_that_a_program_made_recurring(api: Client, device: Device) -> None:
    with time_machine.travel(NOON):
        moved = make_friend(api, "Ann")
        text = with_line(served(device, moved).replace("20260701", "20260801"), "RRULE:FREQ=MONTHLY")
        assert put(device, f"{moved}.ics", text).status_code == 204
        parted = make_friend(api, "Bob")
        part = (
            f"BEGIN:VTODO\r\nUID:contact-{parted}\r\nRECURRENCE-ID;VALUE=DATE:20260701\r\nSTATUS:COMPLETED\r\nEND:VTODO"
        )
        text = served(device, parted).replace("END:VCALENDAR", f"{part}\r\nEND:VCALENDAR")
        assert put(device, f"{parted}.ics", text).status_code == 204
        for person_id in (moved, parted):
            assert interactions(api, person_id) == ["OTHER"]
            assert due(device, person_id) == dt.date(2026, 7, 10)


def test_new_completed_task_with_the_name_of_one_of_ours(api: Client, device: Device) -> None:
    person_id = make_friend(api, "Ann")
    lines = ("BEGIN:VCALENDAR", "BEGIN:VTODO", "UID:x", "SUMMARY:Ann", "STATUS:{}", "END:VTODO", "END:VCALENDAR")
    text = "\r\n".join(lines)
    assert b"need-privileges" in put(device, "x.ics", text.format("NEEDS-ACTION")).content
    assert interactions(api, person_id) == []
    assert put(device, "x.ics", text.format("COMPLETED")).status_code == 201
    assert interactions(api, person_id) == ["OTHER"]
    assert device.call("GET", path(device, "keep-in-touch", "x.ics")).status_code == 404
    assert put(device, "y.ics", text.format("COMPLETED").replace("Ann", "Bob")).status_code == 403


def test_a_new_completed_task_is_that_of_one_namesake(api: Client, device: Device) -> None:
    first, second = make_friend(api, "Ann", "2026-06-01"), make_friend(api, "Ann", "2026-06-03")
    lines = ("BEGIN:VCALENDAR", "BEGIN:VTODO", "UID:x", "SUMMARY:Ann", "STATUS:COMPLETED", "END:VTODO", "END:VCALENDAR")
    for _ in range(3):
        put(device, "x.ics", "\r\n".join(lines))
    assert [interactions(api, each) for each in (first, second)] == [["OTHER"], []]
    due_sent = "\r\n".join(lines).replace("UID:x", "UID:y\r\nDUE;VALUE=DATE:20260703")
    for _ in range(3):
        put(device, "y.ics", due_sent)
    assert [interactions(api, each) for each in (first, second)] == [["OTHER"], ["OTHER"]]


def test_what_is_refused_of_tasks(api: Client, device: Device) -> None:
    person_id = make_friend(api, "Ann")
    text, name = served(device, person_id), f"{person_id}.ics"
    assert b"need-privileges" in device.call("DELETE", path(device, "keep-in-touch", name)).content
    assert b"valid-calendar-data" in put(device, name, "BEGIN:VCARD").content
    reader = Device(device.user, "READ")
    assert put(reader, name, with_line(text, "STATUS:COMPLETED")).status_code == 403
    moved = device.call("MOVE", path(device, "keep-in-touch", name), HTTP_DESTINATION=f"{device.book}a.vcf")
    assert (moved.status_code, b"need-privileges" in moved.content) == (403, True)
    too_late = text.replace("DUE;VALUE=DATE:2026", "DUE;VALUE=DATE:9999")
    assert put(device, name, too_late).status_code == 403
    assert put(device, name, text).status_code == 204
    assert (interactions(api, person_id), served(device, person_id)) == ([], text)
