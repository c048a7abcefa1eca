"""Actions of the admin's lists: what they do, when they refuse, and that they are logged."""

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.contrib.sessions.models import Session

from accounts.models import AccountMail, TotpDevice, User
from notifications.channels import channels
from notifications.channels.interface import AttemptOutcome
from notifications.models import Delivery, DeliveryState, Destination
from notifications.services.sender import SendResult, send_delivery
from tests.builders import PASSWORD, make_user, verify_email
from tests.client import Client
from tests.contacts_project.admin.scene import make_destination
from tests.contacts_project.operation.rows import make_delivery

pytestmark = pytest.mark.django_db
USERS, DELIVERIES = "/admin/accounts/user/", "/admin/notifications/delivery/"
LOGIN = {"email": "alice@example.org", "password": PASSWORD}


def run_action(client: Client, path: str, action: str, *rows: Any, **more: str) -> str:
    """Run an action of a list on `rows`; returns the HTML of the page that follows."""
    chosen = "&".join(f"_selected_action={row.pk}" for row in rows)
    extra = "".join(f"&{name}={value}" for name, value in more.items())
    body = f"action={action}&{chosen}{extra}"
    response = client.generic("POST", path, body, "application/x-www-form-urlencoded")
    if response.status_code == 302:
        response = client.get(response["Location"])
    assert response.status_code == 200
    return str(response.content.decode())


def logged_actions() -> list[tuple[str, str]]:
    rows = LogEntry.objects.order_by("pk")
    return [(entry.get_change_message(), entry.object_id or "") for entry in rows]


def user_of_session(client: Client) -> User:
    return User.objects.get(pk=client.session["_auth_user_id"])


def test_account_is_deactivated_and_activated(operator: Client, signed_in: Client, alice: User, api: Client) -> None:
    run_action(operator, USERS, "switch_off", alice)
    assert signed_in.get("/api/people").status_code == 401
    assert api.get("/api/people").status_code == 401
    assert Client().call("POST", "/api/auth/login", LOGIN).status_code == 401
    run_action(operator, USERS, "switch_on", alice)
    assert signed_in.get("/api/people").status_code == 401
    assert api.get("/api/people").status_code == 200
    assert Client().call("POST", "/api/auth/login", LOGIN).status_code == 200
    assert logged_actions() == [("Switch off", str(alice.pk)), ("Switch on", str(alice.pk))]


def test_own_account_and_last_operator_cannot_be_deactivated(operator: Client, alice: User) -> None:
    me = user_of_session(operator)
    html = run_action(operator, USERS, "switch_off", me, alice)
    assert "This is your own account." in html
    assert list(User.objects.filter(is_active=True)) == [me]
    User.objects.filter(pk=me.pk).update(is_superuser=False)  # may still run actions, but is no longer an operator
    me.user_permissions.add(*Permission.objects.filter(codename__in=["view_user", "change_user"]))
    last = make_user("last@example.org", is_staff=True, is_superuser=True)
    assert "This is the last operator." in run_action(operator, USERS, "switch_off", last)
    last.refresh_from_db()
    assert last.is_active
    assert [what for what, _ in logged_actions()] == ["Switch off"]


def test_operators_cannot_remove_their_own_rights(operator: Client, alice: User) -> None:
    me = user_of_session(operator)
    form = "plan=PRO&_save=Save"
    path = f"{USERS}{me.pk}/change/"
    assert operator.generic("POST", path, form, "application/x-www-form-urlencoded").status_code == 200
    me.refresh_from_db()
    assert (me.is_superuser, me.plan) == (True, "FREE")
    rights = "plan=PRO&is_staff=on&is_superuser=on&_save=Save"
    for user in (me, alice):
        path = f"{USERS}{user.pk}/change/"
        assert operator.generic("POST", path, rights, "application/x-www-form-urlencoded").status_code == 302
        user.refresh_from_db()
        assert (user.is_superuser, user.plan) == (True, "PRO")


def test_unlock_sign_in_resets_the_rate_limit(operator: Client, alice: User) -> None:
    guess = {**LOGIN, "password": "Wrong-Horse-7"}
    assert {Client().call("POST", "/api/auth/login", guess).status_code for _ in range(10)} == {401}
    assert Client().call("POST", "/api/auth/login", LOGIN).status_code == 429
    run_action(operator, USERS, "unlock_sign_in", alice)
    assert Client().call("POST", "/api/auth/login", LOGIN).status_code == 200
    assert logged_actions() == [("Unlock sign-in", str(alice.pk))]


def test_verification_mail_is_resent_to_unverified_accounts_only(operator: Client, alice: User, mallory: User) -> None:
    verify_email(mallory)
    AccountMail.objects.all().delete()
    html = run_action(operator, USERS, "resend_verification", alice, mallory)
    assert "The address has been verified." in html
    assert list(AccountMail.objects.values_list("kind", "address")) == [("VERIFY", alice.email)]
    assert logged_actions() == [("Resend verification", str(alice.pk))]


def test_end_sessions_keeps_the_operators_own_session(operator: Client, signed_in: Client, alice: User) -> None:
    run_action(operator, USERS, "end_sessions", alice, user_of_session(operator))
    assert signed_in.get("/api/people").status_code == 401
    assert operator.get(USERS).status_code == 200
    assert Session.objects.count() == 1
    assert {what for what, _ in logged_actions()} == {"End sessions"}


def test_second_factor_is_removed_after_a_confirmation(operator: Client, alice: User, mallory: User) -> None:
    TotpDevice.objects.create(owner=alice, secret="x", confirmed_at=alice.created_at)
    html = run_action(operator, USERS, "take_away_second_factor", alice)
    assert "Take away the second factor?" in html
    assert alice.email in html
    assert (TotpDevice.unscoped.count(), logged_actions()) == (1, [])
    html = run_action(operator, USERS, "take_away_second_factor", alice, mallory, confirmed="yes")
    assert "Two-factor sign-in has not been set up." in html
    assert TotpDevice.unscoped.count() == 0
    assert logged_actions() == [("Take away the second factor", str(alice.pk))]
    assert "Take away the second factor" in operator.get("/admin/admin/logentry/").content.decode()


@pytest.fixture
def sent_ids(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the notices sent to webhooks; each is confirmed."""
    ids: list[str] = []

    def deliver(key: str, notice: Any, row: Any = None) -> AttemptOutcome:
        ids.append(str(notice.id))
        return AttemptOutcome()

    monkeypatch.setattr(channels()["webhook"], "send", deliver)
    return ids


def make_failed_delivery(alice: User, hook: Destination, **fields: Any) -> Delivery:
    """A failed delivery of a CardDAV notice, which refers to no person, so none has to exist."""
    values = {"state": "failed", "code": "http_5xx", "attempts": 7, "channel": "webhook", "target_key": str(hook.pk)}
    return make_delivery(alice, kind="carddav.contacts_found", content={"count": 1}, **{**values, **fields})


def test_retry_sends_the_delivery_under_the_same_id(operator: Client, alice: User, sent_ids: list[str]) -> None:
    delivery = make_failed_delivery(alice, make_destination(alice))
    run_action(operator, DELIVERIES, "try_again", delivery)
    delivery.refresh_from_db()
    assert delivery.state == DeliveryState.PENDING
    assert delivery.next_try_at is not None
    assert send_delivery(delivery_id=delivery.pk, now=delivery.next_try_at) is SendResult.SENT
    assert sent_ids == [str(delivery.pk)]
    assert logged_actions() == [("Try again", str(delivery.pk))]
    assert "It was confirmed." in run_action(operator, DELIVERIES, "try_again", delivery)
    assert send_delivery(delivery_id=delivery.pk, now=delivery.next_try_at) is SendResult.TAKEN
    delivery.refresh_from_db()
    assert (delivery.state, sent_ids) == (DeliveryState.SENT, [str(delivery.pk)])


def test_retry_that_fails_again_ends_the_delivery(
    operator: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    delivery = make_failed_delivery(alice, make_destination(alice))
    monkeypatch.setattr(channels()["webhook"], "send", lambda *call: AttemptOutcome(code="http_5xx"))
    run_action(operator, DELIVERIES, "try_again", delivery)
    delivery.refresh_from_db()
    assert delivery.next_try_at is not None
    assert send_delivery(delivery_id=delivery.pk, now=delivery.next_try_at) is SendResult.FAILED
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == (DeliveryState.FAILED, 8)


@pytest.mark.parametrize("off", [{"enabled": False}, {"secret": ""}])
def test_retry_to_a_disabled_destination_is_refused(
    operator: Client, alice: User, sent_ids: list[str], off: dict[str, Any]
) -> None:
    delivery = make_failed_delivery(alice, make_destination(alice, **off))
    assert "Its destination is off, or there is none." in run_action(operator, DELIVERIES, "try_again", delivery)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.next_try_at, sent_ids) == (DeliveryState.FAILED, None, [])
    assert logged_actions() == []


def test_retry_without_destination_or_for_an_inactive_account_is_refused(
    operator: Client, alice: User, sent_ids: list[str]
) -> None:
    delivery = make_failed_delivery(alice, make_destination(alice))
    User.objects.filter(pk=alice.pk).update(is_active=False)
    run_action(operator, DELIVERIES, "try_again", delivery)
    User.objects.filter(pk=alice.pk).update(is_active=True)
    Destination.unscoped.all().delete()
    run_action(operator, DELIVERIES, "try_again", delivery, make_delivery(alice, channel="", state="skipped"))
    assert (logged_actions(), sent_ids) == ([], [])


def test_retry_of_a_delivery_in_progress_is_refused(operator: Client, alice: User) -> None:
    delivery = make_failed_delivery(alice, make_destination(alice), state="sending", claim=uuid4(), ended_at=None)
    assert "It is being sent." in run_action(operator, DELIVERIES, "try_again", delivery)
    delivery.refresh_from_db()
    assert delivery.state == DeliveryState.SENDING
