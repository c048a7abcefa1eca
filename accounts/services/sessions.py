"""Sessions of an account: start, list, end."""

import datetime as dt
from collections.abc import Iterable
from uuid import UUID

from django.conf import settings
from django.contrib.auth import login, update_session_auth_hash
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import AccountSession, User
from accounts.models.sign_in import SESSION_KEY_PATTERN
from accounts.services.ended_credentials import record_ended_sessions
from accounts.vocabularies import EndReason
from contacts_project.kernel.client_address import client_address
from contacts_project.kernel.database.write_lock import skip_if_locked
from contacts_project.kernel.ownership.account_lock import account_lock

BACKEND = "django.contrib.auth.backends.ModelBackend"
_LAST_USED_RESOLUTION_SECONDS = 60
_RENEWAL_INTERVAL = dt.timedelta(days=1)
_SWEEP_BATCH_SIZE = 1000


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


def record_session(*, request: HttpRequest, user: User, now: dt.datetime) -> None:
    """Add a new sign-in to the account's list of sessions; for the API and the admin alike."""
    if request.session.session_key is None:
        request.session.create()  # the key is needed now; the middleware would save the session after the view
    AccountSession.unscoped.rows().update_or_create(
        session_key=request.session.session_key,
        defaults={
            "owner": user,
            "user_agent": request.META.get("HTTP_USER_AGENT", "")[:500],
            "ip": client_address(request),
            "last_used_at": now,
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
