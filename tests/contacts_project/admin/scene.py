"""Rows for every list of the admin, with words in them (SECRET_WORDS) that no page may show."""

import datetime as dt
from typing import Any

from django.contrib.admin import site
from django.utils import timezone

from accounts.models import AccountMail, AccountSession, TotpDevice, User
from carddav.models import Mapping, MappingStatus
from meetings.models import CalendarSource
from notifications.models import Destination, DigestSchedule
from people.models import GeocodedAddress
from sharing.models import Share, ShareMember, ShareMembership
from tests.builders import make_person
from tests.carddav.builders import make_conflict, make_mapping
from tests.contacts_project.operation.rows import make_delivery, make_ended_run

SECRET_WORDS = (
    *("Zanzibar-person", "Zanzibar-note", "Zanzibar-title", "Zanzibar-label", "Zanzibar-path", "Zanzibar-token"),
    *("Zanzibar-secret", "Zanzibar-user", "Zanzibar-card", "Zanzibar-street", "Zanzibar-book", "Zanzibar-message"),
    *("whsec_Zanzibar", "Zanzibar-totp", "argon2", "md5$", "Zanzibar-surname", "Zanzibar-nickname"),
)
LIST_PATHS = [f"/admin/{model._meta.app_label}/{model._meta.model_name}/" for model in sorted(site._registry, key=str)]


def make_row_for_every_list(owner: User) -> None:
    """Create a row of `owner` in every list of account data."""
    now = timezone.now()
    User.objects.filter(pk=owner.pk).update(surname="Zanzibar-surname", nickname="Zanzibar-nickname")
    person = make_person(owner, name="Zanzibar-person", notes="Zanzibar-note")
    hook = make_destination(owner)
    make_delivery(
        owner,
        now,
        person=person,
        label="Zanzibar-label",
        state="failed",
        code="http_5xx",
        attempts=1,
        channel="webhook",
        target_key=str(hook.pk),
        content={"personName": "Zanzibar-person", "title": "Zanzibar-title"},
    )
    make_delivery(owner, now, state="pending", next_try_at=now, ended_at=None)
    run = make_ended_run(owner, now, 2, "auth")
    connection = run.connection
    connection.server_url = "https://dav.example.org/Zanzibar-path/"
    connection.username, connection.password = "Zanzibar-user", "Zanzibar-secret"
    connection.book_name, connection.last_error = "Zanzibar-book", "Zanzibar-message"
    connection.save()
    type(run).unscoped.filter(pk=run.pk).update(
        error="Zanzibar-message", message="Zanzibar-message", error_messages=["Zanzibar-card"]
    )
    mapping = make_mapping(connection, person)
    Mapping.unscoped.filter(pk=mapping.pk).update(status=MappingStatus.HELD, remote_raw="Zanzibar-card")
    conflict = make_conflict(mapping)
    conflict.fields = [{"field": "organization", "base": None, "local": "Zanzibar-note", "remote": "Zanzibar-card"}]
    conflict.save()
    CalendarSource.objects.create(
        owner=owner,
        name="Zanzibar-label",
        kind="ics",
        url="https://calendar.example.org/Zanzibar-path/Zanzibar-token.ics",
        username="Zanzibar-user",
        password="Zanzibar-secret",
        state="failing",
        last_error_code="auth",
        last_error="Zanzibar-message",
    )
    share = Share.objects.create(name="Zanzibar-label")
    member = ShareMember.objects.create(share=share, name="Zanzibar-user", is_host=True)
    ShareMembership.objects.create(pk=member.pk, owner=owner, share=share, member=member, due_at=now)
    AccountMail.objects.create(kind="VERIFY", address=owner.email, owner=owner)
    AccountSession.objects.create(owner=owner, session_key=f"k{owner.pk.hex}", last_used_at=now)
    TotpDevice.objects.create(owner=owner, secret="Zanzibar-totp", confirmed_at=now)
    DigestSchedule.objects.create(owner=owner, next_due_at=now + dt.timedelta(days=1), next_on=now.date())
    GeocodedAddress.objects.create(
        owner=owner, key="k", text="Zanzibar-street 1", state="pending", next_try_at=now, latitude=1, longitude=2
    )


def make_destination(owner: User, **fields: Any) -> Destination:
    values = {
        "type": "WEBHOOK",
        "label": "Zanzibar-label",
        "url": "https://hooks.example.org/Zanzibar-path?token=Zanzibar-token",
        "url_key": "https://hooks.example.org/Zanzibar-path",
        "secret": "whsec_Zanzibar",
        **fields,
    }
    return Destination.objects.create(owner=owner, **values)


def keys_in_list(path: str) -> Any:
    """The primary keys of the rows that the list shows."""
    _, _, app_label, name, _ = path.split("/")
    model = next(m for m in site._registry if (m._meta.app_label, m._meta.model_name) == (app_label, name))
    return model._default_manager.values_list("pk", flat=True)
