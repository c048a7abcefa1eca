"""Manual retry: an operator has a delivery sent again that failed, was skipped, or waits for its next attempt."""

import datetime as dt

from django.db import transaction
from django.utils import timezone

from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.texts import define_text
from notifications.ledger import targets_of
from notifications.models import Delivery, DeliveryState
from notifications.notices.notice import NoticeKind
from people.dates import schedule
from people.dates.recurrence import end_of_day


class AlreadySentError(DomainError):
    """The target has confirmed the delivery. It is never sent twice."""

    message = define_text("delivery_confirmed", "It was confirmed.")


class BeingSentError(DomainError):
    """A worker has claimed the delivery."""

    message = define_text("delivery_being_sent", "It is being sent.")


class TargetUnavailableError(DomainError):
    """The delivery's target is off, or was removed."""

    message = define_text("delivery_target_off", "Its destination is off, or there is none.")


def retry_delivery(*, delivery: Delivery, now: dt.datetime) -> None:
    """Make the delivery due now, under the same id (webhook-id, push topic), until the end of the account's day.

    Raises AlreadySentError, BeingSentError, TargetUnavailableError. Its relevance is checked again when it
    is sent. The caller enqueues it after the commit. If the process dies before that, the scan enqueues it.
    """
    if delivery.state == DeliveryState.SENT:
        raise AlreadySentError
    if not _is_target_on(delivery):
        raise TargetUnavailableError
    calendar = schedule.load_calendar(delivery.owner)
    values = {
        "state": DeliveryState.PENDING,
        "next_try_at": now,
        "ended_at": None,
        "expires_at": max(delivery.expires_at, end_of_day(calendar.today(now), calendar.zone)),
        # Marks the row as in no queue, so that the scan enqueues it if the caller does not get to.
        "held_until": None,
        # Otherwise a delivery skipped as "crashed" would be skipped again at once.
        "claims": 0,
        "updated_at": timezone.now(),
    }
    rows = Delivery.unscoped.rows().filter(pk=delivery.pk, claim=None)
    with transaction.atomic():
        # The state is checked in the UPDATE: a worker may have sent the delivery since it was read.
        if not rows.exclude(state__in=[DeliveryState.SENT, DeliveryState.SENDING]).update(**values):
            row = Delivery.unscoped.rows().filter(pk=delivery.pk).first()
            raise AlreadySentError if row and row.state == DeliveryState.SENT else BeingSentError


def _is_target_on(delivery: Delivery) -> bool:
    kind = NoticeKind(delivery.kind)
    targets = targets_of(delivery.owner, kind, delivery.channel) if delivery.channel else ()
    return delivery.owner.is_active and any(
        target.key == delivery.target_key and target.off_reason is None for target in targets
    )
