"""Requests that are carried out once, however often they are sent: Idempotency-Key (open points, section 13).

A row is taken before the request runs, and holds its answer afterwards. For 24 hours whoever sends the same again gets
that answer; who comes while it runs is told to wait. A request that was killed half way is free to be sent again.
"""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from accounts.models import KeptAnswer, User
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ownership.account_lock import account_write, current_write

KEPT = dt.timedelta(hours=24)
# Longer than any request runs. Where its process was killed on this machine nobody waits for the end of it.
_LEASE = dt.timedelta(minutes=10)


class KeyReusedError(DomainError):
    """Another body came under the key."""

    message = "This Idempotency-Key was sent with another body: take a new key for a new request."


class InProgressError(DomainError):
    """The first request under the key still runs."""

    message = "The first request with this Idempotency-Key is still under way: ask again in a moment."
    retry_after = 1


@dataclass(frozen=True)
class Answer:
    """What a request was answered."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    is_passing: bool = False

    @property
    def is_success(self) -> bool:
        return self.status < 400

    @property
    def is_kept(self) -> bool:
        """What failed on our side, or came too early, may go better the next time; what is passing says so."""
        return self.status < 500 and self.status != 429 and not self.is_passing


def answer_once(
    *, owner: User, name: str, digest: str, run: Callable[[], Answer], is_joined: bool, now: dt.datetime
) -> tuple[Answer, bool]:
    """The answer of `run()`, or of the request before it with the same `name`; and whether it is that one's.

    With `is_joined` the request and the keeping of its answer are one transaction: it was done exactly when there is
    an answer. Others, which open transactions of their own or wait for other machines, are done again where they were
    killed between the last of them and the keeping. Raises KeyReusedError, InProgressError, and what `run` raises.
    """
    found = _take(owner, name, digest, now)
    if isinstance(found, Answer):
        return found, True
    ours = KeptAnswer.objects.owned_by(owner).filter(name=name).held_by(found)
    if current_write(owner.pk):
        return _run_within(run, ours), False
    try:
        answer, has_kept = _run_joined(owner, run, ours) if is_joined else (run(), False)
        if answer.is_kept and not has_kept:
            _keep(ours, answer)
    except BaseException:
        ours.delete()
        raise
    if not answer.is_kept:
        ours.delete()
    return answer, False


def _take(owner: User, name: str, digest: str, now: dt.datetime) -> UUID | Answer:
    """The claim under which the request may run, or the answer that it had."""
    rows = KeptAnswer.objects.owned_by(owner).filter(name=name)
    rows.filter(created_at__lte=now - KEPT).delete()
    row = rows.first()
    if row is None:
        row = KeptAnswer(owner=owner, name=name, digest=digest, created_at=now)
        try:
            with transaction.atomic():
                row.save(force_insert=True)
        except IntegrityError:  # a twin came first
            row = rows.first()
            if row is None:
                raise InProgressError from None
    if row.digest != digest:
        raise KeyReusedError
    if row.status is not None:
        return Answer(row.status, bytes(row.body), row.headers)
    claim = rows.filter(status=None).acquire(_LEASE, clock=now)
    if claim is None:
        raise InProgressError
    return claim


def _run_joined(owner: User, run: Callable[[], Answer], ours: Any) -> tuple[Answer, bool]:
    """Carry it out, and keep the answer of a success, in one transaction; of a refusal nothing stays.

    Returns the answer and whether it was kept: not that of what has taken itself back (a batch does).
    """
    with account_write(owner):
        answer = run()
        if not answer.is_success:
            transaction.set_rollback(True)
        if has_kept := answer.is_kept and not transaction.get_rollback():
            _keep(ours, answer)
    return answer, has_kept


def _run_within(run: Callable[[], Answer], ours: Any) -> Answer:
    """The same inside a write that somebody else has opened, who takes all of it back after a refusal, the row too."""
    answer = run()
    if answer.is_success and answer.is_kept:
        _keep(ours, answer)
    return answer


def _keep(ours: Any, answer: Answer) -> None:
    """Raises InProgressError where somebody else has taken the request over: it is theirs to answer."""
    if not ours.release(status=answer.status, body=answer.body, headers=answer.headers):
        raise InProgressError


def purge_kept_answers(*, now: dt.datetime) -> int:
    """Forget what is older than a day; how many."""
    removed: int = KeptAnswer.unscoped.rows().filter(created_at__lte=now - KEPT).delete()[0]
    return removed
