"""Cards that came from the server: merged with their person, or, if they are new, linked, imported or stored as pending
imports; group cards put their members into groups."""

from collections.abc import Mapping as MappingOf
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

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
from carddav.models.mapping import hash_text
from carddav.sync.contacts import merge_contact
from carddav.sync.context import CARD_PROBLEM, SyncContext
from carddav.sync.index import Index, IndexRow
from carddav.sync.journal import finish_read_back
from carddav.sync.new_cards import CardMatcher, NewCard, delete_todos, import_cards, link_and_merge
from carddav.sync.push_plan import unsent_mappings
from contacts_project.kernel.text_forms import case_key
from contacts_project.kernel.texts import Text, define_text
from contacts_project.kernel.webdav.shapes import ListingEntry, Resource, Unreadable
from people.contents.groups import CategoryGroups
from people.services.groups import put_members
from people.vcard import Card, VCardError, read_resource
from people.vcard.card import uid_spellings

_FETCHING = define_text("progress_fetching", "Fetching %(count)s contacts")
_TAKING = define_text("progress_taking", "Taking %(count)s new contacts")
_NO_ROOM_FOR_GROUP = define_text("no_room_for_group", "Your plan has no room for the group %(group)s.")

_BATCH_SIZE = 50


@dataclass(slots=True)
class IncomingCards:
    """Applies cards as they are fetched. New cards are written in batches, mapped cards one by one.

    `left_pending` counts the cards for which the price plan had no room. `total` are the cards to apply, as far as the
    listing says, `received` those that were applied or are in `new`.
    """

    context: SyncContext
    index: Index
    is_importing: bool
    is_linking: bool = True
    missing: dict[str, IndexRow] = field(default_factory=dict)
    new: list[NewCard] = field(default_factory=list)
    left_pending: int = 0
    total: int = 0
    received: int = 0

    def fetch_and_apply(self, entries: dict[str, ListingEntry]) -> None:
        """Fetch the entries and apply the cards. Cards that cannot be fetched now are stored in Todo."""
        total = len(entries)
        self.total += total
        failed: dict[str, ListingEntry] = {}
        keys = {entry.href: key for key, entry in entries.items()}
        for number, result in enumerate(self.context.book.fetch([entry.href for entry in entries.values()])):
            self.context.report_progress("fetching", _FETCHING.format(count=total), number, total)
            if isinstance(result, Resource):
                self.apply(result)
            elif isinstance(result, Unreadable):
                self.received += 1
                failed[result.key] = entries[keys[result.href]]
                self.context.tally.add_error(CARD_PROBLEM.format(href=result.href, reason=result.message))
        self.flush()
        done = [key for key in self.index.todo if key not in failed]
        self.context.act(partial(self._save_todos, failed, done))

    def apply(self, remote_card: Resource) -> None:
        self.received += 1
        self.total = max(self.total, self.received)  # a card that the listing did not name
        row = self.index.cards.get(remote_card.key)
        try:
            card, _ = read_resource(remote_card.text)
        except VCardError as error:
            self.context.readable[remote_card.key] = False
            self._store_unreadable(remote_card, error.text)
            return
        self.context.readable[remote_card.key] = True
        if remote_card.key in self.index.other_keys and not card.is_group:
            # It can be read now, or is no group card any more.
            other_cards = OtherCard.objects.owned_by(self.context.owner).filter(connection=self.context.connection)
            self.context.act(other_cards.filter(href_key=remote_card.key).delete)
        if card.is_group:
            self.context.act(partial(self._store_group, remote_card, card))
        elif row is None or row.kind == "other":
            self.new.append(NewCard(remote_card, card))
            if len(self.new) >= _BATCH_SIZE:
                self.flush()
        elif row.kind == "mapping":
            self._merge_mapped(row, remote_card, card)
        elif row.kind == "pending":
            self.context.act(partial(self._update_pending, row, remote_card, card))
        else:
            self.context.act(partial(self._update_tombstone, row, remote_card))

    def _merge_mapped(self, row: IndexRow, remote_card: Resource, card: Card) -> None:
        # The listing may contain our own write before it is read back: this is no edit by another client.
        writes = JournalEntry.objects.owned_by(self.context.owner).filter(mapping=row.pk, state=JournalState.DONE)
        unverified = writes.values_list("pk", flat=True).first()
        if unverified:
            self.context.act(partial(finish_read_back, self.context, unverified, remote_card))
        else:
            merge_contact(self.context, row.pk, (remote_card, card))

    def flush(self) -> None:
        """Write the new cards that have been collected."""
        batch, self.new = self.new, []
        if not batch:
            return
        message = _TAKING.format(count=len(batch))
        self.context.report_progress("applying", message, self.received - len(batch), self.total)
        self._write_new(batch)
        self.context.report_progress("applying", message, self.received, self.total)

    def _write_new(self, batch: list[NewCard]) -> None:
        matcher = CardMatcher(self.context, batch, self.missing)
        linked = [(new, person_id) for new in batch if (person_id := matcher.find_person(new)) is not None]
        rest = [new for new in batch if new not in [pair[0] for pair in linked]]
        for new, person_id in linked:
            if self.is_linking:
                link_and_merge(self.context, new, person_id, moved_from=set(self.missing))
        if self.is_importing:
            rest = import_cards(self.context, rest)
            self.left_pending += len(rest)
        if rest:
            self.context.tally.discovered += len(rest)
            self.context.act(partial(self._insert_pending, rest))

    def _insert_pending(self, rest: list[NewCard]) -> None:
        context = self.context
        with context.write() as write:
            rows = [
                PendingImport(
                    owner=context.owner,
                    connection=context.connection,
                    uid=new.card.uid,
                    display_name=new.card.full_name[:500],
                    raw=new.remote_card.text,
                    digest=hash_text(new.remote_card.text),
                    href=new.remote_card.href,
                    href_key=new.remote_card.key,
                    etag=new.remote_card.etag,
                    discovered_at=write.now,
                )
                for new in rest
            ]
            PendingImport.objects.bulk_create(
                rows,
                update_conflicts=False,
                ignore_conflicts=True,
            )
            delete_todos(context, [new.remote_card.key for new in rest])

    def _update_tombstone(self, row: IndexRow, remote_card: Resource) -> None:
        # A card that stays is updated, so that it is not fetched again; one to be deleted keeps its text, against which
        # `delete_cards` recognises the remote edit.
        with self.context.write():
            rows = Tombstone.objects.owned_by(self.context.owner).filter(pk=row.pk)
            rows.filter(state=TombstoneState.KEPT).update(etag=remote_card.etag, remote_raw=remote_card.text)

    def _update_pending(self, row: IndexRow, remote_card: Resource, card: Card) -> None:
        with self.context.write():
            rows = PendingImport.objects.owned_by(self.context.owner).filter(pk=row.pk)
            rows.update(
                uid=card.uid,
                display_name=card.full_name[:500],
                raw=remote_card.text,
                digest=hash_text(remote_card.text),
                etag=remote_card.etag,
            )

    def _store_unreadable(self, remote_card: Resource, why: Text) -> None:
        """Report the card once; it is fetched again when its ETag changes. A mapped contact stays as it is."""
        self.context.tally.add_error(CARD_PROBLEM.format(href=remote_card.href, reason=why))
        values: dict[str, object] = {"kind": OtherKind.UNREADABLE, "error": why, "name": "", "members": []}
        self.context.act(partial(self._store_other_card, remote_card, values))

    def _store_group(self, remote_card: Resource, card: Card) -> None:
        values: dict[str, object] = {
            "kind": OtherKind.GROUP,
            "error": "",
            "name": card.name[:100],
            "members": list(card.members),
        }
        self._store_other_card(remote_card, values)

    def _store_other_card(self, remote_card: Resource, values: dict[str, object]) -> None:
        context = self.context
        with context.write():
            OtherCard.objects.owned_by(context.owner).update_or_create(
                connection=context.connection,
                href_key=remote_card.key,
                defaults={"href": remote_card.href, "etag": remote_card.etag, **values},
                create_defaults={"owner": context.owner, "href": remote_card.href, "etag": remote_card.etag, **values},
            )
            row = self.index.cards.get(remote_card.key)
            # Without this the next listing, and each one after it, would report the card as changed.
            if row is not None and row.kind == "mapping":
                Mapping.objects.owned_by(context.owner).filter(pk=row.pk).update(etag=remote_card.etag)
            delete_todos(context, [remote_card.key])

    def _save_todos(self, failed: dict[str, ListingEntry], done: list[str]) -> None:
        context = self.context
        new = [entry for key, entry in failed.items() if key not in self.index.todo]
        if not (done or new):
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


def apply_group_cards(context: SyncContext) -> None:
    """Put the members of group cards into groups, each once, so that a member who was removed here is not added
    again."""
    rows = OtherCard.objects.owned_by(context.owner).filter(connection=context.connection.pk, kind=OtherKind.GROUP)
    for card in rows.order_by("id"):
        unapplied = [uid for uid in card.members if uid not in card.joined]
        if unapplied:
            _apply_group_card(context, card, unapplied)


def _apply_group_card(context: SyncContext, card: OtherCard, unapplied: list[str]) -> None:
    spellings = {spelling: uid for uid in unapplied for spelling in uid_spellings(uid)}
    mappings = Mapping.objects.owned_by(context.owner).filter(
        connection=context.connection, uid__in=spellings, person__deleted_at=None
    )
    members: dict[UUID, str] = {row.person_id: spellings[row.uid or ""] for row in mappings.defer("remote_raw")}
    if not members:
        return
    with context.write() as write:
        groups = CategoryGroups(context.owner)
        groups.load([card.name])
        if not groups.reserve(card.name):
            context.tally.messages.append(_NO_ROOM_FOR_GROUP.format(group=card.name))
            return
        # What was unsent before stays so: the membership alone is nothing to be sent.
        unsent = set(unsent_mappings(context.connection).filter(person__in=members).values_list("person_id", flat=True))
        put_members(groups.make(card.name), list(members), write.now)
        _add_to_bases(context, list(members), card.name, {key: write.revision for key in members if key not in unsent})
        card.joined = [*card.joined, *members.values()]
        card.save()


def _add_to_bases(context: SyncContext, person_ids: list[UUID], name: str, revisions: MappingOf[UUID, int]) -> None:
    """Add the group to the members' bases: the server knows the membership from its group card, so it must not be sent
    as CATEGORIES of the members' cards. `revisions`: of the people of whom nothing else is unsent."""
    for mapping in Mapping.objects.owned_by(context.owner).filter(person__in=person_ids):
        keys = {case_key(group) for group in mapping.base_local.get("groups", ())}
        if case_key(name) not in keys:
            mapping.add_group(name, revisions.get(mapping.person_id))
        else:
            mapping.mark_current(revisions.get(mapping.person_id))
