"""GET /metrics: access to it, and its series, which are few and cover all processes."""

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from kombu import Connection
from prometheus_client.parser import text_string_to_metric_families

from accounts.models import User
from accounts.tasks import purge_budgets
from contacts_project.celery import app
from people.models import Person
from tests.builders import PASSWORD
from tests.client import Client

pytestmark = pytest.mark.sqlite_suffices

TOKEN = "scrape-me"
Scrape = Callable[..., float]


@pytest.fixture
def scrape(settings: Any, db: None) -> Scrape:
    """A function that returns the value of a series, 0 if there is none yet."""
    settings.METRICS_TOKEN = TOKEN

    def read(name: str, **labels: str) -> float:
        return samples().get((name, tuple(sorted(labels.items()))), 0)

    return read


def samples() -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    response = Client().get("/metrics", HTTP_AUTHORIZATION=f"Bearer {TOKEN}")
    assert response.status_code == 200
    families = text_string_to_metric_families(response.content.decode())
    return {(one.name, tuple(sorted(one.labels.items()))): one.value for family in families for one in family.samples}


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "Bearer wrong", f"Basic {TOKEN}", TOKEN, "Bearer scräpe"])
def test_missing_or_wrong_token_is_401(settings: Any, header: str) -> None:
    settings.METRICS_TOKEN = TOKEN
    response = Client().get("/metrics", HTTP_AUTHORIZATION=header)
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
    assert b"contacts_" not in response.content


@pytest.mark.parametrize("header", ["Bearer ", "Bearer None", ""])
def test_metrics_are_closed_if_no_token_is_set(settings: Any, header: str) -> None:
    settings.METRICS_TOKEN = ""
    assert Client().get("/metrics", HTTP_AUTHORIZATION=header).status_code == 401


def test_requests_are_counted_by_route_template(scrape: Scrape, api: Client, ada: Any) -> None:
    seen = {"route": "/api/people/{personId}", "method": "GET"}
    before = [scrape("contacts_http_requests_total", **seen, status=status) for status in ("200", "404")]
    timed = scrape("contacts_http_request_seconds_count", route=seen["route"])
    api.ok("get", f"/api/people/{ada.pk}")
    api.ok("get", "/api/people/nobody", status=404)
    after = [scrape("contacts_http_requests_total", **seen, status=status) for status in ("200", "404")]
    assert after == [before[0] + 1, before[1] + 1]
    assert scrape("contacts_http_request_seconds_count", route=seen["route"]) == timed + 2
    assert scrape("contacts_http_request_seconds_bucket", route=seen["route"], le="+Inf") == timed + 2


def test_unknown_routes_and_methods_are_one_series(scrape: Scrape) -> None:
    client = Client(raise_request_exception=False)
    client.generic("BREW", "/nowhere")  # the series that there are from here on
    client.get("/nowhere")
    client.get("/static/nowhere.css")
    client.get("/people/nobody")
    samples()
    known = {key for key in samples() if key[0].startswith("contacts_http")}
    for number in range(50):
        client.generic(f"BREW{number}", f"/{number}")
        client.get(f"/api/{number}\n{{x=\"}}/'é\x1f")
        client.get(f"/static/{number}.css")
        client.get(f"/people/{number}")
    assert {key for key in samples() if key[0].startswith("contacts_http")} - known == set()


def test_server_errors_are_counted(scrape: Scrape, api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr("contacts_project.operation.views.check_health", fail)
    labels = {"route": "/api/health", "method": "GET", "status": "500"}
    before = scrape("contacts_http_requests_total", **labels)
    Client(raise_request_exception=False).get("/api/health")
    assert scrape("contacts_http_requests_total", **labels) == before + 1


def test_sign_ins_are_counted_by_outcome(scrape: Scrape, alice: User) -> None:
    before = {outcome: scrape("contacts_sign_ins_total", outcome=outcome) for outcome in ("ok", "wrong")}
    for password in (PASSWORD, "wrong"):
        Client().call("post", "/api/auth/login", {"email": alice.email, "password": password})
    for outcome, number in before.items():
        assert scrape("contacts_sign_ins_total", outcome=outcome) == number + 1


def test_metrics_that_cannot_be_read_are_omitted(scrape: Scrape, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "connection_for_write", lambda: Connection("redis://127.0.0.1:1/0"))
    names = {name for name, _ in samples()}
    assert "contacts_queue_messages" not in names
    assert names >= {"contacts_accounts", "contacts_people", "contacts_database_bytes", "contacts_photo_bytes"}


@pytest.mark.both_databases
def test_state_of_the_instance_is_reported(scrape: Scrape, alice: User, ada: Person) -> None:
    assert scrape("contacts_accounts") == 1
    assert scrape("contacts_people") == 1
    assert scrape("contacts_database_bytes") > 100_000
    assert scrape("contacts_due_oldest_seconds") == 0
    Person.unscoped.rows().update(contact_due_at=timezone.now() - dt.timedelta(hours=1))
    assert 3600 <= scrape("contacts_due_oldest_seconds") < 3700
    assert {labels for name, labels in samples() if name == "contacts_queue_messages"} == {
        (("queue", queue),) for queue in ("scan", "sharing", "reminders", "mail", "sync", "chores")
    }


def test_duration_of_tasks_is_measured(scrape: Scrape, db: None) -> None:
    before = scrape("contacts_task_seconds_count", task=purge_budgets.name)
    purge_budgets.apply()
    assert scrape("contacts_task_seconds_count", task=purge_budgets.name) == before + 1


def test_response_has_all_documented_names_and_types(scrape: Scrape, api: Client) -> None:
    api.ok("get", "/api/version")
    text = Client().get("/metrics", HTTP_AUTHORIZATION=f"Bearer {TOKEN}").content.decode()
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
    assert (
        types
        | {
            "contacts_http_requests_total": "counter",
            "contacts_http_request_seconds": "histogram",
            "contacts_deliveries_total": "counter",
            "contacts_delivery_failures_total": "counter",
            "contacts_due_oldest_seconds": "gauge",
            "contacts_queue_messages": "gauge",
            "contacts_task_seconds": "histogram",
            "contacts_carddav_runs_total": "counter",
            "contacts_sign_ins_total": "counter",
            "contacts_database_bytes": "gauge",
            "contacts_photo_bytes": "gauge",
            "contacts_accounts": "gauge",
            "contacts_people": "gauge",
        }
        == types
    )
