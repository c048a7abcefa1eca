"""A mailbox that the service's mails arrive in, and a provider to sign in with."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.utils import timezone

from accounts.oidc.documents import forget_documents
from accounts.services.mail import send_due_mails
from tests.mailbox import Mailbox, smtp_server, use
from tests.oidc_provider import Provider, oidc_provider
from tests.oidc_provider import use as oidc_provider_use


@pytest.fixture
def mailbox(settings: Any) -> Iterator[Mailbox]:
    with smtp_server() as box:
        use(box, settings)
        yield box


@pytest.fixture
def provider(settings: Any) -> Iterator[Provider]:
    """An OpenID Connect provider that the service signs in with."""
    with oidc_provider() as running:
        oidc_provider_use(running, settings)
        yield running
        forget_documents()


@pytest.fixture
def post() -> Callable[[], int]:
    """Send what waits to be sent, as the worker does; how many mails went out."""
    return lambda: send_due_mails(now=timezone.now())
