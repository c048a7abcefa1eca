"""Creates deliveries and sync runs directly, for tests of what operators see."""

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
    """Create a delivery at `at` (default: now), sent by mail unless `fields` say otherwise."""
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
    """Create a run of the owner's CardDAV connection that took `seconds` and ended at `at`."""
    connection = Connection.objects.owned_by(owner).first() or make_connection(owner)
    start = at - dt.timedelta(seconds=seconds)
    return Run.objects.create(
        owner=owner, connection=connection, trigger="automatic", state="ended", started_at=start, ended_at=at, code=code
    )
