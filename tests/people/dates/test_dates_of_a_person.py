"""`importantDates` in a person's body replaces the set; entries with an id keep it."""

from typing import Any

import pytest

from people.models import ImportantDate
from tests.builders import UNKNOWN_ID, set_plan_limits
from tests.client import Client

pytestmark = pytest.mark.django_db

BIRTHDAY = {"type": "BIRTHDAY", "date": "1990-05-04"}
MET = {"title": "Met", "date": "2020-01-01", "reminderEnabled": True, "reminderLeadDays": 3}


@pytest.fixture
def ada(api: Client) -> Any:
    return api.ok("post", "/api/people", {"name": "Ada", "importantDates": [BIRTHDAY, MET]}, status=201)["person"]


def put(api: Client, person: Any, entries: Any, status: int = 200) -> Any:
    response = api.ok("put", f"/api/people/{person['id']}", {"importantDates": entries}, status=status)
    return response["person"]["importantDates"] if status == 200 else response


def test_dates_are_created_with_the_person(api: Client, ada: Any) -> None:
    assert [date["title"] or date["type"] for date in ada["importantDates"]] == ["BIRTHDAY", "Met"]
    assert api.ok("get", f"/api/people/{ada['id']}/important-dates")["importantDates"] == ada["importantDates"]
    assert ImportantDate.unscoped.get(title="Met").next_due_at is not None


def test_read_dates_can_be_sent_back(api: Client, ada: Any) -> None:
    sent_back = put(api, ada, ada["importantDates"])
    assert [date | {"updatedAt": ""} for date in sent_back] == [
        date | {"updatedAt": ""} for date in ada["importantDates"]
    ]


def test_kept_dates_keep_their_id_and_others_are_deleted(api: Client, ada: Any) -> None:
    birthday, met = ada["importantDates"]
    new = {"type": "NAMEDAY", "date": "1990-12-10", "id": None}
    changed = put(api, ada, [{"id": met["id"], "title": "First met", "date": "2020-01-02"}, new])
    assert {date["id"] for date in changed} & {birthday["id"], met["id"]} == {met["id"]}
    kept = next(date for date in changed if date["id"] == met["id"])
    assert (kept["title"], kept["reminderEnabled"], kept["reminderLeadDays"]) == ("First met", False, None)
    assert ImportantDate.unscoped.get(pk=birthday["id"]).deleted_at is not None
    assert put(api, ada, []) == []


def test_dates_without_id_are_matched_by_content(api: Client, ada: Any) -> None:
    """A client that sends no ids changes the birthday instead of adding another."""
    birthday, met = ada["importantDates"]
    other_day = {**BIRTHDAY, "date": "1990-12-11"}
    same_day = {"title": met["title"], "date": met["date"]}
    changed = put(api, ada, [same_day, other_day, {"title": met["title"], "date": "2021-05-05"}])
    by_day = {date["date"][:10]: date["id"] for date in changed}
    assert by_day[met["date"][:10]] == met["id"]
    assert by_day["1990-12-11"] == birthday["id"]
    assert by_day["2021-05-05"] not in {birthday["id"], met["id"]}


def test_omitted_field_keeps_all_dates(api: Client, ada: Any) -> None:
    response = api.ok("put", f"/api/people/{ada['id']}", {"surname": "Lovelace"})["person"]
    assert [date["id"] for date in response["importantDates"]] == [date["id"] for date in ada["importantDates"]]


def test_two_dates_may_swap_their_types(api: Client, ada: Any) -> None:
    birthday, met = ada["importantDates"]
    put(api, ada, [birthday, {**met, "type": "NAMEDAY"}])
    put(api, ada, [{**birthday, "type": "NAMEDAY"}, {**met, "type": "BIRTHDAY"}])
    assert ImportantDate.unscoped.get(pk=met["id"]).type == "BIRTHDAY"


@pytest.mark.parametrize(
    ("entries", "field"),
    [
        ([BIRTHDAY, {"date": "2020-01-01"}], "importantDates.1.title"),
        ([BIRTHDAY, BIRTHDAY], "importantDates.1.type"),
        ([{**BIRTHDAY, "id": UNKNOWN_ID}], "importantDates.0.id"),
        ([{**BIRTHDAY, "id": "x"}], "importantDates.0.id"),
        ([{**BIRTHDAY, "date": "2023-02-29"}], "importantDates.0.date"),
    ],
)
def test_error_names_the_entry_and_nothing_changes(api: Client, ada: Any, entries: Any, field: str) -> None:
    response = put(api, ada, entries, 400)
    assert [detail["field"] for detail in response["details"]] == [field]
    now = api.ok("get", f"/api/people/{ada['id']}/important-dates")["importantDates"]
    assert now == ada["importantDates"]


def test_a_date_of_another_person_is_unknown(api: Client, stranger: Client, ada: Any) -> None:
    for client in (api, stranger):
        other = client.ok("post", "/api/people", {"name": "Bob"}, status=201)["person"]
        response = put(client, other, [ada["importantDates"][0]], 400)
        assert response["details"][0]["field"] == "importantDates.0.id"


def test_plan_limit_counts_the_remaining_dates(api: Client, ada: Any, settings: Any) -> None:
    set_plan_limits(settings, reminders=1)
    birthday, met = ada["importantDates"]
    assert put(api, ada, [{**birthday, "reminderEnabled": True}, met], 403)["code"] == "plan_limit"
    put(api, ada, [{**birthday, "reminderEnabled": True}, {**met, "reminderEnabled": False}])
    put(api, ada, [{**MET, "title": "New"}])
