"""Cards over which the server fails: it may be the content, or the server; so they rest, longer each time."""

import datetime as dt

from carddav.models import JournalEntry, Mapping, MappingStatus
from carddav.sync.contacts import mapping_of
from carddav.sync.context import Context

#: In so many runs it is sent at once; then it rests for this long, twice as long with each run, up to a day.
TRIES = 3
_REST = dt.timedelta(hours=1)
_LONGEST_REST = dt.timedelta(days=1)


def note_failure(context: Context, intent: JournalEntry, status: int) -> None:
    """The server has failed over this card again, and does not have it. Once in a run."""
    if intent.mapping_id is None or intent.mapping_id in context.failed:
        return
    context.failed.add(intent.mapping_id)
    with context.write():
        mapping = mapping_of(context, intent.mapping_id)
        if mapping is None:
            return
        mapping.failures = mapping.failures + 1 if mapping.body_hash == intent.body_hash else 1
        mapping.body_hash = intent.body_hash
        name = f"{mapping.person.name} ({intent.href})"
        if mapping.failures >= TRIES:
            mapping.status, mapping.error = MappingStatus.QUARANTINED, f"The server failed with status {status}."
            JournalEntry.objects.owned_by(context.owner).filter(mapping=mapping).delete()  # the mapping keeps the name
            context.unfound.discard(mapping.pk)
        mapping.save()
    again = "It is sent again later, or once it changes." if mapping.failures >= TRIES else "The next run tries again."
    context.tally.fail(f"{name}: the server failed with status {status}. {again}"[:500])


def is_resting(mapping: Mapping, now: dt.datetime) -> bool:
    """Whether what was refused is left alone: one that was refused for its content until that changes."""
    if not mapping.failures:
        return True
    if mapping.failures < TRIES:  # of another content
        return False
    rest: dt.timedelta = min(_REST * 2 ** min(mapping.failures - TRIES, 10), _LONGEST_REST)
    return now < mapping.updated_at + rest
