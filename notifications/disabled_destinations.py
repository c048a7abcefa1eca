"""Mails to owners about destinations that were switched off for failing."""

import datetime as dt
import logging

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from contacts_project.kernel.outbound.mail_errors import describe_mail_error
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_write
from contacts_project.kernel.text_forms import mail_address
from notifications.models import Destination
from notifications.notices.message_ids import format_message_id

log = logging.getLogger(__name__)

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
