"""Browser push (RFC 8030) with VAPID (RFC 8292); the payload is encrypted for the device alone (RFC 8291)."""

import datetime as dt
import time
from collections.abc import Collection
from email.utils import parseaddr
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.conf import settings

from accounts.models import User
from contacts_project.kernel.json import dumps
from contacts_project.kernel.outbound.failures import Code, OutboundError, check_status
from contacts_project.kernel.outbound.policy import Schemes
from contacts_project.kernel.outbound.session import DEADLINE_SECONDS, outbound_session
from notifications.channels.interface import AttemptOutcome, Channel, ChannelTarget, TargetMissingError
from notifications.channels.ntfy import cut_bytes
from notifications.models.destinations import PushSubscription
from notifications.notices.actions import action_links
from notifications.notices.notice import Notice
from notifications.notices.wording import wording_of
from notifications.vapid import read_private_key

# What every push service accepts (RFC 8030, section 7.2), minus the header and the tag of aes128gcm.
MAX_PAYLOAD_BYTES = 4096 - 86 - 17
NOT_CONFIGURED = "push_not_configured"


class PushChannel(Channel):
    """Sends to each device. A device is removed when its push service answers 404 or 410."""

    name = "push"
    gone_statuses = frozenset({404, 410})

    def targets(self, owner: User) -> list[ChannelTarget]:
        """The account's devices, oldest first."""
        return self.targets_by_owner([owner])[owner.pk]

    def targets_by_owner(self, owners: Collection[User]) -> dict[UUID, list[ChannelTarget]]:
        off_reason = None if is_configured() else NOT_CONFIGURED
        found: dict[UUID, list[ChannelTarget]] = {owner.pk: [] for owner in owners}
        for row in PushSubscription.unscoped.filter(owner_id__in=found).order_by("id"):
            service = row.endpoint.split("/")[2]
            found[row.owner_id].append(ChannelTarget(self.name, str(row.id), service, off_reason=off_reason))
        return found

    def deliver(self, key: str, notice: Notice, row: Any = None) -> None:
        """Push to the device with the id `key`."""
        from pywebpush import WebPushException, webpush  # noqa: PLC0415 - imports aiohttp: 7 MB, for processes that push alone

        # Filtered by owner too: an endpoint moves to another account that signs in on the device.
        device = PushSubscription.objects.owned_by(notice.owner).with_id(key).first()
        if device is None:
            raise TargetMissingError(key)
        try:
            vapid = read_private_key(settings.VAPID_PRIVATE_KEY)
            with outbound_session(schemes=Schemes.HTTPS_ONLY, truncate=True) as session:
                response = webpush(
                    {"endpoint": device.endpoint, "keys": {"p256dh": device.p256dh, "auth": device.auth}},
                    data=payload_of(notice),
                    vapid_private_key=vapid,
                    vapid_claims={"sub": vapid_subject()},
                    # To the end of the account's day. At least a minute, for a notice that is sent at its end.
                    ttl=max(60, int((notice.expires_at - notice.sent_at).total_seconds())),
                    headers={"Topic": notice.id.hex, "Urgency": "normal"},
                    timeout=DEADLINE_SECONDS,
                    requests_session=session,
                )
            check_status(response)
        except WebPushException as failure:
            _raise_outbound(failure)

    def record_outcome(self, key: str, outcome: AttemptOutcome, *, owner: User, now: dt.datetime) -> None:
        """Note a success, and remove a device that is gone."""
        rows = PushSubscription.objects.owned_by(owner).with_id(key)
        if outcome.is_gone:
            rows.delete()
        elif outcome.is_ok:
            rows.update(last_success_at=now)


def is_configured() -> bool:
    """Whether the instance has VAPID keys."""
    return bool(settings.VAPID_PUBLIC_KEY and settings.VAPID_PRIVATE_KEY)


def vapid_subject() -> str:
    """The contact address for operators of push services (RFC 8292, section 2.1)."""
    if settings.VAPID_SUBJECT:
        return str(settings.VAPID_SUBJECT)
    if settings.BASE_URL.startswith("https://"):
        return str(settings.BASE_URL)
    address = operator_address(int(time.time() // 60))
    return f"mailto:{address or parseaddr(settings.DEFAULT_FROM_EMAIL)[1]}"


@lru_cache(maxsize=1)
def operator_address(_minute: int) -> str | None:
    """The address of the first operator, asked for once a minute: the query reads all accounts."""
    operators = User.objects.filter(is_superuser=True, is_active=True).order_by("created_at", "pk")
    return operators.values_list("email", flat=True).first()


def payload_of(notice: Notice) -> str:
    """`{ title, body, url, tag, actions? }` as JSON, with the body cut so that it fits; browsers show two actions."""
    wording = wording_of(notice)
    message: dict[str, Any] = {
        "title": cut_bytes(wording.title, 500),
        "body": "",
        "url": wording.url,
        "tag": str(notice.id),
    }
    if links := action_links(notice)[:2]:
        message["actions"] = [link.as_json for link in links]
    available = MAX_PAYLOAD_BYTES - len(dumps(message))
    body = cut_bytes(wording.text, available)
    while len(dumps({**message, "body": body})) > MAX_PAYLOAD_BYTES:
        # Characters that JSON escapes take more bytes than `cut_bytes` has counted.
        body = cut_bytes(body, len(body.encode()) * 3 // 4)
    return dumps({**message, "body": body}).decode()


def _raise_outbound(failure: Any) -> None:
    """Raise the OutboundError for an exception of pywebpush, which has no response if the device's keys are invalid."""
    response: Any = failure.response
    if response is None:
        raise OutboundError(Code.UNEXPECTED_RESPONSE, "The device's keys cannot be used.") from failure
    check_status(response)
    raise OutboundError(Code.UNEXPECTED_RESPONSE, status=response.status_code) from failure
