"""What an import or export of selected contacts answers."""

from dataclasses import dataclass, field

from carddav.sync.cards import first_messages


@dataclass(slots=True)
class Receipt:
    """`done` are those it was asked for that were imported, exported or discovered."""

    done: int = 0
    skipped: int = 0
    errors: int = 0
    messages: list[str] = field(default_factory=list)

    def fail(self, message: str) -> None:
        """One that did not work."""
        self.errors += 1
        self.messages.append(message)

    @property
    def shown_messages(self) -> list[str]:
        """At most 50 messages."""
        return first_messages(self.messages)
