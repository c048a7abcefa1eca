"""The outcome of each record of a file, and the receipt of all of them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

IMPORTED, UPDATED, SKIPPED, ERROR = "imported", "updated", "skipped", "error"
#: The reason of the records that were not tried because the database became unavailable.
NOT_TRIED = "not tried: the service was busy, or a part of it away; import the file again, it goes on from here"
#: The reason of the records that were not tried because the import was undone while it was running.
UNDONE = "not tried: this import was undone while it ran"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one record. `index` counts from 0.

    `reason` is for people: why the record failed, or what was changed or left out. `code` is for programs and is not
    part of the response.
    """

    index: int
    name: str
    status: str
    person_id: UUID | None = None
    reason: str | None = None
    code: str | None = None

    def to_json(self) -> dict[str, Any]:
        result: dict[str, Any] = {"index": self.index, "name": self.name, "status": self.status}
        if self.person_id:
            result["personId"] = str(self.person_id)
        if self.reason:
            result["reason"] = self.reason
        return result

    def message(self, record_noun: str = "Card") -> str:
        """The error message, which counts records from 1. `record_noun` is what the source calls a record."""
        name = f" ({self.name})" if self.name else ""
        return f"{record_noun} {self.index + 1}{name}: {self.reason}"


def build_receipt(outcomes: Iterable[Outcome], record_noun: str = "Card") -> dict[str, Any]:
    """The receipt of a whole file. `success` is false only if every record failed."""
    ordered = sorted(outcomes, key=lambda outcome: outcome.index)
    counts = Counter(outcome.status for outcome in ordered)
    return {
        "success": not ordered or counts[ERROR] < len(ordered),
        "imported": counts[IMPORTED],
        "updated": counts[UPDATED],
        "skipped": counts[SKIPPED],
        "errors": counts[ERROR],
        "errorMessages": [outcome.message(record_noun) for outcome in ordered if outcome.status == ERROR],
        "results": [outcome.to_json() for outcome in ordered],
    }
