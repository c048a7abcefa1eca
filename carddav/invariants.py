"""Invariants of the sync's data."""

import datetime as dt
import json
from collections.abc import Iterator
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from accounts.models import User
from carddav.models import Connection, JournalEntry, JournalState, Mapping, Run, RunState
from contacts_project.kernel.invariants import CHUNK_SIZE, invariant, iterate_ids
from people.vcard import VCardError, read_card

_MAX_RUN_DURATION = dt.timedelta(hours=6)


@invariant("accounts are marked as mirrored and have no connection, or have one and are not marked")
def find_wrong_mirror_flags() -> Iterator[object]:
    has_connection = Exists(Connection.unscoped.rows().filter(owner=OuterRef("pk")))
    return iterate_ids(
        User.objects.filter((Q(is_mirrored=True) & ~has_connection) | (Q(is_mirrored=False) & has_connection))
    )


@invariant(
    "mappings have a base or a card that cannot be read",
    hint="Delete the connection and connect again: people and cards are matched anew by their UIDs.",
)
def find_unreadable_mappings() -> Iterator[object]:
    # As text, since one value that is no JSON would fail the whole query.
    bases = [Cast(column, TextField()) for column in ("base_remote", "base_local")]
    rows = Mapping.unscoped.rows().order_by("pk").values_list("pk", "remote_raw", *bases)
    after: UUID | None = None
    while chunk := list((rows.filter(pk__gt=after) if after else rows)[:CHUNK_SIZE]):
        yield from (pk for pk, raw, *texts in chunk if not (all(map(_is_object, texts)) and _is_card(raw)))
        after = chunk[-1][0]


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _is_card(raw: str) -> bool:
    try:
        return not raw or bool(read_card(raw))
    except VCardError:
        return False


@invariant("mappings belong to another account than their connection or person")
def find_foreign_mappings() -> Iterator[object]:
    foreign = ~Q(connection__owner=F("owner")) | ~Q(person__owner=F("owner"))
    return iterate_ids(Mapping.unscoped.rows().filter(foreign))


@invariant(
    "writes to servers are unfinished although a later run has succeeded",
    hint="`manage.py sync_carddav --user EMAIL` asks the server whether they were carried out.",
)
def find_unfinished_writes() -> Iterator[object]:
    later = Run.unscoped.rows().filter(
        connection=OuterRef("connection"),
        state=RunState.ENDED,
        dry_run=False,
        code="",
        errors=0,
        started_at__gt=OuterRef("created_at"),
    )
    return iterate_ids(JournalEntry.unscoped.rows().filter(Exists(later), state=JournalState.PREPARED))


@invariant(
    "runs are marked as running, but no process works on them",
    hint="Are workers and the scheduler running? Each minute they end such runs.",
)
def find_lost_runs() -> Iterator[object]:
    old = timezone.now() - _MAX_RUN_DURATION
    is_free = Q(connection__claim=None) | Q(connection__held_until__lt=old)
    return iterate_ids(Run.unscoped.rows().filter(is_free, state=RunState.RUNNING, started_at__lt=old))
