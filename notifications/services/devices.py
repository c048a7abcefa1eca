"""Subscribing devices to browser push."""

import datetime as dt
from uuid import UUID

from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.texts import define_text
from notifications.channels import channels
from notifications.channels.interface import Outcome
from notifications.models import PushSubscription
from notifications.models.destinations import endpoint_digest
from notifications.services.destinations import send_sample

MAX_DEVICES = 20


class TooManyDevicesError(DomainError):
    """The account has MAX_DEVICES already."""

    message = define_text("too_many_devices", "An account has at most %(limit)s devices: remove one first.").format(
        limit=MAX_DEVICES
    )


def subscribe(*, owner: User, endpoint: str, p256dh: str, auth: str, user_agent: str) -> UUID:
    """Store a device and return its id. A known endpoint gets the new keys, and moves here from another account.

    Raises TooManyDevicesError. A delivery that was planned for the other account is skipped, as the device is gone.
    """
    digest = endpoint_digest(endpoint)
    with account_write(owner):
        devices = PushSubscription.objects.owned_by(owner)
        if not devices.filter(endpoint_digest=digest).exists() and devices.count() >= MAX_DEVICES:
            raise TooManyDevicesError
        device = PushSubscription(
            owner=owner,
            endpoint=endpoint,
            endpoint_digest=digest,
            p256dh=p256dh,
            auth=auth,
            user_agent=user_agent[:500],
            updated_at=timezone.now(),
        )
        # One upsert, which does not lock the other account: two accounts that take an endpoint from each other at the
        # same moment neither fail nor deadlock.
        PushSubscription.objects.bulk_create(
            [device],
            update_conflicts=True,
            unique_fields=["endpoint_digest"],
            update_fields=["owner", "p256dh", "auth", "user_agent", "updated_at"],
        )
        # Not `device.pk`: a known endpoint keeps its id.
        key: UUID = devices.values_list("pk", flat=True).get(endpoint_digest=digest)
        return key


def send_push_test(*, device: PushSubscription, now: dt.datetime) -> Outcome:
    """Send a sample to a device, at once. A device that its push service no longer knows is removed.

    Raises RateLimitedError, AccountBusyError.
    """
    owner, channel = device.owner, channels()["push"]
    outcome = send_sample(channel, str(device.pk), owner=owner, now=now)
    channel.record_outcome(str(device.pk), outcome, owner=owner, now=now)
    return outcome
