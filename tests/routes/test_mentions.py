"""Who may be spoken of (people.mentions): the places, and that none of them forgets.

Every GET of the API is asked in an account with quiet people and others who have the same of everything. A route that
shows a quiet person must be in SHOWN, and one that leaves quiet people out, but shows the others, in LEFT_OUT. What is
no GET of the API is in PLACES.
"""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from django.core.management import call_command

from accounts.models import User
from carddav.sync.push_plan import people_for_new_cards
from people.dates.upcoming import count_upcoming, upcoming_events
from people.mentions import Silence, Topic, may_be_mentioned, silence
from people.models import Person
from tests.builders import make_person
from tests.client import Client, client_of
from tests.dav.devices import Device
from tests.notifications.recording_channel import RecordingChannel
from tests.routes.calls import owner_client, send
from tests.routes.route_data import RouteData
from tests.routes.table import ROUTES

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock"), pytest.mark.sqlite_suffices]

#: What the user looks for: quiet people are there like all others.
SHOWN = {
    "GET /api/changes",
    "GET /api/user/export",
    "GET /api/people",
    "GET /api/people?includeAll=true",
    "GET /api/people?sort=name&order=desc&favouritesFirst=true",
    "GET /api/people?sort=surname",
    "GET /api/people?sort=lastContact",
    "GET /api/people?sort=createdAt&order=desc",
    "GET /api/people?sort=nextDate&favouritesFirst=true",
    "GET /api/people?withoutGroups=true",
    "GET /api/people/search?q=ada",
    "GET /api/people/search-index",
    "GET /api/people/{person}",
    "GET /api/people/{person}/orphans",
    "GET /api/people/{person}/graph",
    "GET /api/find?q=ada",
    "GET /api/interactions",
    "GET /api/relationships",
    "GET /api/dashboard/graph?limit=1",
    "GET /api/groups/{group}",
    "GET /api/vcard/export",
    # With the reason `quiet`.
    "GET /api/reminders/upcoming?days=366",
}
#: What speaks of people unasked, and a list that is asked for those who are not quiet.
LEFT_OUT = {
    "GET /api/people?favourite=false&quiet=false",
    "GET /api/relationship-suggestions",
    "GET /api/people/duplicates",
    "GET /api/insights",
    "GET /api/upcoming?days=366",
    "GET /api/map/markers",
    "GET /api/people/addresses",
}
TO_ASK = [
    route
    for route in ROUTES
    if route.method == "GET" and not (route.is_open or route.own_credential or route.path.endswith("/stream"))
]


@dataclass
class Cast:
    """An account with the same records about two kinds of people. `quiet` and `others` are their ids."""

    owner: User
    api: Client
    quiet: set[str]
    others: set[str]
    common: str

    def in_text(self, text: str) -> tuple[bool, bool]:
        """Whether quiet people, and others, are in the text."""
        return any(key in text for key in self.quiet), any(key in text for key in self.others)


def add_people(api: Client, common: str, group: str, number: int, **fields: Any) -> set[str]:
    """One person with everything, with a namesake, and one without any way to be reached; returns the ids of all three.

    `common` is a person whom they all know.
    """
    place = {"type": "home", "streetLine1": f"{number} Long Road", "locality": "London", "postalCode": f"W{number}"}
    reminder = {"contactReminderEnabled": True, "contactReminderInterval": 1, "contactReminderIntervalUnit": "WEEKS"}
    body = {
        "name": "Ada",
        "surname": f"Byron{'abcdefgh'[number]}",
        "emails": [{"email": f"ada{number}@example.org"}],
        "addresses": [place],
        "locations": [{"type": "home", "latitude": 51.5, "longitude": -0.1}],
        "anniversary": "2016-03-05",
        "lastContact": "2025-03-01",
        "groupIds": [group],
        "importantDates": [{"type": "BIRTHDAY", "date": "1996-03-04", "reminderEnabled": True}],
        **reminder,
        **fields,
    }
    ids = [api.ok("POST", "/api/people", body, status=201)["person"]["id"]]
    twin = {key: body[key] for key in ("name", "surname", "emails", "addresses")}
    ids.append(api.ok("POST", "/api/people", {**twin, **fields}, status=201)["person"]["id"])
    ids.append(api.ok("POST", "/api/people", {"name": f"Ada Bare{number}", **fields}, status=201)["person"]["id"])
    api.ok("POST", "/api/relationships", {"personId": common, "relatedPersonId": ids[0]})
    call = {"personIds": [ids[0]], "kind": "CALL", "at": "2025-01-01T12:00:00Z"}
    api.ok("POST", "/api/interactions", call, status=201)
    return set(ids)


@pytest.fixture
def cast(route_data: RouteData) -> Cast:
    api = route_data.client
    common, group = route_data.ids["person"], route_data.ids["group"]
    friend = api.ok("GET", "/api/relationship-types")["relationshipTypes"][0]["id"]
    api.ok("PUT", f"/api/people/{common}", {"relationshipToUserId": friend})
    quiet = add_people(api, common, group, 1, quiet=True)
    others = add_people(api, common, group, 2)
    return Cast(User.objects.get(pk=route_data.owner.pk), api, quiet, others, common)


@pytest.mark.both_databases
def test_routes_show_or_leave_out_quiet_people(route_data: RouteData, cast: Cast) -> None:
    # One test for all routes, which only read: making the cast takes a dozen requests.
    shown, expected = {}, {}
    for route in TO_ASK:
        whole = replace(route, path=route.path.replace("?limit=1", ""))
        response = send(owner_client(route, route_data), whole, route_data.ids)
        assert response.status_code == 200, route.name
        shown[route.name] = cast.in_text(b"".join(response).decode(errors="replace"))
        is_shown, is_left_out = route.name in SHOWN, route.name in LEFT_OUT
        expected[route.name] = (is_shown, is_shown or is_left_out)
    wrong = {name: both for name, both in shown.items() if both != expected[name]}
    assert wrong == {}, "put the routes into SHOWN or LEFT_OUT"
    assert {*SHOWN, *LEFT_OUT} <= shown.keys()


def test_all_kinds_of_insights_leave_them_out(cast: Cast) -> None:
    insights = cast.api.ok("GET", "/api/insights")
    assert len(insights) >= 3
    for kind, found in insights.items():
        assert {row["personId"] for row in found} & cast.others, kind


def calendar_feed(cast: Cast) -> str:
    feed = cast.api.ok("POST", "/api/calendar-feeds", {"name": "All"}, status=201)["calendarFeed"]
    return b"".join(Client().get(feed["url"].partition("testserver")[2] or feed["url"])).decode()


def book_of_a_device(cast: Cast) -> str:
    device = Device(cast.owner)
    return " ".join(device.propfind(device.book, "d:getetag", depth="1").entries)


def digest(cast: Cast) -> str:
    return str(upcoming_events(cast.owner, start=dt.date(2026, 3, 2), days=7, limit=200, with_deceased=False).events)


def new_cards_of_a_server(cast: Cast) -> str:
    return str([str(key) for key in people_for_new_cards(cast.owner.pk).values_list("pk", flat=True)])


def duplicates_of_a_namesake(cast: Cast) -> str:
    found = ""
    for key in cast.quiet | cast.others:
        found += str(cast.api.ok("GET", f"/api/people/{key}/duplicates"))
    return found


PLACES = [calendar_feed, book_of_a_device, digest, new_cards_of_a_server, duplicates_of_a_namesake]


@pytest.mark.both_databases
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_places_leave_them_out(cast: Cast, place: Callable[[Cast], str]) -> None:
    assert cast.in_text(place(cast)) == (False, True)


@pytest.mark.both_databases
def test_reminders_of_others_are_sent(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    channel = RecordingChannel()
    monkeypatch.setattr("notifications.channels.CHANNELS", (channel,))
    for day in range(1, 8):
        call_command("deliver_reminders", "--now", f"2026-03-{day:02}T12:00:00Z")
    assert {sent.notice.kind.value for sent in channel.sent} == {"reminder.important_date", "reminder.contact"}
    assert cast.in_text(str([sent.notice.content for sent in channel.sent])) == (False, True)


def test_the_stored_counts_know_them(cast: Cast) -> None:
    def counts() -> tuple[int, int]:
        listed = cast.api.ok("GET", "/api/upcoming?days=366&limit=1000")["events"]
        return count_upcoming(cast.owner, start=dt.date(2026, 3, 1), days=366), len(listed)

    assert counts()[0] == counts()[1]
    before = counts()
    for is_quiet, number in ((True, -2), (False, 0), (True, -2)):
        (key,) = [key for key in cast.others if cast.api.ok("GET", f"/api/people/{key}")["person"]["importantDates"]]
        cast.api.ok("PUT", f"/api/people/{key}", {"quiet": is_quiet})
        assert counts() == (before[0] + number, before[1] + number)


@pytest.mark.both_databases
def test_both_forms_of_the_definition_agree(alice: User) -> None:
    for quiet in (False, True):
        for deathday in (None, dt.date(2020, 1, 1)):
            make_person(alice, quiet=quiet, deathday=deathday)
    make_person(alice, is_me=True)
    people = Person.objects.owned_by(alice)
    for topic in Topic:
        spoken_of = {row.pk for row in people if not row.silence(topic)}
        assert set(people.filter(may_be_mentioned(topic)).values_list("pk", flat=True)) == spoken_of
        assert silence(topic, quiet=True, deathday=dt.date(2020, 1, 1), is_me=True) is Silence.QUIET
    assert people.filter(may_be_mentioned(Topic.CONTACT)).count() == 1
    assert client_of(alice).ok("GET", "/api/dashboard/stats")["peopleCount"] == 5
