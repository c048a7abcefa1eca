"""The mail of an invitation. It says the same whether or not its address has an account, in the host's language.

What people call their share and themselves is written by strangers: in the mail it is one line, short, and no link.
"""

import datetime as dt
import logging
import re
import unicodedata
from uuid import UUID

from django.core.mail import EmailMultiAlternatives
from django.db.models import F, Q
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.services.mail import MailText
from accounts.services.registration import registration_is_open
from contacts_project.kernel.errors import RateLimitedError
from contacts_project.kernel.outbound.failures import describe_mail_error
from contacts_project.kernel.rate_limits import RateLimit
from contacts_project.kernel.text_forms import mail_address
from sharing.models import Invitation, InvitationBlock, InvitationState
from sharing.models.neutral import NeutralQuerySet
from sharing.services.invitations import link_of

log = logging.getLogger(__name__)

MAX_LINE = 60
# No other process sends the mail meanwhile. If this one is killed, the mail may have been sent; it is sent again.
_LEASE = dt.timedelta(minutes=5)
_RETRY_DELAYS = [dt.timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 300, 600)]
# Many hosts may invite one address, as one host many addresses.
_MAILBOX = RateLimit("share-invitation-mailbox", 10, 3600)
# Whatever joins the parts of what a mail program may show as a link. Dots of other scripts are dots to it.
_JOINTS = re.compile(r"([.@/\\:\u2024\u3002\ufe52\uff0e\uff61]++)([\w+]?)")
_MAX_OF_SCAN = 500


def one_line(text: str) -> str:
    """The text on one line of at most 60 characters, without anything that could be a link or hide."""
    visible = "".join(" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in text)
    words = " ".join(_JOINTS.sub(lambda found: f" {found[2]}" if found[2] else found[1], visible).split())
    return words if len(words) <= MAX_LINE else f"{words[: MAX_LINE - 1].rstrip()}…"


def send_due_invitations(*, now: dt.datetime) -> int:
    """Send all due mails, including those that a crash or an unavailable mail server left; returns how many."""
    due = _due(now).order_by("mail_at", "pk").values_list("pk", flat=True)[:_MAX_OF_SCAN]
    return sum(_send(key, now) for key in list(due))


def _due(now: dt.datetime) -> NeutralQuerySet[Invitation]:
    free = Q(mail_claimed_until=None) | Q(mail_claimed_until__lte=now)
    rows: NeutralQuerySet[Invitation] = Invitation.unscoped.rows().filter(free, mail_at__lte=now)
    return rows


def _send(key: UUID, now: dt.datetime) -> bool:
    if not _due(now).filter(pk=key).update(mail_claimed_until=now + _LEASE, mail_tries=F("mail_tries") + 1):
        return False
    rows = Invitation.unscoped.rows().filter(pk=key)
    invitation = rows.select_related("share", "by").get()
    message = _build_message(invitation, now)
    try:
        if message is not None:
            message.send()
    except Exception as error:  # noqa: BLE001 - one mail that cannot be sent must not block the others
        tries = invitation.mail_tries
        delay = _RETRY_DELAYS[tries - 1] if tries <= len(_RETRY_DELAYS) else None
        log.warning("An invitation could not be sent (try %d): %s", tries, describe_mail_error(error))
        if delay is not None:
            rows.update(mail_at=now + delay, mail_claimed_until=None)
            return False
        message = None
    # The token is in the mail now, or nowhere.
    rows.update(mail_at=None, mail_claimed_until=None, token="")
    return message is not None


def _build_message(invitation: Invitation, now: dt.datetime) -> EmailMultiAlternatives | None:
    """The message; None if it is over, its reader does not want it, or the mailbox had too many."""
    is_open = invitation.state_at(now) == InvitationState.SENT and invitation.share.ended_at is None
    if not is_open or not _is_inviter_active(invitation):
        return None
    if _is_unwanted(invitation):
        Invitation.unscoped.rows().filter(pk=invitation.pk).update(is_unwanted=True)
        return None
    try:
        _MAILBOX.hit(invitation.address_key)
    except RateLimitedError:
        return None
    with translation.override(invitation.language):
        return _compose(invitation)


def _is_inviter_active(invitation: Invitation) -> bool:
    return User.objects.filter(pk=invitation.inviter_id, is_active=True).exists()


def _is_unwanted(invitation: Invitation) -> bool:
    """Whether the address, or the account that has it, wants no invitations of this member."""
    account = User.objects.with_proven_email(invitation.email).values("pk")
    blocks = InvitationBlock.unscoped.rows().filter(inviter_id=invitation.inviter_id)
    return bool(blocks.filter(Q(address_key=invitation.address_key) | Q(owner__in=account)).exists())


def _compose(invitation: Invitation) -> EmailMultiAlternatives:
    text, link = _build_text(invitation), link_of(invitation.token)
    buttons = [{"kind": "open", "label": text.button, "url": link}]
    context = {"text": text, "link": link, "buttons": buttons, "language": invitation.language}
    headers = {"Auto-Submitted": "auto-generated"}
    plain, address = render_to_string("email/account.txt", context), mail_address(invitation.email)
    message = EmailMultiAlternatives(text.subject, plain, None, [address], headers=headers)
    message.attach_alternative(render_to_string("email/account.html", context), "text/html")
    return message


def _build_text(invitation: Invitation) -> MailText:
    names = {"name": one_line(invitation.by.name if invitation.by else ""), "share": one_line(invitation.share.name)}
    lines = [
        _("%(name)s would like to keep people together with you: “%(share)s”.") % names,
        _("Everybody keeps their own people, reminders and notes: what one writes reaches the others."),
        _("You decide about each person before anything is taken over. The link works for seven days."),
    ]
    if not registration_is_open():
        lines.append(
            _(
                "You need an account here to accept. Accounts are not open to everybody: ask whoever runs this "
                "service for one."
            )
        )
    return MailText(
        _("%(name)s invites you to share “%(share)s”") % names,
        _("Hello,"),
        tuple(lines),
        _("See the invitation"),
        _("If you do not know who this is, ignore this mail: nothing will happen."),
    )
