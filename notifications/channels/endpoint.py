"""The common part of the channels of notification destinations (NTFY, WEBHOOK): their rows and their failures.

The tenth failure in a row switches a destination off, and its owner gets a mail.
"""

import datetime as dt
import logging
from collections.abc import Collection, Mapping
from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from accounts.models import User
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.outbound.failures import Code, describe_mail_error
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_write
from contacts_project.kernel.text_forms import mail_address
from notifications.channels.interface import AttemptOutcome, Channel, ChannelTarget, TargetMissingError
from notifications.models.destinations import Destination, DestinationType
from notifications.notices.notice import Notice, format_message_id

log = logging.getLogger(__name__)


class EndpointChannel(Channel):
    """A channel whose targets are Destination rows of one type."""

    type: ClassVar[DestinationType]

    def deliver_to(self, destination: Destination, notice: Notice) -> None:
        """Send to one destination; returns when it has confirmed. Raises OutboundError."""
        raise NotImplementedError

    def targets(self, owner: User) -> list[ChannelTarget]:
        """The account's destinations of this type, oldest first."""
        return self.targets_by_owner([owner])[owner.pk]

    def targets_by_owner(self, owners: Collection[User]) -> dict[UUID, list[ChannelTarget]]:
        by_id = {owner.pk: owner for owner in owners}
        found: dict[UUID, list[ChannelTarget]] = {owner_id: [] for owner_id in by_id}
        for row in Destination.unscoped.filter(owner_id__in=by_id, type=self.type).order_by("id"):
            off_reason = _off_reason(row, by_id[row.owner_id])
            found[row.owner_id].append(ChannelTarget(self.name, str(row.id), row.label, off_reason=off_reason, row=row))
        return found

    def deliver(self, key: str, notice: Notice, row: Any = None) -> None:
        """Send to the destination with the id `key`."""
        row_id, rows = parse_id(key), Destination.objects.active_rows
        destination = row or rows.instance(owner_id=notice.owner.pk, row_ids=[row_id] if row_id else [])
        if destination is None or destination.type != self.type:
            raise TargetMissingError(key)
        self.deliver_to(destination, notice)

    def record_outcome(self, key: str, outcome: AttemptOutcome, *, owner: User, now: dt.datetime) -> None:
        """Count the outcome. If a failure switches the destination off, the owner is notified by mail."""
        if outcome.is_ok:
            # One UPDATE without a lock: a success sets fixed values and does not depend on the row.
            self._record(key, owner, {"consecutive_failures": 0, "last_success_at": now})
            return
        rows = Destination.objects.owned_by(owner).of_type(self.type)
        # Locked, because the new count depends on the old one. SQLite ignores the lock, but has one writer at a time.
        destination = rows.select_for_update().with_id(key).first()
        if destination is None:
            return
        counts = not outcome.is_internal and outcome.code != Code.HTTP_429
        destination.record_failure(outcome.code or Code.UNKNOWN, now, counts=counts, is_gone=outcome.is_gone)
        self._record(key, owner, {column: getattr(destination, column) for column in Destination.OUTCOME_COLUMNS})
        if destination.disable_notice_due:
            # If the mail fails, or the process dies before this runs, the next due scan sends it.
            transaction.on_commit(send_disabled_notices, robust=True)

    def note_failure(self, key: str, code: str, *, owner: User, now: dt.datetime) -> None:
        """Show the failure to the owner, from the first failed attempt on. It does not count yet."""
        self._record(key, owner, {"last_failure_at": now, "last_failure_code": code})

    def _record(self, key: str, owner: User, values: Mapping[str, Any]) -> None:
        """By Django's base manager, so that the UPDATE sets no revision: otherwise every notice would raise that of the
        account. A destination that was switched off is marked as changed just before the mail about it is sent
        (notifications.channels.endpoint).
        """
        if row_id := parse_id(key):
            Destination._base_manager.filter(owner=owner, pk=row_id, type=self.type.value).update(**values)


def _off_reason(destination: Destination, owner: User) -> str | None:
    if destination.needs_pro and owner.effective_plan != "PRO":
        return "plan"
    if destination.is_on:
        return None
    return "auto_disabled" if destination.auto_disabled_at else "disabled"


# No other process sends the mail meanwhile. If this one is killed, the mail may have been sent; it is sent again.
_LEASE = dt.timedelta(minutes=5)
_MIN_RETRY_DELAY, _MAX_RETRY_DELAY = dt.timedelta(minutes=1), dt.timedelta(hours=10)


def send_disabled_notices() -> int:
    """Send every mail that is due and not leased; returns how many. Running twice sends each once.

    A mail whose process is killed stays due for the next run. One that the mail server does not accept is tried again
    after as long as it has been due already, at least a minute and at most ten hours.
    """
    due = Destination.unscoped.rows().filter(disable_notice_due=True).free(timezone.now()).select_related("owner")
    return sum(_notify_owner(destination) for destination in due)


def _notify_owner(destination: Destination) -> bool:
    """Send the mail if it is still due and no other process sends it; returns whether it was sent."""
    row = Destination.objects.owned_by(destination.owner).filter(pk=destination.pk)
    now = timezone.now()
    claim = row.filter(disable_notice_due=True).acquire(_LEASE, clock=now)
    if claim is None:
        return False
    ours = row.held_by(claim)
    try:
        # record_outcome switches off quietly. From here on clients see it in the change feed, and do not have to wait
        # for the mail server.
        with account_write(destination.owner):
            if not ours.update():
                return False  # switched on or deleted meanwhile
        message_of(destination).send()
    except AccountGoneError:
        return False
    except Exception as error:  # one mail that cannot be sent must not block the others, nor the due scan
        log.warning(
            "the mail about a disabled destination was not taken: %s",
            describe_mail_error(error),
            extra={"destination": str(destination.pk)},
            # An OSError comes from the mail server, any other error is a fault of this service.
            exc_info=not isinstance(error, OSError),
        )
        waited = now - (destination.auto_disabled_at or now)
        delay = min(max(waited, _MIN_RETRY_DELAY), _MAX_RETRY_DELAY)
        # The lease is kept until the next try. It names no process, so that it outlives this one.
        ours.update(held_until=now + delay, holder="")
        return False
    # Cleared only now: until this commits, a process that dies leaves the mail due.
    ours.release(disable_notice_due=False)
    return True


def message_of(destination: Destination) -> EmailMessage:
    """The mail, in the owner's language."""
    owner = destination.owner
    values = {
        "label": " ".join(destination.label.split()),
        "host": destination.url.split("/")[2],
        "code": destination.last_failure_code,
        "url": settings.BASE_URL,
    }
    with translation.override(owner.language):
        # Whose address nobody has proven may be a stranger to this account, and is not sent what was typed in it.
        if owner.proven_email is None:
            subject = _("A destination of your notifications has been switched off")
            failure = _("Notifications could not be delivered. The last failure was: %(code)s.")
        else:
            subject = _("The destination “%(label)s” has been switched off") % values
            failure = _(
                "Notifications to “%(label)s” (%(host)s) could not be delivered. The last failure was: %(code)s."
            )
        paragraphs = [
            failure % values,
            _("Nothing more is sent there until you switch it on again: %(url)s") % values,
        ]
    headers = {
        # The same in every attempt, and another one when the destination is switched off again.
        "Message-ID": format_message_id(f"{destination.pk}.{destination.auto_disabled_at:%Y%m%d%H%M%S%f}"),
        "Auto-Submitted": "auto-generated",
    }
    return EmailMessage(
        subject, "\n\n".join(paragraphs) + "\n", None, [mail_address(owner.recovery_email)], headers=headers
    )
