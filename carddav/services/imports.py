"""Imports pending imports as people: fifty in a transaction, within the time limit of a request."""

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
from carddav.models import Connection, Mapping, PendingImport, Todo
from carddav.services.connections import locked_connection
from carddav.sync.context import JobReport, SyncContext
from carddav.sync.incoming import apply_group_cards
from carddav.sync.new_cards import CardMatcher, NewCard, import_people, link_and_merge
from carddav.sync.pictures import load_and_store_picture
from contacts_project.kernel.errors import DomainError, PlanLimitError, is_unavailable
from contacts_project.kernel.ownership.account_lock import IMPORTS, BatchWriter, StoppedError, account_write
from contacts_project.kernel.texts import Text, define_text
from contacts_project.kernel.webdav.shapes import Resource
from people.contents.contact import create_from_cards
from people.importing.groups import awaiting_groups, forget_awaited
from people.importing.vcards import without_google_groups
from people.models import Group, Person
from people.photos.images import PixelBudget
from people.services.groups import put_members
from people.services.plan_limits import check_plan
from people.vcard import VCardError, read_card
from people.vcard.card import uid_key

_NOT_IMPORTED = define_text("contact_not_imported", "%(name)s: %(reason)s")
_DATABASE_REFUSES = define_text("database_refuses", "the database refuses it")

GroupsOf = MappingOf[UUID, Collection[Group]]

_BATCH_SIZE = 50
#: The time limit of a request in seconds, and the part of it for downloading pictures, each of which may take five.
MAX_SECONDS, MAX_PICTURE_SECONDS = 45.0, 15.0
NOT_TRIED_MESSAGE = define_text(
    "contacts_not_tried",
    "%(count)s contacts were not tried, since the request would have taken too long: they still wait.",
)


@dataclass(slots=True)
class _ImportRow:
    """A pending import that was parsed. `is_picture_deferred`: there was no time to download its picture."""

    pending: PendingImport
    new: NewCard
    is_picture_deferred: bool = False


@dataclass(slots=True)
class _ImportJob:
    """One request: account, groups, deadline and result."""

    owner: User
    groups: Collection[Group]
    groups_of: GroupsOf
    now: dt.datetime
    report: JobReport = field(default_factory=JobReport)
    pixel_budget: PixelBudget = field(default_factory=PixelBudget)
    give_up_at: float = field(default_factory=lambda: time.monotonic() + MAX_SECONDS)
    picture_seconds: float = field(default_factory=lambda: MAX_PICTURE_SECONDS)
    not_tried: int = 0
    writer: BatchWriter = field(init=False)
    plan_limit: PlanLimitError | None = None

    def __post_init__(self) -> None:
        self.writer = BatchWriter(self.owner)

    def groups_for(self, row_id: UUID) -> list[Group]:
        """The groups given for all rows, and the row's own."""
        return [*self.groups, *self.groups_of.get(row_id, ())]


def import_pending(
    *, owner: User, row_ids: Sequence[UUID], groups: Collection[Group], groups_of: GroupsOf, now: dt.datetime
) -> JobReport:
    """Import pending imports as people, each with `groups` and its own groups; a failure of one does not stop the
    others.

    A card from the server stays mapped to its person. A card whose person is already here is linked, and counts as
    skipped. After 45 seconds the remaining rows stay pending; one error has their number. Raises ConnectionBusyError,
    UnavailableError.
    """
    job = _ImportJob(owner, groups, groups_of, now)
    uploaded = set(PendingImport.objects.owned_by(owner).filter(connection=None).values_list("pk", flat=True))
    # Only large imports occupy one of the process's places for imports.
    with job.writer, IMPORTS.hold(owner.pk) if len(row_ids) > _BATCH_SIZE else nullcontext():
        _import_rows(job, [key for key in row_ids if key in uploaded], partial(_import_uploaded, job))
        on_server = [key for key in row_ids if key not in uploaded]
        if on_server and Connection.objects.owned_by(owner).exists():
            with locked_connection(owner) as context:
                _import_rows(job, on_server, partial(_import_found, job, context))
                apply_group_cards(context)
    if job.not_tried:
        job.report.add_error(NOT_TRIED_MESSAGE.format(count=job.not_tried))
    return job.report


def _import_rows(job: _ImportJob, row_ids: Sequence[UUID], store: Callable[[list[_ImportRow]], None]) -> None:
    for start in range(0, len(row_ids), _BATCH_SIZE):
        if time.monotonic() >= job.give_up_at or not _import_batch(job, row_ids[start : start + _BATCH_SIZE], store):
            job.not_tried += len(row_ids) - start
            return


def _import_batch(job: _ImportJob, row_ids: Sequence[UUID], store: Callable[[list[_ImportRow]], None]) -> bool:
    """False if it was not tried: the database became unavailable after other batches were committed."""
    try:
        with job.writer.attempt():
            store(_parse_pending(job, row_ids))
    except StoppedError:
        return False
    return True


def _parse_pending(job: _ImportJob, row_ids: Sequence[UUID]) -> list[_ImportRow]:
    """Parse the rows and load their pictures. Must not be called inside a transaction."""
    pending = PendingImport.objects.owned_by(job.owner).in_bulk(list(row_ids))
    rows = []
    for key in row_ids:
        if (row := pending.get(key)) is None:
            job.report.skipped += 1  # another request has imported it
            continue
        try:
            card, _ = read_card(row.raw)
        except VCardError as error:
            job.report.add_error(_NOT_IMPORTED.format(name=row.display_name, reason=error.text))
            continue
        if not row.href:  # of an uploaded file
            card = without_google_groups(card)
        remote_card = Resource(row.href or "", row.href_key, row.etag, row.raw)
        rows.append(_load_row_picture(job, _ImportRow(row, NewCard(remote_card, card))))
    return rows


def _load_row_picture(job: _ImportJob, row: _ImportRow) -> _ImportRow:
    card = row.new.card
    is_elsewhere = bool(card.photo_url and not card.photo)
    if is_elsewhere and job.picture_seconds <= 0:
        row.is_picture_deferred = True
        return row
    began = time.monotonic()
    row.new.picture = load_and_store_picture(card, job.pixel_budget, job.owner.pk)
    if is_elsewhere:
        job.picture_seconds -= time.monotonic() - began
    return row


def _import_uploaded(job: _ImportJob, rows: list[_ImportRow]) -> None:
    def create(rows: list[_ImportRow]) -> None:
        with job.writer.batch(), account_write(job.owner) as write:
            rows = _claim(job, rows)
            contacts = create_from_cards(job.owner, write, [row.new.with_stored_photo() for row in rows])
            _put_into_groups(job, rows, [contact.person for contact in contacts])
        job.report.done += len(rows)

    _store_with_fallback(job, rows, create)


def _import_found(job: _ImportJob, context: SyncContext, rows: list[_ImportRow]) -> None:
    def link(rows: list[_ImportRow]) -> None:
        for row in rows:
            link_and_merge(context, row.new, linked[row.pending.pk])
            PendingImport.objects.owned_by(context.owner).filter(pk=row.pending.pk).delete()
        job.report.skipped += len(rows)

    def create(rows: list[_ImportRow]) -> None:
        with job.writer.batch(), context.write() as write:
            rows = _claim(job, rows)
            people = import_people(context, write, [row.new for row in rows])
            grouped = _put_into_groups(job, rows, people)
            # The groups are no part of the card yet: the next run sends them.
            Mapping.objects.owned_by(job.owner).filter(person__in=grouped).mark_unsent()
            _defer_pictures(context, [row for row in rows if row.is_picture_deferred])
        job.report.done += len(rows)

    matcher = CardMatcher(context, [row.new for row in rows])
    linked = {row.pending.pk: key for row in rows if (key := matcher.find_person(row.new)) is not None}
    for row in rows:
        if row.pending.pk in linked:
            _store_with_fallback(job, [row], link)
    _store_with_fallback(job, [row for row in rows if row.pending.pk not in linked], create)


def _defer_pictures(context: SyncContext, rows: list[_ImportRow]) -> None:
    """Queue the cards in Todo: the next run fetches them, and the empty base makes it see the picture as new. Must be
    called inside the write."""
    keys = [row.new.remote_card.key for row in rows]
    for mapping in Mapping.objects.owned_by(context.owner).filter(connection=context.connection, href_key__in=keys):
        mapping.base_remote["photo"] = None
        mapping.save(update_fields=["base_remote", "updated_at"])
    Todo.objects.bulk_create(
        Todo(owner=context.owner, connection=context.connection, href=card.href, href_key=card.key, etag=card.etag)
        for card in (row.new.remote_card for row in rows)
    )


def _claim(job: _ImportJob, rows: list[_ImportRow]) -> list[_ImportRow]:
    """Delete the rows that still exist, and return them. Raises PlanLimitError. Must be called inside the write."""
    pending = PendingImport.objects.owned_by(job.owner).filter(pk__in=[row.pending.pk for row in rows])
    existing = set(pending.values_list("pk", flat=True))
    check_plan(job.owner, "people", len(existing))
    pending.delete()
    job.report.skipped += len(rows) - len(existing)
    return [row for row in rows if row.pending.pk in existing]


def _put_into_groups(job: _ImportJob, rows: list[_ImportRow], people: Sequence[Person]) -> list[UUID]:
    """Add the people to their groups, one statement a group; returns those in any. Must be called inside the write.

    The groups of group cards that wait for a person with the UID of the card are among them.
    """
    members: dict[UUID, list[UUID]] = defaultdict(list)
    groups: dict[UUID, Group] = {}
    waiting = awaiting_groups(job.owner, (row.new.card.uid for row in rows))
    for row, person in zip(rows, people, strict=True):
        for group in (*job.groups_for(row.pending.pk), *waiting.get(uid_key(row.new.card.uid or ""), ())):
            groups[group.pk] = group
            if person.pk not in members[group.pk]:
                members[group.pk].append(person.pk)
    for key, person_ids in members.items():
        put_members(groups[key], person_ids, job.now)
    forget_awaited(job.owner, waiting)
    return [*{person_id for person_ids in members.values() for person_id in person_ids}]


def _store_with_fallback(job: _ImportJob, rows: list[_ImportRow], store: Callable[[list[_ImportRow]], None]) -> None:
    """Store the rows together; if that is refused, one by one, so that one row does not stop the others."""
    # Once the price plan is full, no later row is tried: each would fail for the same reason.
    if job.plan_limit is not None and rows:
        for row in rows:
            job.report.add_error(_NOT_IMPORTED.format(name=row.pending.display_name, reason=job.plan_limit.message))
        return
    try:
        if rows:
            store(rows)
    except (DomainError, VCardError, DatabaseError) as error:
        if is_unavailable(error):
            raise
        if len(rows) > 1:
            for row in rows:
                _store_with_fallback(job, [row], store)
            return
        job.plan_limit = error if isinstance(error, PlanLimitError) else None
        job.report.add_error(_NOT_IMPORTED.format(name=rows[0].pending.display_name, reason=_reason_of(error)))


def _reason_of(error: DomainError | VCardError | DatabaseError) -> Text:
    if isinstance(error, VCardError):
        return error.text
    return error.message if isinstance(error, DomainError) else _DATABASE_REFUSES
