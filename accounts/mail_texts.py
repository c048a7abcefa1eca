"""What the mails about the account say, in the active language."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from accounts.models import MailKind, User


@dataclass(frozen=True)
class MailText:
    """One mail in words; `button` is what the link does, `footer` what to do who did not ask for it."""

    subject: str
    greeting: str
    lines: tuple[str, ...]
    button: str
    footer: str


def text_of(kind: MailKind, user: User) -> MailText:
    """The words of a mail to `user`."""
    greeting = _("Hello %(name)s,") % {"name": user.nickname or user.name}
    if kind is MailKind.VERIFY:
        return MailText(
            _("Verify your e-mail address"),
            greeting,
            (_("please confirm that this is your e-mail address."), _("The link works for three days.")),
            _("Verify the address"),
            _("If you did not sign up, ignore this mail: nothing will happen."),
        )
    if kind is MailKind.RESET:
        return MailText(
            _("Set a new password"),
            greeting,
            (_("a new password was asked for your account."), _("The link works once, for one hour.")),
            _("Set a new password"),
            _("If it was not you, ignore this mail: your password stays as it is."),
        )
    return MailText(
        _("You already have an account"),
        greeting,
        (
            _("somebody, probably you, tried to sign up with this e-mail address, which already has an account."),
            _("Sign in with it. If you have forgotten the password, set a new one; the link works for one hour."),
        ),
        _("Set a new password"),
        _("If it was not you, ignore this mail: nothing has changed."),
    )
