"""Server-Sent Events that announce new revisions: one query a second for all streams of a process."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

from django.db import Error

from accounts.models import User
from contacts_project.kernel.api.asgi_responses import event, in_thread

log = logging.getLogger(__name__)

_POLL_SECONDS = 1.0
# How often a stream checks its credential. It ends at most a minute after the credential does.
_CHECK_SECONDS = 30.0


async def revisions_of(owner: User, *, may_read: Callable[[], bool]) -> AsyncGenerator[bytes, None]:
    """Yield a `changed` event with the account's current revision, then one after each second in which it has risen.

    `may_read` returns whether the caller's credential is still valid; it is called in a thread every 30 seconds.
    """
    async with _revision_poller.watch(owner.pk, owner.revision) as account:
        sent, checked_at = -1, time.monotonic()
        while True:
            if account.is_gone:
                return
            if account.revision > sent:
                sent = account.revision
                yield event("changed", {"revision": sent}, sent)
            await account.wait(_CHECK_SECONDS)
            if time.monotonic() - checked_at >= _CHECK_SECONDS:
                checked_at = time.monotonic()
                if not await in_thread(may_read):
                    return


@dataclass
class _Account:
    """The latest revision of an account, shared by its streams in this process."""

    revision: int
    readers: int = 0
    is_gone: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait(self, seconds: float) -> None:
        """Wait until the revision rises, the account is deleted, or the time is over."""
        try:
            await asyncio.wait_for(self.changed.wait(), seconds)
        except TimeoutError:
            return

    def update(self, revision: int | None) -> None:
        if revision is None:
            self.is_gone = True
        elif revision > self.revision:
            self.revision = revision
        else:
            return
        # The set event wakes those who wait now; later calls of wait() get the new one, for the next change.
        self.changed.set()
        self.changed = asyncio.Event()


class _RevisionPoller:
    """Polls the revisions of all accounts that have a stream in this process. Stops when there are none."""

    def __init__(self) -> None:
        self._accounts: dict[UUID, _Account] = {}
        self._polling: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def watch(self, owner_id: UUID, revision: int) -> AsyncIterator[_Account]:
        account = self._accounts.setdefault(owner_id, _Account(revision))
        account.update(revision)
        account.readers += 1
        if self._polling is None or self._polling.done():
            self._polling = asyncio.create_task(self._poll())
        try:
            yield account
        finally:
            account.readers -= 1
            if not account.readers:
                del self._accounts[owner_id]

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            watched = list(self._accounts)
            if not watched:
                return
            try:
                found = await in_thread(_load_revisions, watched)
            except Error:
                log.warning("The revisions of accounts could not be read; trying again", exc_info=True)
                continue
            for owner_id in watched:
                # A stream can have ended during the query.
                if account := self._accounts.get(owner_id):
                    account.update(found.get(owner_id))


_revision_poller = _RevisionPoller()


def _load_revisions(owner_ids: Collection[UUID]) -> dict[UUID, int]:
    return dict(User.objects.filter(pk__in=owner_ids).values_list("pk", "revision"))
