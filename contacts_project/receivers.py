"""Signal receivers that connect apps which do not import each other."""

import datetime as dt
from typing import Any
from uuid import UUID

from django.dispatch import receiver

from carddav.signals import contacts_found
from notifications.services.found_contacts import plan_contacts_found


@receiver(contacts_found)
def plan_contacts_found_notices(*, owner_id: UUID, run_id: UUID, count: int, now: dt.datetime, **kwargs: Any) -> None:
    """Notify the account, over its channels, of contacts on its CardDAV server that can be imported."""
    plan_contacts_found(owner_id=owner_id, run_id=run_id, count=count, now=now)
