"""One run over one book: recover, list, fetch, merge and apply, push, read back, save the token. Pull before push."""

import datetime as dt
from collections.abc import Sequence
from uuid import UUID

from django.utils import timezone

from carddav.client import Changes
from carddav.models import UNSENT, Connection, ImportMode, Mapping, MappingStatus, PendingImport, Run, RunState
from carddav.sync.contacts import merge_contact
from carddav.sync.context import Context
from carddav.sync.deletions import apply_remote_deletions, delete_cards
from carddav.sync.groups import apply_group_cards
from carddav.sync.incoming import IncomingCards
from carddav.sync.index import Listing, compare, has_todo, load_index
from carddav.sync.push import push_all
from carddav.sync.recovery import recover
from carddav.sync.unsent import new_people, new_people_ids, unmapped_people, unsent_mappings
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.database.statistics import analyze_tables

_RECONCILE = dt.timedelta(hours=24)
# After so many cards that came in PostgreSQL measures its tables anew.
_MANY_CARDS = 500
# Up to so many are listed at once where a server has no tokens: 100 KB before gzip, and one request less.
_FEW_CARDS = 500

_LAST_RUN = CompiledQuery(
    lambda owner_id, connection_id: (
        Run.objects.owned_by(owner_id)
        .filter(connection=connection_id, state=RunState.ENDED, dry_run=False, code="")
        .only("started_at", "ended_at", "exported", "updated_remotely")
        .order_by("-started_at")[:1]
    )
)


def sync_book(context: Context) -> None:
    """Sync the account with the open book. Raises DavError, LockLostError; what was done until then stays done."""
    if not context.dry_run:
        recover(context)
    pull(context)
    forget_found(context)
    if context.dry_run:
        _count_push(context)
        delete_cards(context)
        return
    queue_people(context, new_people_ids(context.connection))
    push_all(context)
    push_unfound(context)
    delete_cards(context)
    context.report_progress("finishing")
    # Last of all: a run that is cut off before this asks for the same changes again.
    save_listing(context)


def push_unfound(context: Context) -> None:
    """New cards whose reply was lost, and which are not where they were put: the server may have given them another
    name, so that the book is listed before they are sent again."""
    if not context.unfound:
        return
    mapping_ids = sorted(context.unfound)
    pull(context)
    forget_found(context)
    push_all(context, mapping_ids)
    for _ in context.unfound - context.failed:
        context.tally.fail("It is not known whether the server took a new contact. The next run looks for it.")
    context.unfound.clear()  # said once


def forget_found(context: Context) -> None:
    """After a listing: of the new cards of unknown outcome, keep those that still have none."""
    if context.unfound:
        rows = Mapping.objects.owned_by(context.owner).filter(pk__in=context.unfound, remote_raw="")
        context.unfound = set(rows.values_list("pk", flat=True))


def pull(context: Context) -> None:
    """Take what changed on the server; the token is kept for `save_listing`."""
    context.report_progress("listing", "Asking the server what has changed")
    changes = _changes(context)
    context.listed = changes
    if not (changes.changed or changes.removed or changes.is_full or has_todo(context.connection)):
        return
    index = load_index(context.connection)
    listing = compare(index, changes)
    # What an undeclared full listing leaves out is gone, which only one that calls itself full may say.
    is_delta = not changes.is_full and not changes.may_repeat
    if is_delta and listing.is_undeclared_full_listing(_last_run_at(context)):
        changes = _relisted(context, changes)
        listing = compare(index, changes)
    # Nothing moved, but cards that earlier runs did not get are still to be fetched.
    if changes.is_unchanged:
        listing = Listing(dict(index.todo), {}, [])
    is_importing = context.connection.import_mode == ImportMode.AUTO
    incoming = IncomingCards(context, index, is_importing=is_importing, missing=listing.missing)
    incoming.fetch_and_apply(listing.to_fetch)  # first of all: what is missing may have moved to another href
    for card in apply_remote_deletions(context, index, listing.missing):
        incoming.apply(card)
    incoming.flush()
    if len(listing.to_fetch) >= _MANY_CARDS:
        analyze_tables()
    apply_group_cards(context)
    if incoming.left_pending:
        context.tally.fail(
            f"Your plan has no room for {incoming.left_pending} new contacts: they wait as pending imports."
        )


def find_new(context: Context) -> None:
    """Keep the cards that nobody here is as pending imports; everything else is left to the next run."""
    context.report_progress("listing", "Asking the server what it has")
    index = load_index(context.connection)
    listing = compare(index, context.book.changes("", ""))
    new = {key: entry for key, entry in listing.to_fetch.items() if key not in index.cards}
    IncomingCards(context, index, is_importing=False, is_linking=False).fetch_and_apply(new)


def _changes(context: Context) -> Changes:
    connection = context.connection
    last = connection.last_reconcile_at
    if last is None or timezone.now() - last >= _RECONCILE:
        context.book.ask_again()
        return context.book.changes("", "")  # some servers never say that a token has expired
    # With tokens the server is not asked for a ctag, and the size does not matter.
    is_small = bool(connection.ctag) and _is_small(context)
    return context.book.changes(connection.sync_token, connection.ctag, is_small=is_small)


def _is_small(context: Context) -> bool:
    rows = (model.objects.owned_by(context.owner) for model in (Mapping, PendingImport))
    return sum(known.filter(connection=context.connection).count() for known in rows) <= _FEW_CARDS


def _relisted(context: Context, changes: Changes) -> Changes:
    """The full listing, with the token of the first answer where it has none of its own."""
    full = context.book.list()
    context.listed = Changes(
        full.changed,
        full.removed,
        token=full.token or changes.token,
        ctag=full.ctag or changes.ctag,
        is_full=True,
    )
    return context.listed


def _last_run_at(context: Context) -> dt.datetime | None:
    """What was written before this is listed as changed by no server that knows the token."""
    last: Run | None = _LAST_RUN.instance(owner_id=context.owner.pk, connection_id=context.connection.pk)
    if last is None:
        return None
    # What it sent is listed once more, as changed since its token; what it only took is not.
    return last.started_at if last.exported or last.updated_remotely else last.ended_at


def save_listing(context: Context) -> None:
    """Everything listed is applied, or stands in Todo: from here the next run goes on."""
    changes = context.listed
    if changes is None or changes.is_unchanged:
        return
    # Without tokens: after our own writes the next run lists at once, instead of asking for a ctag that has moved.
    values: dict[str, object] = {"sync_token": changes.token, "ctag": "" if context.has_written else changes.ctag}
    if changes.is_full:
        values["last_reconcile_at"] = timezone.now()
    with context.write():
        Connection.objects.owned_by(context.owner).filter(pk=context.connection.pk).update(**values)


def queue_people(context: Context, person_ids: Sequence[UUID]) -> None:
    """Let these people have a card with the next push."""
    if not person_ids:
        return
    with context.write():
        free = unmapped_people(context.owner.pk).filter(pk__in=person_ids).order_by("id").values_list("pk", flat=True)
        Mapping.objects.bulk_create(
            Mapping(
                owner=context.owner,
                connection=context.connection,
                person_id=person_id,
                href_key=f"new:{person_id}",
                local_rev=UNSENT,
                status=MappingStatus.DIRTY,
            )
            for person_id in free
        )


def _count_push(context: Context) -> None:
    """What would be sent of edits of people whose card has not changed."""
    rows = unsent_mappings(context.connection)
    for key, raw, status in rows.values_list("pk", "remote_raw", "status"):
        if not raw:
            context.tally.exported += status != MappingStatus.QUARANTINED
        elif key not in context.counted_mappings:
            merge_contact(context, key)
    context.tally.exported += new_people(context.connection).count()
