"""The texts of the mails about the account, in the active language."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from accounts.models import EmailChange, MailKind, User
from accounts.services.addresses import verification_is_mandatory


@dataclass(frozen=True)
class ResolvedMail:
    """A mail ready to be written: to `address`, about the account `user`; `change` is the change of address to undo."""

    kind: MailKind
    user: User
    address: str
    change: EmailChange | None = None


@dataclass(frozen=True)
class MailText:
    """The text of one mail. `button` labels the link; `footer` addresses readers who did not request the mail."""

    subject: str
    greeting: str
    lines: tuple[str, ...]
    button: str
    footer: str


def build_mail_text(resolved: ResolvedMail) -> MailText:
    greeting = _("Hello %(name)s,") % {"name": resolved.user.nickname or resolved.user.name}
    if resolved.change:
        return _changed_text(greeting, resolved.change)
    if resolved.kind is MailKind.RESET:
        return _reset_text(greeting)
    if resolved.kind is MailKind.TAKEN:
        return _taken_text(greeting)
    return _new_address_text(greeting) if resolved.user.proven_email else _first_address_text(greeting, resolved.user)


def _first_address_text(greeting: str, user: User) -> MailText:
    lines = [_("please confirm that this is your e-mail address."), _("The link works for three days.")]
    others = User.objects.claiming(user.email).filter(proven_email=None).exclude(pk=user.pk)
    if verification_is_mandatory() and others.exists():
        lines.append(
            _("Another account was made with this address, and nobody has confirmed it. The link removes that account.")
        )
    return MailText(
        _("Verify your e-mail address"),
        greeting,
        tuple(lines),
        _("Verify the address"),
        _("If you did not sign up, ignore this mail: nothing will happen."),
    )


def _new_address_text(greeting: str) -> MailText:
    return MailText(
        _("Confirm your new e-mail address"),
        greeting,
        (
            _("please confirm that this is the new e-mail address of your account."),
            _("You need to be signed in, or to enter your password. The link works for three days."),
        ),
        _("Confirm the new address"),
        _("If this is not your account, ignore this mail: nothing will happen."),
    )


def _reset_text(greeting: str) -> MailText:
    return MailText(
        _("Set a new password"),
        greeting,
        (_("a new password was asked for your account."), _("The link works once, for one hour.")),
        _("Set a new password"),
        _("If it was not you, ignore this mail: your password stays as it is."),
    )


def _changed_text(greeting: str, change: EmailChange) -> MailText:
    return MailText(
        _("The e-mail address of your account was changed"),
        greeting,
        (
            _("the address of your account is to be %(email)s from now on.") % {"email": change.new_email},
            _(
                "If it was not you, take the change back: everybody is signed out, and a mail with a link for a new "
                "password comes to this address."
            ),
            _("The link works for seven days, also after the new address was confirmed."),
        ),
        _("Take the change back"),
        _("If it was you, ignore this mail."),
    )


def _taken_text(greeting: str) -> MailText:
    return MailText(
        _("You already have an account"),
        greeting,
        (
            _(
                "somebody, probably you, wanted to use this e-mail address for another account. It has an account "
                "already."
            ),
            _("Sign in with it. If you have forgotten the password, set a new one; the link works for one hour."),
        ),
        _("Set a new password"),
        _("If it was not you, ignore this mail: nothing has changed."),
    )
