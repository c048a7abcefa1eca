"""Browsers that have signed in to an account before. Their sign-in attempts have a budget apart from strangers'."""

import datetime as dt
import hashlib
import secrets

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

from accounts.cookies import set_cookie
from accounts.models import KnownDevice, User
from contacts_project.kernel.budgets import Budget
from contacts_project.kernel.ownership.account_lock import account_lock

# One budget for all known devices of an account: collecting many cookies must not give more attempts.
ATTEMPTS_BY_KNOWN_DEVICE = Budget("login-known-devices", 10, 15 * 60)
COOKIE = "known_device"
MAX_DEVICES = 20
_LIFETIME = dt.timedelta(days=365)  # since the last sign-in


def is_known_device(request: HttpRequest, user: User | None) -> bool:
    """Whether the browser has signed in to the account before."""
    # The query runs without an account too: the response time must not reveal whether there is one.
    known = KnownDevice.unscoped.rows().filter(digest=_digest(request.COOKIES.get(COOKIE, "")))
    owner_id = known.values_list("owner_id", flat=True).first()
    return user is not None and owner_id == user.pk


def remember_device(request: HttpRequest, response: HttpResponseBase, user: User) -> None:
    """Set the cookie that makes the browser a known device of the account; an existing one is renewed."""
    token, now = request.COOKIES.get(COOKIE, ""), timezone.now()
    with account_lock(user):
        devices = KnownDevice.objects.owned_by(user)
        if not token or not devices.filter(digest=_digest(token)).update(last_used_at=now):
            token = secrets.token_urlsafe(32)
            KnownDevice.objects.create(owner=user, digest=_digest(token), last_used_at=now)
            latest = devices.order_by("-last_used_at", "-id").values_list("pk", flat=True)[:MAX_DEVICES]
            devices.exclude(pk__in=list(latest)).delete()
    set_cookie(response, COOKIE, token, seconds=int(_LIFETIME.total_seconds()), path="/")


def forget_devices(user: User) -> None:
    """Delete all known devices of the account, and their count of failed attempts."""
    KnownDevice.objects.owned_by(user).delete()
    ATTEMPTS_BY_KNOWN_DEVICE.clear(str(user.pk))


def delete_unused_devices(*, now: dt.datetime) -> None:
    """Delete devices whose cookie has expired."""
    KnownDevice.unscoped.rows().filter(last_used_at__lt=now - _LIFETIME).delete()


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
