"""Webhooks as of the Standard Webhooks specification: signed JSON, which the receiver verifies with its secret."""

import base64
import datetime as dt
import hashlib
import hmac
import secrets

import orjson
from django.utils import timezone

from contacts_project.kernel.json import format_timestamp
from contacts_project.kernel.outbound.failures import check_status
from contacts_project.kernel.outbound.policy import Schemes
from contacts_project.kernel.outbound.session import outbound_session
from notifications.channels.endpoint import EndpointChannel
from notifications.channels.interface import REMINDERS
from notifications.models.destinations import Destination, DestinationType
from notifications.notices.actions import action_links
from notifications.notices.notice import Notice, NoticeKind

SECRET_PREFIX = "whsec_"  # noqa: S105 - the public prefix of every secret


class WebhookChannel(EndpointChannel):
    """POSTs the content of a notice to the owner's URL. A 410 switches the destination off."""

    name = "webhook"
    type = DestinationType.WEBHOOK
    # The contract lists digest.weekly among the types of a webhook's body.
    kinds = REMINDERS | {NoticeKind.DIGEST}

    def deliver_to(self, destination: Destination, notice: Notice) -> None:
        """Send to one webhook, signed with every secret that is valid now."""
        now = timezone.now()
        body = body_of(notice)
        headers = signed_headers(str(notice.id), body, destination.signing_secrets(now), now)
        # The status is the confirmation. A body over the size limit is truncated and not treated as a failure.
        with outbound_session(schemes=Schemes.HTTPS_ONLY, truncate=True) as session:
            check_status(session.request("POST", destination.url, data=body, headers=headers))


def body_of(notice: Notice) -> bytes:
    """The body, the same bytes in every attempt: keys are sorted, since JSONB does not keep their order."""
    data = dict(notice.content)
    if links := action_links(notice):
        data["actions"] = [link.as_json for link in links]
    body = {"type": notice.kind.value, "timestamp": format_timestamp(notice.made_at), "data": data}
    return orjson.dumps(body, option=orjson.OPT_SORT_KEYS)


def signed_headers(id_: str, body: bytes, signing_secrets: list[str], now: dt.datetime) -> dict[str, str]:
    """The headers of the specification, with one signature per secret."""
    timestamp = str(int(now.timestamp()))
    signed = b".".join([id_.encode(), timestamp.encode(), body])
    return {
        "Content-Type": "application/json",
        "webhook-id": id_,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(f"v1,{_sign(signed, secret)}" for secret in signing_secrets),
    }


def new_secret() -> str:
    """A new signing secret, to be shown once."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def _sign(signed: bytes, secret: str) -> str:
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    return base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
