"""Proposals: listed, followed, accepted, dismissed; with races, in the feed, the export and after changes of people."""

import datetime as dt
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from accounts.models import User
from meetings.models import MeetingAnswer, MeetingProposal
from people.models import Interaction, Person
from tests.builders import UNKNOWN_ID, make_user, set_plan_limits
from tests.client import Client, client_of
from tests.concurrency import run_concurrently
from tests.meetings.calendars import attendee, event, utc
from tests.meetings.conftest import CalendarServer, known_person, make_source, proposals, read

PATH = "/api/meeting-proposals"


def ago(hours: float) -> str:
    return utc(timezone.now() - dt.timedelta(hours=hours))


def lunch(uid: str = "lunch", hours: float = 3, *lines: str, summary: str = "Lunch") -> str:
    return event(uid, ago(hours), attendee("ada@example.org"), *lines, summary=summary, end=ago(hours - 1))


@pytest.fixture
def ada(alice: User) -> Person:
    return known_person(alice, "Ada", "Lovelace", email="ada@example.org")


@pytest.fixture
def source(api: Client, ada: Person, calendar: CalendarServer) -> dict[str, Any]:
    """Read, with one meeting with Ada."""
    calendar.serve(lunch())
    made = make_source(api, calendar.url)
    read(made)
    return made


@pytest.mark.django_db
def test_a_proposal_is_shown(api: Client, ada: Person, calendar: CalendarServer) -> None:
    calendar.serve(lunch("a", 3, attendee("ben@example.org", CN="Ben Smith"), "LOCATION:Caf\u00e9"))
    made = make_source(api, calendar.url)
    read(made)
    [found] = proposals(api)
    assert found["people"] == [{"id": str(ada.pk), "name": "Ada Lovelace", "by": "email"}]
    assert found["unknown"] == [{"email": "ben@example.org", "name": "Ben Smith"}]
    assert (found["sourceId"], found["sourceName"], found["title"]) == (made["id"], "Work", "Lunch")
    assert (found["location"], found["at"] < found["endsAt"]) == ("Caf\u00e9", True)
    assert api.ok("get", f"{PATH}/{found['id']}")["meetingProposal"] == found


@pytest.mark.django_db
def test_pages_newest_first(api: Client, ada: Person, calendar: CalendarServer) -> None:
    calendar.serve(*(lunch(f"e{number}", number + 2) for number in range(5)))
    read(make_source(api, calendar.url))
    seen, cursor = [], ""
    while True:
        page = api.ok("get", f"{PATH}?limit=2{cursor}")
        seen += [row["at"] for row in page["proposals"]]
        if not page["hasMore"]:
            assert page["cursor"] is None
            break
        cursor = f"&cursor={page['cursor']}"
    assert len(seen) == 5
    assert seen == sorted(seen, reverse=True)
    assert api.call("get", f"{PATH}?limit=101").status_code == 400
    assert api.call("get", f"{PATH}?cursor=x").status_code == 400
    assert len(api.ok("get", f"{PATH}?limit=100&cursor=")["proposals"]) == 5


@pytest.mark.django_db
def test_accepted_is_an_interaction_and_never_proposed_again(
    api: Client, ada: Person, source: dict[str, Any], calendar: CalendarServer
) -> None:
    [found] = proposals(api)
    answer = api.ok("post", f"{PATH}/accept", {"ids": [found["id"]]})
    assert (answer["accepted"], answer["errors"]) == (1, [])
    [logged] = answer["interactions"]
    assert logged["proposalId"] == found["id"]
    interaction = api.ok("get", f"/api/interactions/{logged['id']}")["interaction"]
    assert (interaction["kind"], interaction["title"], interaction["at"]) == ("MEETING", "Lunch", found["at"])
    assert interaction["personIds"] == [str(ada.pk)]
    assert api.ok("get", f"/api/people/{ada.pk}")["person"]["lastContact"] == found["at"][:10]
    again = api.ok("post", f"{PATH}/accept", {"ids": [found["id"]]})
    assert again["accepted"] == 0
    [error] = again["errors"]
    assert (error["code"], error["interactionId"], error["proposalId"]) == (
        "already_answered",
        logged["id"],
        found["id"],
    )
    calendar.serve(lunch(hours=30, summary="Moved and renamed"))
    read(source)
    other = make_source(api, calendar.url, name="Other")
    read(other)
    assert proposals(api) == []
    assert Interaction.unscoped.rows().count() == 1


@pytest.mark.django_db
def test_several_are_accepted_in_one_write(api: Client, alice: User, ada: Person, calendar: CalendarServer) -> None:
    calendar.serve(*(lunch(f"e{number}", number + 2) for number in range(3)))
    read(make_source(api, calendar.url))
    alice.refresh_from_db()
    revision = alice.revision
    body = {"ids": [row["id"] for row in proposals(api)], "kind": "CALL", "personIds": None, "createPeople": []}
    answer = api.ok("post", f"{PATH}/accept", body)
    alice.refresh_from_db()
    assert (answer["accepted"], alice.revision - revision) == (3, 1)
    assert set(Interaction.unscoped.rows().values_list("kind", flat=True)) == {"CALL"}


@pytest.mark.django_db
def test_a_whole_day_is_logged_at_noon_and_without_a_title_by_its_kind(
    api: Client, alice: User, ada: Person, calendar: CalendarServer
) -> None:
    api.ok("put", "/api/user/timezone", {"timezone": "Asia/Tokyo"})
    api.ok("put", "/api/user/language", {"language": "de-DE"})
    day = (timezone.now() - dt.timedelta(days=3)).date()
    calendar.serve(event("d", f";VALUE=DATE:{day:%Y%m%d}", attendee("ada@example.org")))
    read(make_source(api, calendar.url))
    [found] = proposals(api)
    assert (found["title"], found["at"][11:16]) == (None, "15:00")
    [logged] = api.ok("post", f"{PATH}/accept", {"ids": [found["id"]]})["interactions"]
    interaction = api.ok("get", f"/api/interactions/{logged['id']}")["interaction"]
    assert (interaction["title"], interaction["at"]) == ("Treffen", f"{day}T03:00:00.000Z")


@pytest.mark.django_db
def test_other_people_and_new_ones(api: Client, alice: User, ada: Person, calendar: CalendarServer) -> None:
    guests = (attendee("ben@example.org", CN="Ben Smith"), attendee("eve@example.org"), attendee("dan@example.org"))
    calendar.serve(lunch("a", 3, *guests), lunch("b", 30))
    read(make_source(api, calendar.url))
    first, second = proposals(api)
    dan = known_person(alice, "Dan", email="dan@example.org")
    body = {"ids": [first["id"]], "createPeople": ["BEN@example.org", "eve@example.org", "dan@example.org"]}
    both = {"ids": [first["id"], second["id"]]}
    refusals: list[dict[str, Any]] = [{"createPeople": body["createPeople"]}, {"personIds": []}]
    for more in refusals:
        assert api.call("post", f"{PATH}/accept", {**both, **more}).status_code == 400
    refused = api.call("post", f"{PATH}/accept", {**body, "createPeople": ["nobody@example.org"]})
    assert (refused.status_code, refused.json()["details"][0]["field"]) == (400, "createPeople.0")
    [logged] = api.ok("post", f"{PATH}/accept", body)["interactions"]
    ids = api.ok("get", f"/api/interactions/{logged['id']}")["interaction"]["personIds"]
    made = {row.name: row for row in Person.objects.owned_by(alice).filter(pk__in=ids)}
    assert made.keys() == {"Ada", "Ben", "eve", "Dan"}
    assert (made["Ben"].surname, made["Ben"].emails[0]["email"]) == ("Smith", "ben@example.org")
    assert made["Dan"].pk == dan.pk
    other = {"ids": [second["id"]], "personIds": [str(dan.pk)]}
    [logged] = api.ok("post", f"{PATH}/accept", other)["interactions"]
    assert api.ok("get", f"/api/interactions/{logged['id']}")["interaction"]["personIds"] == [str(dan.pk)]


@pytest.mark.django_db
def test_beyond_the_plan_nothing_is_done(api: Client, ada: Person, calendar: CalendarServer, settings: Any) -> None:
    calendar.serve(lunch("a", 3, attendee("ben@example.org")))
    read(make_source(api, calendar.url))
    set_plan_limits(settings, people=1)
    [found] = proposals(api)
    refused = api.call("post", f"{PATH}/accept", {"ids": [found["id"]], "createPeople": ["ben@example.org"]})
    assert (refused.status_code, refused.json()["code"]) == (403, "plan_limit")
    assert [row["id"] for row in proposals(api)] == [found["id"]]
    assert not Interaction.unscoped.rows().exists()


@pytest.mark.django_db
def test_foreign_and_unknown_ids(api: Client, ada: Person, source: dict[str, Any]) -> None:
    [found] = proposals(api)
    mallory = client_of(make_user("eve@example.org"))
    for action in ("accept", "dismiss"):
        assert mallory.call("post", f"{PATH}/{action}", {"ids": [found["id"]]}).status_code == 400
        for unknown in (UNKNOWN_ID, "x"):
            refused = api.call("post", f"{PATH}/{action}", {"ids": [found["id"], unknown]})
            assert (refused.status_code, refused.json()["details"][0]["field"]) == (400, "ids.1")
        assert api.call("post", f"{PATH}/{action}", {"ids": []}).status_code == 400
        assert api.call("post", f"{PATH}/{action}", {"ids": [found["id"]] * 101}).status_code == 400
    assert mallory.call("get", f"{PATH}/{found['id']}").status_code == 404
    assert mallory.ok("get", PATH)["proposals"] == []
    theirs = known_person(User.objects.get(email="eve@example.org"), "Theirs")
    body = {"ids": [found["id"]], "personIds": [str(theirs.pk)]}
    assert api.call("post", f"{PATH}/accept", body).status_code == 400
    assert [row["id"] for row in proposals(api)] == [found["id"]]


@pytest.mark.django_db
def test_dismissed_once_a_series_and_a_title(api: Client, ada: Person, calendar: CalendarServer) -> None:
    start = timezone.now() - dt.timedelta(days=20, hours=2)
    series = event("w", utc(start), "RRULE:FREQ=WEEKLY", attendee("ada@example.org"), summary="Weekly")
    titled = [lunch(f"t{number}", 50 + number, summary="Stand-up") for number in range(2)]
    calendar.serve(series, *titled, lunch())
    made = make_source(api, calendar.url)
    read(made)
    by_title: dict[str, list[dict[str, Any]]] = {}
    for row in proposals(api):
        by_title.setdefault(row["title"], []).append(row)
    assert {title: len(rows) for title, rows in by_title.items()} == {"Weekly": 3, "Stand-up": 2, "Lunch": 1}
    assert api.ok("post", f"{PATH}/dismiss", {"ids": [by_title["Lunch"][0]["id"]]}) == {"dismissed": 1}
    series_body = {"ids": [by_title["Weekly"][0]["id"]], "always": "series"}
    assert api.ok("post", f"{PATH}/dismiss", series_body) == {"dismissed": 1}
    title_body = {"ids": [by_title["Stand-up"][1]["id"]], "always": "title"}
    assert api.ok("post", f"{PATH}/dismiss", title_body) == {"dismissed": 1}
    assert proposals(api) == []
    calendar.serve(series, *titled, lunch(), lunch("new", 60, summary="  stand-UP "))
    read(made)
    assert proposals(api) == []
    late = api.ok("post", f"{PATH}/accept", {"ids": [by_title["Lunch"][0]["id"]]})
    assert [error["interactionId"] for error in late["errors"]] == [None]
    assert api.ok("post", f"{PATH}/dismiss", {"ids": [by_title["Lunch"][0]["id"]]}) == {"dismissed": 0}
    assert all(len(key) == 64 for key in MeetingAnswer.unscoped.rows().values_list("key", flat=True))


@pytest.mark.django_db
def test_an_open_proposal_follows_its_event_and_goes_with_it(
    api: Client, source: dict[str, Any], calendar: CalendarServer
) -> None:
    [before] = proposals(api)
    calendar.serve(lunch(hours=5, summary="Late lunch"))
    read(source)
    [after] = proposals(api)
    assert (after["id"], after["title"], after["at"] < before["at"]) == (before["id"], "Late lunch", True)
    calendar.serve(lunch("lunch", 5, "STATUS:CANCELLED"))
    read(source)
    assert proposals(api) == []
    calendar.serve(lunch())
    read(source)
    assert len(proposals(api)) == 1
    calendar.serve()
    read(source)
    assert proposals(api) == []


@pytest.mark.django_db
def test_two_sources_propose_an_occurrence_once(api: Client, source: dict[str, Any], calendar: CalendarServer) -> None:
    other = make_source(api, calendar.url, name="Other")
    read(other)
    assert len(proposals(api)) == 1
    api.ok("delete", f"/api/calendar-sources/{source['id']}")
    read(other)
    assert [row["sourceName"] for row in proposals(api)] == ["Other"]


@pytest.mark.django_db
def test_only_what_began_within_days_back_of_the_making(api: Client, ada: Person, calendar: CalendarServer) -> None:
    calendar.serve(lunch("in", 23), lunch("out", 25))
    made = make_source(api, calendar.url, daysBack=1)
    read(made, now=timezone.now() + dt.timedelta(days=40))
    assert len(proposals(api)) == 1
    api.ok("put", f"/api/calendar-sources/{made['id']}", {"daysBack": 2})
    read(made)
    assert len(proposals(api)) == 2


@pytest.mark.django_db
def test_names_and_people_are_of_now(api: Client, alice: User, ada: Person, source: dict[str, Any]) -> None:
    api.ok("put", f"/api/people/{ada.pk}", {"name": "Augusta"})
    [found] = proposals(api)
    assert found["people"][0]["name"] == "Augusta Lovelace"
    api.ok("put", f"/api/people/{ada.pk}", {"quiet": True})
    assert proposals(api) == []
    assert api.call("get", f"{PATH}/{found['id']}").status_code == 404
    assert api.call("post", f"{PATH}/accept", {"ids": [found["id"]]}).status_code == 400
    api.ok("put", f"/api/people/{ada.pk}", {"quiet": False})
    assert len(proposals(api)) == 1
    cursor = api.ok("get", "/api/changes")["cursor"]
    api.ok("delete", f"/api/people/{ada.pk}")
    assert not MeetingProposal.unscoped.rows().exists()
    changes = api.ok("get", f"/api/changes?cursor={cursor}")["changes"]
    assert (found["id"], True) in {(change["id"], change["deleted"]) for change in changes}
    api.ok("post", f"/api/people/{ada.pk}/restore")
    read(source)
    assert len(proposals(api)) == 1


@pytest.mark.django_db
def test_who_is_merged_stays_in_the_proposal(api: Client, alice: User, ada: Person, source: dict[str, Any]) -> None:
    primary = known_person(alice, "Countess", "Lovelace")
    api.ok("post", "/api/people/merge", {"primaryId": str(primary.pk), "secondaryId": str(ada.pk)})
    [found] = proposals(api)
    assert [person["id"] for person in found["people"]] == [str(primary.pk)]


@pytest.mark.django_db
def test_the_own_addresses_and_the_own_person_are_in_neither_list(
    api: Client, alice: User, ada: Person, calendar: CalendarServer
) -> None:
    me = known_person(alice, "Alice", "Self", email="me@example.org")
    api.ok("put", "/api/user/me-person", {"personId": str(me.pk)})
    alice.proven_email = "former@example.org"  # until the new one is proven
    alice.save()
    own = [attendee(address) for address in ("me@example.org", alice.email, alice.proven_email)]
    calendar.serve(lunch("a", 3, *own, summary="Alice Self and Ada"))
    made = make_source(api, calendar.url)
    read(made)
    [found] = proposals(api)
    assert ([person["id"] for person in found["people"]], found["unknown"]) == ([str(ada.pk)], [])
    for address in ("me@example.org", alice.proven_email):
        calendar.serve(lunch(address, 3, attendee(address, PARTSTAT="DECLINED")))
        read(made)
        assert proposals(api) == []


@pytest.mark.django_db
def test_the_feed(api: Client, ada: Person, source: dict[str, Any]) -> None:
    [found] = proposals(api)
    feed = api.ok("get", "/api/changes?types=meetingProposal")
    [change] = feed["changes"]
    assert (change["type"], change["id"], change["deleted"]) == ("meetingProposal", found["id"], False)
    assert change["record"] == {**found, "people": [{"id": str(ada.pk), "by": "email"}]}
    api.ok("post", f"{PATH}/dismiss", {"ids": [found["id"]]})
    later = api.ok("get", f"/api/changes?types=meetingProposal&cursor={feed['cursor']}")["changes"]
    assert [(row["id"], row["deleted"]) for row in later] == [(found["id"], True)]


@pytest.mark.django_db
def test_export_and_import(api: Client, source: dict[str, Any], calendar: CalendarServer) -> None:
    [found] = proposals(api)
    api.ok("post", f"{PATH}/accept", {"ids": [found["id"]]})
    document = api.ok("get", "/api/user/export")
    assert "secret-part" not in str(document)
    [exported] = document["calendarSources"]
    assert (exported["name"], exported["kind"]) == ("Work", "ics")
    assert "url" not in exported
    assert "Lunch" not in str(document["meetingAnswers"])
    other = client_of(make_user("other@example.org"))
    assert other.ok("post", "/api/user/import", document)
    [arrived] = other.ok("get", "/api/calendar-sources")["calendarSources"]
    assert (arrived["name"], arrived["url"], arrived["nextReadAt"]) == ("Work", None, None)
    assert other.call("post", f"/api/calendar-sources/{arrived['id']}/read").status_code == 400
    named = other.ok("put", f"/api/calendar-sources/{arrived['id']}", {"username": "ada", "daysBack": 3})[
        "calendarSource"
    ]
    assert (named["nextReadAt"], named["daysBack"]) == (None, 3)
    assert other.ok("put", f"/api/calendar-sources/{arrived['id']}", {"url": calendar.url})["calendarSource"][
        "nextReadAt"
    ]
    read(arrived)
    assert proposals(other) == []
    assert other.ok("get", "/api/user/export")["meetingAnswers"][0]["key"] == document["meetingAnswers"][0]["key"]


@pytest.mark.django_db(transaction=True)
def test_an_accept_and_a_dismissal_at_once_have_one_winner(api: Client, alice: User, source: dict[str, Any]) -> None:
    [found] = proposals(api)
    bodies = [("accept", {"ids": [found["id"]]})] * 3 + [("dismiss", {"ids": [found["id"]]})]

    def call(action: str, body: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = client_of(alice).ok("post", f"{PATH}/{action}", body)
        return answer

    answers = run_concurrently(*((lambda action=action, body=body: call(action, body)) for action, body in bodies))
    assert sum(int(answer.get("accepted", answer.get("dismissed", 0))) for answer in answers) == 1
    assert MeetingAnswer.unscoped.rows().count() == 1
    assert Interaction.unscoped.rows().count() in {0, 1}


@pytest.mark.django_db
def test_the_limit_of_sources_holds_for_an_import_with_equal_names(api: Client, calendar: CalendarServer) -> None:
    for _ in range(9):
        make_source(api, calendar.url)
    sources = [{"id": str(UUID(int=n)), "name": f"Other {n}", "kind": "ics", "daysBack": 1} for n in (1, 2)]
    document = {"format": "contact-network", "version": 1, "calendarSources": sources}
    for path in ("/api/user/import/validate", "/api/user/import"):
        receipt = api.ok("post", path, document)
        assert (receipt["imported"], receipt["errors"]) == (1, 1)
    assert len(api.ok("get", "/api/calendar-sources")["calendarSources"]) == 10
    again = api.ok("post", "/api/user/import", {**document, "calendarSources": sources[:1]})
    assert (again["imported"], again["skipped"]) == (0, 1)
