"""Stores cards as pending imports, which the user reviews before importing them: those of an uploaded file, and new
ones on the server."""

import datetime as dt
from collections.abc import Iterable, Iterator
from itertools import islice

from accounts.models import User
from carddav.models import PendingImport
from carddav.models.mapping import hash_text
from carddav.services.books import do_job
from carddav.services.connections import locked_connection
from carddav.sync.context import JobReport
from carddav.sync.run import discover_new_cards
from contacts_project.kernel.ownership.account_lock import BatchWriter, StoppedError, account_write
from contacts_project.kernel.texts import define_text
from people.importing.receipts import ERROR, IMPORTED, NOT_TRIED, SKIPPED, UPDATED, RecordOutcome
from people.models import Person
from people.models.account_counts import StorageLimitError
from people.vcard import CardResult
from people.vcard.card import uid_key, uid_spellings

_GROUP = define_text("group_not_contact", "a group, not a contact")
_PENDING = define_text("pending_already", "this card is pending already")
_CONTACT = define_text("contact_already", "already a contact")

_BATCH_SIZE = 200


def upload_cards(*, owner: User, cards: Iterable[CardResult], now: dt.datetime) -> Iterator[RecordOutcome]:
    """Store each card as a pending import, in short transactions. A card that is pending already, or whose UID is a
    contact's, is skipped.

    A card with the UID of an earlier upload replaces it. Group cards are skipped.
    """
    stream = iter(cards)
    uids: set[str] = set()
    with BatchWriter(owner) as writer:
        while batch := list(islice(stream, _BATCH_SIZE)):
            try:
                with writer.attempt(), writer.batch(), account_write(owner):
                    outcomes = _UploadBatch(owner, batch, now, uids).store()
            except StoppedError:
                outcomes = [RecordOutcome(card.index, card.name, ERROR, remarks=(NOT_TRIED,)) for card in batch]
            except StorageLimitError as error:
                outcomes = [RecordOutcome(card.index, card.name, ERROR, remarks=(error.message,)) for card in batch]
            yield from outcomes


class _UploadBatch:
    """Up to 200 cards. `seen_uids` are the UIDs of earlier cards in the same file."""

    def __init__(self, owner: User, cards: list[CardResult], now: dt.datetime, seen_uids: set[str]) -> None:
        self.owner, self.cards, self.now, self.seen_uids = owner, cards, now, seen_uids
        self.created: list[PendingImport] = []
        self.replaced: list[PendingImport] = []

    def store(self) -> list[RecordOutcome]:
        card_uids = [card.card.uid for card in self.cards if card.card and card.card.uid]
        uids = {spelling for uid in card_uids for spelling in uid_spellings(uid)}
        pending = PendingImport.objects.owned_by(self.owner)
        self.by_uid = {uid_key(row.uid or ""): row for row in pending.filter(uid__in=uids, href=None).defer("raw")}
        digests = [hash_text(card.text) for card in self.cards]
        self.digests = set(pending.filter(digest__in=digests).values_list("digest", flat=True))
        people = Person.objects.owned_by(self.owner).active().filter(uid__in=uids)
        self.contacts = {uid_key(uid or ""): person_id for uid, person_id in people.values_list("uid", "pk")}
        outcomes = [self._store_card(card) for card in self.cards]
        PendingImport.objects.bulk_create(self.created)
        pending.bulk_update(self.replaced, ["display_name", "raw", "digest", "discovered_at"])
        return outcomes

    def _store_card(self, result: CardResult) -> RecordOutcome:
        card = result.card
        if card is None:
            return RecordOutcome(result.index, result.name, ERROR, remarks=(result.error,) if result.error else ())
        digest = hash_text(result.text)
        if card.is_group:
            return RecordOutcome(result.index, result.name, SKIPPED, remarks=(_GROUP,))
        if digest in self.digests:
            return RecordOutcome(result.index, result.name, SKIPPED, remarks=(_PENDING,))
        key = uid_key(card.uid or "")
        if person_id := self.contacts.get(key):
            return RecordOutcome(result.index, result.name, SKIPPED, person_id, (_CONTACT,))
        self.digests.add(digest)
        # Two cards with one UID in the same file are both kept: UIDs are not unique.
        earlier = self.by_uid.get(key) if key not in self.seen_uids else None
        self.seen_uids.update(filter(None, [key]))
        if earlier:
            earlier.display_name, earlier.raw, earlier.digest, earlier.discovered_at = (
                result.name,
                result.text,
                digest,
                self.now,
            )
            self.replaced.append(earlier)
            return RecordOutcome(result.index, result.name, UPDATED, remarks=result.warnings)
        row = PendingImport(
            owner=self.owner,
            uid=card.uid,
            display_name=result.name[:500],
            raw=result.text,
            digest=digest,
            discovered_at=self.now,
        )
        self.created.append(row)
        return RecordOutcome(result.index, result.name, IMPORTED, remarks=result.warnings)


def discover_contacts(*, owner: User) -> JobReport:
    """Store new cards as pending imports; nothing else is changed on either side. Works with sync disabled.

    Raises MissingError, ConnectionBusyError.
    """
    with locked_connection(owner) as context:
        report = do_job(context, discover_new_cards)
        report.done = context.tally.discovered
    return report
