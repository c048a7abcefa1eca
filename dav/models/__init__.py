"""What the server remembers: one text for each card, and of a device only what it has been given."""

from dav.models.book import (
    MAX_NAME_LENGTH,
    Book,
    BookCard,
    BookCardQuerySet,
    BookQuerySet,
    CollectionProperty,
    FormerText,
    TaskSnooze,
    TaskTick,
)
from dav.models.device import (
    Device,
    DeviceDeletion,
    GivenCard,
    ListedAgain,
    Refusal,
    ReplacedValue,
    SelectedCard,
    UnreadTask,
)

__all__ = [
    "MAX_NAME_LENGTH",
    "Book",
    "BookCard",
    "BookCardQuerySet",
    "BookQuerySet",
    "CollectionProperty",
    "Device",
    "DeviceDeletion",
    "FormerText",
    "GivenCard",
    "ListedAgain",
    "Refusal",
    "ReplacedValue",
    "SelectedCard",
    "TaskSnooze",
    "TaskTick",
    "UnreadTask",
]
