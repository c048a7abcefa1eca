"""What all steps of one run share: whose it is, the book, the lock, the counts, and how far it is."""

import datetime as dt
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from uuid import UUID

from django.utils import timezone

from accounts.models import User
from carddav.client import Changes
from carddav.models import Connection, Run, RunAction, RunChange
from carddav.sync.book import Book
from carddav.sync.cards import first_messages
from carddav.sync.lock import Lock
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.ownership.account_lock import AccountWrite, account_write
from people.models import Person
from people.photos.images import PixelBudget

#: A progress line is written at most so often; a stream reads it twice a second.
_PROGRESS = dt.timedelta(seconds=0.5)


#: Whether what is written now comes from the server: no news for the server.
IS_OWN_WRITE: ContextVar[bool] = ContextVar("is_own_write", default=False)

_CHANGE = CompiledQuery(
    lambda owner_id, run_id, person_id: RunChange.objects.owned_by(owner_id).filter(run=run_id, person=person_id)
)


@dataclass(slots=True)
class Failures:
    """What did not work, while the rest went on: how often, and what is said of it."""

    errors: int = 0
    messages: list[str] = field(default_factory=list)

    def fail(self, message: str) -> None:
        """One thing that did not work."""
        self.errors += 1
        self.messages.append(message)

    @property
    def shown_messages(self) -> list[str]:
        """At most 50 messages."""
        return first_messages(self.messages)


@dataclass(slots=True)
class Tally(Failures):
    """The eight fields of `complete`, but for the pending imports, which are counted at the end."""

    imported: int = 0
    exported: int = 0
    updated_locally: int = 0
    updated_remotely: int = 0
    conflicts: int = 0
    discovered: int = 0


@dataclass(slots=True)
class Context:
    """One run. `run` is None for jobs that leave no history, such as exporting selected people."""

    owner: User
    connection: Connection
    lock: Lock
    run: Run | None = None
    dry_run: bool = False
    parallel: int = 4
    tally: Tally = field(default_factory=Tally)
    pixels: PixelBudget = field(default_factory=PixelBudget)
    book_or_none: Book | None = None
    listed: Changes | None = None
    counted_mappings: set[UUID] = field(default_factory=set)
    has_written: bool = False
    #: Mappings of new cards that were sent, nobody knows with what outcome, and that are not where they were put.
    unfound: set[UUID] = field(default_factory=set)
    #: Mappings over whose card the server has failed.
    failed: set[UUID] = field(default_factory=set)
    _reported_at: dt.datetime | None = None

    @property
    def book(self) -> Book:
        if self.book_or_none is None:
            raise RuntimeError("the book is not open")
        return self.book_or_none

    @contextmanager
    def write(self) -> Iterator[AccountWrite]:
        """The account's lock for one contact. Raises LockLostError where another process has taken the run over."""
        token = IS_OWN_WRITE.set(True)
        try:
            with account_write(self.owner) as write:
                self.lock.check()
                yield write
        finally:
            IS_OWN_WRITE.reset(token)

    def note_sent(self) -> None:
        """Something was written on the server, whose ctag is none that we know now. Inside the write."""
        self.has_written = True
        if self.connection.ctag:
            self.connection.ctag = ""
            Connection.objects.owned_by(self.owner).filter(pk=self.connection.pk).update(ctag="")

    def report_progress(self, phase: str, message: str = "", current: int = 0, total: int = 0) -> None:
        """Say how far the run is, for streams. A new phase is written at once."""
        self.lock.note_progress()
        run, now = self.run, timezone.now()
        if run is None:
            return
        is_new = run.phase != phase
        if is_new or self._reported_at is None or now - self._reported_at >= _PROGRESS or current == total:
            run.phase, run.message, run.current, run.total = phase, message, current, total
            Run.objects.owned_by(self.owner).filter(pk=run.pk).update(
                phase=phase, message=message[:500], current=current, total=total
            )
            self._reported_at = now

    def note_change(
        self, person: Person, action: RunAction, image: dict[str, object], former_photo: str | None = None
    ) -> None:
        """Keep what a person was before this run, for its undo. Inside the write."""
        if self.run is None:
            return
        change = _CHANGE.instance(owner_id=self.owner.pk, run_id=self.run.pk, person_id=person.pk)
        if change is None:
            change = RunChange(owner=self.owner, run=self.run, person=person, action=action, photo=former_photo)
        elif "photo" not in change.image:
            change.photo = former_photo
        change.image, change.revision = {**image, **change.image}, person.revision
        change.save()

    def note_created(self, people: Sequence[Person]) -> None:
        """Keep whom this run made. Inside the write."""
        if self.run is not None:
            RunChange.objects.bulk_create(
                RunChange(
                    owner=self.owner, run=self.run, person=person, action=RunAction.CREATED, revision=person.revision
                )
                for person in people
            )
