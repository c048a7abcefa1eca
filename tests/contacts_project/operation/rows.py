"""Rows that operators look at, for tests that do not care how they came to be."""

import datetime as dt
from typing import Any
from uuid import uuid4

from django.utils import timezone

from accounts.models import User
from carddav.models import Connection, Run
from notifications.models import Delivery
from notifications.notices.notice import NoticeKind
from tests.carddav.builders import make_connection


def make_delivery(owner: User, at: dt.datetime | None = None, **fields: Any) -> Delivery:
    """A delivery, sent by mail unless `fields` say otherwise; `at` is the moment of the machine's clock."""
    now = at or timezone.now()
    values = {
        "kind": NoticeKind.CONTACT,
        "source_id": uuid4(),
        "occurrence_on": now.date(),
        "channel": "email",
        "target_key": "email",
        "state": "sent",
        "due_at": now,
        "planned_at": now,
        "expires_at": now + dt.timedelta(days=1),
        "ended_at": now,
        **fields,
    }
    delivery = Delivery.objects.create(owner=owner, **values)
    Delivery.unscoped.filter(pk=delivery.pk).update(updated_at=now, created_at=now)
    return delivery


def make_ended_run(owner: User, at: dt.datetime, seconds: int, code: str = "") -> Run:
    """A run of the owner's connection that took so long."""
    connection = Connection.objects.owned_by(owner).first() or make_connection(owner)
    start = at - dt.timedelta(seconds=seconds)
    return Run.objects.create(
        owner=owner, connection=connection, trigger="automatic", state="ended", started_at=start, ended_at=at, code=code
    )
