"""Imports a file of another product: its source opens it, its records are imported as cards, one undo reverts all."""

import datetime as dt
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import BinaryIO
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.texts import Text
from people.importing.dry_run import DryRun
from people.importing.receipts import SKIPPED, Outcome
from people.importing.related_records import RelatedRecords, describe_excess
from people.importing.runs import ImportRun
from people.importing.sources.drafts import RecordResult
from people.importing.sources.registry import open_source
from people.importing.sources.sheets import Sheet
from people.importing.sources.tables import DETECT_ALL, TableOptions
from people.importing.vcards import import_cards


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """An uploaded file, which is read from its beginning.

    `mapping` is the JSON of a column mapping, only for CSV; `options` are for all tables. Everybody in it joins the
    groups `group_ids`.
    """

    source: str
    file: BinaryIO
    name: str = ""
    mapping: str = ""
    options: TableOptions = DETECT_ALL
    group_ids: Collection[UUID] = ()


class FileImport(ImportRun):
    """The import of one file. Raises FieldError if the file is not of the given source."""

    def __init__(self, *, owner: User, upload: Upload, now: dt.datetime, is_dry: bool = False) -> None:
        super().__init__(owner=owner, source=upload.source, file_name=upload.name, now=now, is_dry=is_dry)
        self.group_ids = upload.group_ids
        self.source = open_source(owner=owner, upload=upload, now=now)
        self.record_noun = self.source.record_noun
        self.dry_run = DryRun() if is_dry else None
        self.keys: dict[int, str] = {}
        self.left_out: list[Outcome] = []
        """The kinds of data in the file that belong to no person and were left out, when `run` is through."""

    def run(self) -> Iterator[Outcome]:
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
        self, outcomes: list[Outcome], related: RelatedRecords | None, types: Mapping[str, UUID]
    ) -> list[Outcome]:
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
            Outcome(index, str(name), SKIPPED, remarks=(remark,))
            for index, (name, remark) in enumerate(not_imported, start=len(whole))
        ]
        return [*whole, *self.count(self.left_out)]
