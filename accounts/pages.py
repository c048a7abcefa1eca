"""Where mailed links lead: two small pages, for people who have no other face of the service at hand.

GET shows and changes nothing (mail scanners open links too), POST acts by the same services as the API.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.api.views.access import check_password_rules
from accounts.link_tokens import Purpose, read_token
from accounts.models import User
from accounts.services.known_devices import remember_device
from accounts.services.verification import reset_password, verify_email
from contacts_project.kernel.api.errors import FieldError, validation_body
from contacts_project.kernel.pages import render_page


@dataclass(frozen=True)
class Page:
    """What a page says; with a `button` it asks, with `field` for a password too.

    The browser becomes a known device of `owner`, who has just proven to be that.
    """

    title: str
    text: str
    button: str = ""
    field: str = ""
    problem: str = ""
    owner: User | None = None


@require_http_methods(["GET", "POST"])
def verify_email_page(request: HttpRequest) -> HttpResponse:
    """Ask whether to verify the address, and do it."""

    def act(token: str, user: User) -> Page:
        if request.method == "POST":
            verify_email(token=token, now=timezone.now())
            return Page(_("Your e-mail address is verified"), _("You can close this page."))
        return Page(_("Verify your e-mail address"), user.email, button=_("Verify the address"))

    return _answer(request, Purpose.VERIFY, act)


@require_http_methods(["GET", "POST"])
def reset_password_page(request: HttpRequest) -> HttpResponse:
    """Ask for a new password, and set it."""

    def act(token: str, user: User) -> Page:
        ask = Page(_("Set a new password"), user.email, button=_("Set a new password"), field=_("New password"))
        if request.method != "POST":
            return ask
        password = request.POST.get("password", "")
        try:
            check_password_rules(password, user)
        except FieldError as error:
            return Page(ask.title, ask.text, ask.button, ask.field, validation_body(error.detail)["error"])
        owner = reset_password(token=token, password=password, now=timezone.now())
        return Page(_("Your new password is set"), _("You can sign in with it now."), owner=owner)

    return _answer(request, Purpose.RESET, act)


def _answer(request: HttpRequest, purpose: Purpose, act: Callable[[str, User], Page]) -> HttpResponse:
    token = request.GET.get("token", "")
    language, status = settings.LANGUAGE_CODE, 200
    try:
        user = read_token(token, purpose)
        language = user.language
        with translation.override(language):
            page = act(token, user)
    except FieldError:
        status = 400
        page = Page(_("This link does not work any more"), _("It was used already, or is too old. Ask for another."))
    response = render_page(request, "account/page.html", {"page": page}, language=language, status=status)
    if page.owner:
        remember_device(request, response, page.owner)
    return response
