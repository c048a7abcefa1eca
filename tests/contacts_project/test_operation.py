"""GET /api/health and `manage.py doctor` report each problem."""

import datetime as dt
import re
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import time_machine
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from django.db import connection
from django.template.defaultfilters import filesizeformat
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from kombu import Connection

from accounts.models import TotpDevice, User
from contacts_project.celery import app
from contacts_project.kernel.database.triggers import missing_triggers
from notifications.models.deliveries import last_heartbeat, record_heartbeat
from tests.client import Client

pytestmark = pytest.mark.sqlite_suffices


class Usage(NamedTuple):
    """What shutil.disk_usage returns."""

    total: int
    used: int
    free: int


@pytest.fixture(autouse=True)
def _has_just_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the start of the process to now, because the tests may have run in it for long."""
    monkeypatch.setattr("contacts_project.operation.health.STARTED_AT", timezone.now())


def test_new_instance_is_healthy_before_its_first_due_scan(db: None) -> None:
    response = Client().ok("GET", "/api/health")
    assert response["status"] == "ok"
    assert response["checks"]["scheduler"] == {"status": "ok", "lagSeconds": None}


def test_lag_is_the_time_since_the_last_due_scan(db: None) -> None:
    record_heartbeat("due_scan", timezone.now() - dt.timedelta(seconds=70))
    assert Client().ok("GET", "/api/health")["checks"]["scheduler"]["lagSeconds"] in {70, 71}


@pytest.mark.parametrize(
    ("seconds", "http_status", "status", "scheduler"),
    [
        (0, 200, "ok", "ok"),
        (89, 200, "ok", "ok"),
        (90, 200, "degraded", "late"),
        (299, 200, "degraded", "late"),
        (300, 503, "unfit", "failed"),
    ],
)
@pytest.mark.parametrize("has_run", [True, False])
def test_missing_due_scans_degrade_the_instance(
    db: None,
    monkeypatch: pytest.MonkeyPatch,
    seconds: int,
    http_status: int,
    status: str,
    scheduler: str,
    *,
    has_run: bool,
) -> None:
    """Late from 90 seconds on, unfit from five minutes on: since the last scan, or since the start without one."""
    with time_machine.travel(timezone.now(), tick=False):
        since = timezone.now() - dt.timedelta(seconds=seconds)
        if has_run:
            record_heartbeat("due_scan", since)
        else:
            monkeypatch.setattr("contacts_project.operation.health.STARTED_AT", since)
        response = Client().ok("GET", "/api/health", status=http_status)
    assert response["status"] == status
    assert response["checks"]["scheduler"] == {"status": scheduler, "lagSeconds": seconds if has_run else None}


def test_broker_that_does_not_answer_is_unhealthy(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "connection_for_write", lambda: Connection("redis://127.0.0.1:1/0"))
    response = Client().ok("GET", "/api/health", status=503)
    assert response["checks"]["broker"] == "failed"


def test_full_disk_is_unhealthy(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Client().ok("GET", "/api/health")["checks"]["disk"] == "ok"
    monkeypatch.setattr("shutil.disk_usage", lambda path: Usage(100, 90, 10))
    assert Client().ok("GET", "/api/health", status=503)["checks"]["disk"] == "failed"


@pytest.mark.both_databases
def test_requests_through_an_uncounted_proxy_are_warned_of_for_a_day(db: None, settings: Any) -> None:
    assert Client().ok("GET", "/api/health")["checks"]["proxy"] == "ok"
    assert "X-Forwarded-For" not in doctor()
    Client().ok("GET", "/api/instance", HTTP_X_FORWARDED_FOR="203.0.113.7")
    health = Client().ok("GET", "/api/health")
    assert (health["status"], health["checks"]["proxy"]) == ("ok", "uncounted")
    assert "WARNING  Requests of the last day carried X-Forwarded-For, and TRUSTED_PROXY_COUNT is 0" in doctor()
    settings.TRUSTED_PROXY_COUNT = 1
    assert Client().ok("GET", "/api/health")["checks"]["proxy"] == "ok"
    assert "X-Forwarded-For" not in doctor()
    settings.TRUSTED_PROXY_COUNT = 0
    with time_machine.travel(timezone.now() + dt.timedelta(hours=25)):
        assert Client().ok("GET", "/api/health", status=503)["checks"]["proxy"] == "ok"


def test_a_forwarded_request_is_recorded_once_an_hour_and_without_its_address(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = Client()
    with time_machine.travel(timezone.now(), tick=False):
        with CaptureQueriesContext(connection) as first:
            caller.ok("GET", "/api/instance", HTTP_X_FORWARDED_FOR="203.0.113.7")
        with CaptureQueriesContext(connection) as second:
            caller.ok("GET", "/api/instance", HTTP_X_FORWARDED_FOR="203.0.113.8")
    assert any("forwarded_requests" in query["sql"] for query in first)
    assert not any("203.0.113" in query["sql"] for query in first)
    assert not any("forwarded_requests" in query["sql"] for query in second)


def test_a_counted_proxy_is_not_recorded(db: None, settings: Any) -> None:
    settings.TRUSTED_PROXY_COUNT = 1
    Client().ok("GET", "/api/instance", HTTP_X_FORWARDED_FOR="203.0.113.7")
    assert last_heartbeat("forwarded_requests") is None


@pytest.mark.parametrize(("free", "word"), [(10, "ERROR"), (2**29, "WARNING"), (2**40, "INFO")])
def test_doctor_reports_the_free_space(db: None, monkeypatch: pytest.MonkeyPatch, free: int, word: str) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: Usage(2 * free, free, free))
    assert f"{word}  {filesizeformat(free)} are free" in doctor()


def test_doctor_reports_files_that_others_can_read(db: None, settings: Any, tmp_path: Path) -> None:
    photo = tmp_path / "media" / "photo.jpg"
    photo.parent.mkdir(mode=0o700)
    photo.touch(mode=0o600)
    settings.DATA_DIR = tmp_path
    assert "can read" not in doctor()
    photo.chmod(0o604)
    assert f"ERROR  Other users of this machine can read {photo}." in doctor()


def doctor() -> str:
    out = StringIO()
    with suppress(CommandError):
        call_command("doctor", stdout=out)
    return out.getvalue()


def test_doctor_reports_success_or_the_problems(db: None) -> None:
    out = StringIO()
    call_command("doctor", stdout=out)
    assert "ERROR" not in out.getvalue()


@pytest.mark.both_databases
def test_doctor_reports_a_missing_owner_trigger(db: None) -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("DROP TRIGGER own_people_membership_group_id ON people_membership")
        else:
            cursor.execute("DROP TRIGGER own_people_membership_group_id_ins")
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("doctor", stdout=out)
    assert "own_people_membership_group_id" in out.getvalue()
    call_command("install_triggers")
    assert missing_triggers() == []


@pytest.fixture
def secret(alice: User, settings: Any) -> TotpDevice:
    """A stored secret, encrypted with the only key of the key ring."""
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    return TotpDevice.objects.create(owner=alice, secret="JBSWY3DPEHPK3PXP")


@pytest.mark.both_databases
def test_reencrypting_secrets_can_be_repeated(secret: TotpDevice, settings: Any) -> None:
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode(), *settings.ENCRYPTION_KEYS]
    for _ in range(2):
        call_command("rotate_encryption", stdout=StringIO())
    settings.ENCRYPTION_KEYS = settings.ENCRYPTION_KEYS[:1]
    secret.refresh_from_db()
    assert secret.secret == "JBSWY3DPEHPK3PXP"


@pytest.mark.both_databases
def test_missing_encryption_key_is_reported(secret: TotpDevice, settings: Any) -> None:
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    with pytest.raises(CommandError, match="ENCRYPTION_KEYS no longer holds"):
        call_command("rotate_encryption", stdout=StringIO())
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("doctor", stdout=out)
    assert (
        "ERROR  accounts.TotpDevice has a secret that cannot be decrypted with any key of ENCRYPTION_KEYS."
        in out.getvalue()
    )


@pytest.mark.parametrize(
    ("host", "warns"), [("people.example:8443", True), ("tiles.example", False), ("people.example", False)]
)
def test_doctor_warns_about_map_tiles_that_get_the_cookies(db: None, settings: Any, host: str, warns: bool) -> None:
    settings.BASE_URL = "https://people.example"
    settings.MAP_TILES_URL = f"https://{host}/{{z}}/{{x}}/{{y}}.png"
    assert ("MAP_TILES_URL has the host of BASE_URL" in doctor()) == warns


def test_doctor_warns_about_plain_http_on_a_public_name(db: None, settings: Any) -> None:
    settings.BASE_URL = "http://contacts.example.org"
    out = StringIO()
    call_command("doctor", stdout=out)
    assert "plain http" in out.getvalue()


@pytest.mark.parametrize(
    ("host", "expected_words"),
    [
        ("192.168.1.5:8000", ["host 192.168.1.5,", "ALLOWED_HOSTS=192.168.1.5", "BASE_URL=http://192.168.1.5:8000"]),
        ("[fd00::5]", ["host [fd00::5],", "ALLOWED_HOSTS=[fd00::5]", "BASE_URL=http://[fd00::5]"]),
        ("nas.local", ["host nas.local,", "ALLOWED_HOSTS=nas.local", "BASE_URL=http://nas.local"]),
        ("<script>" + "a" * 5000, ["malformed"]),
        ("a" * 5000, ["malformed"]),
    ],
)
def test_disallowed_host_is_told_which_setting_to_change(host: str, expected_words: list[str]) -> None:
    response = Client().get("/", HTTP_HOST=host)
    assert (response.status_code, response.json()["code"]) == (400, "host_not_allowed")
    error = response.json()["error"]
    assert [word for word in expected_words if word not in error] == []
    assert len(error) < 400


def test_request_ids_are_echoed_or_generated() -> None:
    client = Client()
    assert client.get("/api/instance", HTTP_X_REQUEST_ID="abc-1")["X-Request-ID"] == "abc-1"
    assert len(client.get("/api/instance", HTTP_X_REQUEST_ID="a\nb")["X-Request-ID"]) == 36


def test_api_docs_load_no_external_files_and_no_inline_scripts() -> None:
    response = Client().get("/api/docs")
    page = response.content.decode()
    assert "/static/drf_spectacular_sidecar/" in page
    assert "https://" not in page.replace("https://www.w3.org", "")
    assert "//cdn" not in page
    assert "<script>" not in page
    assert "script-src 'self';" in response["Content-Security-Policy"]
    script = Client().get(re.findall(r'<script src="([^"]+)"', page)[-1]).content.decode()
    assert '"validatorUrl": null' in script  # without it, a badge sends the document's URL to swagger.io


def test_api_description_is_json(db: None) -> None:
    response = Client().get("/api/openapi.json")
    assert response["Content-Type"] == "application/json"
    assert response.json()["openapi"].startswith("3.1")
