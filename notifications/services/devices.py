"""Subscribing devices to browser push."""

from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ownership.account_lock import account_write
from notifications.models import PushSubscription
from notifications.models.push_subscription import endpoint_digest

MAX_DEVICES = 20


class TooManyDevicesError(DomainError):
    """The account has MAX_DEVICES already."""

    message = f"An account has at most {MAX_DEVICES} devices: remove one first."


def subscribe(*, owner: User, endpoint: str, p256dh: str, auth: str) -> None:
    """Store a device. A known endpoint gets the new keys, and is moved here if it belongs to another account.

    Raises TooManyDevicesError. A delivery that was planned for the other account is skipped, as the device is gone.
    """
    digest = endpoint_digest(endpoint)
    with account_write(owner):
        devices = PushSubscription.objects.owned_by(owner)
        if not devices.filter(endpoint_digest=digest).exists() and devices.count() >= MAX_DEVICES:
            raise TooManyDevicesError
        device = PushSubscription(
            owner=owner, endpoint=endpoint, endpoint_digest=digest, p256dh=p256dh, auth=auth, updated_at=timezone.now()
        )
        # One upsert, which does not lock the other account: two accounts that take an endpoint from each other at the
        # same moment neither fail nor deadlock.
        PushSubscription.objects.bulk_create(
            [device],
            update_conflicts=True,
            unique_fields=["endpoint_digest"],
            update_fields=["owner", "p256dh", "auth", "updated_at"],
        )
