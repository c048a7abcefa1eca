"""GET /api/upcoming: which days are events, and their content."""

from typing import Any

import pytest

from accounts.models import User
from people.models import Person
from tests.builders import make_person
from tests.client import Client

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock"), pytest.mark.sqlite_suffices]


def add(api: Client, person: Person, date: str, **body: Any) -> str:
    sent = {"title": "Met", "date": date, **body}
    made: str = api.ok("post", f"/api/people/{person.pk}/important-dates", sent)["importantDate"]["id"]
    return made


def events(api: Client, days: int = 30) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.ok("get", f"/api/upcoming?days={days}")["events"]
    if days == 30:  # the dashboard counts the same without reading them
        assert api.ok("get", "/api/dashboard/stats")["upcomingEvents"] == len(found)
    return found


def test_event_is_returned_with_all_fields(api: Client, ada: Person) -> None:
    date_id = add(api, ada, "1990-03-11", type="BIRTHDAY", title=None)
    assert events(api) == [
        {
            "id": date_id,
            "kind": "important_date",
            "personId": str(ada.pk),
            "personName": "Ada",
            "type": "BIRTHDAY",
            "title": "Birthday",
            "date": "2026-03-11",
            "daysUntil": 10,
            "yearUnknown": False,
            "turns": 36,
        }
    ]


def test_today_and_the_last_day_are_included(api: Client, ada: Person) -> None:
    for date in ("2000-03-01", "2000-03-31", "2000-04-01", "2000-02-28"):
        add(api, ada, date)
    assert [event["daysUntil"] for event in events(api)] == [0, 30]
    assert [event["daysUntil"] for event in api.ok("get", "/api/upcoming")["events"]] == [0, 30]
    # 28 February and 1 March of the next year are within 366 days, too.
    assert [event["daysUntil"] for event in events(api, 366)] == [0, 30, 31, 364, 365]


def test_an_unknown_year_has_no_age(api: Client, ada: Person) -> None:
    add(api, ada, "1990-03-11", yearUnknown=True)
    assert (events(api)[0]["turns"], events(api)[0]["yearUnknown"]) == (None, True)


def test_today_is_that_of_the_accounts_zone(api: Client, ada: Person) -> None:
    add(api, ada, "2000-03-02")
    assert events(api)[0]["daysUntil"] == 1
    api.ok("put", "/api/user/timezone", {"timezone": "Pacific/Kiritimati"})
    assert events(api)[0]["daysUntil"] == 0


def test_own_dates_follow_their_rule_and_predefined_ones_come_every_year(api: Client, ada: Person) -> None:
    once = {"reminderEnabled": True, "reminderType": "ONCE"}
    weekly = {"reminderEnabled": True, "reminderInterval": 1, "reminderIntervalUnit": "WEEKS"}
    add(api, ada, "2025-03-05", title="past", **once)
    add(api, ada, "2026-03-05", title="once", **once)
    add(api, ada, "2026-02-24", title="weekly", **weekly)
    add(api, ada, "1990-03-20", type="BIRTHDAY", **once)
    assert [(event["title"], event["date"][8:]) for event in events(api, 14)] == [
        ("weekly", "03"),
        ("once", "05"),
        ("weekly", "10"),
    ]
    assert events(api, 19)[-1]["type"] == "BIRTHDAY"


def test_the_next_contact_is_an_event(api: Client) -> None:
    body = {"name": "Bob", "lastContact": "2026-02-20", "contactReminderEnabled": True}
    every = {"contactReminderInterval": 1, "contactReminderIntervalUnit": "WEEKS"}
    bob = api.ok("post", "/api/people", {**body, **every}, status=201)["person"]
    assert [(event["id"], event["kind"], event["date"]) for event in events(api)] == [
        (bob["id"], "contact", "2026-03-06")
    ]


def test_deleted_and_foreign_people_are_left_out(api: Client, stranger: Client, ada: Person) -> None:
    date_id = add(api, ada, "2000-03-02")
    assert events(stranger) == []
    api.ok("delete", f"/api/people/{ada.pk}/important-dates/{date_id}")
    add(api, ada, "2000-03-02")
    api.ok("delete", f"/api/people/{ada.pk}")
    assert events(api) == []


@pytest.mark.parametrize("days", ["0", "367", "x", "-1", "1.5", "", "٣", "99999999999"])
def test_days_are_a_number_from_1_to_366(api: Client, days: str) -> None:
    for path in ("upcoming", "reminders/upcoming"):
        response = api.ok("get", f"/api/{path}?days={days}", status=400)
        assert response["details"][0]["field"] == "days"


def test_number_of_queries_does_not_grow(api: Client, alice: User, django_assert_max_num_queries: Any) -> None:
    for name in range(20):
        add(api, make_person(alice, name=str(name)), "2000-03-02")
    with django_assert_max_num_queries(7):
        assert len(events(api, 31)) == 20
