"""Imports a file of another product: its source opens it, its records are imported as cards, one undo reverts all."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, BinaryIO
from uuid import UUID

from django.db import Error

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_lock
from contacts_project.kernel.unavailable import is_unavailable
from people.importing.batch import PLAN_LIMIT
from people.importing.dry_run import DryRun
from people.importing.log import ImportLog
from people.importing.receipts import SKIPPED, Outcome, build_receipt
from people.importing.related_records import RelatedRecords, describe_excess
from people.importing.sources.drafts import RecordResult
from people.importing.sources.registry import open_source
from people.importing.sources.sheets import Sheet
from people.importing.vcards import import_cards
from people.models import ContactImport


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """An uploaded file. `mapping` is the JSON of a column mapping, only for CSV. `file` is read from its beginning."""

    source: str
    file: BinaryIO
    name: str = ""
    mapping: str = ""


class FileImport:
    """The import of one file. Raises FieldError if the file is not of the given source."""

    def __init__(self, *, owner: User, upload: Upload, now: dt.datetime, is_dry: bool = False) -> None:
        self.owner, self.now = owner, now
        self.source = open_source(owner=owner, upload=upload, now=now)
        self.dry_run = DryRun() if is_dry else None
        row = ContactImport(owner=owner, source=upload.source, file_name=_clean_file_name(upload.name), created_at=now)
        self.log = None if is_dry else ImportLog(row, owner, now)
        self.counts: Counter[str] = self.log.counts if self.log else Counter()
        self.plan_refusals = 0
        self.keys: dict[int, str] = {}

    @property
    def import_id(self) -> UUID | None:
        """None for a dry run and for a file without records."""
        return self.log.row.pk if self.log and self.counts else None

    def run(self) -> Iterator[Outcome]:
        """Yield the outcome of each record. Records are written batch by batch; a dry run writes nothing.

        If the file also contains interactions or relationships, the outcomes are yielded after those are written,
        because their remarks become part of the outcomes.
        """
        related = RelatedRecords(self.owner, self.source, self.log, self.now) if self.log else None
        types = related.create_types() if related else {}
        outcomes = self._count_outcomes(
            import_cards(
                owner=self.owner, cards=self._read_cards(types), now=self.now, log=self.log, dry_run=self.dry_run
            )
        )
        yield from self._write_related(list(outcomes), related, types) if self.has_record_keys else outcomes
        # A file without records, or of which the plan refused every record, does not become an import in the list.
        if self.plan_refusals < self.counts.total():
            self._finish_log()

    def _count_outcomes(self, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
        for outcome in outcomes:
            self.counts[outcome.status] += 1
            self.plan_refusals += outcome.code == PLAN_LIMIT
            yield outcome

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
        remarks: dict[str, list[str]] = {}
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
            reason = "; ".join(filter(None, (outcome.reason, *added)))
            whole.append(replace(outcome, reason=reason) if added else outcome)
        not_imported = [*self.source.not_imported(), *describe_excess(self.source)]
        rest = [
            Outcome(index, name, SKIPPED, reason=reason)
            for index, (name, reason) in enumerate(not_imported, start=len(whole))
        ]
        return [*whole, *self._count_outcomes(rest)]

    def receipt(self, outcomes: list[Outcome]) -> dict[str, Any]:
        """The receipt of the whole file, as for cards, and the id that undoes the import."""
        key = self.import_id
        return {**build_receipt(outcomes, self.source.record_noun), "importId": str(key) if key else None}

    def _finish_log(self) -> None:
        if self.log is None:
            return
        try:
            with account_lock(self.owner):
                self.log.finish(self.counts)
        except (Error, OSError) as error:
            # Every batch has stored its own counts: only the last update of the counts and `ended_at` are missing.
            if self.log.row._state.adding or not is_unavailable(error):
                raise


def _clean_file_name(name: str) -> str:
    """The name of a file without its folders and without unprintable characters; at most 255 characters."""
    base = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(character for character in base if character.isprintable())[:255]
