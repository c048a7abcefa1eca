"""The outcome of each record of a file, and the receipt of all of them."""

import datetime as dt
import zlib
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from typing import Any, Self
from uuid import UUID

import orjson

from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.json import JsonMapping, JsonObject, dumps
from contacts_project.kernel.ownership.models import retention_cutoff
from contacts_project.kernel.texts import Text, define_text, describe_remarks
from people.models import ContactImport, ImportReceipt

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


# Of one account, the newest ones. That of 20,000 contacts takes half a MiB.
_STORED_BYTES, _STORED_RECEIPTS = 32 * 1024 * 1024, 500


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

    def to_stored(self) -> JsonObject:
        """The JSON in which a row stores it. `from_stored` reads it."""
        return {
            **{field.name: getattr(self, field.name) for field in fields(self)},
            "remarks": [remark.to_stored() for remark in self.remarks],
        }

    @classmethod
    def from_stored(cls, stored: JsonMapping) -> Self:
        remarks = tuple(map(Text.from_stored, stored["remarks"]))
        return cls(**{**stored, "person_id": parse_id(stored["person_id"]), "remarks": remarks})

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


def build_import_receipt(
    outcomes: Collection[RecordOutcome], record_noun: Text, import_id: UUID | None, *, is_dry: bool = False
) -> JsonObject:
    """The receipt of an import, with the id that undoes it."""
    receipt = build_receipt(outcomes, record_noun)
    for result in receipt["results"] if is_dry else ():
        if result["status"] == IMPORTED:
            result["personId"] = None  # nobody yet
    return {
        **receipt,
        "birthdays": sum(outcome.birthdays for outcome in outcomes),
        "reminders": sum(outcome.reminders for outcome in outcomes),
        "importId": str(import_id) if import_id else None,
    }


def compress_outcomes(outcomes: Iterable[RecordOutcome], record_noun: Text) -> bytes:
    """What a receipt is built from. Its texts are translated when it is read."""
    stored = {"noun": record_noun.to_stored(), "outcomes": [outcome.to_stored() for outcome in outcomes]}
    return zlib.compress(dumps(stored))


def store_receipt(contact_import: ContactImport, content: bytes) -> None:
    """Keep the receipt of an import, under the account lock. Beyond the limits of an account its oldest ones go."""
    owner = contact_import.owner_id
    ImportReceipt.objects.create(
        owner_id=owner,
        contact_import=contact_import,
        content=content,
        size=len(content),
        created_at=contact_import.created_at,
    )
    rows = ImportReceipt.objects.owned_by(owner)
    kept, size = list[UUID](), 0
    sizes = list(rows.order_by("-created_at", "-id").values_list("pk", "size")[: _STORED_RECEIPTS + 1])
    for key, each in sizes:
        size += each
        if size <= _STORED_BYTES and len(kept) < _STORED_RECEIPTS:
            kept.append(key)
    if len(kept) < len(sizes):
        rows.exclude(pk__in=kept).delete()


def load_receipt(contact_import: ContactImport, now: dt.datetime) -> JsonObject | None:
    """The receipt of an import; None for one of an older version, one that was cut off, and after the retention."""
    rows = ImportReceipt.objects.owned_by(contact_import.owner_id).filter(created_at__gte=retention_cutoff(now))
    content = rows.filter(contact_import=contact_import).values_list("content", flat=True).first()
    if content is None:
        return None
    stored = orjson.loads(zlib.decompress(content))
    outcomes = [RecordOutcome.from_stored(outcome) for outcome in stored["outcomes"]]
    return build_import_receipt(outcomes, Text.from_stored(stored["noun"]), contact_import.pk)
