"""Instances for the tests of backup and restore: a small one, and one with rows of every kind."""

import datetime as dt
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyotp
import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Group as Operators
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command

from accounts.models import TotpDevice, User
from accounts.services.registration import DEMO_EMAIL
from people.models import Person
from relationships.models import Relationship
from tests.builders import PASSWORD, make_person, make_token, make_user
from tests.client import Client, client_of
from tests.pictures import picture, upload
from tests.routes.route_data import ROUTE_SETTINGS, UNVERIFIED, make_route_data


@dataclass
class FullInstance:
    """What tests need to know about the instance."""

    owner: User
    client: Client
    token: str
    demo: User
    recovery_codes: list[str] = field(default_factory=list)


@pytest.fixture
def small_account(transactional_db: None, media: Path) -> Client:
    """The client of an account with one person, a photo and an encrypted secret."""
    owner = make_user("alice@example.org", name="Alice")
    client = client_of(owner)
    assert upload(client, f"/api/people/{make_person(owner).pk}/photo", picture()).status_code == 200
    TotpDevice.objects.create(owner=owner, secret="JBSWY3DPEHPK3PXP")
    return client


@pytest.fixture
def full_instance(transactional_db: None, settings: Any, media: Path) -> FullInstance:
    """Alice with a record of every kind, a second factor and a sent reminder, and a demo account."""
    for name, value in ROUTE_SETTINGS.items():
        setattr(settings, name, value)
    alice = make_user("alice@example.org", name="Alice", is_staff=True)
    route_records = make_route_data(alice)
    User.objects.get(email=UNVERIFIED).delete()
    instance = FullInstance(alice, client_of(alice), make_token(alice), User())
    settings.VAPID_PUBLIC_KEY = settings.VAPID_PRIVATE_KEY = ""
    client_of(alice).ok("DELETE", f"/api/notifications/endpoints/{route_records.ids['destination']}")
    _make_operator_records(alice)
    _send_reminder(instance)
    instance.recovery_codes = _enable_second_factor(alice)
    call_command("seed_demo", "--people", "12", "--password", PASSWORD, stdout=_NullOutput())
    instance.demo = User.objects.get(email=DEMO_EMAIL)
    _delete_records(instance.demo)
    return instance


def _make_operator_records(user: User) -> None:
    """Give the user a group, a permission and a log entry of the admin."""
    group = Operators.objects.create(name="Helpers")
    group.permissions.add(Permission.objects.get(codename="view_user"))
    user.groups.add(group)
    user.user_permissions.add(Permission.objects.get(codename="change_user"))
    kind = ContentType.objects.get_for_model(User)
    LogEntry.objects.create(user=user, content_type=kind, object_id=str(user.pk), action_flag=CHANGE)


def _send_reminder(instance: FullInstance) -> None:
    """Deliver a reminder by mail, as of tomorrow."""
    person = make_person(instance.owner, name="Grace")
    tomorrow = dt.datetime.now(dt.UTC).date() + dt.timedelta(days=1)
    body = {"title": "Met", "date": tomorrow.replace(year=2019).isoformat(), "reminderEnabled": True}
    instance.client.ok("POST", f"/api/people/{person.pk}/important-dates", body)
    call_command("deliver_reminders", "--now", f"{tomorrow}T09:00:30+00:00", stdout=_NullOutput())


def _enable_second_factor(user: User) -> list[str]:
    browser = Client()
    browser.ok("POST", "/api/auth/login", {"email": user.email, "password": PASSWORD})
    secret = browser.ok("POST", "/api/user/mfa/totp")["secret"]
    codes = browser.ok("POST", "/api/user/mfa/totp/confirm", {"code": pyotp.TOTP(secret).now()})["recoveryCodes"]
    # The code of the current time step has been used; allow the next sign-in to use it again.
    TotpDevice.objects.owned_by(user).update(last_step=0)
    return list(codes)


def _delete_records(owner: User) -> None:
    """Delete a person and a relationship, and remove another person permanently, which leaves tombstones."""
    client = client_of(owner)
    first, second = Person.objects.owned_by(owner).order_by("pk")[:2]
    for person in (first, second):
        client.ok("DELETE", f"/api/people/{person.pk}")
    client.ok("DELETE", f"/api/people/{first.pk}/permanent")
    relationship = (
        Relationship.objects.owned_by(owner).active().exclude(person=second).exclude(related_person=second).first()
    )
    assert relationship
    client.ok("DELETE", f"/api/relationships/{relationship.pk}")


class _NullOutput:
    def write(self, text: str) -> None:
        pass
