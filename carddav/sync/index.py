"""What is known of the book before it is listed: every card by the key of its href."""

import datetime as dt
from dataclasses import dataclass, field
from uuid import UUID

from carddav.client import Changes, Entry, same_etag
from carddav.models import Connection, Mapping, MappingStatus, OtherCard, PendingImport, Todo, Tombstone, TombstoneState
from contacts_project.kernel.database.compiled_queries import CompiledQuery


@dataclass(frozen=True, slots=True)
class Known:
    """A card that was there. `kind`: mapping, pending, tombstone or other; `state` as that row has it."""

    kind: str
    row_id: UUID
    href: str
    etag: str | None
    state: str = ""
    person_id: UUID | None = None
    written_at: dt.datetime | None = None


@dataclass(slots=True)
class Index:
    """All known cards; `todo` are those that a listing named and nobody has fetched."""

    cards: dict[str, Known] = field(default_factory=dict)
    todo: dict[str, Entry] = field(default_factory=dict)
    others: set[str] = field(default_factory=set)

    @property
    def mapped(self) -> list[Known]:
        return [known for known in self.cards.values() if known.kind == "mapping"]


_COLUMNS = ("href_key", "pk", "href", "etag")
_TOMBSTONES = CompiledQuery(
    lambda owner_id, connection_id: (
        Tombstone.objects.owned_by(owner_id)
        .filter(connection=connection_id)
        .exclude(state=TombstoneState.GONE)
        .values_list(*_COLUMNS, "state", "person_id")
    )
)
_OTHERS = CompiledQuery(
    lambda owner_id, connection_id: (
        OtherCard.objects.owned_by(owner_id).filter(connection=connection_id).values_list(*_COLUMNS, "kind")
    )
)
_PENDING = CompiledQuery(
    lambda owner_id, connection_id: (
        PendingImport.objects.owned_by(owner_id).filter(connection=connection_id).values_list(*_COLUMNS)
    )
)
# Later ones count more: a card that is mapped may be known otherwise, too.
_MAPPED = CompiledQuery(
    lambda owner_id, connection_id: (
        Mapping.objects.owned_by(owner_id)
        .filter(connection=connection_id)
        .exclude(remote_raw="")
        .values_list(*_COLUMNS, "status", "person_id", "updated_at")
    )
)
_TODO = CompiledQuery(
    lambda owner_id, connection_id: (
        Todo.objects.owned_by(owner_id).filter(connection=connection_id).values_list("href_key", "href", "etag")
    )
)


def load_index(connection: Connection) -> Index:
    """In five statements, without the cards' text."""
    index, asked = Index(), {"owner_id": connection.owner_id, "connection_id": connection.pk}
    for kind, query in (("tombstone", _TOMBSTONES), ("other", _OTHERS), ("pending", _PENDING), ("mapping", _MAPPED)):
        for key, row_id, href, etag, *rest in query.values(**asked):
            index.cards[key] = Known(kind, row_id, href or "", etag, *rest)
            if kind == "other":
                index.others.add(key)
    index.todo = {key: Entry(href, key, etag) for key, href, etag in _TODO.values(**asked)}
    return index


def has_todo(connection: Connection) -> bool:
    """Whether a card that an earlier listing named is still to be fetched."""
    return bool(_TODO.rows(owner_id=connection.owner_id, connection_id=connection.pk))


@dataclass(slots=True)
class Listing:
    """What a listing says against the index, by key: cards to fetch, known ones that are missing, known ones that have
    not moved though they are listed."""

    to_fetch: dict[str, Entry]
    missing: dict[str, Known]
    unmoved: list[Known]

    def is_undeclared_full_listing(self, since: dt.datetime | None) -> bool:
        """Whether a card is listed as changed that neither side has touched since: the server does not know the token
        any more, and lists everything without saying so."""
        return since is not None and any(known.written_at and known.written_at < since for known in self.unmoved)


def compare(index: Index, changes: Changes) -> Listing:
    """Which cards moved, and which are gone. Cards whose ETag is the known one are not fetched: our own writes, say."""
    to_fetch, unmoved = dict(index.todo), []
    listed = {entry.key for entry in changes.changed}
    for entry in changes.changed:
        known = index.cards.get(entry.key)
        if known is None or _has_moved(known, entry):
            to_fetch[entry.key] = entry
        else:
            unmoved.append(known)
    gone = index.cards.keys() - listed if changes.is_full else {entry.key for entry in changes.removed} - listed
    missing = {key: index.cards[key] for key in sorted(gone) if key in index.cards}
    for key in gone | ({*index.todo} - listed if changes.is_full else set()):
        to_fetch.pop(key, None)
    return Listing(to_fetch, missing, unmoved)


def _has_moved(known: Known, entry: Entry) -> bool:
    if known.kind == "mapping" and known.state == MappingStatus.HELD:
        return True  # it was said to be gone
    return entry.etag is None or not same_etag(known.etag, entry.etag)
