"""What a channel is. The ledger (notifications.services) decides when, how often and how long; a channel sends once."""

import datetime as dt
import logging
from collections.abc import Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, ClassVar
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.outbound import Code, OutboundError, reuse_sessions
from contacts_project.kernel.outbound.hosts import HostBusyError
from notifications.notices.notice import Notice, NoticeKind

log = logging.getLogger(__name__)

REMINDERS = frozenset(
    {NoticeKind.IMPORTANT_DATE, NoticeKind.IMPORTANT_DATE_LEAD, NoticeKind.CONTACT, NoticeKind.CONTACTS_FOUND}
)


@dataclass(frozen=True)
class Target:
    """Where one account may be told something.

    `key` is stable and unique within the account and channel (the row's id; "email"). `off` says why nothing goes
    there now, as a word of snake_case (`email_disabled`, `disabled`, `auto_disabled`, `plan`); None: it is on. `row` is
    what the channel read of it, for who sends there at once.
    """

    channel: str
    key: str
    label: str
    off: str | None = None
    row: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Outcome:
    """How one try ended. `code` is one of the contract's failure codes; None: the destination confirmed.

    `retry_after`: seconds the destination asked us to wait. `is_final`: trying again is pointless (410, a refused
    address, a destination that is gone). `is_gone`: the destination itself said that it is no more (410, and 404 of a
    push service). `is_ours`: we failed before anything was asked of the destination; never counted against it.
    """

    code: str | None = None
    retry_after: int | None = None
    is_final: bool = False
    is_gone: bool = False
    is_ours: bool = False

    @property
    def is_ok(self) -> bool:
        return self.code is None

    @classmethod
    def failed(cls, error: OutboundError, *, gone_statuses: frozenset[int]) -> "Outcome":
        """What a failure at an outbound session means."""
        is_gone = error.status in gone_statuses
        return cls(
            code=error.code.value,
            retry_after=error.retry_after,
            is_final=is_gone or error.code is Code.BLOCKED,
            is_gone=is_gone,
        )


class TargetMissingError(Exception):
    """The target was removed after the delivery had been planned."""


class Channel:
    """One way to tell somebody. Stateless; one instance serves every thread. A subclass says name, targets, deliver.

    Where `records_outcomes` is False, outcomes leave no trace but in the ledger.
    """

    name: ClassVar[str]
    kinds: ClassVar[frozenset[NoticeKind]] = REMINDERS
    gone_statuses: ClassVar[frozenset[int]] = frozenset({410})

    records_outcomes: ClassVar[bool] = True

    def targets(self, owner: User) -> list[Target]:
        """Every target of the account, those that are off too."""
        raise NotImplementedError

    def targets_by_owner(self, owners: Collection[User]) -> dict[UUID, list[Target]]:
        """The same of several accounts, by their ids; a channel that has rows reads them at once."""
        return {owner.pk: self.targets(owner) for owner in owners}

    def deliver(self, key: str, notice: Notice, row: Any = None) -> None:
        """Send, returning once the destination has confirmed. Raises OutboundError or TargetMissingError.

        `row` is that of its Target, where it was just read.
        """
        raise NotImplementedError

    def kept_open(self) -> AbstractContextManager[None]:
        """Around several sends of one thread: what they connect to stays connected."""
        return reuse_sessions()

    def send(self, key: str, notice: Notice, row: Any = None) -> Outcome:
        """Try once, within the session's deadline, outside any transaction. Failures are an Outcome, never raised.

        Inside `limited_hosts` it raises HostBusyError: nothing was tried.
        """
        try:
            self.deliver(key, notice, row)
        except HostBusyError:
            raise
        except OutboundError as error:
            return Outcome.failed(error, gone_statuses=self.gone_statuses)
        except TargetMissingError:
            return Outcome(code=Code.UNKNOWN.value, is_final=True, is_ours=True)
        except Exception:
            log.exception("sending over %s failed on our side", self.name, extra={"notice": str(notice.id)})
            return Outcome(code=Code.UNKNOWN.value, is_ours=True)
        return Outcome()

    def record_outcome(self, key: str, outcome: Outcome, *, owner: User, now: dt.datetime) -> None:
        """A delivery ended. That it was given up is told inside the ledger's transaction, that it was confirmed right
        after it."""

    def note_failure(self, key: str, code: str, *, owner: User, now: dt.datetime) -> None:
        """A try failed and another will be made: nothing to count yet, something to show. In the same transaction."""
