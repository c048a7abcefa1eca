"""Invariants of the delivery ledger and of the digest schedule, checked by `manage.py doctor --deep`."""

import datetime as dt
from collections.abc import Iterator

from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.invariants import CHUNK_SIZE, invariant, iterate_ids
from notifications.models import Delivery, DeliveryState, DigestSchedule

# The due scan finds expired leases each minute. Ten minutes allow for a slow or restarting scheduler.
_TAKEOVER_LIMIT = dt.timedelta(minutes=10)
_FINAL_STATES = (DeliveryState.SENT, DeliveryState.FAILED, DeliveryState.SKIPPED)


@invariant("deliveries exist twice for one occurrence and destination")
def find_duplicate_deliveries() -> Iterator[object]:
    """The unique constraint prevents these, unless its index is damaged."""
    once = ("source_id", "occurrence_on", "kind", "channel", "lead_days", "round", "target_key")
    twice = Delivery.unscoped.rows().order_by().values(*once).annotate(number=Count("pk")).filter(number__gt=1)
    for source_id, occurrence_on, kind, channel, *_ in twice.values_list(*once).iterator(chunk_size=CHUNK_SIZE):
        yield f"{kind} of {source_id} on {occurrence_on} over {channel}"


@invariant("deliveries are in a state that does not fit their times")
def find_inconsistent_deliveries() -> Iterator[object]:
    waits = Q(state=DeliveryState.PENDING, next_try_at__isnull=False, ended_at=None, claim=None)
    is_sent = Q(state=DeliveryState.SENDING, next_try_at=None, ended_at=None, claim__isnull=False)
    has_ended = Q(state__in=_FINAL_STATES, next_try_at=None, ended_at__isnull=False, claim=None)
    is_addressed = ~Q(channel="") | Q(state=DeliveryState.SKIPPED)
    return iterate_ids(Delivery.unscoped.rows().exclude((waits | is_sent | has_ended) & is_addressed))


@invariant(
    "deliveries are held for longer than their lease",
    hint="Are workers and the scheduler running? Each minute they take over what a killed process held.",
)
def find_held_deliveries() -> Iterator[object]:
    late = timezone.now() - _TAKEOVER_LIMIT
    return iterate_ids(Delivery.unscoped.rows().filter(claim__isnull=False, held_until__lt=late))


@invariant(
    "accounts have the digest switched on and none is planned",
    hint="Switching the digest off and on again in the account's settings plans it.",
)
def find_unscheduled_digests() -> Iterator[object]:
    scheduled = DigestSchedule.objects.filter(owner=OuterRef("pk"))
    rows = User.objects.filter(weekly_digest_enabled=True, reminders_stale=False)
    return iterate_ids(rows.filter(~Exists(scheduled)))
