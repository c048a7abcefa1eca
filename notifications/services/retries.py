"""What an operator tries again: a delivery that was given up, or that waits for its next try."""

import datetime as dt

from django.db import transaction
from django.utils import timezone

from contacts_project.kernel.errors import DomainError
from notifications.ledger import targets_of
from notifications.models import Delivery, DeliveryState
from notifications.notices.notice import NoticeKind
from people.dates import schedule
from people.dates.recurrence import end_of_day


class ConfirmedError(DomainError):
    """The destination has it: it is never sent twice."""

    message = "It was confirmed."


class UnderWayError(DomainError):
    """Somebody sends it at this moment."""

    message = "It is being sent."


class NowhereToGoError(DomainError):
    """The destination is off, or there is none."""

    message = "Its destination is off, or there is none."


def try_again(*, delivery: Delivery, now: dt.datetime) -> None:
    """Have the delivery tried now, as the same one (webhook-id, push topic), once more or until the account's day ends.

    Raises ConfirmedError, UnderWayError, NowhereToGoError. Whether it is still wanted is looked at again when it is
    sent. The caller hands it to the queue after commit; should that lose it, the scan finds it.
    """
    if delivery.state == DeliveryState.SENT:
        raise ConfirmedError
    if not _is_on(delivery):
        raise NowhereToGoError
    calendar = schedule.load_calendar(delivery.owner)
    waits = {
        "state": DeliveryState.PENDING,
        "next_try_at": now,
        "ended_at": None,
        "expires_at": max(delivery.expires_at, end_of_day(calendar.today(now), calendar.zone)),
        "held_until": None,
        "claims": 0,
        "updated_at": timezone.now(),
    }
    rows = Delivery.unscoped.rows().filter(pk=delivery.pk, claim=None)
    with transaction.atomic():
        if not rows.exclude(state__in=[DeliveryState.SENT, DeliveryState.SENDING]).update(**waits):
            row = Delivery.unscoped.rows().filter(pk=delivery.pk).first()
            raise ConfirmedError if row and row.state == DeliveryState.SENT else UnderWayError


def _is_on(delivery: Delivery) -> bool:
    kind = NoticeKind(delivery.kind)
    targets = targets_of(delivery.owner, kind, delivery.channel) if delivery.channel else ()
    return delivery.owner.is_active and any(
        target.key == delivery.target_key and target.off is None for target in targets
    )
