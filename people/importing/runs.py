"""The run of one import of a file: its row in the list, the log for its undo, and the counts of its outcomes."""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import BinaryIO
from uuid import UUID

from django.db import Error

from accounts.models import User
from contacts_project.kernel.errors import is_unavailable
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import account_lock
from contacts_project.kernel.texts import Text
from people.importing.batch import PLAN_LIMIT
from people.importing.log import ImportLog
from people.importing.matches import DryRunState
from people.importing.receipts import CARD, IMPORTED, SKIPPED, RecordOutcome, build_receipt
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


class ImportRun:
    """One import of a file. `log` is None in a dry run, which writes nothing."""

    record_noun: Text = CARD

    def __init__(self, *, owner: User, source: str, file_name: str, now: dt.datetime, is_dry: bool = False) -> None:
        self.owner, self.now = owner, now
        row = ContactImport(owner=owner, source=source, file_name=_clean_file_name(file_name), created_at=now)
        self.log = None if is_dry else ImportLog(row, owner, now)
        self.counts: Counter[str] = self.log.counts if self.log else Counter()
        self.plan_refusals = 0

    @property
    def import_id(self) -> UUID | None:
        """None for a dry run and for a file without records."""
        return self.log.row.pk if self.log and self.counts else None

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

    def finish(self) -> None:
        """Store the final counts. Must be called after the last outcome.

        A file without records, or of which the plan refused every record, does not become an import in the list.
        """
        if self.log is None or not self.counts or self.is_refused_by_plan:
            return
        try:
            with account_lock(self.owner):
                self.log.finish(self.counts)
        except (Error, OSError) as error:
            # Every batch has stored its own counts: only the last update of the counts and `ended_at` are missing.
            if self.log.row._state.adding or not is_unavailable(error):
                raise

    def receipt(self, outcomes: list[RecordOutcome]) -> JsonObject:
        """The receipt of the whole file, and the id that undoes the import."""
        key, receipt = self.import_id, build_receipt(outcomes, self.record_noun)
        for result in receipt["results"] if self.log is None else ():
            if result["status"] == IMPORTED:
                result["personId"] = None  # nobody yet
        return {
            **receipt,
            "birthdays": sum(outcome.birthdays for outcome in outcomes),
            "reminders": sum(outcome.reminders for outcome in outcomes),
            "importId": str(key) if key else None,
        }


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
        is_dry: bool = False,
    ) -> None:
        super().__init__(owner=owner, source=ImportSource.VCARD, file_name=file_name, now=now, is_dry=is_dry)
        self.group_ids, self.remind = group_ids, remind

    def run(self, cards: Iterable[CardResult]) -> Iterator[RecordOutcome]:
        """Yield the outcome of each card. Cards are written batch by batch."""
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
        yield from self.count(outcomes)
        self.finish()


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

    def __init__(self, *, owner: User, upload: ImportFile, now: dt.datetime, is_dry: bool = False) -> None:
        super().__init__(owner=owner, source=upload.source, file_name=upload.name, now=now, is_dry=is_dry)
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
        self.finish()

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


def _clean_file_name(name: str) -> str:
    """The name of a file without its folders and without unprintable characters; at most 255 characters."""
    base = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(character for character in base if character.isprintable())[:255]
