"""The result of an import, record by record."""

from collections import Counter
from typing import Any

from accounts.transfer.run import ERROR, IMPORTED, SKIPPED, UPDATED, ImportRecord


class Receipt:
    """Collects the response of an import. Keeps one result for each record, not the record itself."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.messages: list[str] = []
        self.results: list[dict[str, Any]] = []

    def add_section(self, results: list[dict[str, Any]], messages: list[tuple[int, str]]) -> None:
        """Add the results of a section, sorted by their index in the document."""
        self.results += sorted(results, key=lambda result: int(result["index"]))
        self.messages += [text for _, text in sorted(messages)]
        self.counts.update(result["status"] for result in results)

    def to_json(self) -> dict[str, Any]:
        return {
            "success": not self.messages,
            "imported": self.counts[IMPORTED],
            "updated": self.counts[UPDATED],
            "skipped": self.counts[SKIPPED],
            "errors": len(self.messages),
            "errorMessages": self.messages,
            "results": self.results,
        }


def messages_of(record: ImportRecord) -> list[tuple[int, str]]:
    """The error messages of a record, with its index: why it failed, or which parts of it were not imported."""
    messages = [record.reason] if record.status == ERROR else record.omissions
    return [(record.index, f"{record.section}, record {record.index + 1}: {text}") for text in messages]
