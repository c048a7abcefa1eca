"""The outcome of each record of a file, and the receipt of all of them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import Text, define_text, describe_remarks

IMPORTED, UPDATED, SKIPPED, ERROR = "imported", "updated", "skipped", "error"
#: Of the records that were not tried because the database became unavailable.
NOT_TRIED = define_text(
    "not_tried",
    "not tried: the service was busy, or a part of it away; import the file again, it goes on from here",
)
#: Of the records that were not tried because the import was undone while it was running.
UNDONE = define_text("import_undone", "not tried: this import was undone while it ran")
TOO_MANY_RECORDS = define_text(
    "too_many_records_in_file", "the file has more than %(limit)s records: the rest was not read"
)
_FAILED = define_text("record_failed", "%(noun)s %(number)s: %(reason)s")
_NAMED_FAILED = define_text("named_record_failed", "%(noun)s %(number)s (%(name)s): %(reason)s")
#: What the sources call a record.
CARD, CONTACT = define_text("noun_card", "Card"), define_text("noun_contact", "Contact")
PERSON, ROW = define_text("noun_person", "Person"), define_text("noun_row", "Row")


@dataclass(frozen=True, slots=True)
class RecordOutcome:
    """The outcome of one record, counted from 0. `remarks` say why it failed, or what was changed or left out.

    `birthdays` is how many birthdays it brings, `reminders` how many important dates with a reminder.
    """

    index: int
    name: str
    status: str
    person_id: UUID | None = None
    remarks: tuple[Text, ...] = ()
    birthdays: int = 0
    reminders: int = 0

    @property
    def code(self) -> str | None:
        """The code of the first remark."""
        return self.remarks[0].code if self.remarks else None

    def to_json(self) -> JsonObject:
        """The result in the active language. `reason`, `code` and `params` are those of the first remark."""
        result: dict[str, Any] = {"index": self.index, "name": self.name, "status": self.status}
        if self.person_id:
            result["personId"] = str(self.person_id)
        return result | describe_remarks(self.remarks)

    def message(self, record_noun: Text = CARD) -> Text:
        """The error message, which counts records from 1. `record_noun` is what the source calls a record."""
        return self.messages(record_noun)[0]

    def messages(self, record_noun: Text = CARD) -> list[Text]:
        """All remarks as messages about this record."""
        return [self._describe(remark, record_noun) for remark in self.remarks]

    def _describe(self, reason: Text, record_noun: Text) -> Text:
        number = self.index + 1
        if self.name:
            return _NAMED_FAILED.format(noun=record_noun, number=number, name=self.name, reason=reason)
        return _FAILED.format(noun=record_noun, number=number, reason=reason)


def build_receipt(outcomes: Iterable[RecordOutcome], record_noun: Text = CARD) -> JsonObject:
    """The receipt of a whole file. `success` is false only if every record failed."""
    ordered = sorted(outcomes, key=lambda outcome: outcome.index)
    counts = Counter(outcome.status for outcome in ordered)
    return {
        "success": not ordered or counts[ERROR] < len(ordered),
        "imported": counts[IMPORTED],
        "updated": counts[UPDATED],
        "skipped": counts[SKIPPED],
        "errors": counts[ERROR],
        "errorMessages": [str(outcome.message(record_noun)) for outcome in ordered if outcome.status == ERROR],
        "results": [outcome.to_json() for outcome in ordered],
    }
