"""Backoff for cards that the server answers with 5xx. The cause may be the content or the server, so the delay between
tries grows."""

import datetime as dt

from carddav.models import JournalEntry, Mapping, MappingStatus
from carddav.sync.contacts import load_mapping
from carddav.sync.context import Context

#: The card is sent in this many runs; after that it waits for this delay, which doubles with each failure.
MAX_TRIES = 3
_FIRST_DELAY = dt.timedelta(hours=1)
_MAX_DELAY = dt.timedelta(days=1)


def record_server_failure(context: Context, intent: JournalEntry, status: int) -> None:
    """Count a failed write of the card, once in a run. The server must be known not to have the card's new content."""
    if intent.mapping_id is None or intent.mapping_id in context.failed_mappings:
        return
    context.failed_mappings.add(intent.mapping_id)
    with context.write():
        mapping = load_mapping(context, intent.mapping_id)
        if mapping is None:
            return
        mapping.failures = mapping.failures + 1 if mapping.body_hash == intent.body_hash else 1
        mapping.body_hash = intent.body_hash
        name = f"{mapping.person.name} ({intent.href})"
        if mapping.failures >= MAX_TRIES:
            mapping.status, mapping.error = MappingStatus.QUARANTINED, f"The server failed with status {status}."
            # The outcome is known: the write failed. The mapping keeps the href for the next try.
            JournalEntry.objects.owned_by(context.owner).filter(mapping=mapping).delete()
            context.unconfirmed_creates.discard(mapping.pk)
        mapping.save()
    next_try = (
        "It is sent again later, or once it changes." if mapping.failures >= MAX_TRIES else "The next run tries again."
    )
    context.tally.add_error(f"{name}: the server failed with status {status}. {next_try}"[:500])


def is_backing_off(mapping: Mapping, now: dt.datetime) -> bool:
    """Whether a quarantined card must not be sent now. One that was refused for its content waits until that
    changes."""
    if not mapping.failures:
        return True
    if mapping.failures < MAX_TRIES:  # of another content
        return False
    delay: dt.timedelta = min(_FIRST_DELAY * 2 ** min(mapping.failures - MAX_TRIES, 10), _MAX_DELAY)
    return now < mapping.updated_at + delay
