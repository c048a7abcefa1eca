"""A mailbox that the service's mails arrive in."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.utils import timezone

from accounts.services.mail import send_due_mails
from tests.mailbox import Mailbox, smtp_server, use


@pytest.fixture
def mailbox(settings: Any) -> Iterator[Mailbox]:
    with smtp_server() as box:
        use(box, settings)
        yield box


@pytest.fixture
def post() -> Callable[[], int]:
    """Send what waits to be sent, as the worker does; how many mails went out."""
    return lambda: send_due_mails(now=timezone.now())
