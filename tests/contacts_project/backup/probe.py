"""Collects responses and rows of the instance of this process, to compare instances. Sends due reminders."""

import hashlib
import sys
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import orjson
from django.core import mail
from django.core.management import call_command
from django.db import connection
from django.test.utils import override_settings

from accounts.models import User
from notifications.models import Delivery
from people.counts import wrong_counts
from people.models import Person
from tests.builders import make_token
from tests.client import Client

LOCMEM_EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"


def write_responses(task: dict[str, Any], path: str) -> None:
    """Run `task` and write what it returns to `path` as JSON.

    The keys of a task: `commands` to run first, `token`, `sign-in` (bodies by address), `now` (when to send reminders).
    """
    Path(path).write_bytes(orjson.dumps({"vendor": connection.vendor} | collect_responses(task)))


def collect_responses(task: dict[str, Any]) -> dict[str, Any]:
    """Everything that must be equal in two instances with the same data."""
    found: dict[str, Any] = {"export": {}, "photos": {}, "sign-in": {}, "counts": {}}
    output = StringIO()
    for command in task["commands"]:
        call_command(*command, stdout=output)
    found["output"] = output.getvalue()
    # Other tests check responses against the API description, which takes a second to build.
    with (
        override_settings(ALLOWED_HOSTS=["testserver"], EMAIL_BACKEND=LOCMEM_EMAIL_BACKEND),
        patch("tests.client.check_response"),
    ):
        mail.outbox = []
        call_command("deliver_reminders", "--now", task["now"], stdout=sys.stderr)
        found["mails"] = sorted((message.to[0], message.subject) for message in mail.outbox)
        found["deliveries"] = sorted(Delivery.unscoped.values_list("state", flat=True))
        bearer = Client()
        bearer.bearer = task["token"]
        found["token"] = bearer.ok("GET", "/api/user/profile")["user"]
        for user in User.objects.order_by("email"):
            client = Client()
            client.bearer = make_token(user)
            found["export"][user.email] = client.ok("GET", "/api/user/export") | {"exportedOn": None}
            found["photos"][user.email] = [_photo(client, person) for person in _people(user)]
            found["counts"][user.email] = wrong_counts(user.pk)
        for email, body in task["sign-in"].items():
            response = Client().call("POST", "/api/auth/login", {"email": email, **body})
            found["sign-in"][email] = [response.status_code, response.json().get("code")]
    return found


def _people(user: User) -> list[Person]:
    return list(Person.objects.owned_by(user).active().exclude(photo=None).order_by("pk"))


def _photo(client: Client, person: Person) -> str:
    response = client.call("GET", f"/api/photos/{person.pk}")
    assert response.status_code == 200, response.content
    return hashlib.sha256(response.content).hexdigest()
