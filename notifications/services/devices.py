"""Devices that take browser push."""

from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ownership.account_lock import account_write
from notifications.models import PushSubscription
from notifications.models.push_subscription import endpoint_digest

MAX_DEVICES = 20


class TooManyDevicesError(DomainError):
    """The account has as many devices as one may have."""

    message = f"An account has at most {MAX_DEVICES} devices: remove one first."


def subscribe(*, owner: User, endpoint: str, p256dh: str, auth: str) -> None:
    """Store a device; the same endpoint again renews its keys. Another account's endpoint moves here.

    One statement, without the other account's lock: two accounts that fight for an endpoint neither fail nor wait for
    each other in a circle. A delivery planned for the account that lost it finds no device of its own any more.
    """
    digest = endpoint_digest(endpoint)
    with account_write(owner):
        own = PushSubscription.objects.owned_by(owner)
        if not own.filter(endpoint_digest=digest).exists() and own.count() >= MAX_DEVICES:
            raise TooManyDevicesError
        device = PushSubscription(
            owner=owner, endpoint=endpoint, endpoint_digest=digest, p256dh=p256dh, auth=auth, updated_at=timezone.now()
        )
        PushSubscription.objects.bulk_create(
            [device],
            update_conflicts=True,
            unique_fields=["endpoint_digest"],
            update_fields=["owner", "p256dh", "auth", "updated_at"],
        )
