"""The run of one import: its row in the list, the log for its undo, and the counts of its outcomes."""

import datetime as dt
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from uuid import UUID

from django.db import Error

from accounts.models import User
from contacts_project.kernel.errors import is_unavailable
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import account_lock
from contacts_project.kernel.texts import Text
from people.importing.batch import PLAN_LIMIT
from people.importing.log import ImportLog
from people.importing.receipts import CARD, Outcome, build_receipt
from people.importing.vcards import import_cards, without_google_groups
from people.models import ContactImport
from people.vcard import CardResult
from people.vocabularies import ImportSource


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

    def count(self, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
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

    def receipt(self, outcomes: list[Outcome]) -> JsonObject:
        """The receipt of the whole file, and the id that undoes the import."""
        key = self.import_id
        return {**build_receipt(outcomes, self.record_noun), "importId": str(key) if key else None}


class VCardImport(ImportRun):
    """The import of a vCard file."""

    def __init__(self, *, owner: User, file_name: str, now: dt.datetime, group_ids: Collection[UUID] = ()) -> None:
        super().__init__(owner=owner, source=ImportSource.VCARD, file_name=file_name, now=now)
        self.group_ids = group_ids

    def run(self, cards: Iterable[CardResult]) -> Iterator[Outcome]:
        """Yield the outcome of each card. Cards are written batch by batch."""
        cards = (replace(one, card=without_google_groups(one.card)) if one.card else one for one in cards)
        outcomes = import_cards(owner=self.owner, cards=cards, now=self.now, log=self.log, group_ids=self.group_ids)
        yield from self.count(outcomes)
        self.finish()


def _clean_file_name(name: str) -> str:
    """The name of a file without its folders and without unprintable characters; at most 255 characters."""
    base = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(character for character in base if character.isprintable())[:255]
