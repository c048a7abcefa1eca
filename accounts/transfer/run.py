"""An import under way: its records, whose it is, and what each id of the document stands for in the account."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from django.db import models

from accounts.models import User
from accounts.transfer.ids import derived_id
from contacts_project.kernel.api.json import parse_id

NO_ID = UUID(int=0)
# Ids that a record may get here, one after the other where the first is taken: never seen to be, but possible.
_ATTEMPTS = 3
IMPORTED, UPDATED, SKIPPED, ERROR = "imported", "updated", "skipped", "error"

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class Item:
    """One record: `data` is what its section's shape made of it; `status` is set once it is known.

    `left_out` names what did not come with a record that did. `ref` is what `ImportRun.find` gives those that point at
    it: the row's id, or what the section says.
    """

    section: str
    index: int
    source_id: UUID = NO_ID
    data: dict[str, Any] = field(default_factory=dict)
    status: str = ""
    new_id: UUID | None = None
    ref: Any = None
    reason: str = ""
    left_out: list[str] = field(default_factory=list)

    def finish(self, status: str, new_id: UUID | None, reason: str, ref: Any = None) -> None:
        self.status, self.new_id, self.reason, self.ref = status, new_id, reason, ref or new_id

    def reset(self) -> None:
        """What was known of it was taken back with its transaction; it is to be written again."""
        self.status, self.new_id, self.reason, self.ref, self.left_out = "", None, "", None, []

    def answer(self) -> dict[str, Any]:
        answer: dict[str, Any] = {"section": self.section, "index": self.index, "status": self.status}
        if self.source_id != NO_ID:
            answer["id"] = str(self.source_id)
        if self.new_id:
            answer["newId"] = str(self.new_id)
        if reason := "; ".join(filter(None, [self.reason, *self.left_out])):
            answer["reason"] = reason
        return answer


@dataclass(frozen=True)
class Ids:
    """By the id in the document: the account's row that it is already (`found`), else an id that is free here."""

    found: dict[UUID, UUID]
    free: dict[UUID, UUID]


class ImportRun:
    """What the sections share. With `dry` nothing is written, and what was not is remembered in its place."""

    def __init__(self, owner: User, now: dt.datetime, *, dry: bool) -> None:
        self.owner, self.now, self.dry = owner, now, dry
        self.begun: set[str] = set()
        self.drawn: Counter[str] = Counter()
        self._refs: dict[str, dict[UUID, Any]] = defaultdict(dict)
        self._indexes: dict[str, dict[Any, Any]] = defaultdict(dict)
        self._singles: dict[type[Any], Any] = {}

    def known(self, model: type[models.Model], items: Iterable[Item]) -> Ids:
        """The rows that the records are already: they were exported here, or imported before."""
        return self.place(model, [item.source_id for item in items])

    def place(self, model: type[models.Model], sources: Iterable[UUID]) -> Ids:
        """The rows that stand for `sources`, in one query."""
        candidates = {source: [source, *self._derived(source)] for source in sources}
        # Also other accounts' rows: only to see that an id is taken.
        rows = model._base_manager.filter(pk__in=[key for keys in candidates.values() for key in keys])
        owners = dict(rows.values_list("pk", "owner_id"))
        ids = Ids({}, {})
        for source, keys in candidates.items():
            mine = next((key for key in keys if owners.get(key) == self.owner.pk), None)
            if mine:
                ids.found[source] = mine
            else:
                ids.free[source] = next(key for key in keys[1:] if key not in owners)
        return ids

    def _derived(self, source: UUID) -> list[UUID]:
        return [derived_id(self.owner.pk, source, attempt) for attempt in range(_ATTEMPTS)]

    def find(self, section: str, source: Any) -> Any:
        """What the document calls `source` in a section that was read before; None when it did not come in."""
        key = parse_id(source)
        return self._refs[section].get(key) if key else None

    def index(self, section: str, found: dict[Any, Any]) -> dict[Any, Any]:
        """`found` by what else a record may be known by, to be added to; it lasts where nothing is written."""
        if not self.dry:
            return found
        self._indexes[section].update(found)
        return self._indexes[section]

    def single(self, kind: type[T]) -> T:
        """The run's one instance of `kind`, for what sections share."""
        found: T = self._singles.setdefault(kind, kind())
        return found

    def lost(self, **references: tuple[str, list[Any]]) -> str:
        """What a record points at that did not come in, in words: by field, the section and the ids. `""`: nothing."""
        counts = {
            name: sum(source is not None and self.find(section, source) is None for source in sources)
            for name, (section, sources) in references.items()
        }
        listing = ", ".join(f"{name} ({count})" for name, count in counts.items() if count)
        return listing and f"Without what did not come in: {listing}"

    def insert(self, model: type[models.Model], rows: list[Any]) -> None:
        if not self.dry:
            model._default_manager.bulk_create(rows)

    def imported(self, item: Item, new_id: UUID, reason: str = "", *, ref: Any = None) -> None:
        item.finish(IMPORTED, new_id, reason, ref)

    def skipped(self, item: Item, new_id: UUID, *, ref: Any = None) -> None:
        item.finish(SKIPPED, new_id, "It is there already.", ref)

    def failed(self, item: Item, reason: str) -> None:
        item.finish(ERROR, None, reason)

    def keep(self, items: list[Item]) -> None:
        """What these records stand for is certain now."""
        for item in items:
            self.begun.add(item.section)
            if item.status != ERROR:
                self._refs[item.section][item.source_id] = item.ref
