"""One sync run over one book: recover, list, fetch, merge and apply, push, read back, save the token.

Pull comes before push, so that the cards which are sent contain the server's edits.
"""

import datetime as dt
from collections.abc import Sequence
from functools import partial
from uuid import UUID

from django.utils import timezone

from carddav.models import Connection, ImportMode, Mapping, PendingImport, Run, RunState
from carddav.sync.context import SyncContext
from carddav.sync.deletions import apply_remote_deletions, delete_cards
from carddav.sync.incoming import IncomingCards, apply_group_cards
from carddav.sync.index import ListingDiff, diff_listing, has_todo, load_index
from carddav.sync.journal import recover
from carddav.sync.push import push_all
from carddav.sync.push_plan import new_people, plan_push, unmapped_people
from contacts_project.kernel.database.statistics import analyze_tables
from contacts_project.kernel.texts import define_text
from contacts_project.kernel.webdav.shapes import Listing

_NO_ROOM = define_text(
    "no_room_for_contacts", "Your plan has no room for %(count)s new contacts: they wait as pending imports."
)

_UNKNOWN_CREATE = define_text(
    "new_card_unknown", "It is not known whether the server took a new contact. The next run looks for it."
)
_LISTING = define_text("progress_listing", "Asking the server what has changed")
_LISTING_ALL = define_text("progress_listing_all", "Asking the server what it has")

_FULL_LISTING_INTERVAL = dt.timedelta(hours=24)
# After this many fetched cards PostgreSQL's statistics are refreshed (ANALYZE).
_ANALYZE_THRESHOLD = 500
# A book of at most this many cards (100 KB before gzip) is listed without asking for its ctag first, which saves a
# request.
_MAX_SMALL_BOOK_CARDS = 500


def sync_book(context: SyncContext) -> None:
    """Sync the account with the open book. Raises DavError, LockLostError; what was committed before stays."""
    # First: while the outcome of our own writes is unknown, the listing would show them as edits of another client.
    context.act(partial(recover, context))
    pull(context)
    drop_confirmed_creates(context)
    context.carry_out(partial(plan_push, context), partial(_push, context))
    delete_cards(context)
    context.report_progress("finishing")
    # The token is saved last: a run that is interrupted before this point asks for the same changes again.
    context.act(partial(save_sync_token, context))


def _push(context: SyncContext) -> None:
    queue_new_cards(context, list(new_people(context.connection).values_list("pk", flat=True)))
    push_all(context)
    retry_unconfirmed_creates(context)


def retry_unconfirmed_creates(context: SyncContext) -> None:
    """Look for new cards whose reply was lost and that are not at their href, and send those that are not found.

    The server may have stored such a card under another href, so the book is listed first.
    """
    if not context.unconfirmed_creates:
        return
    mapping_ids = sorted(context.unconfirmed_creates)
    pull(context)
    drop_confirmed_creates(context)
    push_all(context, mapping_ids)
    for _ in context.unconfirmed_creates - context.failed_mappings:
        context.tally.add_error(_UNKNOWN_CREATE)
    # Otherwise a second call in the same run would report them again.
    context.unconfirmed_creates.clear()


def drop_confirmed_creates(context: SyncContext) -> None:
    """After a listing: keep only the new cards whose outcome is still unknown."""
    if context.unconfirmed_creates:
        rows = Mapping.objects.owned_by(context.owner).filter(pk__in=context.unconfirmed_creates, remote_raw="")
        context.unconfirmed_creates = set(rows.values_list("pk", flat=True))


def pull(context: SyncContext) -> None:
    """Apply what has changed on the server. The new token is kept in `context.listing` for `save_sync_token`."""
    context.report_progress("listing", _LISTING)
    listing = _list_changes(context)
    context.listing = listing
    if not (listing.changed or listing.removed or listing.is_full or has_todo(context.connection)):
        return
    index = load_index(context.connection)
    diff = diff_listing(index, listing)
    # A card missing from an undeclared full listing may be gone, and only a declared full listing can show that.
    is_delta = not listing.is_full and not listing.may_repeat
    if is_delta and diff.is_undeclared_full_listing(_last_agreement_at(context)):
        listing = _list_all_cards(context, listing)
        diff = diff_listing(index, listing)
    # Nothing has changed, but cards that earlier runs could not fetch are still to be fetched.
    if listing.is_unchanged:
        diff = ListingDiff(dict(index.todo), {}, [])
    is_importing = context.connection.import_mode == ImportMode.AUTO
    incoming = IncomingCards(context, index, is_importing=is_importing, missing=diff.missing)
    # Before the deletions: a missing card may have moved to another href, which is then among these.
    incoming.fetch_and_apply(diff.to_fetch)
    for card in apply_remote_deletions(context, index, diff.missing):
        incoming.apply(card)
    incoming.flush()
    if len(diff.to_fetch) >= _ANALYZE_THRESHOLD:
        analyze_tables()
    context.act(partial(apply_group_cards, context))
    if incoming.left_pending:
        context.tally.add_error(_NO_ROOM.format(count=incoming.left_pending))


def discover_new_cards(context: SyncContext) -> None:
    """Store the cards without a person as pending imports; everything else is left to the next run."""
    context.report_progress("listing", _LISTING_ALL)
    index = load_index(context.connection)
    diff = diff_listing(index, context.book.changes("", ""))
    new = {key: entry for key, entry in diff.to_fetch.items() if key not in index.cards}
    IncomingCards(context, index, is_importing=False, is_linking=False).fetch_and_apply(new)


def _list_changes(context: SyncContext) -> Listing:
    connection = context.connection
    last = connection.last_reconcile_at
    if last is None or timezone.now() - last >= _FULL_LISTING_INTERVAL:
        # Some servers never reject an expired token (DAViCal, SOGo), so the whole book is listed once a day.
        context.book.retry_refused_reports()
        return context.book.changes("", "")
    # The size matters only without sync tokens, where the server is asked for its ctag.
    is_small = False
    if connection.ctag:
        tables = (model.objects.owned_by(context.owner) for model in (Mapping, PendingImport))
        cards = sum(rows.filter(connection=connection).count() for rows in tables)
        is_small = cards <= _MAX_SMALL_BOOK_CARDS
    return context.book.changes(connection.sync_token, connection.ctag, is_small=is_small)


def _list_all_cards(context: SyncContext, listing: Listing) -> Listing:
    """A full listing; it keeps the token of `listing` if the listing returns none."""
    full = context.book.list()
    context.listing = Listing(
        full.changed,
        full.removed,
        token=full.token or listing.token,
        ctag=full.ctag or listing.ctag,
        is_full=True,
    )
    return context.listing


def _last_agreement_at(context: SyncContext) -> dt.datetime | None:
    """The time from which writes may appear in the next listing: the start of the last run if it wrote to the server,
    else its end. None before the first successful run."""
    runs = Run.objects.owned_by(context.owner).filter(connection=context.connection.pk, state=RunState.ENDED)
    last = runs.filter(dry_run=False, code="").order_by("-started_at").first()
    if last is None:
        return None
    # The run's own writes came after its token and are listed again as changed; what it only pulled is not.
    return last.started_at if last.exported or last.updated_remotely else last.ended_at


def save_sync_token(context: SyncContext) -> None:
    """Save the token. Everything that the listing named must be applied or stored in Todo."""
    listing = context.listing
    if listing is None or listing.is_unchanged:
        return
    # Without tokens: our own writes have changed the ctag, so the next run lists the book instead of asking for it.
    values: dict[str, object] = {"sync_token": listing.token, "ctag": "" if context.has_written else listing.ctag}
    if listing.is_full:
        values["last_reconcile_at"] = timezone.now()
    with context.write():
        Connection.objects.owned_by(context.owner).filter(pk=context.connection.pk).update(**values)


def queue_new_cards(context: SyncContext, person_ids: Sequence[UUID]) -> None:
    """Create a mapping without a card for each of these people, so that the next push sends one."""
    if not person_ids:
        return
    with context.write():
        # Read under the lock: a person may have been linked or deleted since the ids were read.
        free = unmapped_people(context.owner.pk).filter(pk__in=person_ids).order_by("id").values_list("pk", flat=True)
        Mapping.objects.bulk_create(
            Mapping.queued(owner=context.owner, connection=context.connection, person_id=person_id)
            for person_id in free
        )
