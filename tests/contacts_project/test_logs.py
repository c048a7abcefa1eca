"""Log lines are JSON without secrets, such as the token of a mailed link, whichever logger writes them."""

import datetime as dt
import json
import logging
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from smtplib import SMTPRecipientsRefused
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings as project
from django.core import signing
from django.db import IntegrityError, OperationalError

from accounts.models import User
from accounts.services.mail import LinkPurpose, make_link_token
from accounts.tasks import sweep_account_mails
from contacts_project.kernel.logs import ContextFilter, JsonFormatter
from notifications.notices.actions import ACTIONS
from notifications.notices.actions import make_token as make_action
from notifications.notices.unsubscribe import Subject, unsubscribe_url
from people.models import Person
from tests.client import Client
from tests.contacts_project.test_environment import run
from tests.dav.devices import Device


@pytest.fixture
def lines() -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """A function that returns the log lines so far, formatted as the service writes them, as JSON."""
    written = StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonFormatter("%(levelname)s %(name)s %(message)s"))
    handler.addFilter(ContextFilter())
    logging.getLogger().addHandler(handler)
    yield lambda: [json.loads(line) for line in written.getvalue().splitlines()]
    logging.getLogger().removeHandler(handler)


def test_failed_link_is_logged_without_its_token(alice: User, lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    reset = f"/account/reset-password?token={make_link_token(alice, LinkPurpose.RESET)}"
    out = unsubscribe_url(alice, Subject.DIGEST).removeprefix(project.BASE_URL)
    Client(enforce_csrf_checks=True).post(reset)

    def away(*args: object, **kwargs: object) -> None:
        raise OperationalError("the database is away")

    monkeypatch.setattr("django.db.models.query.QuerySet._fetch_all", away)
    Client(raise_request_exception=False).get(reset)
    Client(raise_request_exception=False).get(out)
    named = {line["name"] for line in lines()}
    assert named >= {"django.security.csrf", "django.request"}
    written = json.dumps(lines())
    assert "token=" not in written.replace("token=***", "")
    assert reset.partition("=")[2][:20] not in written


def test_address_of_a_failed_request_is_not_logged(alice: User, lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Devices name cards after people. Django's own records have the path, of each answer from 500 on."""
    phone = Device(alice)
    phone.client = Client(raise_request_exception=False)
    card = f"/dav/addressbooks/{alice.pk}/contacts/Ada%20Lovelace.vcf"
    moved = phone.call("MOVE", card, HTTP_DESTINATION="https://other.example/Ada.vcf")
    assert moved.status_code == 502

    def away(*args: object, **kwargs: object) -> None:
        raise OperationalError("the database is away")

    monkeypatch.setattr("django.db.models.query.QuerySet._fetch_all", away)
    assert phone.call("GET", card).status_code == 503
    assert {line["message"] for line in lines() if line["name"] == "django.request"} >= {"Bad Gateway: ***"}
    assert "Ada" not in json.dumps(lines())


@pytest.mark.parametrize(
    "secret",
    [
        "cnt_" + "A1" * 23,
        "whsec_" + "a+/=" * 11,
        signing.dumps(["someone", "digest"], salt="any"),
        signing.TimestampSigner(sep=".").sign_object(["someone", "reset"]),
        make_action(UUID(int=1), ACTIONS[1], dt.datetime(2026, 3, 1, tzinfo=dt.UTC)),
    ],
    # Explicit, because the default ids would contain the time of signing.
    ids=["token", "webhook", "dumped", "signed", "action"],
)
def test_secrets_are_masked_in_all_parts_of_a_line(lines: Any, secret: str) -> None:
    log = logging.getLogger("planted")
    log.error("In a message: %s.", secret)
    log.error("In what is added", extra={"data": {"args": repr((secret,))}})
    error = RuntimeError(f"calendar {secret}.ics")
    log.error("In an exception", exc_info=error)
    assert len(lines()) == 3
    assert all("***" in json.dumps(line) and secret[5:25] not in json.dumps(line) for line in lines())


def test_exceptions_are_logged_without_user_data(lines: Any, alice: User) -> None:
    """Messages of exceptions contain data: PostgreSQL's the refused row, a mail server's the recipient."""
    log, name = logging.getLogger("planted"), "Lovelace"
    for error in (
        IntegrityError("null value in column x\nDETAIL:  Failing row contains (Lovelace, ada@example.org)."),
        SMTPRecipientsRefused({"ada@example.org": (550, b"no such Lovelace")}),
        ValueError("no number: Lovelace"),
    ):
        try:
            try:
                raise KeyError(name)  # noqa: TRY301
            except KeyError as cause:
                raise error from cause
        except Exception:
            log.exception("It failed")
    written = json.dumps(lines())
    assert "Lovelace" not in written
    assert "ada@" not in written
    assert "null value in column x" in written
    assert written.count("builtins.KeyError") == 3
    assert "test_logs.py" in written


def test_failed_task_is_logged_with_its_id_and_request_id(lines: Any, db: None, monkeypatch: Any) -> None:
    name = "Lovelace"

    def fail(**kwargs: object) -> None:
        raise ValueError(name)

    monkeypatch.setattr("accounts.tasks.send_due_mails", fail)
    result = sweep_account_mails.apply(headers={"contacts_request_id": "of-the-request"})
    (line,) = [line for line in lines() if line["name"] == "celery.app.trace"]
    assert (line["task"], line["task_id"]) == (sweep_account_mails.name, result.id)
    assert line["request_id"] == "of-the-request"
    assert "Lovelace" not in json.dumps(line)
    assert "ValueError" in line["message"]


def test_request_is_logged_with_route_and_ids(lines: Any, api: Client, ada: Person) -> None:
    for path in (f"/api/people/{ada.pk}", "/people/Lovelace", "/Lovelace?q=Lovelace"):
        api.generic("GET", path)
    # The first response of a process is checked against the description, which the test client then requests.
    found = [(line["route"], line["ids"]) for line in lines() if line["message"] == "request"]
    logged = [entry for entry in found if entry[0] != "/api/openapi.json"]
    assert logged == [("/api/people/{personId}", [str(ada.pk)]), ("/people/{personId}", []), ("unknown", [])]


def test_operations_of_a_batch_are_logged_with_route_and_ids(lines: Any, api: Client, ada: Person) -> None:
    wanted = [("GET", f"/api/people/{ada.pk}"), ("GET", "/api/people/search?q=Lovelace"), ("PUT", "/Lovelace")]
    api.ok("POST", "/api/batch", {"operations": [{"method": method, "path": path} for method, path in wanted]})
    logged = [line for line in lines() if line["message"] == "operation of a batch"]
    assert [(line["method"], line["route"], line["ids"], line["status"]) for line in logged] == [
        ("GET", "/api/people/{personId}", [str(ada.pk)], 200),
        ("GET", "/api/people/search", [], 200),
        ("PUT", "unknown", [], 404),
    ]
    assert "Lovelace" not in str(logged)


def test_workers_log_in_the_same_format(tmp_path: Path) -> None:
    script = (
        "from contacts_project.celery import app; app.log.setup(); "
        "import logging; logging.getLogger('celery.worker').error('/page?token=s3cret&next=1')"
    )
    done = run(["-c", script], {"DATA_DIR": str(tmp_path)})
    assert json.loads(done.stderr)["message"] == "/page?token=***&next=1"
