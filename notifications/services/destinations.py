"""Where an account gets its notices: creating, changing and testing destinations, and devices of browser push.

Network calls are never made inside a transaction: limits are checked, then the network is asked, then the limits are
checked again inside a short transaction, since another request may have used them up meanwhile.
"""

import datetime as dt
import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from accounts.models.user import Plan
from contacts_project.kernel.errors import DomainError, MissingError, PlanLimitError
from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.outbound.exchanges import exchanges_of
from contacts_project.kernel.outbound.failures import Code, OutboundError
from contacts_project.kernel.outbound.policy import Reason, Schemes
from contacts_project.kernel.outbound.session import configured_rules, outbound_session
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.rate_limits import RateLimit
from contacts_project.kernel.text_forms import TOO_LONG
from contacts_project.kernel.texts import Text, define_text
from notifications.channels import channels
from notifications.channels.interface import AttemptOutcome, Channel
from notifications.channels.ntfy import find_server, topic_of
from notifications.channels.webhook import new_secret
from notifications.models import CalendarFeed, Destination, DestinationType, PushSubscription
from notifications.models.destinations import MAX_URL_LENGTH, endpoint_digest, url_key
from notifications.notices.notice import Notice, NoticeKind

_CREDENTIALS = define_text("send_credentials_as_token", "The URL embeds credentials: send them as token.")
_NO_TOPIC = define_text("no_ntfy_topic", "The URL names no ntfy topic.")
_NOT_NTFY = define_text("not_ntfy", "The server does not answer as an ntfy server does.")
_NO_DNS = define_text("host_not_resolved", "The host name does not resolve.")
_NTFY_FAILED = define_text("ntfy_failed", "The server does not answer as an ntfy server does (%(code)s).")
NEEDS_PRO = define_text("webhooks_need_pro", "Webhooks need a Pro subscription.")

MAX_DESTINATIONS = 5
TOPIC = re.compile(r"[-_A-Za-z0-9]{1,64}")
_URL_CODES = {Reason.MALFORMED: "invalid", Reason.USERINFO: "credentials_in_url"}
# How often an account may make this service send requests to hosts of its choice.
CREATIONS = RateLimit("destination-creation", 10, 3600)
OUTBOUND = RateLimit("destination-outbound", 25, 15 * 60)
TESTS_PER_DESTINATION = RateLimit("destination-test", 5, 15 * 60)
SCHEMES = {DestinationType.WEBHOOK: Schemes.HTTPS_ONLY, DestinationType.NTFY: Schemes.HTTP_OR_HTTPS}


class UrlRefusedError(DomainError):
    """The URL cannot be used. `code` is one of CODES."""

    CODES = ("policy", "dns", "invalid", "too_long", "not_ntfy", "credentials_in_url")

    def __init__(self, code: str, message: Text) -> None:
        super().__init__(message, field="url")
        self.code = code


class DuplicateUrlError(DomainError):
    """The account already has a destination with this URL."""

    message = define_text("duplicate_url", "This URL is already one of your destinations.")


class TooManyDestinationsError(DomainError):
    """The account has MAX_DESTINATIONS already."""

    message = define_text(
        "too_many_destinations", "An account has at most %(limit)s destinations: delete one first."
    ).format(limit=MAX_DESTINATIONS)


class SecretMissingError(DomainError):
    """An imported webhook has no signing secret until its owner rotates it."""

    message = define_text(
        "webhook_without_secret", "This webhook was imported without its signing secret: send rotateSecret first."
    )


@dataclass(frozen=True)
class DestinationChanges:
    """The changes of an update; None: unchanged. A token of "" removes the stored one."""

    label: str | None = None
    enabled: bool | None = None
    url: str | None = None
    token: str | None = None
    rotate_secret: bool = False


def create_destination(
    *, owner: User, type_: DestinationType, label: str, url: str, token: str
) -> tuple[Destination, str | None]:
    """Create a destination; returns it with a webhook's signing secret, which is not shown again, or None.

    Raises UrlRefusedError, DuplicateUrlError, TooManyDestinationsError, PlanLimitError, RateLimitedError. Only a
    request that gets as far as the network counts against the rate limit.
    """
    destination = Destination(owner=owner, type=type_, label=label)
    # Checks that need no network come first, and do not count against the rate limit.
    _check_plan(owner, destination)
    check_url(type_, url)
    # Before the rate limit is counted against: a request that is refused because too many are waiting must not count.
    with external_wait():
        CREATIONS.hit(str(owner.pk))
        _check_can_add(owner, url)
        with exchanges_of(owner.pk):
            destination.set_url(url, check_reachable(type_, url))
    secret = new_secret() if type_ == DestinationType.WEBHOOK else None
    destination.secret = secret or token
    with account_write(owner):
        # Again, now under the lock: another request may have added a destination during the network call.
        _check_can_add(owner, url)
        destination.save(force_insert=True)
    return destination, secret


def update_destination(*, destination: Destination, changes: DestinationChanges, now: dt.datetime) -> str | None:
    """Change a destination; returns the new signing secret if one was requested.

    A new URL or credential clears the failures; switching on also clears the mark of automatic disabling. Raises the
    errors of create_destination, SecretMissingError, and MissingError if the row was deleted meanwhile.
    """
    owner = destination.owner
    new_url = changes.url if changes.url not in {None, destination.url} else None
    if new_url or changes.rotate_secret or (changes.enabled and not destination.enabled):
        _check_plan(owner, destination)
    # The network is asked before the lock is taken.
    server_url = _check_new_url(destination, new_url) if new_url else ""
    secret = new_secret() if changes.rotate_secret else None
    with account_write(owner):
        row = _lock_row(owner, destination)
        if new_url:
            _check_duplicate(owner, new_url, except_for=row)
            row.set_url(new_url, server_url)
        _apply_changes(row, changes, secret, now)
        if new_url or secret or changes.token is not None:
            row.reset_failures()
        row.save()
    return secret


def delete_destination(*, destination: Destination) -> None:
    """Delete a destination permanently. Raises MissingError if it no longer exists."""
    with account_write(destination.owner):
        _lock_row(destination.owner, destination).delete()


def send_test(*, destination: Destination, now: dt.datetime) -> AttemptOutcome:
    """Send a test notice now, whether the destination is on or off. The outcome is not recorded.

    Raises PlanLimitError, SecretMissingError, RateLimitedError, AccountBusyError.
    """
    owner = destination.owner
    _check_plan(owner, destination)
    if destination.lacks_secret:
        raise SecretMissingError
    return send_sample(channels()[destination.type.lower()], str(destination.pk), owner=owner, now=now)


def send_sample(channel: Channel, key: str, *, owner: User, now: dt.datetime) -> AttemptOutcome:
    """Send a sample to the target with this key. Raises RateLimitedError, AccountBusyError."""
    ends_at = now + dt.timedelta(days=1)
    notice = Notice(new_id(), NoticeKind.TEST, owner, {}, made_at=now, sent_at=now, expires_at=ends_at)
    with external_wait():
        with transaction.atomic():  # if one rate limit is used up, the count against the other is rolled back
            TESTS_PER_DESTINATION.hit(key)
            OUTBOUND.hit(str(owner.pk))
        with exchanges_of(owner.pk):
            return channel.send(key, notice)


def check_url(type_: DestinationType, url: str) -> None:
    """Check a URL as far as possible without the network. Raises UrlRefusedError."""
    if len(url) > MAX_URL_LENGTH:
        raise UrlRefusedError("too_long", TOO_LONG.format(limit=MAX_URL_LENGTH, length=len(url)))
    try:
        configured_rules(schemes=SCHEMES[type_]).check_url(url)
    except OutboundError as error:
        raise _refusal(error) from error
    if type_ == DestinationType.NTFY:
        if "auth" in parse_qs(urlsplit(url).query):
            raise UrlRefusedError("credentials_in_url", _CREDENTIALS)
        if not TOPIC.fullmatch(topic_of(url)):
            raise UrlRefusedError("invalid", _NO_TOPIC)


def check_reachable(type_: DestinationType, url: str) -> str:
    """Resolve the host, and for ntfy find the topic's server; returns the server's root URL, empty for a webhook.

    Raises UrlRefusedError.
    """
    try:
        if type_ == DestinationType.WEBHOOK:
            with outbound_session(schemes=SCHEMES[type_]) as session:
                session.check(url)
            return ""
        server_url = find_server(url)
    except OutboundError as error:
        raise _refusal(error) from error
    if server_url is None:
        raise UrlRefusedError("not_ntfy", _NOT_NTFY)
    return server_url


def _refusal(error: OutboundError) -> UrlRefusedError:
    if error.code is Code.BLOCKED:
        code = _URL_CODES.get(error.reason, "policy") if error.reason else "policy"
        return UrlRefusedError(code, error.text)
    if error.code is Code.DNS:
        return UrlRefusedError("dns", _NO_DNS)
    return UrlRefusedError("not_ntfy", _NTFY_FAILED.format(code=error.code.value))


def _check_new_url(destination: Destination, url: str) -> str:
    type_ = DestinationType(destination.type)
    check_url(type_, url)
    with external_wait():
        OUTBOUND.hit(str(destination.owner_id))
        _check_duplicate(destination.owner, url, except_for=destination)
        with exchanges_of(destination.owner_id):
            return check_reachable(type_, url)


def _apply_changes(row: Destination, changes: DestinationChanges, secret: str | None, now: dt.datetime) -> None:
    if changes.label is not None:
        row.label = changes.label
    if secret:
        row.rotate_secret(secret, now)
    if changes.token is not None:
        row.secret = changes.token
    if changes.enabled and row.lacks_secret:
        raise SecretMissingError(field="enabled")
    if changes.enabled and not row.enabled:
        row.enable()
    elif changes.enabled is False:
        row.enabled = False


def _lock_row(owner: User, destination: Destination) -> Destination:
    # The account's lock is not enough: a delivery that records its failure locks only the row. SQLite ignores this, but
    # has one writer at a time.
    row = Destination.objects.owned_by(owner).select_for_update().filter(pk=destination.pk).first()
    if row is None:
        raise MissingError
    return row


def _check_can_add(owner: User, url: str) -> None:
    _check_duplicate(owner, url)
    if Destination.objects.owned_by(owner).count() >= MAX_DESTINATIONS:
        raise TooManyDestinationsError


def _check_duplicate(owner: User, url: str, except_for: Destination | None = None) -> None:
    same = Destination.objects.owned_by(owner).filter(url_key=url_key(url))
    if except_for is not None:
        same = same.exclude(pk=except_for.pk)
    if same.exists():
        raise DuplicateUrlError(field="url")


def _check_plan(owner: User, destination: Destination) -> None:
    if destination.needs_pro and owner.effective_plan != Plan.PRO:
        raise PlanLimitError(NEEDS_PRO)


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


def send_push_test(*, device: PushSubscription, now: dt.datetime) -> AttemptOutcome:
    """Send a sample to a device, at once. A device that its push service no longer knows is removed.

    Raises RateLimitedError, AccountBusyError.
    """
    owner, channel = device.owner, channels()["push"]
    outcome = send_sample(channel, str(device.pk), owner=owner, now=now)
    channel.record_outcome(str(device.pk), outcome, owner=owner, now=now)
    return outcome


def disable_channels(owner_id: UUID) -> None:
    """Switch destinations off and delete devices and calendar feeds: somebody else may have set them up, and would
    otherwise go on receiving the account's data.
    """
    CalendarFeed.objects.owned_by(owner_id).delete()
    Destination.objects.owned_by(owner_id).update(enabled=False)
    PushSubscription.objects.owned_by(owner_id).delete()
