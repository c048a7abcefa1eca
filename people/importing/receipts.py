"""What became of each record of a file, and the receipt over all of them (open points, section 11)."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

IMPORTED, UPDATED, SKIPPED, ERROR = "imported", "updated", "skipped", "error"
#: The reason of the records that were left when the database went away half way.
NOT_TRIED = "not tried: the service was busy, or a part of it away; import the file again, it goes on from here"
#: That of the records which were left when the import was undone while it ran.
UNDONE = "not tried: this import was undone while it ran"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One record: `index` counts from 0; `reason` says why, or what was changed to hold it; `code` is for the code."""

    index: int
    name: str
    status: str
    person_id: UUID | None = None
    reason: str | None = None
    code: str | None = None

    def answer(self) -> dict[str, Any]:
        answer: dict[str, Any] = {"index": self.index, "name": self.name, "status": self.status}
        if self.person_id:
            answer["personId"] = str(self.person_id)
        if self.reason:
            answer["reason"] = self.reason
        return answer

    def message(self, what: str = "Card") -> str:
        """The failure for people, who count from 1. `what`: what a record of the file is called."""
        who = f" ({self.name})" if self.name else ""
        return f"{what} {self.index + 1}{who}: {self.reason}"


def build_receipt(outcomes: Iterable[Outcome], what: str = "Card") -> dict[str, Any]:
    """The answer over a whole file; unsuccessful only where every card failed."""
    ordered = sorted(outcomes, key=lambda outcome: outcome.index)
    counts = Counter(outcome.status for outcome in ordered)
    return {
        "success": not ordered or counts[ERROR] < len(ordered),
        "imported": counts[IMPORTED],
        "updated": counts[UPDATED],
        "skipped": counts[SKIPPED],
        "errors": counts[ERROR],
        "errorMessages": [outcome.message(what) for outcome in ordered if outcome.status == ERROR],
        "results": [outcome.answer() for outcome in ordered],
    }
