"""Imports the cards of a file in short transactions. A card that fails does not stop the others.

A card matches the person with its UID, else a namesake that it does not contradict and with which it shares an e-mail
address or a phone number, or to which it adds nothing. So a second import changes nothing: docs/vcard.md.
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
from people.photos.images import PictureRefusedError, PixelBudget, to_stored_form
from people.services.groups import put_members
from people.vcard import CardResult, without_photo

__all__ = ["PLAN_LIMIT", "import_cards"]

logger = logging.getLogger(__name__)

_BATCH_CARDS = 100
_BATCH_PHOTOS = 50
_CACHED_PHOTOS = 8


def import_cards(
    *,
    owner: User,
    cards: Iterable[CardResult],
    now: dt.datetime,
    log: ImportLog | None = None,
    dry_run: DryRun | None = None,
) -> Iterator[Outcome]:
    """Yield the outcome of each card as the batches finish. The outcomes of group cards come last.

    Cards are parsed and photos converted outside of transactions. A batch that the database refuses is retried card by
    card. `log` records what is written. With a `dry_run` nothing is written, and the outcomes are those of an import.
    """
    session = _Session(owner, now, log, dry_run)
    batch: list[Item] = []
    for result in cards:
        item = session.read(result)
        if isinstance(item, Outcome):
            yield item
        elif item.card.is_group:
            # Kept until the end: its members may be cards that come later in the file.
            session.group_items.append(item)
        else:
            batch.append(item)
        if len(batch) >= _BATCH_CARDS or sum(item.picture is not None for item in batch) >= _BATCH_PHOTOS:
            yield from session.store(batch)
            batch = []
    yield from session.store(batch)
    for item in session.group_items:
        yield session.add_to_group(item)
    session.writer.finish()


class _Session:
    """The import of one file."""

    def __init__(self, owner: User, now: dt.datetime, log: ImportLog | None, dry_run: DryRun | None) -> None:
        self.owner, self.now = owner, now
        self.log, self.dry_run = log, dry_run
        self.seen: set[str] = set()
        self.is_undone = False
        self.pictures = _PhotoConverter()
        self.writer = BatchWriter(owner)
        self.group_items: list[Item] = []

    def read(self, result: CardResult) -> Item | Outcome:
        if result.card is None:
            return Outcome(result.index, result.name, ERROR, reason=result.error)
        columns = getattr(result, "columns", {})
        item = Item(result, result.card, reasons=list(result.warnings), columns=columns)
        if result.card.photo and not result.card.is_group:
            item.picture = self.pictures.convert(result.card.photo, item.reasons)
            item.card = without_photo(item.card, is_stored_elsewhere=item.picture is not None)
        return item

    def store(self, items: list[Item]) -> list[Outcome]:
        if not items:
            return []
        try:
            with self.writer.attempt():
                if not self.is_undone:
                    return self._store_batch(items)
        except ImportStoppedError:
            self.is_undone = True
        except StoppedError:
            return [_error_outcome(item, NOT_TRIED) for item in items]
        except DatabaseError as error:
            if is_unavailable(error):
                raise
            logger.exception("a batch of an import failed")
        if self.is_undone:
            return [_error_outcome(item, UNDONE) for item in items]
        if len(items) == 1:
            return [_error_outcome(items[0], "this record could not be stored")]
        # The database refuses a whole batch for one bad card, so import the cards one by one.
        return [outcome for item in items for outcome in self.store([item])]

    def _store_batch(self, items: list[Item]) -> list[Outcome]:
        for item in items:
            if item.picture and self.dry_run is None:
                # Before the account lock is taken: the upload may wait for a disk or for a remote store.
                try:
                    upload_photo(owner_id=self.owner.pk, jpeg=item.picture.jpeg)
                except StorageUnavailableError:
                    item.picture = None
                    item.reasons.append("its photo was left out: the store of photos is away")
        # Copies, because planning changes the items, and a failed batch is planned again card by card.
        fresh = [replace(item, reasons=list(item.reasons)) for item in items]
        batch = Batch(self.owner, fresh, self.seen, self.now, log=self.log, dry_run=self.dry_run)
        if self.dry_run is None:
            self._write_batch(batch)
        else:
            batch.plan()
        # Only now: a batch that failed and is retried must not find its own UIDs among those of earlier batches.
        self.seen |= batch.people.met
        return batch.outcomes

    def _write_batch(self, batch: Batch) -> None:
        with self.writer.batch():
            batch.plan()
            if batch.changed:
                with account_write(self.owner) as write:
                    batch.write(write)

    def add_to_group(self, item: Item) -> Outcome:
        """Add the members of a group card to the group with its name. A group card never becomes a person."""
        try:
            with self.writer.attempt():
                return self._add_group_members(item)
        except StoppedError:
            return _error_outcome(item, NOT_TRIED)

    def _add_group_members(self, item: Item) -> Outcome:
        uids = {spelling for member in item.card.members for spelling in uid_spellings(member)}
        groups = GroupPlan(self.owner)
        reason = f"a group, not a person; it has {len(item.card.members)} members"
        with self.writer.batch():
            groups.load([item.card.name])
            people = Person.objects.owned_by(self.owner).active().filter(uid__in=uids)
            same_name = people.exclude(memberships__group__in=groups.existing())
            missing = list(same_name.order_by("id").values_list("pk", flat=True))
            if missing and groups.reserve(item.card.name):
                with account_write(self.owner):
                    put_members(groups.make(item.card.name), missing, self.now)
            elif missing:
                reason = f"{reason}; your plan allows no more groups"
        return Outcome(item.result.index, item.result.name, SKIPPED, reason=reason)


def _error_outcome(item: Item, reason: str) -> Outcome:
    return Outcome(item.result.index, item.result.name, ERROR, reason=reason)


class _PhotoConverter:
    """Converts the photos of one file. Recent results are cached, because neighbouring contacts may share a photo."""

    def __init__(self) -> None:
        self._budget = PixelBudget()
        self._recent: dict[bytes, Picture | PictureRefusedError] = {}

    def convert(self, data: bytes, reasons: list[str]) -> Picture | None:
        if data not in self._recent:
            if len(self._recent) >= _CACHED_PHOTOS:
                self._recent.pop(next(iter(self._recent)))
            self._recent[data] = self._convert(data)
        result = self._recent[data]
        if isinstance(result, Picture):
            return result
        reasons.append(f"the photo was left out: {result}")
        return None

    def _convert(self, data: bytes) -> Picture | PictureRefusedError:
        """The hash of `data` identifies the photo too, because an export of this service contains the stored JPEG."""
        try:
            jpeg = to_stored_form(data, self._budget)
        except PictureRefusedError as refusal:
            return refusal
        return Picture(jpeg, frozenset(content_hash(content) for content in (jpeg, data)))
