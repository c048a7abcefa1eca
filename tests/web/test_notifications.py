"""Notifications: the channels and their tests, quiet hours, what will be sent and what was."""

import datetime as dt
import socket
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Route, expect

from accounts.models import User
from notifications.models import Destination, PushSubscription
from people.models import ImportantDate
from tests.builders import make_person
from tests.client import Client
from tests.loopback import allow_loopback
from tests.web.conftest import Web
from tests.web.test_accessibility import violations

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


@pytest.fixture
def closed_url(settings: Any) -> str:
    """A web address of this machine at which nobody answers."""
    allow_loopback(settings)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/hook"


def test_sections_wait_until_those_above_have_their_height(web: Web) -> None:
    """Else a tap would meet what has just moved under the finger."""
    page = web.context().new_page()
    held: list[Route] = []
    page.route("**/api/notifications/channels", lambda route: held.append(route))  # noqa: PLW0108 - wants a function
    page.goto(f"{web.base}/app/notifications")
    expect(page.get_by_role("heading", name="How they reach you")).to_be_visible()
    page.wait_for_timeout(300)
    expect(page.get_by_role("button", name="Another way")).to_have_count(0)
    for route in held:
        route.continue_()
    expect(page.get_by_role("button", name="Another way")).to_be_visible()


def test_webhook_is_made_tested_switched_off_and_deleted(web: Web, closed_url: str) -> None:
    page = web.open("/notifications")
    page.get_by_role("button", name="Another way").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Kind of destination").select_option("WEBHOOK")
    dialog.get_by_label("Name").fill("Home")
    dialog.get_by_label("Web address").fill(closed_url)
    assert violations(page) == []
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_text("whsec_")).to_be_visible()
    page.get_by_role("button", name="I have kept it").click()
    expect(page.get_by_text("whsec_")).to_have_count(0)
    page.get_by_role("button", name="Test Home").click()
    expect(page.get_by_text("Nobody answers at this address.")).to_be_visible()
    page.get_by_label("Home is on").click()
    web.eventually(page, lambda: not Destination.unscoped.get().is_on)
    assert violations(page) == []
    page.get_by_role("button", name="Delete Home").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    web.eventually(page, lambda: not Destination.unscoped.exists())


def test_destination_is_changed_and_its_draft_survives(web: Web, elsewhere: Client, closed_url: str) -> None:
    made = {"type": "WEBHOOK", "label": "Home", "url": closed_url}
    elsewhere.ok("POST", "/api/notifications/endpoints", made, status=201)
    secret = Destination.unscoped.get().secret
    page = web.open("/notifications")
    page.get_by_role("button", name="Change Home").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Office")
    page.wait_for_timeout(400)
    page.reload()
    expect(dialog.get_by_label("Name")).to_have_value("Office")
    dialog.get_by_label("Web address").fill("http://10.0.0.1/hook")
    assert violations(page) == []
    web.chromium.complaints.expected += ["400"]
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_label("Web address")).to_have_attribute("aria-invalid", "true")
    dialog.get_by_label("Web address").fill(f"{closed_url}/new")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Office is on")).to_be_visible()
    destination = Destination.unscoped.get()
    assert (destination.label, destination.url, destination.secret) == ("Office", f"{closed_url}/new", secret)


def test_token_of_an_ntfy_topic_stays_until_it_is_removed(web: Web, alice: User) -> None:
    values = {"type": "NTFY", "label": "Topic", "url": "https://ntfy.example/ada", "server_url": "https://ntfy.example"}
    Destination.unscoped.create(owner=alice, secret="tk_1", **values)
    page = web.open("/notifications")
    for name, is_removed in (("Bell", False), ("Gong", True)):
        page.get_by_role("button", name="Change ").click()
        page.get_by_role("dialog").get_by_label("Name").fill(name)
        page.get_by_label("Without access token from now on").set_checked(is_removed)
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        expect(page.get_by_label(f"{name} is on")).to_be_visible()
        assert Destination.unscoped.get().secret == ("" if is_removed else "tk_1")


def test_new_destination_is_a_draft_without_the_token(web: Web) -> None:
    page = web.open("/notifications")
    page.get_by_role("button", name="Another way").click()
    page.get_by_role("dialog").get_by_label("Name").fill("Half")
    page.get_by_label("Access token").fill("tk_secret")
    page.wait_for_timeout(400)
    page.reload()
    expect(page.get_by_role("dialog").get_by_label("Name")).to_have_value("Half")
    expect(page.get_by_label("Access token")).to_have_value("")


def test_state_after_failures_is_told(web: Web, alice: User, elsewhere: Client, closed_url: str) -> None:
    made = {"type": "WEBHOOK", "label": "Home", "url": closed_url}
    elsewhere.ok("POST", "/api/notifications/endpoints", made, status=201)
    Destination.unscoped.update(consecutive_failures=3, last_failure_code="tls")
    page = web.open("/notifications")
    expect(page.get_by_text("3 failures in a row. The server's certificate is not valid.")).to_be_visible()


def test_mail_quiet_hours_and_devices(web: Web, alice: User) -> None:
    PushSubscription.unscoped.create(
        owner=alice, endpoint="https://push.example/1", user_agent="Mozilla/5.0 (Android 14) Firefox/130.0"
    )
    page = web.open("/notifications")
    mail = page.get_by_role("switch", name="Mail")
    expect(mail).to_be_checked()
    mail.click()
    web.eventually(page, lambda: not User.objects.get(pk=alice.pk).email_reminders_enabled)
    page.get_by_role("button", name="Undo").click()
    web.eventually(page, lambda: User.objects.get(pk=alice.pk).email_reminders_enabled)
    page.get_by_role("switch", name="Quiet hours").click()
    page.get_by_label("Quiet from").fill("21:30")
    page.get_by_label("Quiet from").blur()
    expect(page.get_by_text("What comes between 21:30 and 07:00 is sent at 07:00.")).to_be_visible()
    page.get_by_role("button", name="Remove Firefox, Android").click()
    web.eventually(page, lambda: not PushSubscription.unscoped.exists())


def test_what_will_be_sent_and_why_not(web: Web, alice: User, elsewhere: Client) -> None:
    ada = make_person(alice, name="Ada")
    elsewhere.ok("PUT", "/api/notifications/email", {"enabled": False})
    body = {"contactReminderEnabled": True, "contactReminderInterval": 1, "contactReminderIntervalUnit": "WEEKS"}
    elsewhere.ok("PUT", f"/api/people/{ada.pk}", body)
    page = web.open("/notifications")
    expect(page.get_by_text("Get in touch with Ada").first).to_be_visible()
    expect(page.get_by_text("E-mail is off.").first).to_be_visible()


def test_a_reminder_that_is_off_is_switched_on_where_it_would_come(web: Web, alice: User, elsewhere: Client) -> None:
    """One by itself, and all birthdays at once."""
    for name in ("Ada", "Ben"):
        body = {
            "type": "BIRTHDAY",
            "date": f"1990-{timezone.now() + dt.timedelta(days=7):%m-%d}",
            "reminderEnabled": False,
        }
        elsewhere.ok("POST", f"/api/people/{make_person(alice, name=name).pk}/important-dates", body)
    page = web.open("/notifications")
    switch = page.get_by_role("switch", name="Reminder: Birthday of Ada")
    switch.click()
    web.eventually(page, lambda: ImportantDate.unscoped.filter(reminder_enabled=True).count() == 1)
    page.get_by_role("button", name="Undo").click()
    web.eventually(page, lambda: ImportantDate.unscoped.filter(reminder_enabled=True).count() == 0)
    page.get_by_role("button", name="Switch them on").click()
    web.eventually(page, lambda: ImportantDate.unscoped.filter(reminder_enabled=True).count() == 2)


@pytest.mark.parametrize("backend", ["console", "smtp"])
def test_mail_is_not_promised_where_none_is_sent(web: Web, alice: User, settings: Any, backend: str) -> None:
    settings.EMAIL_BACKEND = f"django.core.mail.backends.{backend}.EmailBackend"
    alice.email = "new@example.org"
    alice.save()
    for path, promise in (("/notifications", "is not verified yet"), ("/account", "that we have sent to it")):
        page = web.open(path)
        if backend == "console":
            expect(page.get_by_text("This instance sends no mail yet.")).to_be_visible()
        else:
            expect(page.get_by_text(promise)).to_be_visible()
