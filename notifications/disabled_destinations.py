"""Mails to owners about destinations that were switched off for failing."""

import logging

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils import translation
from django.utils.translation import gettext as _

from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_write
from notifications.models import Destination

log = logging.getLogger(__name__)


def send_disabled_notices() -> int:
    """Send every mail that is due; returns how many. Safe to run twice, since each row is claimed first.

    If the mail server does not accept a mail, it stays due for the next run.
    """
    due = Destination.unscoped.rows().filter(disable_notice_due=True).select_related("owner")
    return sum(_notify_owner(destination) for destination in due)


def _notify_owner(destination: Destination) -> bool:
    row = Destination.objects.owned_by(destination.owner).filter(pk=destination.pk)
    try:
        # A write, not a quiet update: by its revision, clients see the destination in the change feed.
        with account_write(destination.owner):
            # Claimed before the mail is sent: if the process dies in between, the owner gets no mail rather than two.
            if not row.filter(disable_notice_due=True).update(disable_notice_due=False):
                return False
    except AccountGoneError:
        return False
    try:
        message_of(destination).send()
    except OSError:  # includes SMTPException
        log.warning("the mail about a disabled destination was not taken", extra={"destination": str(destination.pk)})
        row.update_quietly(disable_notice_due=True)
        return False
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
        subject = _("The destination “%(label)s” has been switched off") % values
        paragraphs = [
            _("Notifications to “%(label)s” (%(host)s) could not be delivered. The last failure was: %(code)s.")
            % values,
            _("Nothing more is sent there until you switch it on again: %(url)s") % values,
        ]
    headers = {"Auto-Submitted": "auto-generated"}
    return EmailMessage(subject, "\n\n".join(paragraphs) + "\n", None, [owner.recovery_email], headers=headers)
