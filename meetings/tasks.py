"""Tasks of calendars. Each may run twice or be killed: the state is in the rows."""

from functools import partial
from itertools import chain, zip_longest
from uuid import UUID

from celery import shared_task
from django.utils import timezone

from contacts_project.kernel.pending_messages import end_pending, enqueue_once
from meetings.models import CalendarSource
from meetings.services.reading import read_source

# How many sources one scan hands out; the next one, a minute later, goes on.
_MAX_OF_SCAN = 500


@shared_task
def read_calendar(source_id: str) -> None:
    """Read one source, if it is due."""
    end_pending(f"calendar:{source_id}")
    read_source(UUID(source_id), now=timezone.now())


def enqueue_reading(source_id: UUID) -> None:
    """Enqueue a source, unless its message is in the queue already."""
    enqueue_once(f"calendar:{source_id}", partial(read_calendar.delay, str(source_id)))


@shared_task
def sweep() -> None:
    """Every minute: enqueue the sources that are due, of each account one after the other."""
    now = timezone.now()
    rows = CalendarSource.unscoped.rows().due(now).free(now).order_by("next_read_at", "pk")
    by_owner: dict[UUID, list[UUID]] = {}
    for key, owner in rows.values_list("pk", "owner_id")[: _MAX_OF_SCAN * 10]:
        by_owner.setdefault(owner, []).append(key)
    in_turn = chain.from_iterable(zip_longest(*by_owner.values()))
    for key in list(filter(None, in_turn))[:_MAX_OF_SCAN]:
        enqueue_reading(key)
