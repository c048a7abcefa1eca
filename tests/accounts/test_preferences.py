"""The responses of the preference routes are as specified, and the profile contains the values."""

from typing import Any

import pytest

from accounts.models import User
from accounts.signals import preferences_changed
from tests.client import Client

pytestmark = pytest.mark.sqlite_suffices

LISTS = [{"name": "x" * 60, "query": "?" * 1000}] * 48 + [
    {"name": "世話", "query": "a b&c=\u00e9"},
    {"name": "x", "query": "x"},
]

# path, body, what is answered beside the id, the profile's key and value
CASES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("theme", {"theme": "DARK"}, {"theme": "DARK"}),
    ("date-format", {"dateFormat": "MDY"}, {"dateFormat": "MDY"}),
    ("name-order", {"nameOrder": "EASTERN"}, {"nameOrder": "EASTERN"}),
    ("name-sort", {"nameSort": "SURNAME"}, {"nameSort": "SURNAME"}),
    ("name-display-format", {"nameDisplayFormat": "SHORT"}, {"nameDisplayFormat": "SHORT"}),
    ("graph-display", {"graphMode": "bubbles"}, {"graphMode": "bubbles"}),
    ("saved-lists", {"savedLists": LISTS}, {"savedLists": LISTS}),
    ("geocoding", {"geocodingEnabled": True}, {"geocodingEnabled": True}),
    ("date-reminder-default", {"dateReminderDefault": "all"}, {"dateReminderDefault": "all"}),
    ("reminder-lead-days", {"days": 365}, {"defaultReminderLeadDays": 365}),
    (
        "weekly-digest",
        {"enabled": True, "weekday": 0},
        {"weeklyDigestEnabled": True, "weeklyDigestWeekday": 0},
    ),
    ("timezone", {"timezone": "Asia/Kathmandu"}, {"timezone": "Asia/Kathmandu"}),
    ("reminder-hour", {"hour": 23}, {"reminderHour": 23}),
    ("leap-day-rule", {"leapDayRule": "MAR1"}, {"leapDayRule": "MAR1"}),
]

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("theme", {"theme": "dark"}, "theme"),
    ("theme", {}, "theme"),
    ("date-format", {"dateFormat": None}, "dateFormat"),
    ("name-order", {"nameOrder": 1}, "nameOrder"),
    ("graph-display", {"graphMode": "INDIVIDUALS"}, "graphMode"),
    ("saved-lists", {}, "savedLists"),
    ("saved-lists", {"savedLists": None}, "savedLists"),
    ("saved-lists", {"savedLists": {"name": "x", "query": "x"}}, "savedLists"),
    ("saved-lists", {"savedLists": [*LISTS, {"name": "x", "query": "x"}]}, "savedLists"),
    ("saved-lists", {"savedLists": ["x"]}, "savedLists.0"),
    ("saved-lists", {"savedLists": [{"name": "x"}]}, "savedLists.0.query"),
    ("saved-lists", {"savedLists": [{"name": "x", "query": "x" * 1001}]}, "savedLists.0.query"),
    ("saved-lists", {"savedLists": [{"name": "x", "query": " "}]}, "savedLists.0.query"),
    ("saved-lists", {"savedLists": [{"name": "x", "query": 1}]}, "savedLists.0.query"),
    ("saved-lists", {"savedLists": [{"name": "x", "query": "x"}, {"name": "", "query": "x"}]}, "savedLists.1.name"),
    ("saved-lists", {"savedLists": [{"name": "x" * 61, "query": "x"}]}, "savedLists.0.name"),
    ("geocoding", {"geocodingEnabled": 1}, "geocodingEnabled"),
    ("date-reminder-default", {"dateReminderDefault": "BIRTHDAYS"}, "dateReminderDefault"),
    ("date-reminder-default", {"dateReminderDefault": None}, "dateReminderDefault"),
    ("reminder-lead-days", {"days": "5"}, "days"),
    ("reminder-lead-days", {"days": 366}, "days"),
    ("reminder-lead-days", {"days": -1}, "days"),
    ("reminder-lead-days", {"days": True}, "days"),
    ("weekly-digest", {"enabled": True}, "weekday"),
    ("weekly-digest", {"weekday": 1}, "enabled"),
    ("weekly-digest", {"enabled": True, "weekday": 7}, "weekday"),
    ("timezone", {"timezone": "europe/oslo"}, "timezone"),
    ("timezone", {"timezone": ""}, "timezone"),
    ("reminder-hour", {"hour": 24}, "hour"),
    ("reminder-hour", {"hour": 7.0}, "hour"),
    ("reminder-hour", {"hour": 7.5}, "hour"),
    ("reminder-hour", {"hour": 1e300}, "hour"),
    ("leap-day-rule", {"leapDayRule": "FEB29"}, "leapDayRule"),
    ("language", {"language": "de"}, "language"),
]


@pytest.mark.parametrize(("path", "body", "response"), CASES, ids=[case[0] for case in CASES])
def test_preference_is_stored_and_returned(
    api: Client, alice: User, path: str, body: dict[str, Any], response: dict[str, Any]
) -> None:
    assert api.ok("PUT", f"/api/user/{path}", body) == {"user": {"id": str(alice.pk), **response}}
    profile = api.ok("GET", "/api/user/profile")["user"]
    assert {key: profile[key] for key in response} == response


def test_kept_lists_are_replaced_and_taken_away(api: Client) -> None:
    lists = [{"name": " Neglected ", "query": "b"}, {"name": "A", "query": "a"}]
    kept = [{"name": "Neglected", "query": "b"}, {"name": "A", "query": "a"}]
    assert api.ok("PUT", "/api/user/saved-lists", {"savedLists": lists})["user"]["savedLists"] == kept
    [settings] = api.ok("GET", "/api/changes?types=settings")["changes"]
    assert settings["record"]["savedLists"] == kept
    assert api.ok("PUT", "/api/user/saved-lists", {"savedLists": []})["user"]["savedLists"] == []


def test_response_for_the_language_has_its_own_shape(api: Client) -> None:
    assert api.ok("PUT", "/api/user/language", {"language": "ja-JP"}) == {"success": True, "language": "ja-JP"}
    assert api.ok("GET", "/api/user/profile")["user"]["language"] == "ja-JP"


@pytest.mark.one_database
@pytest.mark.parametrize(("path", "body", "field"), REFUSED, ids=str)
def test_refused_preference_changes_nothing(api: Client, path: str, body: dict[str, Any], field: str) -> None:
    before = api.ok("GET", "/api/user/profile")
    response = api.ok("PUT", f"/api/user/{path}", body, status=400)
    assert [detail["field"] for detail in response["details"]] == [field]
    assert api.ok("GET", "/api/user/profile") == before


@pytest.mark.parametrize("path", ["timezone", "reminder-hour", "leap-day-rule", "reminder-lead-days"])
def test_preferences_that_move_reminders_mark_them_stale(api: Client, alice: User, path: str) -> None:
    body = next(body for case, body, _ in CASES if case == path)
    api.ok("PUT", f"/api/user/{path}", body)
    alice.refresh_from_db()
    assert alice.reminders_stale


def test_other_preferences_do_not_mark_reminders_stale(api: Client, alice: User) -> None:
    api.ok("PUT", "/api/user/theme", {"theme": "DARK"})
    alice.refresh_from_db()
    assert not alice.reminders_stale


def test_signal_is_sent_only_for_a_change(api: Client, alice: User, django_capture_on_commit_callbacks: Any) -> None:
    received: list[tuple[Any, set[str]]] = []

    def record_signal(user_id: Any, fields: set[str], **kwargs: Any) -> None:
        received.append((user_id, fields))

    preferences_changed.connect(record_signal)
    try:
        with django_capture_on_commit_callbacks(execute=True):
            api.ok("PUT", "/api/user/weekly-digest", {"enabled": True, "weekday": 1})
            api.ok("PUT", "/api/user/weekly-digest", {"enabled": True, "weekday": 1})
    finally:
        preferences_changed.disconnect(record_signal)
    assert received == [(alice.pk, {"weekly_digest_enabled"})]
