"""Sessions of an account: start, list, end.

Of a session or API token that has ended, a hash, the reason and the day are kept for 120 days: a 401 can say why.
"""

import datetime as dt
import hashlib
from collections.abc import Iterable, Iterator
from uuid import UUID

from django.conf import settings
from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db import transaction
from django.db.models import QuerySet
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import AccountSession, ApiToken, EndedCredential, User
from accounts.models.sign_in import SESSION_KEY_PATTERN
from accounts.models.tokens import TOKEN_HASH
from accounts.vocabularies import EndReason
from contacts_project.kernel.client_address import client_address
from contacts_project.kernel.database.sqlite3 import skip_if_locked
from contacts_project.kernel.ownership.account_lock import account_lock

BACKEND = "django.contrib.auth.backends.ModelBackend"
_LAST_USED_RESOLUTION_SECONDS = 60
_RENEWAL_INTERVAL = dt.timedelta(days=1)
_SWEEP_BATCH_SIZE = 1000
_ENDED_RETENTION = dt.timedelta(days=120)


class SessionStore(db.SessionStore):
    """Django's sessions in the database (SESSION_ENGINE). One that ends, by whatever code, is recorded as ended."""

    def _validate_session_key(self, key: str | None) -> bool:
        # Overrides Django's, which takes every text of eight characters, also what no database may be asked for.
        return key is not None and SESSION_KEY_PATTERN.fullmatch(key) is not None

    def delete(self, session_key: str | None = None) -> None:
        if key := session_key or self.session_key:
            _delete_sessions([key], EndReason.REVOKED)

    @classmethod
    def clear_expired(cls) -> None:
        delete_expired_sessions(now=timezone.now())


def start_session(*, request: HttpRequest, user: User) -> None:
    """Sign `user` in on the browser behind `request`; an earlier session there ends. Raises AccountGoneError."""
    # Flushed even for the same user: a new key prevents session fixation, and nothing of another user's session stays.
    if request.session.session_key:
        request.session.flush()
    # Under the lock, so that no session is created for an account that is being deleted.
    with account_lock(user):
        login(request, user, BACKEND)


def renew_session(*, request: HttpRequest, user: User) -> None:
    """Keep the browser behind `request` signed in after a change of password, under a new session key."""
    with transaction.atomic():
        row = AccountSession.unscoped.rows().filter(session_key=request.session.session_key).first()
        update_session_auth_hash(request, user)  # deletes the old session, and the row with it
        if row is not None and request.session.session_key is not None:
            row.session_key = request.session.session_key
            row.save(force_insert=True)


@receiver(user_logged_in)
def record_session(sender: type[User] | None, request: HttpRequest, user: User, **kwargs: object) -> None:
    """Add a new sign-in to the account's list of sessions, whether by API, page or admin."""
    if request.session.session_key is None:
        request.session.create()  # the key is needed now; the middleware would save the session after the view
    AccountSession.unscoped.rows().update_or_create(
        session_key=request.session.session_key,
        defaults={
            "owner": user,
            "user_agent": request.META.get("HTTP_USER_AGENT", "")[:500],
            "ip": client_address(request),
            "last_used_at": timezone.now(),
        },
    )


def record_session_use(*, session_key: str, now: dt.datetime) -> None:
    """Update `last_used_at`, at most once a minute."""
    # The cache decides, so that most requests write nothing to the database.
    if cache.add(f"session-used:{session_key}", 1, _LAST_USED_RESOLUTION_SECONDS):
        with skip_if_locked():
            AccountSession.unscoped.rows().filter(session_key=session_key).update(last_used_at=now)


def renew_expiry(*, session_key: str, now: dt.datetime) -> bool:
    """Let a session last its whole age from now on; returns False if that was done less than a day ago."""
    expires_at = now + dt.timedelta(seconds=settings.SESSION_COOKIE_AGE)
    rows = Session.objects.filter(session_key=session_key, expire_date__lte=expires_at - _RENEWAL_INTERVAL)
    renewed = 0
    # A read must not wait for a long write to renew its session: the next one does.
    with skip_if_locked():
        renewed = rows.update(expire_date=expires_at)
    return bool(renewed)


def active_sessions(*, user: User, now: dt.datetime) -> QuerySet[AccountSession]:
    """The account's sessions that have not expired, most recently used first."""
    unexpired = Session.objects.filter(expire_date__gt=now).values("session_key")
    rows: QuerySet[AccountSession] = AccountSession.objects.owned_by(user).filter(session_key__in=unexpired)
    return rows.order_by("-last_used_at", "-id")


def owner_of_session(*, session_key: str, now: dt.datetime) -> UUID | None:
    """The account of a session that has not expired; None if there is none. Notes no use."""
    unexpired = Session.objects.filter(session_key=session_key, expire_date__gt=now).values("session_key")
    rows = AccountSession.unscoped.rows().filter(session_key__in=unexpired, owner__is_active=True)
    owner_id: UUID | None = rows.values_list("owner_id", flat=True).first()
    return owner_id


def end_session(*, user: User, session_id: UUID) -> bool:
    """End one session of the account; returns whether it existed."""
    key = AccountSession.objects.owned_by(user).filter(pk=session_id).values_list("session_key", flat=True).first()
    if key is None:
        return False
    _delete_sessions([key], EndReason.REVOKED)
    return True


def end_sessions(*, user: User, keep: str | None = None, reason: EndReason = EndReason.REVOKED) -> None:
    """End every session of the account except the one with the key `keep`."""
    rows = AccountSession.objects.owned_by(user).exclude(session_key=keep or "")
    _delete_sessions(rows.values_list("session_key", flat=True), reason)


def _delete_sessions(keys: Iterable[str], reason: EndReason) -> None:
    keys = list(keys)
    with transaction.atomic():
        record_ended_sessions(keys, reason=reason, now=timezone.now())
        Session.objects.filter(session_key__in=keys).delete()
        AccountSession.unscoped.rows().filter(session_key__in=keys).delete()


def delete_expired_sessions(*, now: dt.datetime) -> int:
    """Delete expired sessions from Django's store, and our rows without one; returns how many expired."""
    # In batches, each a transaction of its own, so that other writers do not wait for long.
    expired, removed = Session.objects.filter(expire_date__lte=now), 0
    while True:
        with transaction.atomic():
            # Locked, since a request that began before a session expired may renew it.
            rows = expired.select_for_update().values_list("session_key", flat=True)
            keys = list(rows[:_SWEEP_BATCH_SIZE])
            if not keys:
                break
            record_ended_sessions(keys, reason=EndReason.EXPIRED, now=now)
            removed += expired.filter(session_key__in=keys).delete()[0]
    stored = Session.objects.values("session_key")
    AccountSession.unscoped.rows().exclude(session_key__in=stored).delete()
    return removed


def record_ended_sessions(keys: Iterable[str], *, reason: EndReason, now: dt.datetime) -> None:
    """Note why the sessions with these keys end. Call it in the transaction that deletes them, before it does.

    Sessions in which nobody has signed in are left out, and are never told apart from unknown ones.
    """
    signed_in = AccountSession.unscoped.rows().filter(session_key__in=keys).values_list("session_key")
    ends = Session.objects.filter(session_key__in=signed_in).values_list("session_key", "expire_date")
    _record(((hashlib.sha256(key.encode()).hexdigest(), ends_at) for key, ends_at in ends), reason, now)


def record_ended_tokens(rows: QuerySet[ApiToken], *, reason: EndReason, now: dt.datetime) -> None:
    """Note why these tokens end. Call it in the transaction that deletes them, before it does."""
    _record(rows.values_list("digest", "expires_at").iterator(), reason, now)


def find_end_of_session(*, key: str, now: dt.datetime) -> EndReason | None:
    """Why the session with this key has ended; None if it has not, was never known, or ended too long ago."""
    if not SESSION_KEY_PATTERN.fullmatch(key):
        return None
    if reason := _find_recorded(hashlib.sha256(key.encode()).hexdigest(), now):
        return reason
    # The row of an expired session stays until the daily sweep.
    expired = Session.objects.filter(pk=key, expire_date__gt=now - _ENDED_RETENTION, expire_date__lte=now)
    signed_in = AccountSession.unscoped.rows().filter(session_key__in=expired.values("pk"))
    return EndReason.EXPIRED if signed_in.exists() else None


def find_end_of_token(*, text: str, now: dt.datetime) -> EndReason | None:
    """Why the token with this text has ended; None as above."""
    digest = TOKEN_HASH(text.encode()).hexdigest()
    if reason := _find_recorded(digest, now):
        return reason
    # The row of an expired token stays until its owner deletes it.
    expired = ApiToken.unscoped.rows().filter(digest=digest, expires_at__gt=now - _ENDED_RETENTION, expires_at__lte=now)
    return EndReason.EXPIRED if expired.exists() else None


def purge_ended_credentials(*, now: dt.datetime) -> int:
    """Delete what ended more than 120 days ago, and return the number."""
    # In batches, each a transaction of its own, so that other writers do not wait for long.
    old, removed = EndedCredential.objects.filter(ended_on__lt=_first_day(now)), 0
    while digests := list(old.values_list("pk", flat=True)[:_SWEEP_BATCH_SIZE]):
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
        if ended_at <= now - _ENDED_RETENTION:
            continue
        # What has expired before is not revoked any more; that its account is gone is news even then.
        is_expired = ended_at < now and reason != EndReason.DELETED
        ended_on = ended_at.astimezone(dt.UTC).date()
        yield EndedCredential(digest=digest, reason=EndReason.EXPIRED if is_expired else reason, ended_on=ended_on)


def _first_day(now: dt.datetime) -> dt.date:
    return (now - _ENDED_RETENTION).astimezone(dt.UTC).date()
