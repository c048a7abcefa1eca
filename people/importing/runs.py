"""The run of one import of a file: its row in the list, the log for its undo, and the counts of its outcomes."""

import datetime as dt
import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import BinaryIO
from uuid import UUID

from django.db import Error

from accounts.models import User
from contacts_project.kernel.errors import is_unavailable
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import IMPORTS, account_lock
from contacts_project.kernel.texts import Text
from people.importing.batch import PLAN_LIMIT
from people.importing.log import ImportLog, claim_import_id
from people.importing.matches import DryRunState
from people.importing.receipts import CARD, SKIPPED, RecordOutcome, build_import_receipt, compress_outcomes
from people.importing.related_records import RelatedRecords, describe_excess
from people.importing.sources.drafts import RecordResult
from people.importing.sources.google import open_google
from people.importing.sources.monica import open_monica
from people.importing.sources.nametag import open_nametag
from people.importing.sources.outlook import open_outlook
from people.importing.sources.records import Source
from people.importing.sources.sheets import Sheet, open_csv, open_linkedin
from people.importing.sources.tables import DETECT_ALL, TableOptions
from people.importing.vcards import import_cards, without_google_groups
from people.models import ContactImport
from people.vcard import CardResult
from people.vocabularies import ImportSource

_TABLE_OPENERS: dict[str, Callable[[User, BinaryIO, dt.datetime, TableOptions], Source]] = {
    ImportSource.GOOGLE: open_google,
    ImportSource.OUTLOOK: open_outlook,
    ImportSource.LINKEDIN: open_linkedin,
}
_DOCUMENT_OPENERS: dict[str, Callable[[User, BinaryIO, dt.datetime], Source]] = {
    ImportSource.MONICA: open_monica,
    ImportSource.NAMETAG: open_nametag,
}


logger = logging.getLogger(__name__)


@contextmanager
def place_for_import(owner: User, import_id: UUID | None) -> Iterator[None]:
    """Hold one of the places for imports. Raises IdTakenError, UnavailableError.

    An id that is taken is refused before the wait for a place: its import may be the one that holds it.
    """
    if import_id is not None:
        with account_lock(owner):
            claim_import_id(owner, import_id)
    with IMPORTS.hold(owner.pk):
        yield


class ImportRun:
    """One import of a file. `log` is None in a dry run, which writes nothing. `import_id` is the client's choice."""

    record_noun: Text = CARD

    def __init__(
        self,
        *,
        owner: User,
        source: str,
        file_name: str,
        now: dt.datetime,
        import_id: UUID | None = None,
        is_dry: bool = False,
    ) -> None:
        self.owner, self.now, self.chosen_id = owner, now, import_id
        row = ContactImport(owner=owner, source=source, file_name=_clean_file_name(file_name), created_at=now)
        self.log = None if is_dry else ImportLog(row, owner, now)
        self.counts: Counter[str] = self.log.counts if self.log else Counter()
        self.plan_refusals = 0
        self.outcomes: list[RecordOutcome] = []
        self.import_id: UUID | None = None
        """Known after the last outcome. None for a dry run and for a file that has changed nothing."""

    @property
    def is_refused_by_plan(self) -> bool:
        """Whether the plan refused every record."""
        return bool(self.counts) and self.plan_refusals == self.counts.total()

    def count(self, outcomes: Iterable[RecordOutcome]) -> Iterator[RecordOutcome]:
        """Yield the outcomes, and count them."""
        for outcome in outcomes:
            self.counts[outcome.status] += 1
            self.plan_refusals += outcome.code == PLAN_LIMIT
            yield outcome
            if self.log:
                with _unless_away("the counts of an import"):
                    self.log.save_counts_if_due()

    def logged(self, total: int, outcomes: Iterable[RecordOutcome]) -> Iterator[RecordOutcome]:
        """Yield the outcomes of `total` records, and keep the row of the import from before the first one to its end.

        A file that has changed nothing does not become an import in the list.
        """
        if self.log is None:
            yield from self._collect(outcomes)
            return
        self.log.begin(self.chosen_id, total)
        try:
            yield from self._collect(outcomes)
        except Exception:
            self._end_unfinished(self.log)
            raise
        if self._has_written(self.log):
            self.import_id = self.log.row.pk
            self._finish(self.log)
        else:
            self._end_unfinished(self.log)

    def _collect(self, outcomes: Iterable[RecordOutcome]) -> Iterator[RecordOutcome]:
        for outcome in outcomes:
            self.outcomes.append(outcome)
            yield outcome

    def _has_written(self, log: ImportLog) -> bool:
        if not log.has_flushed:
            return False
        with _unless_away("whether an import has written"):
            return log.has_written()
        # A write may have been rolled back, yet most likely none was: a 503 would promise it.
        return True

    def _finish(self, log: ImportLog) -> None:
        # Every batch has stored its own counts: only the last ones, `ended_at` and the receipt would be missing.
        with _unless_away("the end of an import"):
            log.finish(compress_outcomes(self.outcomes, self.record_noun))

    def _end_unfinished(self, log: ImportLog) -> None:
        # Without this, the import ends with its lease.
        with _unless_away("the end of an import"):
            log.end_unfinished()

    def receipt(self) -> JsonObject:
        """The receipt of the whole file. Only after the last outcome."""
        return build_import_receipt(self.outcomes, self.record_noun, self.import_id, is_dry=self.log is None)


class VCardImport(ImportRun):
    """The import of a vCard file."""

    def __init__(
        self,
        *,
        owner: User,
        file_name: str,
        now: dt.datetime,
        group_ids: Collection[UUID] = (),
        remind: str | None = None,
        import_id: UUID | None = None,
        is_dry: bool = False,
    ) -> None:
        source = ImportSource.VCARD
        super().__init__(owner=owner, source=source, file_name=file_name, now=now, import_id=import_id, is_dry=is_dry)
        self.group_ids, self.remind = group_ids, remind

    def run(self, cards: Iterable[CardResult], total: int) -> Iterator[RecordOutcome]:
        """Yield the outcome of each of `total` cards. Cards are written batch by batch."""
        cards = (replace(one, card=without_google_groups(one.card)) if one.card else one for one in cards)
        outcomes = import_cards(
            owner=self.owner,
            cards=cards,
            now=self.now,
            log=self.log,
            dry_run=DryRunState() if self.log is None else None,
            group_ids=self.group_ids,
            remind=self.remind,
        )
        yield from self.logged(total, self.count(outcomes))


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportFile:
    """An uploaded file, which is read from its beginning.

    `mapping` is the JSON of a column mapping, only for CSV; `options` are for all tables. Everybody in it joins the
    groups `group_ids`. `remind` (DateReminders) is instead of the account's `dateReminderDefault`.
    """

    source: str
    file: BinaryIO
    name: str = ""
    mapping: str = ""
    options: TableOptions = DETECT_ALL
    group_ids: Collection[UUID] = ()
    remind: str | None = None

    def open_source(self, owner: User, now: dt.datetime) -> Source:
        """Raises FieldError if the file does not fit its source."""
        if self.source == ImportSource.CSV:
            return open_csv(owner, self.file, self.mapping, now, self.options)
        if open_table := _TABLE_OPENERS.get(self.source):
            return open_table(owner, self.file, now, self.options)
        return _DOCUMENT_OPENERS[self.source](owner, self.file, now)


class FileImport(ImportRun):
    """The import of a file of another product: its records are imported as cards, one undo reverts all.

    Raises FieldError if the file is not of the given source.
    """

    def __init__(
        self,
        *,
        owner: User,
        upload: ImportFile,
        now: dt.datetime,
        import_id: UUID | None = None,
        is_dry: bool = False,
    ) -> None:
        super().__init__(
            owner=owner, source=upload.source, file_name=upload.name, now=now, import_id=import_id, is_dry=is_dry
        )
        self.group_ids, self.remind = upload.group_ids, upload.remind
        self.source = upload.open_source(owner, now)
        self.record_noun = self.source.record_noun
        self.dry_run = DryRunState() if is_dry else None
        self.keys: dict[int, str] = {}
        self.left_out: list[RecordOutcome] = []
        """The kinds of data in the file that belong to no person and were left out, when `run` is through."""

    def run(self) -> Iterator[RecordOutcome]:
        """Yield the outcome of each record. Records are written batch by batch; a dry run writes nothing.

        If the file also contains interactions or relationships, the outcomes are yielded after those are written,
        because their remarks become part of the outcomes.
        """
        yield from self.logged(0 if self.log is None else self.source.count(), self._import_records())

    def _import_records(self) -> Iterator[RecordOutcome]:
        related = RelatedRecords(self.owner, self.source, self.log, self.now) if self.log else None
        types = related.create_types() if related else {}
        outcomes = self.count(
            import_cards(
                owner=self.owner,
                cards=self._read_cards(types),
                now=self.now,
                log=self.log,
                dry_run=self.dry_run,
                group_ids=self.group_ids,
                remind=self.remind,
            )
        )
        yield from self._write_related(list(outcomes), related, types) if self.has_record_keys else outcomes

    @property
    def has_record_keys(self) -> bool:
        """Whether records of the file refer to each other by key."""
        return not isinstance(self.source, Sheet)

    def _read_cards(self, types: Mapping[str, UUID]) -> Iterator[RecordResult]:
        for result in self.source.people():
            if result.key:
                self.keys[result.index] = result.key
            kind = types.get(result.to_user) if result.to_user else None
            yield replace(result, columns={**result.columns, "relationship_to_user_id": kind}) if kind else result

    def _write_related(
        self, outcomes: list[RecordOutcome], related: RelatedRecords | None, types: Mapping[str, UUID]
    ) -> list[RecordOutcome]:
        remarks: dict[str, list[Text]] = {}
        if related:
            people = {
                self.keys[outcome.index]: outcome.person_id
                for outcome in outcomes
                if outcome.person_id and outcome.index in self.keys
            }
            related.write(people, types)
            remarks = related.remarks
        whole = []
        for outcome in outcomes:
            added = remarks.get(self.keys.get(outcome.index, ""), ())
            whole.append(replace(outcome, remarks=(*outcome.remarks, *added)) if added else outcome)
        not_imported = [*self.source.not_imported(), *describe_excess(self.source)]
        self.left_out = [
            RecordOutcome(index, str(name), SKIPPED, remarks=(remark,))
            for index, (name, remark) in enumerate(not_imported, start=len(whole))
        ]
        return [*whole, *self.count(self.left_out)]


@contextmanager
def _unless_away(work: str) -> Iterator[None]:
    """Go on without the block if the database does not answer: what an import has written stays."""
    try:
        yield
    except (Error, OSError) as error:
        if not is_unavailable(error):
            raise
        logger.exception("%s could not be stored", work)


def _clean_file_name(name: str) -> str:
    """The name of a file without its folders and without unprintable characters; at most 255 characters."""
    base = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(character for character in base if character.isprintable())[:255]
