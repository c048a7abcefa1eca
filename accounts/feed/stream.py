"""Telling clients that there is something to read: one query a second for all the streams of a process."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

from django.db import Error

from accounts.models import User
from contacts_project.kernel.api.event_streams import event, in_thread

log = logging.getLogger(__name__)

_STEP_SECONDS = 1.0
# How often a stream looks whether whoever opened it may still read: it ends within a minute of the credential.
_CHECK_SECONDS = 30.0


async def revisions_of(owner: User, *, may_read: Callable[[], bool]) -> AsyncGenerator[bytes, None]:
    """A `changed` event with the account's revision now, and one after each second in which it rose.

    `may_read`, called in a thread now and then, says whether the caller's credential is still good.
    """
    async with _watcher.watch(owner.pk, owner.revision) as account:
        told, checked_at = -1, time.monotonic()
        while True:
            if account.is_gone:
                return
            if account.revision > told:
                told = account.revision
                yield event("changed", {"revision": told}, told)
            await account.wait(_CHECK_SECONDS)
            if time.monotonic() - checked_at >= _CHECK_SECONDS:
                checked_at = time.monotonic()
                if not await in_thread(may_read):
                    return


@dataclass
class _Account:
    """What the streams of one account share."""

    revision: int
    readers: int = 0
    is_gone: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait(self, seconds: float) -> None:
        """Until the revision has risen, the account is gone, or the time is over."""
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
        # Whoever waits wakes; who waits next waits for the next change.
        self.changed.set()
        self.changed = asyncio.Event()


class _Watcher:
    """Asks for the revisions of all accounts that have a stream here, while there are any."""

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
            await asyncio.sleep(_STEP_SECONDS)
            asked = list(self._accounts)
            if not asked:
                return
            try:
                found = await in_thread(_revisions, asked)
            except Error:
                log.warning("The revisions of accounts could not be read; trying again", exc_info=True)
                continue
            for owner_id in asked:
                if account := self._accounts.get(owner_id):
                    account.update(found.get(owner_id))


_watcher = _Watcher()


def _revisions(owner_ids: Collection[UUID]) -> dict[UUID, int]:
    return dict(User.objects.filter(pk__in=owner_ids).values_list("pk", "revision"))
