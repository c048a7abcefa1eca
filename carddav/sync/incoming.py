"""Cards that were fetched: merged with their person, or, where they are new, linked, imported or kept waiting."""

from dataclasses import dataclass, field
from uuid import UUID

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
from carddav.sync.cards import text_hash
from carddav.sync.contacts import merge_contact
from carddav.sync.context import Context
from carddav.sync.index import Index, Known
from carddav.sync.new_cards import Linker, NewCard, delete_todos, import_cards, link_card
from carddav.sync.write_results import finish_read_back
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from people.vcard import Card, VCardError, read_card

_BATCH = 50
_WAITING = CompiledQuery(
    lambda owner_id, mapping_id: (
        JournalEntry.objects.owned_by(owner_id).filter(mapping=mapping_id, state=JournalState.DONE).values_list("pk")
    )
)


@dataclass(slots=True)
class IncomingCards:
    """Applies cards as they are fetched. New ones are written in batches, mapped ones one by one."""

    context: Context
    index: Index
    is_importing: bool
    is_linking: bool = True
    missing: dict[str, Known] = field(default_factory=dict)
    new: list[NewCard] = field(default_factory=list)
    left_pending: int = 0

    def fetch_and_apply(self, entries: dict[str, Entry]) -> None:
        """Fetch and apply them. What the server does not give now stands in Todo."""
        total = len(entries)
        failed: dict[str, Entry] = {}
        keys = {entry.href: key for key, entry in entries.items()}
        for number, found in enumerate(self.context.book.fetch([entry.href for entry in entries.values()])):
            self.context.report_progress("fetching", f"Fetching {total} contacts", number, total)
            if isinstance(found, FetchedCard):
                self.apply(found)
            elif isinstance(found, Unreadable):
                failed[found.key] = entries[keys[found.href]]
                self.context.tally.fail(f"{found.href}: {found.message}")
        self.flush()
        self._save_todos(failed, [key for key in self.index.todo if key not in failed])

    def apply(self, found: FetchedCard) -> None:
        """One card."""
        known = self.index.cards.get(found.key)
        try:
            card, _ = read_card(found.text)
        except VCardError as error:
            self._note_unreadable(found, str(error))
            return
        if found.key in self.index.others and not card.is_group:
            self._delete_other_card(found)
        if card.is_group:
            self._note_group(found, card)
        elif known is None or known.kind == "other":
            self._add_new(found, card)
        elif known.kind == "mapping":
            self._merge_mapped(known, found)
        elif known.kind == "pending":
            self._update_pending(known, found, card)
        elif not self.context.dry_run:
            # A tombstone: what is edited there stays nobody's; what is to be deleted is looked at then.
            with self.context.write():
                rows = Tombstone.objects.owned_by(self.context.owner).filter(pk=known.row_id)
                rows.filter(state=TombstoneState.KEPT).update(etag=found.etag, remote_raw=found.text)

    def _merge_mapped(self, known: Known, found: FetchedCard) -> None:
        # Our own write may be listed before it is read back: that is no edit of somebody else.
        waiting = _WAITING.values(owner_id=self.context.owner.pk, mapping_id=known.row_id)
        if waiting and not self.context.dry_run:
            finish_read_back(self.context, waiting[0][0], found)
        else:
            merge_contact(self.context, known.row_id, found)

    def _add_new(self, found: FetchedCard, card: Card) -> None:
        self.new.append(NewCard(found, card))
        if len(self.new) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Write the new cards that came so far."""
        batch, self.new = self.new, []
        if not batch:
            return
        self.context.report_progress("applying", f"Taking {len(batch)} new contacts")
        linker = Linker(self.context, batch, self.missing)
        linked = [(new, person_id) for new in batch if (person_id := linker.person_of(new)) is not None]
        rest = [new for new in batch if new not in [pair[0] for pair in linked]]
        if self.context.dry_run:
            self.context.tally.imported += len(rest) if self.is_importing else 0
            self.context.tally.discovered += 0 if self.is_importing else len(rest)
            return
        for new, person_id in linked:
            if self.is_linking:
                self._link(new, person_id)
        if self.is_importing:
            rest = import_cards(self.context, rest)
            self.left_pending += len(rest)
        self._keep_pending(rest)

    def _link(self, new: NewCard, person_id: UUID) -> None:
        link_card(self.context, new.fetched, new.card, person_id, moved_from=set(self.missing))
        mapping = Mapping.objects.owned_by(self.context.owner).filter(person=person_id).first()
        if mapping is not None:
            merge_contact(self.context, mapping.pk)

    def _keep_pending(self, rest: list[NewCard]) -> None:
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
                    digest=text_hash(new.fetched.text),
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

    def _update_pending(self, known: Known, found: FetchedCard, card: Card) -> None:
        if self.context.dry_run:
            return
        with self.context.write():
            rows = PendingImport.objects.owned_by(self.context.owner).filter(pk=known.row_id)
            rows.update(
                uid=card.uid,
                display_name=card.full_name[:500],
                raw=found.text,
                digest=text_hash(found.text),
                etag=found.etag,
            )

    def _note_unreadable(self, found: FetchedCard, why: str) -> None:
        """Said once, and not fetched again until it moves. A contact that was mapped stays as it is."""
        self.context.tally.fail(f"{found.href}: {why}")
        if not self.context.dry_run:
            self._put_other(found, {"kind": OtherKind.UNREADABLE, "error": why[:1000], "name": "", "members": []})

    def _note_group(self, found: FetchedCard, card: Card) -> None:
        if not self.context.dry_run:
            self._put_other(
                found,
                {"kind": OtherKind.GROUP, "error": "", "name": card.name[:100], "members": list(card.members)},
            )

    def _put_other(self, found: FetchedCard, values: dict[str, object]) -> None:
        context = self.context
        with context.write():
            OtherCard.objects.owned_by(context.owner).update_or_create(
                connection=context.connection,
                href_key=found.key,
                defaults={"href": found.href, "etag": found.etag, **values},
                create_defaults={"owner": context.owner, "href": found.href, "etag": found.etag, **values},
            )
            known = self.index.cards.get(found.key)
            # Else the next listing would name the card as moved again, and so would each after it.
            if known is not None and known.kind == "mapping":
                Mapping.objects.owned_by(context.owner).filter(pk=known.row_id).update(etag=found.etag)
            delete_todos(context, [found.key])

    def _delete_other_card(self, found: FetchedCard) -> None:
        """It can be read now, or is no group any more."""
        if not self.context.dry_run:
            rows = OtherCard.objects.owned_by(self.context.owner).filter(connection=self.context.connection)
            rows.filter(href_key=found.key).delete()

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
