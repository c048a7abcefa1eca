"""Interactions through the API: bodies, pages, deleted participants, the trash."""

import datetime as dt
from typing import Any
from uuid import uuid4

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from people.models import Interaction, Person
from people.trash import purge_deleted
from tests.accounts.feed.reader import Replica
from tests.builders import make_person
from tests.client import Client
from tests.people.interactions.steps import add_interaction
from tests.queries import count_queries

pytestmark = [pytest.mark.sqlite_suffices, pytest.mark.django_db]


@pytest.fixture
def bob(alice: User) -> Person:
    return make_person(alice, name="Bob")


def ids(response: Any) -> list[str]:
    return [row["id"] for row in response["interactions"]]


def test_interaction_is_returned_as_it_was_sent(api: Client, ada: Person, bob: Person) -> None:
    at = "2026-02-20T13:30:00+01:00"
    made = add_interaction(api, bob, ada, at=at, kind="MEETING", title=" Lunch ", notes="Pasta\nand wine")
    assert made["personIds"] == [str(bob.pk), str(ada.pk)]
    assert made["people"] == [{"id": str(bob.pk), "name": "Bob"}, {"id": str(ada.pk), "name": "Ada"}]
    assert (made["kind"], made["at"], made["title"]) == ("MEETING", "2026-02-20T12:30:00.000Z", "Lunch")
    assert (made["notes"], made["deletedAt"]) == ("Pasta\nand wine", None)
    assert api.ok("GET", f"/api/interactions/{made['id']}")["interaction"] == made


VALID_BODY: dict[str, Any] = {"kind": "CALL", "at": "2026-02-20T12:00:00Z"}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"kind": None}, "kind"),
        ({"kind": "call"}, "kind"),
        ({"at": None}, "at"),
        ({"at": "yesterday"}, "at"),
        ({"at": "0999-01-01T00:00:00Z"}, "at"),
        ({"personIds": []}, "personIds"),
        ({"personIds": ["x"]}, "personIds.0"),
        ({"personIds": [str(uuid4())]}, "personIds.0"),
        ({"personIds": [str(uuid4())] * 51}, "personIds"),
        ({"title": "x" * 201}, "title"),
        ({"notes": "x" * 10_001}, "notes"),
        ({"title": 5}, "title"),
    ],
)
def test_invalid_fields_are_reported(api: Client, ada: Person, change: Any, field: str) -> None:
    body = {"personIds": [str(ada.pk)], **VALID_BODY, **change}
    response = api.ok("POST", "/api/interactions", body, status=400)
    assert response["details"][0]["field"] == field
    for needed in ("kind", "at", "personIds"):
        left = {key: value for key, value in {"personIds": [str(ada.pk)], **VALID_BODY}.items() if key != needed}
        assert api.ok("POST", "/api/interactions", left, status=400)["details"][0]["field"] == needed


def test_people_of_others_are_unknown_ids(api: Client, ada: Person, mallory: User, stranger: Client) -> None:
    theirs = make_person(mallory, name="Theirs")
    body = {"personIds": [str(ada.pk), str(theirs.pk)], **VALID_BODY}
    assert api.ok("POST", "/api/interactions", body, status=400)["details"][0]["field"] == "personIds.1"
    mine = add_interaction(api, ada)
    assert stranger.ok("GET", "/api/interactions")["interactions"] == []
    for method, path in [("GET", ""), ("PUT", ""), ("DELETE", ""), ("POST", "/restore"), ("DELETE", "/permanent")]:
        assert stranger.call(method, f"/api/interactions/{mine['id']}{path}", {}).status_code == 404
    assert stranger.call("GET", f"/api/interactions?personId={ada.pk}").status_code == 400
    assert stranger.call("GET", f"/api/people/{ada.pk}/interactions").status_code == 404


def test_update_keeps_omitted_fields(api: Client, ada: Person, bob: Person) -> None:
    made = add_interaction(api, ada, title="One", notes="Two")
    path = f"/api/interactions/{made['id']}"
    changed = api.ok("PUT", path, {"notes": None, "personIds": [str(bob.pk), str(ada.pk)]})["interaction"]
    assert (changed["title"], changed["notes"], changed["kind"]) == ("One", None, "CALL")
    assert [one["name"] for one in changed["people"]] == ["Bob", "Ada"]
    assert api.ok("PUT", path, changed)["interaction"]["personIds"] == changed["personIds"]


@pytest.mark.both_databases
def test_pages_newest_first_of_all_and_of_one(api: Client, ada: Person, bob: Person) -> None:
    made = [
        add_interaction(api, ada, *([bob] if day % 2 else []), at=f"2026-02-{day:02}T12:00:00Z") for day in range(1, 8)
    ]
    newest = [row["id"] for row in reversed(made)]
    for path, expected in [
        ("/api/interactions?", newest),
        (f"/api/interactions?personId={bob.pk}&", newest[::2]),
        (f"/api/people/{bob.pk}/interactions?", newest[::2]),
    ]:
        found: list[str] = []
        cursor, pages = "", 0
        while True:
            page = api.ok("GET", f"{path}limit=2{cursor}")
            found, pages = found + ids(page), pages + 1
            assert page["hasMore"] is (page["cursor"] is not None)
            if not page["hasMore"]:
                break
            cursor = f"&cursor={page['cursor']}"
            # A newer interaction does not shift the pages.
            add_interaction(api, ada, bob, at=f"2026-03-0{pages}T12:00:00Z")
        assert (found, pages) == (expected, -(-len(expected) // 2))
        Interaction.unscoped.filter(at__gte=dt.datetime(2026, 3, 1, tzinfo=dt.UTC)).delete()


def test_interactions_at_one_instant_have_a_stable_order(api: Client, ada: Person) -> None:
    made = {add_interaction(api, ada)["id"] for _ in range(5)}
    found: list[str] = []
    cursor = ""
    for _ in range(3):
        page = api.ok("GET", f"/api/interactions?limit=2{cursor}")
        found, cursor = found + ids(page), f"&cursor={page['cursor']}"
    assert (len(found), set(found)) == (5, made)


@pytest.mark.both_databases
def test_days_are_those_of_the_accounts_zone(api: Client, ada: Person) -> None:
    api.ok("PUT", "/api/user/timezone", {"timezone": "Asia/Tokyo"})
    late = add_interaction(api, ada, at="2026-02-20T15:00:00Z")  # midnight in Tokyo
    early = add_interaction(api, ada, at="2026-02-20T14:59:59.999Z")
    assert ids(api.ok("GET", "/api/interactions?from=2026-02-21&to=2026-02-21")) == [late["id"]]
    assert ids(api.ok("GET", "/api/interactions?from=2026-02-20&to=2026-02-20")) == [early["id"]]
    assert ids(api.ok("GET", "/api/interactions?from=0001-01-01&to=9999-12-31")) == [late["id"], early["id"]]


@pytest.mark.parametrize(
    "query", ["from=x", "to=2026-02-30", "limit=0", "cursor=x", "cursor=WzEsMl0", "personId=x", "cursor=%C3%A9"]
)
def test_invalid_query_is_refused(api: Client, query: str) -> None:
    field = query.partition("=")[0]
    assert api.ok("GET", f"/api/interactions?{query}", status=400)["details"][0]["field"] == field


def test_a_deleted_person_leaves_people_and_stays_in_ids(api: Client, ada: Person, bob: Person) -> None:
    made = add_interaction(api, ada, bob)
    path = f"/api/interactions/{made['id']}"
    api.ok("DELETE", f"/api/people/{bob.pk}")
    left = api.ok("GET", path)["interaction"]
    assert left["personIds"] == made["personIds"]
    assert [one["name"] for one in left["people"]] == ["Ada"]
    assert api.ok("PUT", path, {**left, "title": "New"})["interaction"]["personIds"] == made["personIds"]
    other = add_interaction(api, ada)
    body = {"personIds": made["personIds"]}
    assert api.ok("PUT", f"/api/interactions/{other['id']}", body, status=400)["details"][0]["field"] == "personIds.1"
    assert api.call("PUT", path, {"personIds": [str(bob.pk)]}).status_code == 400
    api.ok("DELETE", f"/api/people/{bob.pk}/permanent")
    assert api.ok("GET", path)["interaction"]["personIds"] == [str(ada.pk)]


def test_interaction_is_deleted_and_restored_with_all_its_people(api: Client, ada: Person) -> None:
    made, copy = add_interaction(api, ada), Replica(api)
    path = f"/api/interactions/{made['id']}"
    copy.catch_up()
    api.ok("DELETE", f"/api/people/{ada.pk}")
    assert made["id"] in {change["id"] for change in copy.catch_up() if change["deleted"]}
    assert api.ok("GET", "/api/interactions")["interactions"] == []
    assert api.call("GET", path).status_code == 404
    api.ok("POST", f"/api/people/{ada.pk}/restore")
    copy.catch_up()
    assert copy.records_of_type("interaction") == {made["id"]: api.ok("GET", path)["interaction"]}
    api.ok("DELETE", f"/api/people/{ada.pk}")
    api.ok("DELETE", f"/api/people/{ada.pk}/permanent")
    assert made["id"] in {change["id"] for change in copy.catch_up() if change["deleted"]}
    assert not Interaction.unscoped.exists()


@pytest.mark.both_databases
def test_deleted_interaction_is_in_the_trash(api: Client, ada: Person) -> None:
    made = add_interaction(api, ada, title="Lost")
    path = f"/api/interactions/{made['id']}"
    assert api.call("POST", f"{path}/restore").json()["code"] == "not_deleted"
    assert api.call("DELETE", f"{path}/permanent").json()["code"] == "not_deleted"
    api.ok("DELETE", path)
    assert api.call("GET", path).status_code == 404
    [row] = api.ok("GET", "/api/deleted?type=interactions")["deleted"]
    assert (row["id"], row["title"]) == (made["id"], "Lost")
    assert row["deletedAt"]
    assert api.ok("POST", f"{path}/restore")["interaction"]["people"] == made["people"]
    api.ok("DELETE", path)
    api.ok("DELETE", f"{path}/permanent")
    assert not Interaction.unscoped.exists()


@pytest.mark.both_databases
def test_purge_removes_interactions_after_the_retention(api: Client, ada: Person) -> None:
    with time_machine.travel("2026-03-01T12:00:00Z"):
        made = add_interaction(api, ada)
        api.ok("DELETE", f"/api/interactions/{made['id']}")
        kept = add_interaction(api, ada)
    removed = purge_deleted(now=dt.datetime(2026, 4, 5, tzinfo=dt.UTC))
    assert removed["interactions"] == 1
    assert [str(row.pk) for row in Interaction.unscoped.all()] == [kept["id"]]


@pytest.mark.both_databases
def test_a_list_costs_the_same_for_one_and_for_fifty(api: Client, alice: User, ada: Person) -> None:
    paths = ["/api/interactions", f"/api/people/{ada.pk}/interactions"]
    add_interaction(api, ada)
    before = [count_queries(api.ok, "GET", path) for path in paths]
    for number in range(50):
        add_interaction(api, ada, make_person(alice, name=f"P{number}"))
    assert [count_queries(api.ok, "GET", path) for path in paths] == before


def test_creating_an_interaction_takes_few_statements(api: Client, ada: Person) -> None:
    with CaptureQueriesContext(connection) as captured:
        add_interaction(api, ada)
    assert len(captured) <= 14, "\n".join(query["sql"][:150] for query in captured)
