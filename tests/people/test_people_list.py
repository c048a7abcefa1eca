"""Filters and orders of GET /api/people, compared with a slow reference; stable pages; the day's change."""

import datetime as dt
from itertools import product
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from people.counts import wrong_counts
from people.dates.next_dates import refresh_next_dates
from people.models import Person
from people.models.person import NOT_KNOWN
from tests.client import Client
from tests.people.importing.uploads import import_file

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock")]  # noon of Sunday, 1 March 2026, UTC

SORTS = ("name", "surname", "lastContact", "createdAt", "nextDate")


def add(api: Client, name: str, **body: Any) -> dict[str, Any]:
    person: dict[str, Any] = api.ok("POST", "/api/people", {"name": name, **body}, status=201)["person"]
    return person


def names(api: Client, query: str = "") -> list[str]:
    """The names on all pages, two people each, which must be those of one page."""
    whole = api.ok("GET", f"/api/people?limit=500&{query}")
    found: list[str] = []
    while True:
        page = api.ok("GET", f"/api/people?limit=2&offset={len(found)}&{query}")
        assert page["pagination"]["total"] == whole["pagination"]["total"] == len(whole["people"])
        found += [person["name"] for person in page["people"]]
        if not page["pagination"]["hasMore"]:
            break
    assert found == [person["name"] for person in whole["people"]]
    assert found == [person["name"] for person in api.ok("GET", f"/api/people?includeAll=true&{query}")["people"]]
    return found


def on(date: str, **fields: Any) -> dict[str, Any]:
    return {"title": "Met", "date": date, **fields}


def once(date: str) -> dict[str, Any]:
    return on(date, reminderEnabled=True, reminderType="ONCE")


@pytest.fixture
def crowd(api: Client, clock: Any) -> None:
    """People in whom everything differs, and some in whom it is the same or missing."""
    every_10_days = {"reminderEnabled": True, "reminderInterval": 10, "reminderIntervalUnit": "DAYS"}
    people: dict[str, dict[str, Any]] = {
        "Bea": {"lastContact": "2026-02-01", "importantDates": [on("2000-03-01"), on("2000-05-01")]},
        "Ada": {"lastContact": "2026-02-01", "favourite": True, "importantDates": [once("2026-02-28")]},
        "Eve": {"quiet": True, "importantDates": [{"type": "BIRTHDAY", "date": "1990-02-28"}]},
        "Dan": {"lastContact": "2025-12-31", "favourite": True, "importantDates": [on("2026-02-25", **every_10_days)]},
        "Cid": {"importantDates": [once("2026-03-01")]},
        "Fay": {"favourite": True, "quiet": True},
        "Gus": {"lastContact": "2026-02-27", "contactReminderEnabled": True},
    }
    for name, body in people.items():
        add(api, name, **body)
        clock.shift(dt.timedelta(seconds=name not in {"Dan", "Cid"}))  # Cid is created together with Fay


ASCENDING = {
    "": "Ada Bea Cid Dan Eve Fay Gus",
    "sort=name": "Ada Bea Cid Dan Eve Fay Gus",
    "sort=lastContact": "Dan Ada Bea Gus Cid Eve Fay",
    "sort=createdAt": "Bea Ada Eve Cid Dan Fay Gus",
    "sort=nextDate": "Bea Cid Dan Eve Ada Fay Gus",
}
DESCENDING = {
    "order=desc": "Gus Fay Eve Dan Cid Bea Ada",
    "sort=name&order=desc": "Gus Fay Eve Dan Cid Bea Ada",
    "sort=lastContact&order=desc": "Gus Ada Bea Dan Cid Eve Fay",
    "sort=createdAt&order=desc": "Gus Cid Dan Fay Eve Ada Bea",
    "sort=nextDate&order=desc": "Eve Dan Bea Cid Ada Fay Gus",
}
FAVOURITES = {"Ada", "Dan", "Fay"}
QUIET = {"Eve", "Fay"}


@pytest.mark.parametrize("refreshed", [False, True])
@pytest.mark.parametrize(("query", "expected"), {**ASCENDING, **DESCENDING}.items(), ids=str)
def test_orders(api: Client, crowd: None, query: str, expected: str, refreshed: bool) -> None:
    if refreshed:
        assert refresh_next_dates(now=timezone.now()) == 5
        assert refresh_next_dates(now=timezone.now()) == 0
    ordered = expected.split()
    first = [name for name in ordered if name in FAVOURITES]
    assert names(api, f"{query}&favouritesFirst=true") == [*first, *(name for name in ordered if name not in first)]


def test_filters_and_their_combinations(api: Client, alice: User, crowd: None) -> None:
    everybody = names(api)
    by_sort = {sort: names(api, f"sort={sort}" if sort else "") for sort in ("", *SORTS)}
    for favourite, quiet, sort in product((None, True, False), (None, True, False), ("", *SORTS)):
        wanted = [
            name for name in by_sort[sort] if favourite in {None, name in FAVOURITES} and quiet in {None, name in QUIET}
        ]
        marks = {"favourite": favourite, "quiet": quiet}
        query = "&".join(f"{key}={str(value).lower()}" for key, value in marks.items() if value is not None)
        assert names(api, query + (f"&sort={sort}" if sort else "")) == wanted
    assert wrong_counts(alice.pk) == []
    ids = {person["name"]: person["id"] for person in api.ok("GET", "/api/people")["people"]}
    made = [
        api.ok("POST", "/api/groups", {"name": name, "peopleIds": [ids[name], ids["Bea"]]}, status=201)["group"]["id"]
        for name in ("Ada", "Cid")
    ]
    assert names(api, "withoutGroups=true") == [name for name in everybody if name not in {"Ada", "Bea", "Cid"}]
    assert names(api, f"groupIds={','.join(made)}&favourite=true") == ["Ada"]
    assert names(api, f"groupIds={made[0]}&withoutGroups=true") == []
    api.ok("DELETE", f"/api/groups/{made[1]}")
    assert "Cid" in names(api, "withoutGroups=true&sort=lastContact")
    api.ok("DELETE", f"/api/people/{ids['Ada']}")
    assert names(api, "favourite=true") == ["Dan", "Fay"]
    assert wrong_counts(alice.pk) == []


def test_people_of_an_import(api: Client, stranger: Client, crowd: None) -> None:
    receipt = import_file(api, "csv", "Name,Email\nKim,kim@example.org\nLee,lee@example.org\n")
    key = receipt["importId"]
    assert names(api, f"importId={key}") == ["Kim", "Lee"]
    assert names(api, f"importId={key}&sort=createdAt&order=desc") == ["Kim", "Lee"]
    assert names(stranger, f"importId={key}") == names(api, "importId=none") == []
    assert names(api, "importId=018f0000-0000-7000-8000-000000000000") == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("favourite=maybe", "favourite"),
        ("quiet=1", "quiet"),
        ("withoutGroups=x", "withoutGroups"),
        ("sort=Surname", "sort"),
        ("sort=", "sort"),
        ("order=up", "order"),
        ("favouritesFirst=", "favouritesFirst"),
    ],
)
def test_unknown_values_are_refused(api: Client, query: str, field: str) -> None:
    assert [line["field"] for line in api.ok("GET", f"/api/people?{query}", status=400)["details"]] == [field]


def test_next_dates_follow_every_change_and_the_day_of_the_account(api: Client, alice: User, clock: Any) -> None:
    def check(*expected: str) -> None:
        assert names(api, "sort=nextDate") == list(expected)
        refresh_next_dates(now=timezone.now())
        assert names(api, "sort=nextDate") == list(expected)

    ada, bea = add(api, "Ada"), add(api, "Bea", importantDates=[on("2000-03-02")])
    check("Bea", "Ada")
    path = f"/api/people/{ada['id']}/important-dates"
    date = api.ok("POST", path, on("2000-03-01"))["importantDate"]["id"]
    check("Ada", "Bea")
    api.ok("PUT", f"{path}/{date}", on("2000-03-03"))
    check("Bea", "Ada")
    api.ok("PUT", f"/api/people/{bea['id']}", {"importantDates": []})
    check("Ada", "Bea")
    api.ok("DELETE", f"{path}/{date}")
    api.ok("PUT", f"/api/people/{bea['id']}", {"importantDates": [on("2000-03-01")]})
    check("Bea", "Ada")
    api.ok("POST", f"{path}/{date}/restore")
    etag = api.get("/api/people?sort=nextDate")["ETag"]
    assert api.get("/api/people?sort=nextDate", HTTP_IF_NONE_MATCH=etag).status_code == 304
    clock.move_to("2026-03-02T09:00:00Z")  # Bea's day has passed, nobody has written
    assert api.get("/api/people?sort=nextDate", HTTP_IF_NONE_MATCH=etag).status_code == 200
    check("Ada", "Bea")
    api.ok("PUT", "/api/user/timezone", {"timezone": "Pacific/Niue"})  # where it is still 1 March
    check("Bea", "Ada")
    merged = api.ok("POST", "/api/people/merge", {"primaryId": ada["id"], "secondaryId": bea["id"]})
    check("Ada")
    api.ok("POST", f"/api/people/merge/{merged['mergeId']}/undo")
    check("Bea", "Ada")
    assert not Person.objects.owned_by(alice).filter(next_date_until=NOT_KNOWN).exists()
