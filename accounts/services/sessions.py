"""Sessions of an account: begun at sign-in, listed, ended."""

import datetime as dt
from collections.abc import Iterable
from uuid import UUID

from django.contrib.auth import login, update_session_auth_hash
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.models import AccountSession, User
from contacts_project.kernel.api.client_address import client_address
from contacts_project.kernel.database.write_lock import skip_if_locked
from contacts_project.kernel.ownership.account_lock import account_lock

BACKEND = "django.contrib.auth.backends.ModelBackend"
_USE_RESOLUTION_SECONDS = 60


def start_session(*, request: HttpRequest, user: User) -> None:
    """Sign `user` in to the browser behind `request`. Whoever was signed in there is signed out first.

    Under the account's lock: one that is being deleted raises AccountGoneError.
    """
    if old := request.session.session_key:
        AccountSession.unscoped.rows().filter(session_key=old).delete()
        request.session.flush()
    with account_lock(user):
        login(request, user, BACKEND)


def renew_session(*, request: HttpRequest, user: User) -> None:
    """Keep the browser behind `request` signed in after a new password, under a new key."""
    old = request.session.session_key
    update_session_auth_hash(request, user)
    AccountSession.unscoped.rows().filter(session_key=old).update(session_key=request.session.session_key)


def record_session(*, request: HttpRequest, user: User, now: dt.datetime) -> None:
    """Put a fresh sign-in on the account's list of sessions; for the API and the admin alike."""
    if request.session.session_key is None:
        request.session.create()
    AccountSession.unscoped.rows().update_or_create(
        session_key=request.session.session_key,
        defaults={
            "owner": user,
            "user_agent": request.META.get("HTTP_USER_AGENT", "")[:500],
            "ip": client_address(request),
            "last_used_at": now,
        },
    )


def note_session_use(*, session_key: str, now: dt.datetime) -> None:
    """Keep `last_used_at`, written at most once a minute."""
    if cache.add(f"session-used:{session_key}", 1, _USE_RESOLUTION_SECONDS):
        with skip_if_locked():
            AccountSession.unscoped.rows().filter(session_key=session_key).update(last_used_at=now)


def live_sessions(*, user: User, now: dt.datetime) -> QuerySet[AccountSession]:
    """The sessions that still sign the account in, newest use first."""
    live = Session.objects.filter(expire_date__gt=now).values("session_key")
    rows: QuerySet[AccountSession] = AccountSession.objects.owned_by(user).filter(session_key__in=live)
    return rows.order_by("-last_used_at", "-id")


def end_session(*, user: User, session_id: UUID) -> bool:
    """End one session of the account; whether there was one."""
    key = AccountSession.objects.owned_by(user).filter(pk=session_id).values_list("session_key", flat=True).first()
    if key is None:
        return False
    _end([key])
    return True


def end_sessions(*, user: User, keep: str | None = None) -> None:
    """End every session of the account but the one with the key `keep`."""
    rows = AccountSession.objects.owned_by(user).exclude(session_key=keep or "")
    _end(rows.values_list("session_key", flat=True))


def _end(keys: Iterable[str]) -> None:
    keys = list(keys)
    with transaction.atomic():
        Session.objects.filter(session_key__in=keys).delete()
        AccountSession.unscoped.rows().filter(session_key__in=keys).delete()


def delete_expired_sessions(*, now: dt.datetime) -> int:
    """Remove the rows of sessions that have expired, here and in Django's store; how many."""
    gone, _ = Session.objects.filter(expire_date__lte=now).delete()
    alive = Session.objects.values("session_key")
    AccountSession.unscoped.rows().exclude(session_key__in=alive).delete()
    return gone
