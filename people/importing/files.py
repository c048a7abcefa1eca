"""Takes a file of another product into an account: opened by its source, imported as cards are, undone as one."""

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_lock
from people.importing.batch import Rehearsal
from people.importing.log import ImportLog
from people.importing.receipts import ERROR, IMPORTED, SKIPPED, UPDATED, Outcome, receipt
from people.importing.sources.registry import open_source
from people.importing.vcards import import_cards
from people.models import ContactImport


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file as it came. `mapping` is the JSON of a mapping, for CSV alone; `file` is read from its beginning."""

    source: str
    file: BinaryIO
    name: str = ""
    mapping: str = ""


class FileImport:
    """One file on its way in. Raises FieldError where it is not of its source."""

    def __init__(self, *, owner: User, upload: Upload, now: dt.datetime, is_dry: bool = False) -> None:
        self.owner, self.now = owner, now
        self.source = open_source(owner=owner, upload=upload, now=now)
        self.rehearsal = Rehearsal() if is_dry else None
        row = ContactImport(owner=owner, source=upload.source, file_name=_shown(upload.name), created_at=now)
        self.log = None if is_dry else ImportLog(row, owner, now)
        self.counts: Counter[str] = Counter()

    @property
    def import_id(self) -> UUID | None:
        """None of a dry run."""
        return self.log.row.pk if self.log else None

    def run(self) -> Iterator[Outcome]:
        """Yield what became of each record; they are written batch by batch. In a dry run nothing is."""
        outcomes = import_cards(
            owner=self.owner, cards=self.source.people(), now=self.now, log=self.log, rehearsal=self.rehearsal
        )
        for outcome in outcomes:
            self.counts[outcome.status] += 1
            yield outcome
        self._finish()

    def receipt(self, outcomes: list[Outcome]) -> dict[str, Any]:
        """The answer over the whole file, as for cards, and the id by which the import is undone."""
        key = self.import_id
        return {**receipt(outcomes, self.source.what), "importId": str(key) if key else None}

    def _finish(self) -> None:
        if self.log is None:
            return
        row = self.log.row
        row.imported, row.updated = self.counts[IMPORTED], self.counts[UPDATED]
        row.skipped, row.errors = self.counts[SKIPPED], self.counts[ERROR]
        with account_lock(self.owner):
            row.save()


def _shown(name: str) -> str:
    """The name of a file without its folders and without what no stored text may hold."""
    base = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(character for character in base if character.isprintable())[:255]
