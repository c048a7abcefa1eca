"""Browsers that an account was signed in to from. Their attempts are counted apart from those of strangers."""

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

# One for all of an account's, however many marks somebody has gathered.
BY_KNOWN_DEVICES = Budget("login-known-devices", 10, 15 * 60)
COOKIE = "known_device"
MAX_DEVICES = 20
_KEPT = dt.timedelta(days=365)


def is_known_device(request: HttpRequest, user: User | None) -> bool:
    """Whether the browser was signed in to the account before. The same work where there is no account."""
    known = KnownDevice.unscoped.rows().filter(digest=_digest(request.COOKIES.get(COOKIE, "")))
    owner_id = known.values_list("owner_id", flat=True).first()
    return user is not None and owner_id == user.pk


def remember_device(request: HttpRequest, response: HttpResponseBase, user: User) -> None:
    """Mark the browser as one that was signed in to the account. One that has a mark keeps it."""
    mark, now = request.COOKIES.get(COOKIE, ""), timezone.now()
    with account_lock(user):
        devices = KnownDevice.objects.owned_by(user)
        if not mark or not devices.filter(digest=_digest(mark)).update(last_used_at=now):
            mark = secrets.token_urlsafe(32)
            KnownDevice.objects.create(owner=user, digest=_digest(mark), last_used_at=now)
            latest = devices.order_by("-last_used_at", "-id").values_list("pk", flat=True)[:MAX_DEVICES]
            devices.exclude(pk__in=list(latest)).delete()
    set_cookie(response, COOKIE, mark, seconds=int(_KEPT.total_seconds()), path="/")


def delete_devices(user: User) -> None:
    """End the marks of all browsers, and what was counted of them."""
    KnownDevice.objects.owned_by(user).delete()
    BY_KNOWN_DEVICES.clear(str(user.pk))


def delete_unused_devices(*, now: dt.datetime) -> None:
    """Remove the marks that browsers have thrown away by now."""
    KnownDevice.unscoped.rows().filter(last_used_at__lt=now - _KEPT).delete()


def _digest(mark: str) -> str:
    return hashlib.sha256(mark.encode()).hexdigest()
