"""Fixtures: sending queued mails, an OpenID Connect provider, and the victim of takeover tests."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from accounts.services.mail import send_due_mails
from tests.accounts.steps import VICTIM
from tests.builders import make_user, verify_email
from tests.oidc_provider import Provider, oidc_provider, use_provider


@pytest.fixture
def provider(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """A running OpenID Connect provider that the service uses, with an empty cache of its documents."""
    monkeypatch.setattr("accounts.oidc.provider._documents", {})
    with oidc_provider() as running:
        use_provider(running, settings)
        yield running


@pytest.fixture
def send_mails() -> Callable[[], int]:
    """Send the queued mails, as the worker does; returns how many were sent."""
    return lambda: send_due_mails(now=timezone.now())


@pytest.fixture
def mandatory_verification(settings: Any) -> None:
    """Sign-in requires a verified address."""
    settings.EMAIL_VERIFICATION = "mandatory"


@pytest.fixture
def victim(db: None) -> User:
    """A user with a verified address and a claimed account."""
    return verify_email(make_user(VICTIM, name="Vic"))
