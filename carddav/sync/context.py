"""The state that all steps of a run share: account, book, lock, counts and progress."""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from typing import TypeVar
from uuid import UUID

from django.utils import timezone

from accounts.models import User
from carddav.client.book import AddressBook
from carddav.models import Connection, Run, RunAction, RunChange
from carddav.sync.lock import Lock
from carddav.sync.plan import Counts, SyncPlan
from contacts_project.kernel.outbound.exchanges import MAX_EXCHANGES
from contacts_project.kernel.ownership.account_lock import AccountWrite, account_write
from contacts_project.kernel.ownership.larger_work import LargerWork
from contacts_project.kernel.texts import Text, define_text
from contacts_project.kernel.webdav.shapes import Listing
from people.models import Person
from people.photos.images import PixelBudget

CARD_PROBLEM = define_text("card_problem", "%(href)s: %(reason)s")
_MORE = define_text("more_messages", "and %(count)s more")

_MAX_MESSAGES = 50

#: Progress is written at most this often; streams read it twice a second.
_PROGRESS_INTERVAL = dt.timedelta(seconds=0.5)


#: Set while the sync writes to people: the receivers must not send these changes back to the server.
IS_SYNC_WRITE: ContextVar[bool] = ContextVar("is_own_write", default=False)


S = TypeVar("S")
#: The counts of a `complete` event that actions add to.
COUNTED = tuple(one.name for one in fields(Counts))


@dataclass(slots=True)
class ErrorReport:
    """Single things that failed while the rest went on: how many, and their messages."""

    errors: int = 0
    messages: list[Text] = field(default_factory=list)

    def add_error(self, message: Text) -> None:
        self.errors += 1
        self.messages.append(message)

    @property
    def shown_messages(self) -> list[Text]:
        """At most _MAX_MESSAGES; the last one says how many more there are."""
        if len(self.messages) <= _MAX_MESSAGES:
            return self.messages
        shown = self.messages[: _MAX_MESSAGES - 1]
        return [*shown, _MORE.format(count=len(self.messages) - len(shown))]


@dataclass(slots=True)
class JobReport(ErrorReport):
    """The result of a job without a run, such as an import or export of selected contacts.

    `done` counts the contacts that were imported, exported or discovered."""

    done: int = 0
    skipped: int = 0


@dataclass(slots=True)
class Tally(ErrorReport):
    """The counts of a `complete` event, except the pending imports, which are counted at the end."""

    imported: int = 0
    exported: int = 0
    updated_locally: int = 0
    updated_remotely: int = 0
    conflicts: int = 0
    discovered: int = 0
    pending_gone: int = 0
    """Pending imports whose card is gone from the server."""

    def count(self, counts: Counts) -> None:
        for name in COUNTED:
            setattr(self, name, getattr(self, name) + getattr(counts, name))

    @property
    def has_changes(self) -> bool:
        """Whether the run has changed anything on either side."""
        return bool(self.imported or self.exported or self.updated_locally or self.updated_remotely)


@dataclass(slots=True)
class SyncContext:
    """One run. `run` is None for jobs that leave no history, such as exporting selected people.

    `listing` is the last one; its token is saved at the end of the run.
    """

    owner: User
    connection: Connection
    lock: Lock
    run: Run | None = None
    #: As many as one account may have exchanges at a time (kernel.outbound.exchanges).
    parallel: int = MAX_EXCHANGES
    tally: Tally = field(default_factory=Tally)
    pixel_budget: PixelBudget = field(default_factory=PixelBudget)
    opened_book: AddressBook | None = None
    listing: Listing | None = None
    #: People who were matched with a new card, and the former keys of cards that were found at another href.
    linked_people: set[UUID] = field(default_factory=set)
    relinked: set[str] = field(default_factory=set)
    #: By the key of the href, whether a card that this run has fetched can be read.
    readable: dict[str, bool] = field(default_factory=dict)
    has_written: bool = False
    #: Mappings of new cards whose PUT has an unknown outcome and that are not at their href.
    unconfirmed_creates: set[UUID] = field(default_factory=set)
    #: Mappings whose card the server has answered with 5xx in this run.
    failed_mappings: set[UUID] = field(default_factory=set)
    #: Of a run: all that it writes counts as one write.
    work: LargerWork | None = None
    _reported_at: dt.datetime | None = None

    @property
    def book(self) -> AddressBook:
        if self.opened_book is None:
            raise RuntimeError("the book is not open")
        return self.opened_book

    @contextmanager
    def write(self) -> Iterator[AccountWrite]:
        """Open the account's write for one contact. Raises LockLostError if another process has taken over the
        connection."""
        token = IS_SYNC_WRITE.set(True)
        try:
            with self.work.part() if self.work else nullcontext(), account_write(self.owner) as write:
                self.lock.check()
                yield write
        finally:
            IS_SYNC_WRITE.reset(token)

    @property
    def unwritten_imports(self) -> int:
        """How many people a dry run would have imported so far."""
        return 0

    def act(self, work: Callable[[], object]) -> None:
        """Do what changes something and what a dry run leaves out."""
        work()

    def carry_out(self, plan: Callable[[], Iterable[SyncPlan]], work: Callable[[], object]) -> None:
        """Carry out actions whose work has transactions and requests of its own, and counts what it has done."""
        work()

    def decide(
        self,
        read: Callable[[], S | None],
        plan: Callable[[S], SyncPlan],
        apply: Callable[[AccountWrite, S, SyncPlan], object],
    ) -> SyncPlan | None:
        """Read, decide and apply in one write, so that no edit comes between. None if there is nothing to decide."""
        with self.write() as write:
            state = read()
            if state is None:
                return None
            sync_plan = plan(state)
            apply(write, state, sync_plan)
        self.tally.count(sync_plan.here)
        return sync_plan

    def record_remote_write(self) -> None:
        """Forget the ctag after a write to the server, which has changed it. Must be called inside `write`."""
        self.has_written = True
        if self.connection.ctag:
            self.connection.ctag = ""
            Connection.objects.owned_by(self.owner).filter(pk=self.connection.pk).update(ctag="")

    def report_progress(self, phase: str, message: Text | None = None, current: int = 0, total: int = 0) -> None:
        """Store the progress of the run for streams. A new phase is written immediately."""
        self.lock.record_progress()
        run, now = self.run, timezone.now()
        if run is None:
            return
        is_new_phase = run.phase != phase
        if (
            is_new_phase
            or self._reported_at is None
            or now - self._reported_at >= _PROGRESS_INTERVAL
            or current == total
        ):
            run.phase, run.message, run.current, run.total = phase, message or "", current, total
            Run.objects.owned_by(self.owner).filter(pk=run.pk).update(
                phase=phase, message=message or "", current=current, total=total
            )
            self._reported_at = now

    def record_change(
        self, person: Person, action: RunAction, image: dict[str, object], former_photo: str | None = None
    ) -> None:
        """Store the person's former fields, for the undo of this run. Must be called inside `write`."""
        if self.run is None:
            return
        change = RunChange.objects.owned_by(self.owner).filter(run=self.run.pk, person=person.pk).first()
        if change is None:
            change = RunChange(owner=self.owner, run=self.run, person=person, action=action, photo=former_photo)
        elif "photo" not in change.image:
            change.photo = former_photo
        # A run may change a person several times: the first image of each field is the state before the run.
        change.image, change.revision = {**image, **change.image}, person.revision
        change.save()

    def record_created(self, people: Sequence[Person]) -> None:
        """Record the people whom this run created. Must be called inside `write`."""
        if self.run is not None:
            RunChange.objects.bulk_create(
                RunChange(
                    owner=self.owner, run=self.run, person=person, action=RunAction.CREATED, revision=person.revision
                )
                for person in people
            )


@dataclass(slots=True)
class DryRunContext(SyncContext):
    """A run that changes nothing: it decides what a run would do, and counts it.

    `contacts` are the contacts that are decided as a whole: what their card would be sent for is counted."""

    contacts: set[UUID] = field(default_factory=set)

    @property
    def unwritten_imports(self) -> int:
        return self.tally.imported

    def act(self, work: Callable[[], object]) -> None:
        """Leave it out."""

    def carry_out(self, plan: Callable[[], Iterable[SyncPlan]], work: Callable[[], object]) -> None:
        for sync_plan in plan():
            self._count(sync_plan)

    def decide(
        self,
        read: Callable[[], S | None],
        plan: Callable[[S], SyncPlan],
        apply: Callable[[AccountWrite, S, SyncPlan], object],
    ) -> SyncPlan | None:
        state = read()
        if state is None:
            return None
        sync_plan = plan(state)
        # A contact is decided once: what is listed is merged before what is unsent.
        if sync_plan.mapping_id is None or sync_plan.mapping_id not in self.contacts:
            self._count(sync_plan)
        return sync_plan

    def _count(self, sync_plan: SyncPlan) -> None:
        self.tally.count(sync_plan.here)
        self.tally.count(sync_plan.there())
        if sync_plan.mapping_id is not None:
            self.contacts.add(sync_plan.mapping_id)
