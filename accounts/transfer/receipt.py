"""What became of each record of a document."""

from collections import Counter
from typing import Any

from accounts.transfer.run import ERROR, IMPORTED, SKIPPED, UPDATED, Item


class Receipt:
    """The answer, grown batch by batch: of a record nothing stays but its line."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.messages: list[str] = []
        self.results: list[dict[str, Any]] = []

    def add_section(self, results: list[dict[str, Any]], messages: list[tuple[int, str]]) -> None:
        """Take a section's lines, in the order of the document."""
        self.results += sorted(results, key=lambda result: int(result["index"]))
        self.messages += [text for _, text in sorted(messages)]
        self.counts.update(result["status"] for result in results)

    def answer(self) -> dict[str, Any]:
        return {
            "success": not self.messages,
            "imported": self.counts[IMPORTED],
            "updated": self.counts[UPDATED],
            "skipped": self.counts[SKIPPED],
            "errors": len(self.messages),
            "errorMessages": self.messages,
            "results": self.results,
        }


def messages_of(item: Item) -> list[tuple[int, str]]:
    """What the receipt says of a record as an error, with its place: that it failed, or what was left out of it."""
    messages = [item.reason] if item.status == ERROR else item.left_out
    return [(item.index, f"{item.section}, record {item.index + 1}: {text}") for text in messages]
