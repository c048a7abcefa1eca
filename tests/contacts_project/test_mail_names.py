"""By which name mail servers know the service: in EHLO and in the Message-ID of every mail."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core import checks
from django.utils import timezone

from accounts.models import AccountMail, User
from accounts.services.mail import send_due_mails
from contacts_project.kernel.text_forms import mail_domain
from notifications.channels import channels
from notifications.channels.email import EMAIL_KEY
from tests import ROOT
from tests.accounts.steps import register
from tests.builders import make_user
from tests.mailbox import Mailbox, smtp_server, use_mailbox
from tests.notifications.notices import make_notice

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]

NAME = "contacts.example.org"


@pytest.fixture
def strict(settings: Any) -> Iterator[Mailbox]:
    """A mail server that refuses a name without a period."""
    settings.EMAIL_DOMAIN = NAME
    with smtp_server() as mailbox:
        mailbox.is_strict = True
        use_mailbox(mailbox, settings)
        yield mailbox


def doctor() -> dict[str, str]:
    found = checks.run_checks(tags=["doctor"], include_deployment_checks=True)
    return {str(message.id): f"{message.msg} {message.hint}" for message in found}


def test_a_strict_server_takes_a_mail_of_the_account(strict: Mailbox) -> None:
    register("ada@example.org")
    assert send_due_mails(now=timezone.now()) == 1
    assert strict.names == [NAME]
    assert strict.last()["Message-ID"].endswith(f"@{NAME}>")


def test_a_strict_server_takes_a_reminder(alice: User, strict: Mailbox) -> None:
    assert channels()["email"].send(EMAIL_KEY, make_notice(alice)).is_ok
    assert strict.names == [NAME]
    assert strict.last()["Message-ID"].endswith(f"@{NAME}>")


def test_a_refusal_of_the_name_shows_in_doctor(strict: Mailbox, settings: Any) -> None:
    make_user("op@example.org", is_superuser=True)
    assert "doctor.E081" not in doctor()
    settings.EMAIL_DOMAIN = "5f1d7a84c3b0"
    register("ada@example.org")
    assert send_due_mails(now=timezone.now()) == 0
    assert AccountMail.objects.count() == 1
    finding = doctor()["doctor.E081"]
    assert "504 5.5.2" in finding
    assert "EMAIL_DOMAIN, by which it is greeted (5f1d7a84c3b0)" in finding
    assert strict.messages == []


def test_doctor_offers_a_mail_to_the_operator_and_sends_none(strict: Mailbox) -> None:
    make_user("op@example.org", is_superuser=True)
    doctor()
    assert (strict.names, strict.messages) == ([NAME], [])


def test_doctor_names_a_mail_server_that_is_away(strict: Mailbox, settings: Any) -> None:
    settings.EMAIL_PORT = 1
    assert "The mail server does not take mails: ConnectionRefusedError" in doctor()["doctor.E081"]


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("Contacts.Example.org", NAME),
        ("bücher.example", "xn--bcher-kva.example"),
        ("localhost", "[127.0.0.1]"),
        ("192.0.2.7", "[192.0.2.7]"),
        ("2001:db8::7", "[IPv6:2001:db8::7]"),
    ],
)
def test_a_host_is_named_as_rfc_5321_does(host: str, name: str) -> None:
    assert mail_domain(host) == name


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({}, "[127.0.0.1]"),
        ({"BASE_URL": "https://contacts.example.org"}, NAME),
        ({"BASE_URL": "https://contacts.example.org", "EMAIL_DOMAIN": "mail.example.net"}, "mail.example.net"),
    ],
)
def test_it_is_the_host_of_base_url_or_a_setting(environment: dict[str, str], name: str, tmp_path: Path) -> None:
    program = "import django; django.setup(); from django.core.mail import EmailMessage, utils; "
    program += "print(utils.DNS_NAME, EmailMessage('s', 'b', 'a@b.example').message()['Message-ID'])"
    kept = {key: value for key, value in os.environ.items() if key not in {"BASE_URL", "EMAIL_DOMAIN"}}
    environment = {
        **kept,
        "DATA_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "contacts_project.settings",
    } | environment
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    found, message_id = done.stdout.split()
    assert found == name
    assert message_id.endswith(f"@{name}>")
