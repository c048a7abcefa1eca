"""Holds back cards that cannot be written, and reports them. Of a reason that may pass the cause may be the content or
the server, so the delay between tries grows (Mapping.hold_back)."""

import datetime as dt

from carddav.models import HeldBack, JournalEntry, Mapping
from carddav.models.mapping import MAX_TRIES
from carddav.sync.contacts import load_mapping
from carddav.sync.context import Context
from contacts_project.kernel.texts import Text, define_text

_NOT_SENT = define_text("card_not_sent", "%(name)s (%(href)s): %(reason)s")
_NEW_NOT_SENT = define_text("new_card_not_sent", "%(name)s (new): %(reason)s")
_LATER = define_text("card_tried_later", "%(name)s: %(reason)s It is sent again later, or once it changes.")
_NEXT_RUN = define_text("card_tried_next_run", "%(name)s: %(reason)s The next run tries again.")

SERVER_FAILED = define_text("server_failed", "The server failed with status %(status)d.")
REFUSED_FOR_NOW = define_text(
    "card_refused_for_now",
    "The server refused the card with status %(status)d, though nobody has changed it there.",
)
CARD_LOCKED = define_text("card_is_locked", "The server was busy with this card.")


def hold_back(
    context: Context, mapping: Mapping, code: HeldBack, body_hash: str, reason: Text, now: dt.datetime
) -> None:
    """Hold the card back, and report it unless it was for the same content. Must be called inside the write."""
    if mapping.hold_back(code, reason, body_hash, now):
        values = {"name": mapping.person.name, "reason": reason}
        text = _NOT_SENT.format(href=mapping.href, **values) if mapping.href else _NEW_NOT_SENT.format(**values)
        context.tally.add_error(text)


def hold_back_for_now(context: Context, intent: JournalEntry, code: HeldBack, reason: Text) -> None:
    """Hold the card back until a later run, once in a run. The server must be known not to have its new content."""
    if intent.mapping_id is None or intent.mapping_id in context.failed_mappings:
        return
    context.failed_mappings.add(intent.mapping_id)
    with context.write() as write:
        mapping = load_mapping(context, intent.mapping_id)
        if mapping is None:
            return
        mapping.hold_back(code, reason, intent.body_hash, write.now)
        name = f"{mapping.person.name} ({intent.href})"
        if mapping.failures >= MAX_TRIES:
            # The outcome is known: the write failed. The mapping keeps the href for the next try.
            JournalEntry.objects.owned_by(context.owner).filter(mapping=mapping).delete()
            context.unconfirmed_creates.discard(mapping.pk)
    text = _LATER if mapping.failures >= MAX_TRIES else _NEXT_RUN
    context.tally.add_error(text.format(name=name, reason=reason))
