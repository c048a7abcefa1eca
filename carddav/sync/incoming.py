"""Fetched cards: merged with their person, or, if they are new, linked, imported or stored as pending imports."""

from dataclasses import dataclass, field

from carddav.client import Card as FetchedCard
from carddav.client import Entry, Unreadable
from carddav.models import (
    JournalEntry,
    JournalState,
    Mapping,
    OtherCard,
    OtherKind,
    PendingImport,
    Todo,
    Tombstone,
    TombstoneState,
)
from carddav.sync.cards import hash_text
from carddav.sync.contacts import merge_contact
from carddav.sync.context import Context
from carddav.sync.index import Index, KnownCard
from carddav.sync.new_cards import CardMatcher, NewCard, delete_todos, import_cards, link_and_merge
from carddav.sync.write_results import finish_read_back
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from people.vcard import Card, VCardError, read_card

_BATCH_SIZE = 50
_UNVERIFIED_WRITES = CompiledQuery(
    lambda owner_id, mapping_id: (
        JournalEntry.objects.owned_by(owner_id).filter(mapping=mapping_id, state=JournalState.DONE).values_list("pk")
    )
)


@dataclass(slots=True)
class IncomingCards:
    """Applies cards as they are fetched. New cards are written in batches, mapped cards one by one.

    `left_pending` counts the cards for which the plan had no room.
    """

    context: Context
    index: Index
    is_importing: bool
    is_linking: bool = True
    missing: dict[str, KnownCard] = field(default_factory=dict)
    new: list[NewCard] = field(default_factory=list)
    left_pending: int = 0

    def fetch_and_apply(self, entries: dict[str, Entry]) -> None:
        """Fetch the entries and apply the cards. Cards that cannot be fetched now are stored in Todo."""
        total = len(entries)
        failed: dict[str, Entry] = {}
        keys = {entry.href: key for key, entry in entries.items()}
        for number, found in enumerate(self.context.book.fetch([entry.href for entry in entries.values()])):
            self.context.report_progress("fetching", f"Fetching {total} contacts", number, total)
            if isinstance(found, FetchedCard):
                self.apply(found)
            elif isinstance(found, Unreadable):
                failed[found.key] = entries[keys[found.href]]
                self.context.tally.add_error(f"{found.href}: {found.message}")
        self.flush()
        self._save_todos(failed, [key for key in self.index.todo if key not in failed])

    def apply(self, found: FetchedCard) -> None:
        known = self.index.cards.get(found.key)
        try:
            card, _ = read_card(found.text)
        except VCardError as error:
            self._store_unreadable(found, str(error))
            return
        if found.key in self.index.other_keys and not card.is_group and not self.context.dry_run:
            # It can be read now, or is no group card any more.
            other_cards = OtherCard.objects.owned_by(self.context.owner).filter(connection=self.context.connection)
            other_cards.filter(href_key=found.key).delete()
        if card.is_group:
            self._store_group(found, card)
        elif known is None or known.kind == "other":
            self.new.append(NewCard(found, card))
            if len(self.new) >= _BATCH_SIZE:
                self.flush()
        elif known.kind == "mapping":
            self._merge_mapped(known, found)
        elif known.kind == "pending":
            self._update_pending(known, found, card)
        elif not self.context.dry_run:
            # A tombstone. A card that stays is updated, so that it is not fetched again; one to be deleted keeps its
            # text, against which `delete_cards` recognises the remote edit.
            with self.context.write():
                rows = Tombstone.objects.owned_by(self.context.owner).filter(pk=known.row_id)
                rows.filter(state=TombstoneState.KEPT).update(etag=found.etag, remote_raw=found.text)

    def _merge_mapped(self, known: KnownCard, found: FetchedCard) -> None:
        # The listing may contain our own write before it is read back: this is no edit by another client.
        unverified = _UNVERIFIED_WRITES.values(owner_id=self.context.owner.pk, mapping_id=known.row_id)
        if unverified and not self.context.dry_run:
            finish_read_back(self.context, unverified[0][0], found)
        else:
            merge_contact(self.context, known.row_id, found)

    def flush(self) -> None:
        """Write the new cards that have been collected."""
        batch, self.new = self.new, []
        if not batch:
            return
        self.context.report_progress("applying", f"Taking {len(batch)} new contacts")
        matcher = CardMatcher(self.context, batch, self.missing)
        linked = [(new, person_id) for new in batch if (person_id := matcher.find_person(new)) is not None]
        rest = [new for new in batch if new not in [pair[0] for pair in linked]]
        if self.context.dry_run:
            self.context.tally.imported += len(rest) if self.is_importing else 0
            self.context.tally.discovered += 0 if self.is_importing else len(rest)
            return
        for new, person_id in linked:
            if self.is_linking:
                link_and_merge(self.context, new, person_id, moved_from=set(self.missing))
        if self.is_importing:
            rest = import_cards(self.context, rest)
            self.left_pending += len(rest)
        self._store_pending(rest)

    def _store_pending(self, rest: list[NewCard]) -> None:
        if not rest:
            return
        context = self.context
        with context.write() as write:
            rows = [
                PendingImport(
                    owner=context.owner,
                    connection=context.connection,
                    uid=new.card.uid,
                    display_name=new.card.full_name[:500],
                    raw=new.fetched.text,
                    digest=hash_text(new.fetched.text),
                    href=new.fetched.href,
                    href_key=new.fetched.key,
                    etag=new.fetched.etag,
                    discovered_at=write.now,
                )
                for new in rest
            ]
            PendingImport.objects.bulk_create(
                rows,
                update_conflicts=False,
                ignore_conflicts=True,
            )
            delete_todos(context, [new.fetched.key for new in rest])
        context.tally.discovered += len(rest)

    def _update_pending(self, known: KnownCard, found: FetchedCard, card: Card) -> None:
        if self.context.dry_run:
            return
        with self.context.write():
            rows = PendingImport.objects.owned_by(self.context.owner).filter(pk=known.row_id)
            rows.update(
                uid=card.uid,
                display_name=card.full_name[:500],
                raw=found.text,
                digest=hash_text(found.text),
                etag=found.etag,
            )

    def _store_unreadable(self, found: FetchedCard, why: str) -> None:
        """Report the card once; it is fetched again when its ETag changes. A mapped contact stays as it is."""
        self.context.tally.add_error(f"{found.href}: {why}")
        if not self.context.dry_run:
            self._store_other_card(
                found, {"kind": OtherKind.UNREADABLE, "error": why[:1000], "name": "", "members": []}
            )

    def _store_group(self, found: FetchedCard, card: Card) -> None:
        if not self.context.dry_run:
            self._store_other_card(
                found,
                {"kind": OtherKind.GROUP, "error": "", "name": card.name[:100], "members": list(card.members)},
            )

    def _store_other_card(self, found: FetchedCard, values: dict[str, object]) -> None:
        context = self.context
        with context.write():
            OtherCard.objects.owned_by(context.owner).update_or_create(
                connection=context.connection,
                href_key=found.key,
                defaults={"href": found.href, "etag": found.etag, **values},
                create_defaults={"owner": context.owner, "href": found.href, "etag": found.etag, **values},
            )
            known = self.index.cards.get(found.key)
            # Without this the next listing, and each one after it, would report the card as changed.
            if known is not None and known.kind == "mapping":
                Mapping.objects.owned_by(context.owner).filter(pk=known.row_id).update(etag=found.etag)
            delete_todos(context, [found.key])

    def _save_todos(self, failed: dict[str, Entry], done: list[str]) -> None:
        context = self.context
        new = [entry for key, entry in failed.items() if key not in self.index.todo]
        if context.dry_run or not (done or new):
            return
        with context.write():
            delete_todos(context, done)
            Todo.objects.bulk_create(
                Todo(
                    owner=context.owner,
                    connection=context.connection,
                    href=entry.href,
                    href_key=entry.key,
                    etag=entry.etag,
                )
                for entry in new
            )
