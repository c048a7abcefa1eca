"""Invariants of the stored data. `manage.py doctor --deep` checks them.

Each app registers its own in `<app>/invariants.py`. A finder yields ids of rows that violate the invariant, never their
contents, and keeps at most one chunk of rows in memory.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from django.db.models import Model, QuerySet

CHUNK_SIZE = 1000
MAX_EXAMPLES = 3
_DEFAULT_HINT = "No part of the service writes this: restore a backup, or write to the maintainers."

Finder = Callable[[], Iterable[object]]
F = TypeVar("F", bound=Finder)
M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class Violation:
    """A violated invariant: what is broken, how many records, the first of them, and how to repair them."""

    broken: str
    number: int
    examples: tuple[str, ...]
    hint: str


@dataclass(frozen=True)
class Invariant:
    """`broken` describes, in the plural, what `find` yields."""

    broken: str
    find: Finder
    hint: str

    def check(self) -> Violation | None:
        """Return the violation; None if the invariant holds."""
        found = iter(self.find())
        examples = tuple(str(record) for record in islice(found, MAX_EXAMPLES))
        number = len(examples) + sum(1 for _ in found)
        return Violation(self.broken, number, examples, self.hint) if examples else None


_invariants: list[Invariant] = []


def invariant(broken: str, *, hint: str = _DEFAULT_HINT) -> Callable[[F], F]:
    """Decorator that registers a finder. `broken` and `hint` are shown to the operator."""

    def register(find: F) -> F:
        _invariants.append(Invariant(broken, find, hint))
        return find

    return register


def find_violations(word: str = "") -> Iterator[Violation]:
    """Check all invariants, or those with `word` in their description."""
    for registered in _invariants:
        if word in registered.broken and (violation := registered.check()):
            yield violation


def iterate_ids(rows: "QuerySet[Model, object]") -> Iterator[object]:
    """Yield the primary keys of the rows, without loading all of them into memory."""
    yield from rows.order_by().values_list("pk", flat=True).iterator(chunk_size=CHUNK_SIZE)


def iterate_chunks(rows: "QuerySet[M]") -> Iterator[list[M]]:
    """Yield the rows in lists of CHUNK_SIZE, ordered by primary key. Each chunk is a separate query."""
    rows = rows.order_by("pk")
    chunk = list(rows[:CHUNK_SIZE])
    while chunk:
        yield chunk
        chunk = list(rows.filter(pk__gt=chunk[-1].pk)[:CHUNK_SIZE])
