"""GET /api/insights: people, reasons, order, and number of statements."""

import datetime as dt
from typing import Any

import pytest

from accounts.models import User
from people.models import Person
from tests.builders import make_person
from tests.client import Client
from tests.people.interactions.steps import add_interaction
from tests.queries import count_queries

pytestmark = [
    pytest.mark.sqlite_suffices,
    pytest.mark.django_db,
    pytest.mark.usefixtures("clock"),  # noon of 1 March 2026, UTC
]


def insights(api: Client, kind: str) -> list[tuple[str, str]]:
    """The names and codes of one kind of insight."""
    return [(row["personName"], row["code"]) for row in api.ok("GET", "/api/insights")[kind]]


def add_interactions(api: Client, person: Person, *days: str) -> None:
    for day in days:
        add_interaction(api, person, at=f"{day}T12:00:00Z")


def add(api: Client, name: str, **fields: Any) -> Person:
    made = api.ok("POST", "/api/people", {"name": name, **fields}, status=201)["person"]
    return Person.unscoped.get(pk=made["id"])


def remind(number: int, unit: str) -> dict[str, Any]:
    return {
        "contactReminderEnabled": True,
        "contactReminderInterval": number,
        "contactReminderIntervalUnit": unit,
    }


@pytest.mark.parametrize(
    ("last", "rule", "drifts"),
    [
        ("2026-01-01", (1, "MONTHS"), True),
        ("2026-01-02", (1, "MONTHS"), False),
        ("2026-02-15", (1, "WEEKS"), True),
        ("2026-02-16", (1, "WEEKS"), False),
        ("2025-08-31", (3, "MONTHS"), True),
    ],
)
def test_no_contact_for_twice_the_interval(api: Client, last: str, rule: Any, drifts: bool) -> None:
    add(api, "Ada", lastContact=last, **remind(*rule))
    assert insights(api, "drifting") == ([("Ada", "contact_interval")] if drifts else [])


def test_no_contact_for_longer_than_usual(api: Client, alice: User) -> None:
    weekly, yearly, twice, at_once = (make_person(alice, name=name) for name in ("Weekly", "Yearly", "Twice", "Once"))
    add_interactions(api, weekly, "2026-01-25", "2026-02-01", "2026-02-08", "2026-02-15")
    add_interactions(api, yearly, "2023-06-01", "2024-06-01", "2025-06-01")
    add_interactions(api, twice, "2026-01-01", "2026-01-02")
    add_interactions(api, at_once, "2026-01-01", "2026-01-01", "2026-01-01")
    [found] = api.ok("GET", "/api/insights")["drifting"]
    assert found == {
        "personId": str(weekly.pk),
        "personName": "Weekly",
        "code": "own_rhythm",
        "reason": "Silent for 14 days; usual between you: 7 days.",
        "params": {
            "silence": {"code": "days", "params": {"days": 14}, "text": "14 days"},
            "usual": {"code": "days", "params": {"days": 7}, "text": "7 days"},
        },
        "since": "2026-02-15",
    }
    add_interaction(api, weekly, at="2026-03-05T12:00:00Z")  # ahead: nobody has been in touch yet
    assert insights(api, "drifting") == [("Weekly", "own_rhythm")]
    add_interaction(api, weekly, at="2026-02-28T12:00:00Z")
    assert insights(api, "drifting") == []


def test_one_day_is_long_for_somebody_contacted_twice_a_day(api: Client, alice: User) -> None:
    days = ("2026-02-27", "2026-02-27", "2026-02-28")  # the median pause is half a day; today is 1 March
    add_interactions(api, make_person(alice, name="Ada"), *days)
    add_interactions(api, make_person(alice, name="Today"), *days, "2026-03-01")
    found = api.ok("GET", "/api/insights")["drifting"]
    reason = "Silent for 1 day; usual between you: 0.5 days."
    assert [(row["personName"], row["reason"]) for row in found] == [("Ada", reason)]


def test_one_day_is_not_said_in_the_plural(api: Client, alice: User) -> None:
    add_interactions(api, make_person(alice, name="Ada"), "2026-02-25", "2026-02-26", "2026-02-27")
    [found] = api.ok("GET", "/api/insights")["drifting"]
    assert found["reason"] == "Silent for 2 days; usual between you: 1 day."


def test_most_overdue_comes_first_and_everybody_once(api: Client, alice: User) -> None:
    ada = add(api, "Ada", lastContact="2025-12-01", **remind(1, "MONTHS"))
    add_interactions(api, ada, "2025-11-01", "2025-11-02", "2025-11-03")
    add(api, "Bob", lastContact="2025-12-20", **remind(1, "MONTHS"))
    add(api, "Cy", lastContact="2020-01-01", **remind(1, "MONTHS"), notes="gone")
    api.ok("DELETE", f"/api/people/{Person.unscoped.get(name='Cy').pk}")
    assert insights(api, "drifting") == [("Ada", "own_rhythm"), ("Bob", "contact_interval")]


def test_people_without_contact_details(api: Client, stranger: Client) -> None:
    add(api, "Zed")
    add(api, "Bare", notes="Somewhere", urls=[{"url": "https://example.org"}])
    add(api, "Phone", phoneNumbers=[{"number": "030 12345"}])
    add(api, "Mail", emails=[{"email": "mail@example.org"}])
    add(api, "House", addresses=[{"locality": "London"}])
    assert insights(api, "incomplete") == [("Bare", "no_way_to_reach"), ("Zed", "no_way_to_reach")]
    assert insights(stranger, "incomplete") == []
    for number in range(25):
        add(api, f"P{number:02}")
    assert len(insights(api, "incomplete")) == 20


def birthday(day: str, **more: Any) -> dict[str, Any]:
    return {"importantDates": [{"type": "BIRTHDAY", "date": day, **more}]}


@pytest.mark.parametrize(
    ("day", "is_listed"),
    [
        ("1996-03-01", True),  # 30 today
        ("1976-03-31", True),  # 50 on the last day
        ("1976-04-01", False),
        ("1991-03-10", False),  # 35
        ("2008-03-10", True),  # 18
        ("2001-03-10", True),  # 25
        ("2025-03-10", True),  # 1
        ("1926-03-10", True),  # 100
        ("2026-03-10", False),  # born on it
    ],
)
def test_round_birthdays_within_thirty_days(api: Client, day: str, is_listed: bool) -> None:
    add(api, "Ada", **birthday(day))
    add(api, "Unknown", **birthday(day, yearUnknown=True))
    assert insights(api, "milestones") == ([("Ada", "birthday")] if is_listed else [])


def test_anniversaries_of_both_kinds_once(api: Client) -> None:
    dates = [{"type": "ANNIVERSARY", "date": "2001-03-20"}, {"title": "Moved", "date": "2016-03-12"}]
    add(api, "Ada", anniversary="2001-03-20", importantDates=dates)
    add(api, "Bob", anniversary="2016-03-05")
    found = api.ok("GET", "/api/insights")["milestones"]
    assert [(row["personName"], row["reason"]) for row in found] == [
        ("Bob", "10 years on 2026-03-05: the anniversary."),
        ("Ada", "25 years on 2026-03-20: the anniversary."),
    ]


def test_deceased_people_are_left_out(api: Client) -> None:
    dates = [{"type": "ANNIVERSARY", "date": "2001-03-20"}, {"type": "BIRTHDAY", "date": "1996-03-10"}]
    ada = add(
        api, "Ada", anniversary="2016-03-05", importantDates=dates, lastContact="2025-12-01", **remind(1, "WEEKS")
    )
    kinds = ("drifting", "incomplete", "milestones")
    assert [len(insights(api, kind)) for kind in kinds] == [1, 1, 3]
    api.ok("PUT", f"/api/people/{ada.pk}", {"deathday": "2026-01-01"})
    assert [insights(api, kind) for kind in kinds] == [[], [], []]


def test_number_of_statements_does_not_grow(api: Client, alice: User) -> None:
    def count() -> int:
        return count_queries(api.ok, "GET", "/api/insights")

    def fill(number: int) -> None:
        for place in range(number):
            day = dt.date(1976, 3, 2) + dt.timedelta(place % 20)
            person = add(
                api, f"P{place}", anniversary=day.isoformat(), **remind(1, "WEEKS"), **birthday(day.isoformat())
            )
            add_interactions(api, person, "2026-01-01", "2026-01-03", "2026-01-05")

    fill(1)
    count()  # warms caches
    before = count()
    fill(20)
    assert count() == before
