"""The interface of a channel. A channel sends once; the services decide when to send, and whether to retry."""

import datetime as dt
import logging
from collections.abc import Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, ClassVar
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.outbound.exchanges import CallLimitError
from contacts_project.kernel.outbound.failures import Code, OutboundError
from contacts_project.kernel.outbound.session import reuse_sessions
from notifications.notices.notice import WITHOUT_PERSON, Notice, NoticeKind

log = logging.getLogger(__name__)

REMINDERS = frozenset({NoticeKind.IMPORTANT_DATE, NoticeKind.IMPORTANT_DATE_LEAD, NoticeKind.CONTACT, *WITHOUT_PERSON})


@dataclass(frozen=True)
class ChannelTarget:
    """An address of one account in one channel: a device, a destination, the e-mail address.

    - `key` is stable and unique within the account and channel: the row's id, or "email".
    - `off_reason` is why nothing is sent there (`email_disabled`, `disabled`, `auto_disabled`, `plan` ...); None if the
      target is on.
    - `row` is the database row, where the channel has loaded it, so that `deliver` need not load it again.
    """

    channel: str
    key: str
    label: str
    off_reason: str | None = None
    row: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class AttemptOutcome:
    """How one attempt ended.

    - `code` is one of the contract's failure codes; None if the target has confirmed.
    - `retry_after` is how many seconds the target asks us to wait.
    - `is_final`: a retry is pointless (410, a refused address, a removed target).
    - `is_gone`: the target itself answers that it no longer exists (410, and 404 of a push service).
    - `is_internal`: a fault on our side, before anything was sent. It is never counted against the destination.
    """

    code: str | None = None
    retry_after: int | None = None
    is_final: bool = False
    is_gone: bool = False
    is_internal: bool = False

    @property
    def is_ok(self) -> bool:
        return self.code is None

    @classmethod
    def failed(cls, error: OutboundError, *, gone_statuses: frozenset[int]) -> "AttemptOutcome":
        """The outcome of an error of an outbound session."""
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
    """One way to notify an account. Stateless: one instance serves all threads.

    A subclass defines `name`, `targets` and `deliver`. With `records_outcomes = False`, `record_outcome` is not called.
    """

    name: ClassVar[str]
    kinds: ClassVar[frozenset[NoticeKind]] = REMINDERS
    gone_statuses: ClassVar[frozenset[int]] = frozenset({410})

    records_outcomes: ClassVar[bool] = True
    has_own_server: ClassVar[bool] = False
    """Whether it sends to a server of the operator, so that accounts name none and share no limit of exchanges."""

    def targets(self, owner: User) -> list[ChannelTarget]:
        """All targets of the account, including those that are off."""
        raise NotImplementedError

    def targets_by_owner(self, owners: Collection[User]) -> dict[UUID, list[ChannelTarget]]:
        """The targets of several accounts, by account id. A channel with rows overrides this to load them at once."""
        return {owner.pk: self.targets(owner) for owner in owners}

    def deliver(self, key: str, notice: Notice, row: Any = None) -> None:
        """Send; returns when the target has confirmed. Raises OutboundError or TargetMissingError.

        `row`: the target's row, if it was just loaded.
        """
        raise NotImplementedError

    def reuse_connections(self) -> AbstractContextManager[None]:
        """A context in which the sends of this thread reuse their connections."""
        return reuse_sessions()

    def send(self, key: str, notice: Notice, row: Any = None) -> AttemptOutcome:
        """One attempt, within the session's deadline. Must be called outside any transaction.

        Failures are returned, too. Raises only CallLimitError, inside `limited_hosts` and `exchanges_of`: nothing
        was sent.
        """
        try:
            self.deliver(key, notice, row)
        except CallLimitError:
            # Not a failure, although `except Exception` below would take it for one: nothing was sent.
            raise
        except OutboundError as error:
            return AttemptOutcome.failed(error, gone_statuses=self.gone_statuses)
        except TargetMissingError:
            return AttemptOutcome(code=Code.UNKNOWN.value, is_final=True, is_internal=True)
        except Exception:
            log.exception("sending over %s failed on our side", self.name, extra={"notice": str(notice.id)})
            return AttemptOutcome(code=Code.UNKNOWN.value, is_internal=True)
        return AttemptOutcome()

    def record_outcome(self, key: str, outcome: AttemptOutcome, *, owner: User, now: dt.datetime) -> None:
        """Called when a delivery has ended: inside the ledger's transaction if it failed, after it if it was sent."""

    def note_failure(self, key: str, code: str, *, owner: User, now: dt.datetime) -> None:
        """Called inside the ledger's transaction when an attempt failed and there will be a retry."""
