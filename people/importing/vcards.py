"""Imports the cards of a file in short transactions. A card that fails does not stop the others.

A card matches the person with its UID, else a namesake that it does not contradict and with which it shares an e-mail
address or a phone number, or to which it adds nothing. So a second import changes nothing: docs/vcard.md.
"""

import datetime as dt
import logging
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from uuid import UUID

from django.db import DatabaseError

from accounts.models import User
from contacts_project.kernel.errors import is_unavailable
from contacts_project.kernel.ownership.account_lock import BatchWriter, StoppedError, account_write
from contacts_project.kernel.storage import StorageUnavailableError
from contacts_project.kernel.texts import Text, define_text
from people.dates.schedule import calendar_from_user
from people.importing.batch import ImportBatch
from people.importing.groups import GroupCards
from people.importing.log import ImportLog, ImportStoppedError
from people.importing.matches import ConvertedPhoto, DryRunState, Item
from people.importing.receipts import ERROR, NOT_TRIED, SKIPPED, UNDONE, RecordOutcome
from people.importing.sources.drafts import RecordResult
from people.models.account_counts import StorageLimitError
from people.photos.containers import PictureRefusedError
from people.photos.files import upload_photo
from people.photos.images import PixelBudget, to_stored_form
from people.photos.names import content_hash
from people.vcard import Card, CardResult, without_photo
from people.vocabularies import DateType

_PHOTO_REFUSED = define_text("photo_refused", "the photo was left out: %(reason)s")

_FUTURE_BIRTHDAY = define_text("birthday_in_future", "the birthday %(date)s is in the future")
_NOT_STORED = define_text("not_stored", "this record could not be stored")
_PHOTO_STORE_AWAY = define_text("photo_store_away", "its photo was left out: the store of photos is away")

logger = logging.getLogger(__name__)

# The system groups of Google Contacts, as they stand in the CATEGORIES of its vCards. Its tables mark them with a star.
_GOOGLE_STARRED = "starred"
_GOOGLE_GROUPS = frozenset(("myContacts", _GOOGLE_STARRED))
_BATCH_CARDS = 100
_BATCH_PHOTOS = 50
_CACHED_PHOTOS = 8


def without_google_groups(card: Card) -> Card:
    """The card without the groups that Google's export writes into each: as of its table, none is a group here, and who
    is starred is a favourite."""
    if card.is_group or _GOOGLE_GROUPS.isdisjoint(card.categories):
        return card
    categories = tuple(name for name in card.categories if name not in _GOOGLE_GROUPS)
    return replace(card, categories=categories, favourite=card.favourite or _GOOGLE_STARRED in card.categories)


def import_cards(
    *,
    owner: User,
    cards: Iterable[CardResult],
    now: dt.datetime,
    log: ImportLog | None = None,
    dry_run: DryRunState | None = None,
    group_ids: Collection[UUID] = (),
    remind: str | None = None,
) -> Iterator[RecordOutcome]:
    """Yield the outcome of each card as the batches finish. The outcomes of group cards come last.

    Cards are parsed and photos converted outside of transactions. A batch that the database refuses is retried card by
    card. `log` records what is written. With a `dry_run` nothing is written, and the outcomes are those of an import.
    Everybody whom the cards mean joins the groups `group_ids`. `remind` (DateReminders) is instead of the account's
    `dateReminderDefault`.
    """
    session = _Session(owner, now, log, dry_run, group_ids, remind)
    batch: list[Item] = []
    with session.writer:
        for result in cards:
            item = session.read(result)
            if isinstance(item, RecordOutcome):
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


class _Session:
    """The import of one file."""

    def __init__(
        self,
        owner: User,
        now: dt.datetime,
        log: ImportLog | None,
        dry_run: DryRunState | None,
        group_ids: Collection[UUID],
        remind: str | None,
    ) -> None:
        self.owner, self.now, self.group_ids, self.remind = owner, now, group_ids, remind
        self.log, self.dry_run = log, dry_run
        self.today = calendar_from_user(owner).today(now)
        self.seen: set[str] = set()
        self.is_undone = False
        self.pictures = _PhotoConverter()
        self.writer = BatchWriter(owner)
        self.group_cards = GroupCards(owner, self.writer, now, log=log, dry_run=dry_run)
        self.group_items: list[Item] = []

    def read(self, result: CardResult) -> Item | RecordOutcome:
        if result.card is None:
            return RecordOutcome(result.index, result.name, ERROR, remarks=(result.error,) if result.error else ())
        item = Item(result, result.card, remarks=list(result.warnings))
        if isinstance(result, RecordResult):
            item.columns, item.reminders = result.columns, result.reminders
        for day in result.card.important_dates:
            if day.type == DateType.BIRTHDAY and not day.year_unknown and day.date > self.today:
                item.remarks.append(_FUTURE_BIRTHDAY.format(date=day.date.isoformat()))
        if result.card.photo and not result.card.is_group:
            item.picture = self.pictures.convert(result.card.photo, item.remarks)
            item.card = without_photo(item.card, is_stored_elsewhere=item.picture is not None)
        return item

    def store(self, items: list[Item]) -> list[RecordOutcome]:
        if not items:
            return []
        reason = _NOT_STORED
        try:
            with self.writer.attempt():
                if not self.is_undone:
                    return self._store_batch(items)
        except ImportStoppedError:
            self.is_undone = True
        except StoppedError:
            return [_error_outcome(item, NOT_TRIED) for item in items]
        except StorageLimitError as error:
            reason = error.message
        except DatabaseError as error:
            if is_unavailable(error):
                raise
            logger.exception("a batch of an import failed")
        if self.is_undone:
            return [_error_outcome(item, UNDONE) for item in items]
        if len(items) == 1:
            return [_error_outcome(items[0], reason)]
        # The database refuses a whole batch for one bad card, so import the cards one by one.
        return [outcome for item in items for outcome in self.store([item])]

    def _store_batch(self, items: list[Item]) -> list[RecordOutcome]:
        for item in items:
            if item.picture and self.dry_run is None:
                # Before the account lock is taken: the upload may wait for a disk or for a remote store.
                try:
                    upload_photo(owner_id=self.owner.pk, jpeg=item.picture.jpeg)
                except StorageUnavailableError:
                    item.picture = None
                    item.remarks.append(_PHOTO_STORE_AWAY)
        # Copies, because `prepare` changes the items, and a failed batch is prepared again card by card.
        fresh = [replace(item, remarks=list(item.remarks)) for item in items]
        batch = ImportBatch(
            self.owner,
            fresh,
            self.seen,
            self.now,
            log=self.log,
            dry_run=self.dry_run,
            group_ids=self.group_ids,
            remind=self.remind,
        )
        if self.dry_run is None:
            self._write_batch(batch)
        else:
            batch.prepare()
        # Only now: a batch that failed and is retried must not find its own UIDs among those of earlier batches.
        self.seen |= batch.candidates.met
        return batch.outcomes

    def _write_batch(self, batch: ImportBatch) -> None:
        with self.writer.batch():
            batch.prepare()
            if batch.changed:
                with account_write(self.owner) as write:
                    batch.write(write)

    def add_to_group(self, item: Item) -> RecordOutcome:
        """Apply a group card, which never becomes a person. It is skipped, and its remarks say what became of it."""
        try:
            with self.writer.attempt():
                if not self.is_undone:
                    remarks = self.group_cards.apply(item.card)
                    return RecordOutcome(
                        item.result.index, item.result.name, SKIPPED, remarks=(*item.remarks, *remarks)
                    )
        except ImportStoppedError:
            self.is_undone = True
        except StoppedError:
            return _error_outcome(item, NOT_TRIED)
        return _error_outcome(item, UNDONE)


def _error_outcome(item: Item, remark: Text) -> RecordOutcome:
    return RecordOutcome(item.result.index, item.result.name, ERROR, remarks=(remark,))


class _PhotoConverter:
    """Converts the photos of one file. Recent results are cached, because neighbouring contacts may share a photo."""

    def __init__(self) -> None:
        self._budget = PixelBudget()
        self._recent: dict[bytes, ConvertedPhoto | PictureRefusedError] = {}

    def convert(self, data: bytes, remarks: list[Text]) -> ConvertedPhoto | None:
        if data not in self._recent:
            if len(self._recent) >= _CACHED_PHOTOS:
                self._recent.pop(next(iter(self._recent)))
            self._recent[data] = self._convert(data)
        result = self._recent[data]
        if isinstance(result, ConvertedPhoto):
            return result
        remarks.append(_PHOTO_REFUSED.format(reason=result.text))
        return None

    def _convert(self, data: bytes) -> ConvertedPhoto | PictureRefusedError:
        """The hash of `data` identifies the photo too, because an export of this service contains the stored JPEG."""
        try:
            jpeg = to_stored_form(data, self._budget)
        except PictureRefusedError as refusal:
            return refusal
        return ConvertedPhoto(jpeg, frozenset(content_hash(content) for content in (jpeg, data)))
