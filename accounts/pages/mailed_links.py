"""The pages of mailed links, for readers without another client at hand.

GET only shows a form, because mail scanners open links too; POST calls the same services as the API.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.models import User
from accounts.pages.viewers import SIGN_IN_PATH, language_of
from accounts.passwords import check_password_rules
from accounts.services.addresses import (
    AddressTakenError,
    SignInRequiredError,
    reset_password,
    take_back_email,
    verify_email,
)
from accounts.services.mail import LinkPurpose, read_link_token, read_take_back_token
from accounts.services.sign_in import remember_device
from contacts_project.kernel.api.responses import render_page
from contacts_project.kernel.errors import FieldError, RateLimitedError


@dataclass(frozen=True)
class LinkPage:
    """The content of a page: with `button` a form, with `field` also a password field.

    `owner` is set if the reader has just proven to own the account: the browser then becomes a sign-in device of it.
    """

    title: str
    text: str
    button: str = ""
    field: str = ""
    field_kind: str = "current-password"
    is_field_required: bool = True
    sign_in_path: str = ""
    problem: str = ""
    status: int = 200
    owner: User | None = None


@require_http_methods(["GET", "HEAD", "POST"])
def verify_email_page(request: HttpRequest) -> HttpResponse:
    """Ask for confirmation, and for the password if nobody is signed in; verify the address."""
    token = request.GET.get("token", "")
    signed_in = request.user if isinstance(request.user, User) else None

    def act(user: User) -> LinkPage:
        form = _verification_form(user, signed_in, request.get_full_path())
        if request.method != "POST":
            return form
        try:
            verify_email(
                token=token,
                signed_in=signed_in,
                password=request.POST.get("password") or None,
                now=timezone.now(),
            )
        except SignInRequiredError:  # not 401, for which the browser would open its own password dialog
            return replace(form, problem=_("This is not the password of the account."), status=403)
        except RateLimitedError:
            problem = _("Too many tries. Wait a quarter of an hour, then open the link again.")
            return replace(form, problem=problem, status=429)
        return LinkPage(_("Your e-mail address is verified"), _("You can close this page."))

    return _respond(request, lambda: read_link_token(token, LinkPurpose.VERIFY), act)


def _verification_form(user: User, signed_in: User | None, here: str) -> LinkPage:
    asks_password = signed_in != user and user.has_usable_password()
    if not user.proven_email:
        return LinkPage(
            _("Verify your e-mail address"),
            user.email,
            button=_("Verify the address"),
            field=_("Password of your account, if you have made it yourself") if asks_password else "",
            is_field_required=False,
        )
    return LinkPage(
        _("Confirm your new e-mail address"),
        user.email,
        button=_("Confirm the new address") if asks_password or signed_in == user else "",
        field=_("Password of your account") if asks_password else "",
        sign_in_path=f"{SIGN_IN_PATH}?{urlencode({'next': here})}" if signed_in is None else "",
    )


@require_http_methods(["GET", "HEAD", "POST"])
def reset_password_page(request: HttpRequest) -> HttpResponse:
    """Ask for a new password, and set it."""
    token = request.GET.get("token", "")

    def act(user: User) -> LinkPage:
        form = LinkPage(
            _("Set a new password"),
            user.recovery_email,
            button=_("Set a new password"),
            field=_("New password"),
            field_kind="new-password",
        )
        if request.method != "POST":
            return form
        password = request.POST.get("password", "")
        try:
            check_password_rules(password, user)
        except FieldError as error:
            return replace(form, problem=str(error))
        owner = reset_password(token=token, password=password, now=timezone.now())
        title, text = _("Your new password is set"), _("You can sign in with it now.")
        return LinkPage(title, text, sign_in_path=SIGN_IN_PATH, owner=owner)

    return _respond(request, lambda: read_link_token(token, LinkPurpose.RESET), act)


@require_http_methods(["GET", "HEAD", "POST"])
def take_back_page(request: HttpRequest) -> HttpResponse:
    """Ask for confirmation; undo the change of address."""
    token = request.GET.get("token", "")

    def act(user: User) -> LinkPage:
        change = read_take_back_token(token, timezone.now())
        form = LinkPage(
            _("Take the change back"),
            _(
                "The address of your account becomes %(old)s again, instead of %(new)s. Everybody is signed out, and a "
                "mail with a link for a new password is sent to %(old)s."
            )
            % {"old": change.old_email, "new": change.new_email},
            button=_("Take the change back"),
        )
        if request.method != "POST":
            return form
        try:
            take_back_email(token=token, now=timezone.now())
        except AddressTakenError:
            problem = _("Another account has this address now. Delete that one or change its address first.")
            return replace(form, problem=problem, status=400)
        return LinkPage(
            _("The change is taken back"),
            _("Sign in with %(old)s. We have sent a mail there, to set a new password.") % {"old": change.old_email},
        )

    return _respond(request, lambda: read_take_back_token(token, timezone.now()).owner, act)


def _respond(request: HttpRequest, read: Callable[[], User], act: Callable[[User], LinkPage]) -> HttpResponse:
    """Render what `act` returns for the account that `read` finds, in its language. An invalid token is a 400."""
    language = language_of(request, None)
    try:
        user = read()
        language = user.language
        with translation.override(language):
            page = act(user)
    except FieldError:
        with translation.override(language):
            text = _("It was used already, or is too old. Ask for another.")
            page = LinkPage(_("This link does not work any more"), text, status=400)
    response = render_page(request, "account/page.html", {"page": page}, language=language, status=page.status)
    if page.owner:
        remember_device(request, response, page.owner)
    return response
