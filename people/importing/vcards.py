"""Takes the cards of a file into an account, in short transactions; one bad card never stops the rest.

Which card is which person: the one with its UID, else a namesake whom the card does not contradict and with whom it
shares an e-mail address or a phone number, or to whom it adds nothing. So a second run changes nothing: docs/vcard.md.
"""

import datetime as dt
import logging
from collections.abc import Iterable, Iterator
from dataclasses import replace

from django.db import DatabaseError

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.batches import BatchWriter, StoppedError
from contacts_project.kernel.storage import StorageUnavailableError
from contacts_project.kernel.unavailable import is_unavailable
from people.importing.batch import PLAN_LIMIT, Batch
from people.importing.card_groups import GroupPlan
from people.importing.dry_run import DryRun
from people.importing.known import Item, Picture, uid_spellings
from people.importing.log import ImportLog, ImportStoppedError
from people.importing.receipts import ERROR, NOT_TRIED, SKIPPED, UNDONE, Outcome
from people.models import Person
from people.photos.files import content_hash, upload_photo
from people.photos.images import PictureRefusedError, PixelBudget, as_stored
from people.services.groups import put_members
from people.vcard import CardResult, without_photo

__all__ = ["PLAN_LIMIT", "import_cards"]

logger = logging.getLogger(__name__)

_BATCH_CARDS = 100
_BATCH_PHOTOS = 50
_KEPT_PHOTOS = 8


def import_cards(
    *,
    owner: User,
    cards: Iterable[CardResult],
    now: dt.datetime,
    log: ImportLog | None = None,
    dry_run: DryRun | None = None,
) -> Iterator[Outcome]:
    """Yield what became of each card as the batches finish; the outcomes of group cards come last.

    Parsing and photos are done outside of transactions. A batch that the database refuses is tried card by card.
    `log` notes what is written; with a `dry_run` nothing is, and the outcomes say what would be.
    """
    session = _Session(owner, now, log, dry_run)
    batch: list[Item] = []
    for result in cards:
        item = session.read(result)
        if isinstance(item, Outcome):
            yield item
        elif item.card.is_group:
            session.group_items.append(item)
        else:
            batch.append(item)
        if len(batch) >= _BATCH_CARDS or sum(item.picture is not None for item in batch) >= _BATCH_PHOTOS:
            yield from session.store(batch)
            batch = []
    yield from session.store(batch)
    for item in session.group_items:
        yield session.join(item)
    session.writer.finish()


class _Session:
    """One file."""

    def __init__(self, owner: User, now: dt.datetime, log: ImportLog | None, dry_run: DryRun | None) -> None:
        self.owner, self.now = owner, now
        self.log, self.dry_run = log, dry_run
        self.seen: set[str] = set()
        self.is_undone = False
        self.pictures = _Pictures()
        self.writer = BatchWriter(owner)
        self.group_items: list[Item] = []

    def read(self, result: CardResult) -> Item | Outcome:
        if result.card is None:
            return Outcome(result.index, result.name, ERROR, reason=result.error)
        columns = getattr(result, "columns", {})
        item = Item(result, result.card, reasons=list(result.warnings), columns=columns)
        if result.card.photo and not result.card.is_group:
            item.picture = self.pictures.of(result.card.photo, item.reasons)
            item.card = without_photo(item.card, is_taken=item.picture is not None)
        return item

    def store(self, items: list[Item]) -> list[Outcome]:
        if not items:
            return []
        try:
            with self.writer.attempt():
                if not self.is_undone:
                    return self._store(items)
        except ImportStoppedError:
            self.is_undone = True
        except StoppedError:
            return [_failed(item, NOT_TRIED) for item in items]
        except DatabaseError as error:
            if is_unavailable(error):
                raise
            logger.exception("a batch of an import failed")
        if self.is_undone:
            return [_failed(item, UNDONE) for item in items]
        if len(items) == 1:
            return [_failed(items[0], "this record could not be stored")]
        return [outcome for item in items for outcome in self.store([item])]

    def _store(self, items: list[Item]) -> list[Outcome]:
        for item in items:
            if item.picture and self.dry_run is None:
                # Before the account is locked: writing may wait for the disk, or for a store elsewhere.
                try:
                    upload_photo(owner_id=self.owner.pk, jpeg=item.picture.jpeg)
                except StorageUnavailableError:
                    item.picture = None
                    item.reasons.append("its photo was left out: the store of photos is away")
        fresh = [replace(item, reasons=list(item.reasons)) for item in items]
        batch = Batch(self.owner, fresh, self.seen, self.now, log=self.log, dry_run=self.dry_run)
        if self.dry_run is None:
            self._write(batch)
        else:
            batch.plan()
        self.seen |= batch.people.met
        return batch.outcomes

    def _write(self, batch: Batch) -> None:
        with self.writer.batch():
            batch.plan()
            if batch.changed:
                with account_write(self.owner) as write:
                    batch.write(write)

    def join(self, item: Item) -> Outcome:
        """A group card: its members become members of the group of its name. It is never a person."""
        try:
            with self.writer.attempt():
                return self._join(item)
        except StoppedError:
            return _failed(item, NOT_TRIED)

    def _join(self, item: Item) -> Outcome:
        uids = {spelling for member in item.card.members for spelling in uid_spellings(member)}
        groups = GroupPlan(self.owner)
        reason = f"a group, not a person; it has {len(item.card.members)} members"
        with self.writer.batch():
            groups.load([item.card.name])
            people = Person.objects.owned_by(self.owner).active().filter(uid__in=uids)
            named = people.exclude(memberships__group__in=groups.existing())
            missing = list(named.order_by("id").values_list("pk", flat=True))
            if missing and groups.reserve(item.card.name):
                with account_write(self.owner):
                    put_members(groups.make(item.card.name), missing, self.now)
            elif missing:
                reason = f"{reason}; your plan allows no more groups"
        return Outcome(item.result.index, item.result.name, SKIPPED, reason=reason)


def _failed(item: Item, reason: str) -> Outcome:
    return Outcome(item.result.index, item.result.name, ERROR, reason=reason)


class _Pictures:
    """Photos of one file as they are stored. Contacts in a row may share one: it is made once."""

    def __init__(self) -> None:
        self._budget = PixelBudget()
        self._recent: dict[bytes, Picture | PictureRefusedError] = {}

    def of(self, data: bytes, reasons: list[str]) -> Picture | None:
        if data not in self._recent:
            if len(self._recent) >= _KEPT_PHOTOS:
                self._recent.pop(next(iter(self._recent)))
            self._recent[data] = self._made(data)
        made = self._recent[data]
        if isinstance(made, Picture):
            return made
        reasons.append(f"the photo was left out: {made}")
        return None

    def _made(self, data: bytes) -> Picture | PictureRefusedError:
        """Its own hash counts, too: an export holds what is stored already."""
        try:
            jpeg = as_stored(data, self._budget)
        except PictureRefusedError as refusal:
            return refusal
        return Picture(jpeg, frozenset(content_hash(content) for content in (jpeg, data)))
