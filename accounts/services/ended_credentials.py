"""Sessions and API tokens that have ended: of each only a hash, the reason and the day, so that a 401 can say why."""

import datetime as dt
import hashlib
from collections.abc import Iterable, Iterator

from django.contrib.sessions.models import Session
from django.db.models import QuerySet

from accounts.models import AccountSession, ApiToken, EndedCredential
from accounts.models.sign_in import SESSION_KEY_PATTERN
from accounts.models.tokens import TOKEN_HASH
from accounts.vocabularies import EndReason

RETENTION = dt.timedelta(days=120)
_PURGE_BATCH_SIZE = 1000


def record_ended_sessions(keys: Iterable[str], *, reason: EndReason, now: dt.datetime) -> None:
    """Note why the sessions with these keys end. Call it in the transaction that deletes them, before it does.

    Sessions in which nobody has signed in are left out, and are never told apart from unknown ones.
    """
    signed_in = AccountSession.unscoped.rows().filter(session_key__in=keys).values_list("session_key")
    ends = Session.objects.filter(session_key__in=signed_in).values_list("session_key", "expire_date")
    _record(((_session_digest(key), ends_at) for key, ends_at in ends), reason, now)


def record_ended_tokens(rows: QuerySet[ApiToken], *, reason: EndReason, now: dt.datetime) -> None:
    """Note why these tokens end. Call it in the transaction that deletes them, before it does."""
    _record(rows.values_list("digest", "expires_at").iterator(), reason, now)


def find_end_of_session(*, key: str, now: dt.datetime) -> EndReason | None:
    """Why the session with this key has ended; None if it has not, was never known, or ended too long ago."""
    if not SESSION_KEY_PATTERN.fullmatch(key):
        return None
    if reason := _find_recorded(_session_digest(key), now):
        return reason
    # The row of an expired session stays until the daily sweep.
    expired = Session.objects.filter(pk=key, expire_date__gt=now - RETENTION, expire_date__lte=now)
    signed_in = AccountSession.unscoped.rows().filter(session_key__in=expired.values("pk"))
    return EndReason.EXPIRED if signed_in.exists() else None


def find_end_of_token(*, text: str, now: dt.datetime) -> EndReason | None:
    """Why the token with this text has ended; None as above."""
    digest = TOKEN_HASH(text.encode()).hexdigest()
    if reason := _find_recorded(digest, now):
        return reason
    # The row of an expired token stays until its owner deletes it.
    expired = ApiToken.unscoped.rows().filter(digest=digest, expires_at__gt=now - RETENTION, expires_at__lte=now)
    return EndReason.EXPIRED if expired.exists() else None


def purge_ended_credentials(*, now: dt.datetime) -> int:
    """Delete what ended more than 120 days ago, and return the number."""
    # In batches, each a transaction of its own, so that other writers do not wait for long.
    old, removed = EndedCredential.objects.filter(ended_on__lt=_first_day(now)), 0
    while digests := list(old.values_list("pk", flat=True)[:_PURGE_BATCH_SIZE]):
        removed += EndedCredential.objects.filter(pk__in=digests).delete()[0]
    return removed


def _find_recorded(digest: str, now: dt.datetime) -> EndReason | None:
    row = EndedCredential.objects.filter(pk=digest, ended_on__gte=_first_day(now)).first()
    return None if row is None else EndReason(row.reason)


def _record(ends: Iterable[tuple[str, dt.datetime | None]], reason: EndReason, now: dt.datetime) -> None:
    EndedCredential.objects.bulk_create(_rows(ends, reason, now), batch_size=500, ignore_conflicts=True)


def _rows(
    ends: Iterable[tuple[str, dt.datetime | None]], reason: EndReason, now: dt.datetime
) -> Iterator[EndedCredential]:
    for digest, expires_at in ends:
        ended_at = now if expires_at is None else min(expires_at, now)
        if ended_at <= now - RETENTION:
            continue
        # What has expired before is not revoked any more; that its account is gone is news even then.
        is_expired = ended_at < now and reason != EndReason.DELETED
        ended_on = ended_at.astimezone(dt.UTC).date()
        yield EndedCredential(digest=digest, reason=EndReason.EXPIRED if is_expired else reason, ended_on=ended_on)


def _session_digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def _first_day(now: dt.datetime) -> dt.date:
    return (now - RETENTION).astimezone(dt.UTC).date()
