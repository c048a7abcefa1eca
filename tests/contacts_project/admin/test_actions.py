"""What operators do: each action of the lists, what it refuses, and that it is noted down."""

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.contrib.sessions.models import Session

from accounts.models import AccountMail, TotpDevice, User
from notifications.channels import channels
from notifications.channels.interface import Outcome
from notifications.models import Delivery, DeliveryState, Destination
from notifications.services.sender import SendResult, send_delivery
from tests.builders import PASSWORD, make_user, verify_email
from tests.client import Client
from tests.contacts_project.admin.scene import make_destination
from tests.contacts_project.operation.rows import make_delivery

pytestmark = pytest.mark.django_db
USERS, DELIVERIES = "/admin/accounts/user/", "/admin/notifications/delivery/"
LOGIN = {"email": "alice@example.org", "password": PASSWORD}


def act(client: Client, path: str, action: str, *rows: Any, **more: str) -> str:
    """Post an action of a list and read the page that comes of it."""
    chosen = "&".join(f"_selected_action={row.pk}" for row in rows)
    extra = "".join(f"&{name}={value}" for name, value in more.items())
    body = f"action={action}&{chosen}{extra}"
    response = client.generic("POST", path, body, "application/x-www-form-urlencoded")
    if response.status_code == 302:
        response = client.get(response["Location"])
    assert response.status_code == 200
    return str(response.content.decode())


def logged() -> list[tuple[str, str]]:
    rows = LogEntry.objects.order_by("pk")
    return [(entry.get_change_message(), entry.object_id or "") for entry in rows]


def operator_of(client: Client) -> User:
    return User.objects.get(pk=client.session["_auth_user_id"])


def test_an_account_is_switched_off_and_on(operator: Client, signed_in: Client, alice: User, api: Client) -> None:
    act(operator, USERS, "switch_off", alice)
    assert signed_in.get("/api/people").status_code == 401
    assert api.get("/api/people").status_code == 401
    assert Client().call("POST", "/api/auth/login", LOGIN).status_code == 401
    act(operator, USERS, "switch_on", alice)
    assert signed_in.get("/api/people").status_code == 401
    assert api.get("/api/people").status_code == 200
    assert Client().call("POST", "/api/auth/login", LOGIN).status_code == 200
    assert logged() == [("Switch off", str(alice.pk)), ("Switch on", str(alice.pk))]


def test_nobody_switches_themselves_or_the_last_operator_off(operator: Client, alice: User) -> None:
    me = operator_of(operator)
    html = act(operator, USERS, "switch_off", me, alice)
    assert "This is your own account." in html
    assert list(User.objects.filter(is_active=True)) == [me]
    User.objects.filter(pk=me.pk).update(is_superuser=False)  # may still act, and is no operator any more
    me.user_permissions.add(*Permission.objects.filter(codename__in=["view_user", "change_user"]))
    last = make_user("last@example.org", is_staff=True, is_superuser=True)
    assert "This is the last operator." in act(operator, USERS, "switch_off", last)
    last.refresh_from_db()
    assert last.is_active
    assert [what for what, _ in logged()] == ["Switch off"]


def test_nobody_takes_their_own_rights_away(operator: Client, alice: User) -> None:
    me = operator_of(operator)
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


def test_sign_in_is_unlocked_wherever_it_was_tried(operator: Client, alice: User) -> None:
    guess = {**LOGIN, "password": "Wrong-Horse-7"}
    assert {Client().call("POST", "/api/auth/login", guess).status_code for _ in range(10)} == {401}
    assert Client().call("POST", "/api/auth/login", LOGIN).status_code == 429
    act(operator, USERS, "unlock_sign_in", alice)
    assert Client().call("POST", "/api/auth/login", LOGIN).status_code == 200
    assert logged() == [("Unlock sign-in", str(alice.pk))]


def test_verification_is_sent_again_unless_it_is_done(operator: Client, alice: User, mallory: User) -> None:
    verify_email(mallory)
    AccountMail.objects.all().delete()
    html = act(operator, USERS, "resend_verification", alice, mallory)
    assert "The address has been verified." in html
    assert list(AccountMail.objects.values_list("kind", "address")) == [("VERIFY", alice.email)]
    assert logged() == [("Resend verification", str(alice.pk))]


def test_sessions_end_but_for_the_one_that_asks(operator: Client, signed_in: Client, alice: User) -> None:
    act(operator, USERS, "end_sessions", alice, operator_of(operator))
    assert signed_in.get("/api/people").status_code == 401
    assert operator.get(USERS).status_code == 200
    assert Session.objects.count() == 1
    assert {what for what, _ in logged()} == {"End sessions"}


def test_the_second_factor_is_taken_away_after_a_question(operator: Client, alice: User, mallory: User) -> None:
    TotpDevice.objects.create(owner=alice, secret="x", confirmed_at=alice.created_at)
    html = act(operator, USERS, "take_away_second_factor", alice)
    assert "Take away the second factor?" in html
    assert alice.email in html
    assert (TotpDevice.unscoped.count(), logged()) == (1, [])
    html = act(operator, USERS, "take_away_second_factor", alice, mallory, confirmed="yes")
    assert "Two-factor sign-in has not been set up." in html
    assert TotpDevice.unscoped.count() == 0
    assert logged() == [("Take away the second factor", str(alice.pk))]
    assert "Take away the second factor" in operator.get("/admin/admin/logentry/").content.decode()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of what went to webhooks, each confirmed."""
    ids: list[str] = []

    def deliver(key: str, notice: Any, row: Any = None) -> Outcome:
        ids.append(str(notice.id))
        return Outcome()

    monkeypatch.setattr(channels()["webhook"], "send", deliver)
    return ids


def failed(alice: User, hook: Destination, **fields: Any) -> Delivery:
    """A contact notice of the CardDAV kind: no person has to be there still."""
    values = {"state": "failed", "code": "http_5xx", "attempts": 7, "channel": "webhook", "target_key": str(hook.pk)}
    return make_delivery(alice, kind="carddav.contacts_found", content={"count": 1}, **{**values, **fields})


def test_a_delivery_is_tried_again_as_the_same(operator: Client, alice: User, sent: list[str]) -> None:
    delivery = failed(alice, make_destination(alice))
    act(operator, DELIVERIES, "try_again", delivery)
    delivery.refresh_from_db()
    assert delivery.state == DeliveryState.PENDING
    assert delivery.next_try_at is not None
    assert send_delivery(delivery_id=delivery.pk, now=delivery.next_try_at) is SendResult.SENT
    assert sent == [str(delivery.pk)]
    assert logged() == [("Try again", str(delivery.pk))]
    assert "It was confirmed." in act(operator, DELIVERIES, "try_again", delivery)
    assert send_delivery(delivery_id=delivery.pk, now=delivery.next_try_at) is SendResult.TAKEN
    delivery.refresh_from_db()
    assert (delivery.state, sent) == (DeliveryState.SENT, [str(delivery.pk)])


def test_one_that_fails_again_ends(operator: Client, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    delivery = failed(alice, make_destination(alice))
    monkeypatch.setattr(channels()["webhook"], "send", lambda *call: Outcome(code="http_5xx"))
    act(operator, DELIVERIES, "try_again", delivery)
    delivery.refresh_from_db()
    assert delivery.next_try_at is not None
    assert send_delivery(delivery_id=delivery.pk, now=delivery.next_try_at) is SendResult.FAILED
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == (DeliveryState.FAILED, 8)


@pytest.mark.parametrize("off", [{"enabled": False}, {"secret": ""}])
def test_nothing_goes_to_a_destination_that_is_off(
    operator: Client, alice: User, sent: list[str], off: dict[str, Any]
) -> None:
    delivery = failed(alice, make_destination(alice, **off))
    assert "Its destination is off, or there is none." in act(operator, DELIVERIES, "try_again", delivery)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.next_try_at, sent) == (DeliveryState.FAILED, None, [])
    assert logged() == []


def test_nothing_goes_to_a_destination_that_is_gone_or_of_an_account_that_is_off(
    operator: Client, alice: User, sent: list[str]
) -> None:
    delivery = failed(alice, make_destination(alice))
    User.objects.filter(pk=alice.pk).update(is_active=False)
    act(operator, DELIVERIES, "try_again", delivery)
    User.objects.filter(pk=alice.pk).update(is_active=True)
    Destination.unscoped.all().delete()
    act(operator, DELIVERIES, "try_again", delivery, make_delivery(alice, channel="", state="skipped"))
    assert (logged(), sent) == ([], [])


def test_one_that_is_being_sent_is_left_alone(operator: Client, alice: User) -> None:
    delivery = failed(alice, make_destination(alice), state="sending", claim=uuid4(), ended_at=None)
    assert "It is being sent." in act(operator, DELIVERIES, "try_again", delivery)
    delivery.refresh_from_db()
    assert delivery.state == DeliveryState.SENDING
