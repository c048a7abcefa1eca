"""The unsubscribe link of mails: GET asks for confirmation, POST acts; a token is valid for one subject only."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core import signing

from accounts.models import User
from accounts.signals import preferences_changed
from notifications.notices.unsubscribe import SALT, Subject, unsubscribe_url
from tests.client import Client, client_of

pytestmark = pytest.mark.sqlite_suffices


@pytest.fixture
def recorded_signals() -> Iterator[list[Any]]:
    """The preferences of each `preferences_changed` signal."""
    changes: list[Any] = []

    def note(user_id: Any, fields: set[str], **kwargs: Any) -> None:
        changes.append((user_id, fields))

    preferences_changed.connect(note)
    yield changes
    preferences_changed.disconnect(note)


def path(owner: User, subject: Subject = Subject.REMINDERS) -> str:
    return "/api/unsubscribe" + unsubscribe_url(owner, subject).partition("/api/unsubscribe")[2]


def notification_settings(owner: User) -> tuple[bool, bool]:
    owner.refresh_from_db()
    return owner.email_reminders_enabled, owner.weekly_digest_enabled


@pytest.fixture(autouse=True)
def _digest_is_on(alice: User) -> None:
    alice.weekly_digest_enabled = True
    alice.save()


def test_opening_the_link_changes_nothing(browser: Client, alice: User) -> None:
    response = browser.get(path(alice), HTTP_ACCEPT="text/html")
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/html")
    assert response["Referrer-Policy"] == "same-origin"
    assert "alice@example.org" in response.content.decode()
    assert '<form method="post">' in response.content.decode()
    assert notification_settings(alice) == (True, True)


@pytest.mark.parametrize(("subject", "after"), [(Subject.REMINDERS, (False, True)), (Subject.DIGEST, (True, False))])
@pytest.mark.django_db(transaction=True)
def test_post_disables_only_that_kind_of_mail(
    browser: Client, alice: User, recorded_signals: list[Any], subject: Subject, after: tuple[bool, bool]
) -> None:
    """A mailbox posts `List-Unsubscribe=One-Click`, without a person or a cookie (RFC 8058, section 3.2)."""
    for _ in range(2):
        response = browser.post(
            path(alice, subject),
            "List-Unsubscribe=One-Click",
            content_type="application/x-www-form-urlencoded",
            HTTP_ACCEPT="application/xml",
        )
        assert response.status_code == 200
        assert notification_settings(alice) == after
    assert recorded_signals[0][0] == alice.pk
    assert len(recorded_signals[0][1]) == 1


def test_page_is_in_the_accounts_language(browser: Client, alice: User) -> None:
    alice.language = "fr-FR"
    alice.save()
    assert "Se désabonner" in browser.get(path(alice)).content.decode()


@pytest.mark.parametrize("method", ["get", "post"])
def test_invalid_and_other_tokens_are_refused(browser: Client, alice: User, method: str) -> None:
    good = path(alice)
    forged = [
        "/api/unsubscribe",
        "/api/unsubscribe?token=",
        "/api/unsubscribe?token=nonsense",
        good + "x",
        "/api/unsubscribe?token=" + signing.dumps([str(alice.pk), "reminders"], salt="something.else"),
        "/api/unsubscribe?token=" + signing.dumps([str(alice.pk), "account"], salt=SALT),
        "/api/unsubscribe?token=" + signing.dumps(str(alice.pk), salt=SALT),
        "/api/unsubscribe?token=" + signing.dumps({"a": 1}, salt=SALT),
    ]
    for link in forged:
        response = getattr(browser, method)(link)
        assert response.status_code == 400, link
        assert response.json()["code"] == "invalid_token"
    assert notification_settings(alice) == (True, True)


def test_link_of_a_deleted_account_is_not_valid(browser: Client, alice: User) -> None:
    link = path(alice)
    alice.delete()
    assert browser.post(link).status_code == 400


def test_token_of_the_link_is_not_an_api_token(alice: User) -> None:
    token = path(alice).partition("token=")[2]
    client = client_of(None)
    client.bearer = token
    assert client.call("get", "/api/notifications/channels").status_code == 401
