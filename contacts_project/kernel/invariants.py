"""What must hold of the stored data, whoever wrote it; `manage.py doctor --deep` looks for what breaks it.

Each app registers its own in `<app>/invariants.py`. A finder yields what is broken by ids, never by contents, and holds
no more rows than a chunk in memory.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from django.db.models import QuerySet

CHUNK = 1000
EXAMPLES = 3
NOT_OURS = "No part of the service writes this: restore a backup, or write to the maintainers."

Finder = Callable[[], Iterable[object]]
F = TypeVar("F", bound=Finder)


@dataclass(frozen=True)
class Breach:
    """An invariant that does not hold: what is broken, how many there are, the first of them, and how to mend it."""

    what: str
    number: int
    examples: tuple[str, ...]
    hint: str


@dataclass(frozen=True)
class Invariant:
    """`broken` says in the plural what `find` finds."""

    broken: str
    find: Finder
    hint: str

    def breach(self) -> Breach | None:
        """What breaks it now; None where it holds."""
        found = iter(self.find())
        examples = tuple(str(one) for one in islice(found, EXAMPLES))
        number = len(examples) + sum(1 for _ in found)
        return Breach(self.broken, number, examples, self.hint) if examples else None


_invariants: list[Invariant] = []


def invariant(broken: str, *, hint: str = NOT_OURS) -> Callable[[F], F]:
    """Register a finder."""

    def register(find: F) -> F:
        _invariants.append(Invariant(broken, find, hint))
        return find

    return register


def breaches(word: str = "") -> Iterator[Breach]:
    """Look at everything, or at what is named with `word`; each invariant that does not hold, as it is found."""
    for one in _invariants:
        if word in one.broken and (breach := one.breach()):
            yield breach


def ids_of(rows: "QuerySet[Any, Any]") -> Iterator[object]:
    """The keys of the rows, read as they are asked for."""
    yield from rows.order_by().values_list("pk", flat=True).iterator(chunk_size=CHUNK)


def in_chunks(rows: "QuerySet[Any, Any]") -> Iterator[list[Any]]:
    """The rows in the order of their keys, some at a time: each chunk is a statement of its own."""
    rows = rows.order_by("pk")
    chunk = list(rows[:CHUNK])
    while chunk:
        yield chunk
        chunk = list(rows.filter(pk__gt=chunk[-1].pk)[:CHUNK])
