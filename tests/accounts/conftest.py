"""A mailbox that the service's mails arrive in, a provider to sign in with, and somebody to steal from."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from accounts.oidc import documents
from accounts.services.mail import send_due_mails
from tests.accounts.steps import VICTIM
from tests.builders import make_user, verify_email
from tests.oidc_provider import Provider, oidc_provider, use_provider


@pytest.fixture
def provider(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """An OpenID Connect provider that the service signs in with; nothing of an earlier one is remembered."""
    monkeypatch.setattr(documents, "_documents", {})
    with oidc_provider() as running:
        use_provider(running, settings)
        yield running


@pytest.fixture
def send_mails() -> Callable[[], int]:
    """Send what waits to be sent, as the worker does; how many mails went out."""
    return lambda: send_due_mails(now=timezone.now())


@pytest.fixture
def mandatory(settings: Any) -> None:
    """Nobody signs in before the address is verified."""
    settings.EMAIL_VERIFICATION = "mandatory"


@pytest.fixture
def victim(db: None) -> User:
    """Somebody whose address is proven and whose account is claimed, as the attackers of the stories find it."""
    return verify_email(make_user(VICTIM, name="Vic"))
