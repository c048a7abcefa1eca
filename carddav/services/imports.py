"""Pending imports become people: fifty in a transaction, for as long as somebody may wait for the answer."""

import datetime as dt
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from collections.abc import Mapping as MappingOf
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

from django.db import DatabaseError

from accounts.models import User
from carddav.client import Card as FetchedCard
from carddav.models import UNSENT, Connection, Mapping, PendingImport, Todo
from carddav.services.connection_lock import locked_connection
from carddav.services.receipts import Receipt
from carddav.sync.contacts import merge_contact
from carddav.sync.context import Context
from carddav.sync.groups import apply_group_cards
from carddav.sync.new_cards import Linker, NewCard, import_people, link_card
from carddav.sync.people import create_from_cards
from carddav.sync.pictures import stored_picture_of
from contacts_project.kernel.errors import DomainError, PlanLimitError
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.batches import BatchWriter, StoppedError
from contacts_project.kernel.slots import IMPORT_SLOTS
from contacts_project.kernel.unavailable import is_unavailable
from people.models import Group, Person
from people.photos.images import PixelBudget
from people.services.groups import put_members
from people.services.plan_limits import check_plan
from people.vcard import Card, VCardError, read_card, without_photo

GroupsOf = MappingOf[UUID, Collection[Group]]

_BATCH = 50
#: How long a request may take, and how much of it pictures on other hosts, of which each may take five.
SECONDS, PICTURE_SECONDS = 45.0, 15.0
NOT_TRIED = "{number} contacts were not tried, since the request would have taken too long: they still wait."


@dataclass(slots=True)
class _Row:
    """A pending import that was read. `is_left`: there was no time for its picture."""

    pending: PendingImport
    new: NewCard
    is_left: bool = False


@dataclass(slots=True)
class _Job:
    """One request: whose, which groups, until when, and what became of it."""

    owner: User
    groups: Collection[Group]
    groups_of: GroupsOf
    now: dt.datetime
    receipt: Receipt = field(default_factory=Receipt)
    pixels: PixelBudget = field(default_factory=PixelBudget)
    give_up_at: float = field(default_factory=lambda: time.monotonic() + SECONDS)
    picture_seconds: float = field(default_factory=lambda: PICTURE_SECONDS)
    not_tried: int = 0
    writer: BatchWriter = field(init=False)
    plan_limit: PlanLimitError | None = None

    def __post_init__(self) -> None:
        self.writer = BatchWriter(self.owner)

    def groups_for(self, row_id: UUID) -> list[Group]:
        """The groups of all, and the row's own."""
        return [*self.groups, *self.groups_of.get(row_id, ())]


def import_pending(
    *, owner: User, row_ids: Sequence[UUID], groups: Collection[Group], groups_of: GroupsOf, now: dt.datetime
) -> Receipt:
    """Make people of pending imports, each with the `groups` and its own; a failure of one never stops the rest.

    What came from the server stays tied to its card. Who is here already is linked, and counts as skipped. After 45
    seconds the rest is left pending, as one error with their number. Raises ConnectionBusyError, UnavailableError.
    """
    job = _Job(owner, groups, groups_of, now)
    uploaded = set(PendingImport.objects.owned_by(owner).filter(connection=None).values_list("pk", flat=True))
    with IMPORT_SLOTS.acquire() if len(row_ids) > _BATCH else nullcontext():
        _import(job, [key for key in row_ids if key in uploaded], partial(_import_uploaded, job))
        found = [key for key in row_ids if key not in uploaded]
        if found and Connection.objects.owned_by(owner).exists():
            with locked_connection(owner) as context:
                _import(job, found, partial(_import_found, job, context))
                apply_group_cards(context)
    if job.not_tried:
        job.receipt.fail(NOT_TRIED.format(number=job.not_tried))
    return job.receipt


def _import(job: _Job, row_ids: Sequence[UUID], store: Callable[[list[_Row]], None]) -> None:
    for start in range(0, len(row_ids), _BATCH):
        if time.monotonic() >= job.give_up_at or not _import_batch(job, row_ids[start : start + _BATCH], store):
            job.not_tried += len(row_ids) - start
            return


def _import_batch(job: _Job, row_ids: Sequence[UUID], store: Callable[[list[_Row]], None]) -> bool:
    """Whether it was tried: not where the database went away after other batches were written."""
    try:
        with job.writer.attempt():
            store(_read(job, row_ids))
    except StoppedError:
        return False
    return True


def _read(job: _Job, row_ids: Sequence[UUID]) -> list[_Row]:
    """The rows and their pictures; outside of transactions."""
    pending = PendingImport.objects.owned_by(job.owner).in_bulk(list(row_ids))
    rows = []
    for key in row_ids:
        if (row := pending.get(key)) is None:
            job.receipt.skipped += 1  # somebody else was faster
            continue
        try:
            card, _ = read_card(row.raw)
        except VCardError as error:
            job.receipt.fail(f"{row.display_name}: {error}")
            continue
        fetched = FetchedCard(row.href or "", row.href_key, row.etag, row.raw)
        rows.append(_with_picture(job, _Row(row, NewCard(fetched, card))))
    return rows


def _with_picture(job: _Job, row: _Row) -> _Row:
    card = row.new.card
    is_elsewhere = bool(card.photo_url and not card.photo)
    if is_elsewhere and job.picture_seconds <= 0:
        row.is_left = True
        return row
    began = time.monotonic()
    row.new.picture = stored_picture_of(card, job.pixels, job.owner.pk)
    if is_elsewhere:
        job.picture_seconds -= time.monotonic() - began
    return row


def _import_uploaded(job: _Job, rows: list[_Row]) -> None:
    def create(rows: list[_Row]) -> None:
        with job.writer.batch(), account_write(job.owner) as write:
            rows = _claim(job, rows)
            sides = create_from_cards(job.owner, write, [_stored_form(row.new) for row in rows])
            _put_into_groups(job, rows, [side.person for side in sides])
        job.receipt.done += len(rows)

    _each(job, rows, create)


def _stored_form(new: NewCard) -> tuple[Card, bytes | None]:
    jpeg = new.picture.jpeg if new.picture else None
    return (without_photo(new.card, is_taken=jpeg is not None) if new.card.photo else new.card), jpeg


def _import_found(job: _Job, context: Context, rows: list[_Row]) -> None:
    def link(rows: list[_Row]) -> None:
        for row in rows:
            _link(context, row, linked[row.pending.pk])
        job.receipt.skipped += len(rows)

    def create(rows: list[_Row]) -> None:
        with job.writer.batch(), context.write() as write:
            rows = _claim(job, rows)
            people = import_people(context, write, [row.new for row in rows])
            grouped = _put_into_groups(job, rows, people)
            Mapping.objects.owned_by(job.owner).filter(person__in=grouped).update(local_rev=UNSENT)
            _leave_pictures(context, [row for row in rows if row.is_left])
        job.receipt.done += len(rows)

    linker = Linker(context, [row.new for row in rows])
    linked = {row.pending.pk: key for row in rows if (key := linker.person_of(row.new)) is not None}
    for row in rows:
        if row.pending.pk in linked:
            _each(job, [row], link)
    _each(job, [row for row in rows if row.pending.pk not in linked], create)


def _link(context: Context, row: _Row, person_id: UUID) -> None:
    link_card(context, row.new.fetched, row.new.card, person_id)
    PendingImport.objects.owned_by(context.owner).filter(pk=row.pending.pk).delete()
    mapping = Mapping.objects.owned_by(context.owner).filter(person=person_id).first()
    if mapping is not None:
        merge_contact(context, mapping.pk)


def _leave_pictures(context: Context, rows: list[_Row]) -> None:
    """The next run fetches these cards, and sees pictures of which nobody knew. Inside the write."""
    keys = [row.new.fetched.key for row in rows]
    for mapping in Mapping.objects.owned_by(context.owner).filter(connection=context.connection, href_key__in=keys):
        mapping.base_remote["photo"] = None
        mapping.save(update_fields=["base_remote", "updated_at"])
    Todo.objects.bulk_create(
        Todo(owner=context.owner, connection=context.connection, href=card.href, href_key=card.key, etag=card.etag)
        for card in (row.new.fetched for row in rows)
    )


def _claim(job: _Job, rows: list[_Row]) -> list[_Row]:
    """Those that nobody has taken meanwhile, whose rows go. Raises PlanLimitError. Inside the write."""
    pending = PendingImport.objects.owned_by(job.owner).filter(pk__in=[row.pending.pk for row in rows])
    there = set(pending.values_list("pk", flat=True))
    check_plan(job.owner, "people", len(there))
    pending.delete()
    job.receipt.skipped += len(rows) - len(there)
    return [row for row in rows if row.pending.pk in there]


def _put_into_groups(job: _Job, rows: list[_Row], people: Sequence[Person]) -> list[UUID]:
    """Put each into its groups, one statement a group; those who are in any. Inside the write."""
    members: dict[UUID, list[UUID]] = defaultdict(list)
    groups: dict[UUID, Group] = {}
    for row, person in zip(rows, people, strict=True):
        for group in job.groups_for(row.pending.pk):
            groups[group.pk] = group
            if person.pk not in members[group.pk]:
                members[group.pk].append(person.pk)
    for key, person_ids in members.items():
        put_members(groups[key], person_ids, job.now)
    return [*{person_id for person_ids in members.values() for person_id in person_ids}]


def _each(job: _Job, rows: list[_Row], store: Callable[[list[_Row]], None]) -> None:
    """Store them together; where that is refused, one by one, so that one stops no other."""
    if job.plan_limit is not None and rows:
        for row in rows:
            job.receipt.fail(f"{row.pending.display_name}: {job.plan_limit}")
        return
    try:
        if rows:
            store(rows)
    except (DomainError, VCardError, DatabaseError) as error:
        if is_unavailable(error):
            raise
        if len(rows) > 1:
            for row in rows:
                _each(job, [row], store)
            return
        job.plan_limit = error if isinstance(error, PlanLimitError) else None
        why = "the database refuses it" if isinstance(error, DatabaseError) else str(error)
        job.receipt.fail(f"{rows[0].pending.display_name}: {why}")
