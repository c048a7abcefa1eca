"""The page at `/` for those who are not signed in: what the service is, its health, and first steps."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from accounts.models.user import verification_is_mandatory
from accounts.pages.viewers import language_of, viewer_of
from accounts.services.registration import awaits_operator, registration_is_open
from contacts_project.kernel.api.responses import render_page
from contacts_project.kernel.errors import UnavailableError
from contacts_project.operation.health import Health, check_health


@dataclass(frozen=True)
class HealthPart:
    """One part of the health check, described in words."""

    name: str
    status_text: str
    is_fit: bool


@require_safe
def home_page(request: HttpRequest) -> HttpResponse:
    """The home page, open to everybody. Its status is that of GET /api/health: 503 if a part is not fit.

    Who is signed in is led to the client, which works offline as well, unless a part is not fit.
    """
    health, checks = check_health(timezone.now())
    # Without a database in order, the page still has to be shown, so that it can say what does not work.
    is_readable = checks["database"] == checks["migrations"] == "ok"
    viewer = viewer_of(request) if is_readable else None
    if viewer and health is not Health.UNFIT:
        return redirect("/app/")
    language = language_of(request, viewer)
    with translation.override(language):
        context = {
            "viewer": viewer,
            "fit": health is Health.OK,
            "parts": [_describe_part(name, shown) for name, shown in checks.items()],
            "may_register": is_readable and registration_is_open(),
            "sign_up": _sign_up_rules() if is_readable else [_("Nobody can sign up while the database is away.")],
            "base_url": settings.BASE_URL,
            "version": settings.VERSION,
        }
    response = render_page(
        request, "pages/home.html", context, language=language, status=503 if health is Health.UNFIT else 200
    )
    if health is Health.UNFIT:
        response["Retry-After"] = str(UnavailableError().retry_after)
    return response


def _describe_part(name: str, shown: Any) -> HealthPart:
    state = shown["status"] if isinstance(shown, dict) else shown
    if name == "scheduler":
        return HealthPart(_("Scheduler"), _describe_lag(shown["lagSeconds"]), state == "ok")
    words = {
        "database": (_("Database"), _("answers"), _("does not answer, or cannot be written to")),
        "migrations": (_("Tables"), _("up to date"), _("not up to date: run manage.py migrate")),
        "broker": (_("Task queue"), _("takes tasks"), _("does not answer")),
        "disk": (_("Disk"), _("has room"), _("is nearly full")),
        "photos": (_("Photos"), _("answers"), _("does not answer")),
        "proxy": (_("Proxy"), _("none, or counted"), _("forwards requests, but TRUSTED_PROXY_COUNT is 0")),
    }
    label, good, bad = words[name]
    if state == "newer":
        bad = _("of a newer version than this program: run that version")
    return HealthPart(label, good if state == "ok" else bad, state == "ok")


def _describe_lag(seconds: int | None) -> str:
    if seconds is None:
        return _("has not run yet")
    if seconds < 120:
        return ngettext("ran %(seconds)d second ago", "ran %(seconds)d seconds ago", seconds) % {"seconds": seconds}
    minutes = seconds // 60
    return ngettext("last ran %(minutes)d minute ago", "last ran %(minutes)d minutes ago", minutes) % {
        "minutes": minutes
    }


def _sign_up_rules() -> list[str]:
    """Who can create an account, in sentences."""
    if not registration_is_open():
        return [_("Closed: this service takes no new accounts.")]
    sentences = []
    if awaits_operator():
        sentences.append(_("There is no operator yet: who makes the first account becomes it."))
    if settings.REGISTRATION == "open":
        sentences.append(_("Open: whoever reaches this page can make an account."))
    if verification_is_mandatory():
        sentences.append(_("The e-mail address has to be verified before the first sign-in."))
    return sentences
